"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from evaluators.entry import Entry


class Options(Entry):
    """``task_types`` is a list of template names or topics.

    The variant ``drawn`` (default) draws the inputs, ``canonical`` has the printed inputs and computed truth,
    ``as_published`` the printed inputs scored against the printed figures, for comparison only.

    ``difficulties`` (out of easy, hard and expert) and ``wordings`` are of drawn questions. ``wordings: held_back``
    puts them in texts that no other option draws, so that an agent fitted to the usual ones can be told from one that
    reads.

    ``path`` is a published bank (``questions.json`` or its folder): what it asks is drawn, in our wording and with
    computed truth where it is a published question, otherwise marked by the file.
    """

    type: Literal["synthetic"] = "synthetic"
    variant: Literal["drawn", "canonical", "as_published"] | None = None
    task_types: tuple[str, ...] | None = None
    difficulties: tuple[str, ...] | None = None
    wordings: Literal["usual", "held_back"] | None = None
    path: str | None = None

    @model_validator(mode="after")
    def _a_file_is_not_drawn(self) -> Options:
        if self.path is not None and self.variant == "drawn":
            raise ValueError("variant: drawn has no file; leave out path, or write canonical or as_published")
        return self

    @model_validator(mode="after")
    def _printed_questions_have_one_text(self) -> Options:
        for name in ("difficulties", "wordings"):
            if getattr(self, name) is not None and (self.path is not None or self.variant not in (None, "drawn")):
                raise ValueError(
                    f"{name}: printed questions have one text and level; leave it out, or write variant: drawn"
                )
        return self
