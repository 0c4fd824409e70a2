"""The keys of a config entry that every dataset with rubrics has."""

from __future__ import annotations

from evaluators.entry import Entry


class RubricOptions(Entry):
    """Where the user's file is, and which of its categories are drawn.

    ``hf_dataset`` names the source of the file and needs ``path`` beside it.
    """

    path: str | None = None
    hf_dataset: str | None = None
    task_types: tuple[str, ...] | None = None
