"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from evaluators.entry import Entry


class Options(Entry):
    """Items of our own, or those of the public files at ``path``.

    ``languages`` are out of ``en`` and ``cn``: by default ``en``, of public files both. ``difficulties`` out of easy,
    hard and expert, and ``wordings: held_back`` for texts that nothing else draws, are of own items alone.
    """

    type: Literal["bizfinbench"] = "bizfinbench"
    task_types: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    difficulties: tuple[str, ...] | None = None
    wordings: Literal["usual", "held_back"] | None = None
    path: str | None = None

    @model_validator(mode="after")
    def _a_file_has_its_own(self) -> Options:
        if self.path is not None and (self.difficulties or self.wordings):
            raise ValueError("difficulties and wordings: those of a file are its own; leave both out beside path")
        return self
