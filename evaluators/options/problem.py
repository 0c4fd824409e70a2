"""One options task: its text, the figures it asks for, what its legs must fulfil, and the perfect reply."""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from evaluators.answers.tolerance import CLEAR_MARGINS
from evaluators.contract import Difficulty, Json, Task
from evaluators.options.chain import Holding, Position, Series

if TYPE_CHECKING:
    from evaluators.options.telling.requote import Pair
    from evaluators.options.telling.terms import Terms

Dimension: TypeAlias = Literal["pnl", "greeks", "risk"]
Values: TypeAlias = Mapping[str, float]

DIMENSIONS: tuple[Dimension, ...] = ("pnl", "greeks", "risk")
RELATIVE_TOLERANCE = 0.05
LEVEL_TOLERANCE = 0.002
"""For prices of the underlying (breakevens): 5% of a level would accept almost any level."""
PROBABILITY_TOLERANCE = 0.005
"""Absolute: 5% of a probability would accept a constant in half of the tasks."""
UNLOCKING_FIGURES = 2
"""Right figures, probabilities aside, before the legs count: one is right by luck now and then."""

AS_OF = date(2024, 12, 31)
"""Of tasks in which everything stands that is needed: every task has a date."""

_RULES = (
    "Reply with one JSON object with the keys pnl, greeks, strategy and risk (25 points each). Numbers are JSON "
    "numbers without units or thousands separators; losses are positive where the name says loss or value at risk, "
    "profits have their sign. A number is right within 5% of the exact value, or within the absolute margin given "
    "with it, whichever is wider; a price level of the underlying within 0.2%, a volatility within 1%, a "
    "probability within 0.005, a count exactly."
)
_LEGS = (
    'Each leg is an object with "option_type" ("call", "put" or "stock"), "quantity" (whole contracts of 100 shares, '
    'or shares of stock; positive bought, negative sold) and, for options, "strike" and "days_to_expiry".'
)


@dataclass(frozen=True)
class Figure:
    """A number that the reply has to state.

    Attributes
    ----------
    name
        Key in the reply.
    meaning
        What it is and in which unit.
    floor
        Absolute error that is always accepted, in that unit.
    tolerance
        Relative error that is accepted.
    of_legs
        Whether it is computed from the legs that the reply chooses.
    probability
        Whether it is a probability: no sign of work, as most of them lie close together.
    """

    name: str
    meaning: str
    floor: float
    tolerance: float = RELATIVE_TOLERANCE
    of_legs: bool = False
    probability: bool = False


Figures: TypeAlias = Mapping[Dimension, Sequence[Figure]]


@dataclass(frozen=True)
class Requirement:
    """Something that the chosen legs have to fulfil, and whether they do.

    Attributes
    ----------
    text
        What is wanted.
    met
        Whether the legs fulfil it.
    """

    text: str
    met: bool


def figures_beside_legs(figures: Figures) -> list[tuple[Dimension, Figure]]:
    """Return the figures of which one has to be right, beside any other, before the legs count.

    They are those of the legs where several dimensions ask for such; otherwise all, as a dimension would count twice.
    """
    asked = telling_figures(figures)
    of_legs = [(dimension, figure) for dimension, figure in asked if figure.of_legs]
    return of_legs if len({dimension for dimension, _ in of_legs}) > 1 else asked


def telling_figures(figures: Figures) -> list[tuple[Dimension, Figure]]:
    """Return the figures that show work when they are right: all but the probabilities."""
    rows = [(dimension, figure) for dimension in DIMENSIONS for figure in figures[dimension]]
    return [(dimension, figure) for dimension, figure in rows if not figure.probability]


