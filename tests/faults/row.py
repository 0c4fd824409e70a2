"""A row of the list of faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.scene import Scene


@dataclass(frozen=True)
class Fault:
    """One fault of the list.

    Attributes
    ----------
    name
        How it is called on the command line.
    expected
        What a run has to show; the row is as expected when ``inject`` returns exactly this (or one of several,
        separated by `` or ``) and nothing was left behind.
    inject
        Plays the run with the fault and says what was seen.
    """

    name: str
    expected: str
    inject: Callable[[Scene], str]

    def is_as_expected(self, seen: str) -> bool:
        """Return whether ``seen`` is what it should be."""
        return seen in self.expected.split(" or ")
