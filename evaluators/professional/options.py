"""The dataset's own keys of a config entry."""

from __future__ import annotations

from typing import Literal

from evaluators.entry import Entry


class Options(Entry):
    """``task_types`` is a list of template names; with those in ``first`` every round of the templates begins.

    ``difficulties`` out of easy, hard and expert. ``wordings: held_back`` puts every brief in texts that no other
    option draws.
    """

    type: Literal["professional"] = "professional"
    task_types: tuple[str, ...] | None = None
    first: tuple[str, ...] | None = None
    difficulties: tuple[str, ...] | None = None
    wordings: Literal["usual", "held_back"] | None = None