@dataclass(frozen=True)
class Problem(ABC):
    """A task with its truth. A template is a frozen dataclass of parameters that implements it.

    Attributes
    ----------
    family
        Name of the template; standard errors are clustered by it.
    category
        FAB++ category.
    stock
        Whether the legs may hold stock.
    servers
        Tool servers without which the figures cannot be worked out.
    """

    family: ClassVar[str]
    category: ClassVar[str]
    stock: ClassVar[bool] = False
    servers: ClassVar[tuple[str, ...]] = ("options", "risk")

    @classmethod
    @abstractmethod
    def draw(cls, rng: random.Random) -> Problem:
        """Draw the parameters. The result may be unsound; the caller then draws again."""

    @classmethod
    def draw_at(cls, rng: random.Random, difficulty: Difficulty) -> Problem:
        """Draw the parameters of a difficulty, where it changes more than how they are told."""
        return cls.draw(rng)

    @abstractmethod
    def question(self) -> str:
        """Return the text with published parameters, without the answer format."""

    @abstractmethod
    def words(self) -> dict[str, str]:
        """Return what stands in the braces of the texts of drawn parameters."""

    def told(self, terms: Terms, pair: Pair | None, rng: random.Random) -> str | None:
        """Return the inputs in words; None where they are a market, options and holdings as all tasks tell them."""
        return None

    @abstractmethod
    def context(self) -> dict[str, Json]:
        """Return the data of the question."""

    @abstractmethod
    def legs_wanted(self) -> str:
        """Return, in words, what the legs have to be."""

    @abstractmethod
    def figures(self) -> Figures:
        """Return the numbers asked for, by dimension."""

    def day(self) -> date:
        """Return the date of the task."""
        return AS_OF

    def tradable(self) -> Sequence[Series]:
        """Return the series that the legs may use."""
        return ()

    def fixed(self) -> Values:
        """Return the values of the figures that do not depend on the legs."""
        return {}

    def of_legs(self, position: Position) -> Values:
        """Return the values of the figures that do, for a position with the structure asked for."""
        return {}

    @abstractmethod
    def structure(self, position: Position) -> Sequence[Requirement]:
        """Return what makes the legs the kind of position asked for.

        When one fails, Strategy is 0 and figures of the legs are not credited.
        """

    def limits(self, position: Position) -> Sequence[Requirement]:
        """Return further requirements, each worth the same. Strategy is their share, 100 where there are none."""
        return ()

    @abstractmethod
    def solution(self) -> Position:
        """Return a position that meets everything."""

    def truth(self, position: Position | None) -> Values:
        """Return the right value of every figure that can be known: without a position, of the fixed ones only."""
        return {**self.fixed(), **({} if position is None else self.of_legs(position))}

    @cached_property
    def solved(self) -> Values:
        """The right value of every figure with the solution."""
        return self.truth(self.solution())

    def is_sound(self) -> bool:
        """Return whether the solution meets everything and no figure asked for is so near zero that 0 would do."""
        solution = self.solution()
        if not all(item.met for item in (*self.structure(solution), *self.limits(solution))):
            return False
        return all(
            abs(self.solved[figure.name]) > CLEAR_MARGINS * figure.floor
            for figures in self.figures().values()
            for figure in figures
        )

    def task(self, task_id: str, *, question: str | None = None) -> Task:
        """Return what the agent sees: ``question`` with all inputs, or the published text with labelled data."""
        return Task(
            task_id=task_id,
            section="options_trading",
            dataset="options",
            category=self.category,
            family=self.family,
            as_of=self.day(),
            question=self.question() if question is None else question,
            answer_format=self._answer_format(),
            answer_schema=self._schema(),
            context=self.context() if question is None else {},
            servers=self.servers,
        )

    def _answer_format(self) -> str:
        lines, figures = [_RULES], self.figures()
        for dimension in DIMENSIONS:
            items = "; ".join(f"{item.name}: {item.meaning} (margin {item.floor:g})" for item in figures[dimension])
            lines.append(f'"{dimension}": {items}.')
        lines.append(f'"strategy": an object with the key "legs". {self.legs_wanted()} {_LEGS}')
        if any(item.of_legs for items in figures.values() for item in items):
            lines.append("Figures that describe your position are checked against the legs that you give.")
        position = all(figure.of_legs for _, figure in figures_beside_legs(figures))
        which = " and one of them describes your position" if position else ""
        lines.append(f"The legs count only when at least two different figures, probabilities aside, are right{which}.")
        return "\n".join(lines)

    def _schema(self) -> dict[str, Json]:
        properties: dict[str, Json] = {}
        for dimension, figures in self.figures().items():
            names = {figure.name: {"type": "number", "description": figure.meaning} for figure in figures}
            properties[dimension] = {"type": "object", "properties": names, "required": list(names)}
        leg = {
            "type": "object",
            "properties": {
                "option_type": {"enum": ["call", "put", "stock"]},
                "quantity": {"type": "integer"},
                "strike": {"type": "number"},
                "days_to_expiry": {"type": "integer"},
            },
            "required": ["option_type", "quantity"],
        }
        legs = {"legs": {"type": "array", "items": leg}}
        properties["strategy"] = {"type": "object", "properties": legs, "required": ["legs"]}
        return {"type": "object", "properties": properties, "required": [*DIMENSIONS, "strategy"]}

    def perfect_reply(self) -> str:
        """Return a reply that earns every point."""
        reply: dict[str, Json] = {
            dimension: {figure.name: float(f"{self.solved[figure.name]:.8g}") for figure in figures}
            for dimension, figures in self.figures().items()
        }
        return json.dumps({**reply, "strategy": {"legs": [written(holding) for holding in self.solution()]}})


def written(holding: Holding) -> dict[str, Json]:
    """Return a leg as a reply lists it."""
    if holding.series is None:
        return {"option_type": "stock", "quantity": holding.quantity}
    return {
        "option_type": holding.series.kind,
        "quantity": holding.quantity,
        "strike": holding.series.strike,
        "days_to_expiry": holding.series.days,
    }
