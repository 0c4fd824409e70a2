"""How a family is put into words: what holds, what is asked, and what its inputs are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """Texts of one template, without a figure in them; they combine freely.

    Attributes
    ----------
    setting
        What holds, with every convention that the truth follows.
    asks
        The question, in several ways.
    held_back
        More of them, which only the option ``wordings: held_back`` draws.
    labels
        Names of each input as texts have them; the last of each is held back.
    """

    setting: str
    asks: tuple[str, ...]
    held_back: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]

    def ask(self, number: int, *, held_back: bool) -> str:
        """Return one way to ask."""
        return (self.held_back if held_back else self.asks)[number]

    def names(self, name: str, *, held_back: bool) -> tuple[str, ...]:
        """Return what an input may be called."""
        return self.labels[name][-1:] if held_back else self.labels[name][:-1]
