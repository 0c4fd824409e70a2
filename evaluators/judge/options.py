"""The keys of a config entry that every dataset with rubrics has."""

from __future__ import annotations

from evaluators.entry import Entry


class RubricOptions(Entry):
    """Where the user's file is, and which of its categories are drawn.

    ``hf_dataset`` names the source of the file, which is read where ``traderbench data pull`` puts it unless ``path``
    says otherwise. ``references: false`` leaves out the tasks that come with files.
    """

    path: str | None = None
    hf_dataset: str | None = None
    task_types: tuple[str, ...] | None = None
    references: bool | None = None
