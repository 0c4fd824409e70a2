"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from evaluators.entry import Entry


class Options(Entry):
    """``task_types`` is a list of template names or categories.

    The variant ``drawn`` (default) draws the parameters, ``as_published`` has the printed ones with the engine's truth.
    """

    type: Literal["options"] = "options"
    variant: Literal["drawn", "as_published"] | None = None
    task_types: tuple[str, ...] | None = None
