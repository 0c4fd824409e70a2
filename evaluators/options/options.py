"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from evaluators.entry import Entry


class Options(Entry):
    """``task_types`` is a list of template names or categories.

    The variant ``drawn`` (default) draws the parameters, ``as_published`` has the printed ones with the engine's truth.

    ``difficulties`` out of easy, hard and expert, and ``wordings: held_back`` for texts that nothing else draws, are of
    drawn tasks alone.

    ``path`` is a published bank (``questions.json`` or its folder): what it asks is drawn, in our wording and with
    computed truth where it is a published question with figures, otherwise marked by the file.
    """

    type: Literal["options"] = "options"
    variant: Literal["drawn", "as_published"] | None = None
    task_types: tuple[str, ...] | None = None
    difficulties: tuple[str, ...] | None = None
    wordings: Literal["usual", "held_back"] | None = None
    path: str | None = None

    @model_validator(mode="after")
    def _a_file_is_not_drawn(self) -> Options:
        if self.path is not None and self.variant == "drawn":
            raise ValueError("variant: drawn has no file; leave out path, or write as_published")
        if (self.path is not None or self.variant == "as_published") and (self.difficulties or self.wordings):
            raise ValueError("difficulties and wordings: published tasks have one of each; leave both out")
        return self
