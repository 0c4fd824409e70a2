"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from evaluators.entry import Entry


class Options(Entry):
    """``task_types`` is a list of template names and FAB++ categories."""

    type: Literal["fundamentals"] = "fundamentals"
    task_types: tuple[str, ...] | None = None
