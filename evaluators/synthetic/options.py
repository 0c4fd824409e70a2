"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from evaluators.entry import Entry


class Options(Entry):
    """``task_types`` is a list of template names or topics.

    The variant ``drawn`` (default) draws the inputs, ``canonical`` has the printed inputs and computed truth,
    ``as_published`` the printed inputs scored against the printed figures, for comparison only.
    """

    type: Literal["synthetic"] = "synthetic"
    variant: Literal["drawn", "canonical", "as_published"] | None = None
    task_types: tuple[str, ...] | None = None
