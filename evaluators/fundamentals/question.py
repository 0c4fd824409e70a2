"""A question with its truth, the family that it belongs to, and the texts that put it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date

from evaluators.answers.expected import Expected
from evaluators.contract import Difficulty, Json
from evaluators.fundamentals.world import World

FRAMES = (
    "What was {what} of {company} {period}? {rules}",
    "For {company}, find {what} {period}. {rules}",
    "{rules} Find {what} of {company} {period}.",
    "We need {what} {period} for {company}. {rules}",
    "An analyst asks for {what} that {company} showed {period}. {rules}",
)
"""Texts of every family; each family's own words for what is asked alternate in them."""
HELD_BACK_FRAMES = (
    "Please establish {what} {period}, the company being {company}. {rules}",
    "Look at {company} and give {what} {period}. {rules}",
)
"""More of them, which only the option ``wordings: held_back`` draws, with other words for what is asked."""


class NotDrawable(LookupError):
    """The drawn company or period lacks a figure that the question needs; the next draw is tried."""


@dataclass(frozen=True)
class Drawn:
    """One draw of a family, before it is put in words.

    Attributes
    ----------
    company, period
        Noun phrases that say, or describe, whose figure of when is asked for.
    rules
        Sentences that fix which version is meant, and every convention that could be read in two ways.
    expected
        The gold answer and its tolerance.
    as_of
        Simulation date; the gold answer uses nothing known later.
    ticker, fiscal_year
        Whose figure it is, and of when; no fiscal year for questions on prices.
    words
        What stands in the braces of the family's own words.
    inputs
        What the gold answer follows from, for a second computation; never sent.
    """

    company: str
    period: str
    rules: str
    expected: Expected
    as_of: date
    ticker: str
    fiscal_year: int | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Template:
    """A kind of question.

    Attributes
    ----------
    name
        Also the family of its tasks: their errors are not independent.
    category
        FAB++ category.
    draw
        Draws one question of a difficulty; raises :class:`NotDrawable` when the drawn period lacks a figure.
    asks, held_back
        The family's own words for what is asked, of the usual texts and of those held back.
    servers
        Tool servers without which the question cannot be answered.
    """

    name: str
    category: str
    draw: Callable[[random.Random, World, Difficulty], Drawn]
    asks: tuple[str, ...]
    held_back: tuple[str, ...]
    servers: tuple[str, ...] = ("edgar",)

    def text(self, drawn: Drawn, number: int, *, held_back: bool) -> str:
        """Return the question in the wording of a number."""
        frames, words = (HELD_BACK_FRAMES, self.held_back) if held_back else (FRAMES, self.asks)
        what = words[number % len(words)].format_map(drawn.words)
        parts = {"company": drawn.company, "period": drawn.period, "rules": drawn.rules}
        return frames[number].format(what=what, **parts).strip()
