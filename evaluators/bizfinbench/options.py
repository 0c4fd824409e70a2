"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from evaluators.entry import Entry


class Options(Entry):
    """Items of our own, or those of the public files at ``path``.

    ``languages`` are out of ``en`` and ``cn``: by default ``en``, of public files both.
    """

    type: Literal["bizfinbench"] = "bizfinbench"
    task_types: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    path: str | None = None
