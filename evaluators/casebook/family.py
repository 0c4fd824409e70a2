"""A family of cases: what is drawn, the texts that put it, and the conversation about one draw."""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from evaluators.casebook.answer import Asked, Figure, Forecast, answer_format, answer_schema
from evaluators.casebook.shares import Law, Shares
from evaluators.contract import Difficulty, Json

AS_OF = date(2026, 6, 30)
"""Simulation date of the cases that need no dated tool."""
MAX_ATTEMPTS = 400
GENERIC = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""What anybody might write who knows nothing."""
SCALES = (1.0, 100.0)
"""Between a number of the text and a figure: percent and basis points, or the same unit."""
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


class Turn(NamedTuple):
    """One message to the agent: its text, and what is asked in it, or the shares that it wants."""

    text: str
    asked: tuple[Asked, ...]
    shares: Shares | None = None

    def answer_format(self) -> str:
        """Return how the reply is to be written; holds no part of it."""
        return answer_format(self.asked) if self.shares is None else self.shares.answer_format()

    def answer_schema(self) -> dict[str, Json]:
        """Return the JSON schema of the reply."""
        return answer_schema(self.asked) if self.shares is None else self.shares.schema()


@dataclass(frozen=True)
class Drawn:
    """One draw of a family.

    Attributes
    ----------
    fields
        What stands in the braces of every wording.
    asked
        What the first message asks.
    later
        The messages that follow, whatever the agent replies.
    inputs
        What the figures follow from, by name: for a second computation, never sent.
    servers
        Tool servers without which it cannot be answered.
    as_of
        Simulation date.
    shares, law
        Of a repeated decision, instead of ``asked``: what the first message asks, and what every one is scored by.
    """

    fields: Mapping[str, str]
    asked: tuple[Asked, ...]
    later: tuple[Turn, ...] = ()
    inputs: Mapping[str, Json] = field(default_factory=dict)
    servers: tuple[str, ...] = ()
    as_of: date = AS_OF
    shares: Shares | None = None
    law: Law | None = None


@dataclass(frozen=True)
class Template:
    """A kind of case.

    Attributes
    ----------
    name
        Also the family by which standard errors are clustered.
    category
        FAB++ category.
    draw
        Draws one case of a difficulty; one that is unsound is drawn again.
    wordings
        Texts of the first message, with the names of ``Drawn.fields`` in braces.
    held_back
        More of them, which only the option ``wordings: held_back`` draws.
    """

    name: str
    category: str
    draw: Callable[[random.Random, Difficulty], Drawn]
    wordings: tuple[str, ...]
    held_back: tuple[str, ...]

    def case(self, rng: random.Random, difficulty: Difficulty, wording: str) -> tuple[Drawn, tuple[Turn, ...]]:
        """Draw until no figure can be copied, guessed or left out; return the draw and its messages.

        Raises
        ------
        RuntimeError
            When hardly any draw is sound, which is an error of the template.
        """
        for _ in range(MAX_ATTEMPTS):
            drawn = self.draw(rng, difficulty)
            turns = (Turn(wording.format_map(drawn.fields), drawn.asked, drawn.shares), *drawn.later)
            if is_sound(turns):
                return drawn, turns
        raise RuntimeError(f"family {self.name!r}, {difficulty}: no sound case in {MAX_ATTEMPTS} draws")


def is_sound(turns: tuple[Turn, ...]) -> bool:
    """Return whether no figure is near 0, near a number that anybody might write, or stands in a message."""
    every = [item for turn in turns for item in turn.asked]
    figures = [item for item in every if isinstance(item, Figure)]
    if not all(item.is_clear_of_naive() for item in every if isinstance(item, Forecast)):
        return False
    if not figures:
        return True
    shown = [*GENERIC]
    for turn in turns:
        shown += [float(token.replace(",", "")) for token in _NUMBER.findall(turn.text)]
    easy = sorted({value * scale for value in shown for scale in SCALES})
    return all(item.is_clear_of_zero() and not _holds(easy, item) for item in figures)


def _holds(values: list[float], figure: Figure) -> bool:
    size = abs(figure.gold)
    place = bisect_left(values, size - figure.margin)
    return place < len(values) and values[place] <= size + figure.margin
