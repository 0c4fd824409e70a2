"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from evaluators.entry import Entry


class Options(Entry):
    """``task_types`` is a list of family names and FAB++ categories; ``difficulties`` out of easy, hard and expert.

    ``wordings: held_back`` puts every question in texts that are drawn by no other option, so that an agent fitted to
    the usual ones can be told from one that reads.
    """

    type: Literal["fundamentals"] = "fundamentals"
    task_types: tuple[str, ...] | None = None
    difficulties: tuple[str, ...] | None = None
    wordings: Literal["usual", "held_back"] | None = None
