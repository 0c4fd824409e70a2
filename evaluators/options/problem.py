"""One options task: its text, the figures it asks for, what its legs must fulfil, and the perfect reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, TypeAlias

from evaluators.contract import Json, Task
from evaluators.options.chain import Holding, Position, Series

Dimension: TypeAlias = Literal["pnl", "greeks", "risk"]
Figures: TypeAlias = Mapping[str, float]

DIMENSIONS: tuple[Dimension, ...] = ("pnl", "greeks", "risk")
RELATIVE_TOLERANCE = 0.05
LEVEL_TOLERANCE = 0.002
"""For prices of the underlying (breakevens): 5% of a level would accept almost any level."""

AS_OF = date(2024, 12, 31)
"""Everything that is needed stands in the task; a date is needed only because every task has one."""


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
    """

    name: str
    meaning: str
    floor: float
    tolerance: float = RELATIVE_TOLERANCE
    of_legs: bool = False


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


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A task with its truth.

    Attributes
    ----------
    family, category
        Template and FAB++ category.
    question
        The text, without the answer format.
    context
        Data of the question.
    legs_wanted
        What ``legs`` has to hold, in words.
    figures
        The numbers asked for, by dimension.
    series, stock
        What can be traded: option series, and whether the stock too.
    truth
        Values of the fixed figures, and, for a position, of those that depend on it.
    structure
        Requirements that make the legs the kind of position asked for; when one fails, Strategy is 0 and figures of
        the legs are not credited.
    limits
        Further requirements, each worth the same; Strategy is their share, and 100 where there are none.
    solution
        A position that meets them all.
    printed
        Figures of the published question, for comparison.
    """

    family: str
    category: str
    question: str
    context: Mapping[str, Json]
    legs_wanted: str
    figures: Mapping[Dimension, Sequence[Figure]]
    series: Sequence[Series]
    stock: bool
    truth: Callable[[Position | None], Figures]
    structure: Callable[[Position], Sequence[Requirement]]
    limits: Callable[[Position], Sequence[Requirement]]
    solution: Position
    printed: Mapping[str, Json] = field(default_factory=dict)

    def is_sound(self) -> bool:
        """Return whether the solution meets everything and no figure asked for is so near zero that 0 would do."""
        if not all(item.met for item in (*self.structure(self.solution), *self.limits(self.solution))):
            return False
        truth = self.truth(self.solution)
        return all(
            abs(truth[figure.name]) > 6.0 * figure.floor for figures in self.figures.values() for figure in figures
        )

    def task(self, task_id: str) -> Task:
        """Return what the agent sees."""
        return Task(
            task_id=task_id,
            section="options_trading",
            dataset="options",
            category=self.category,
            family=self.family,
            as_of=AS_OF,
            question=self.question,
            answer_format=self._answer_format(),
            answer_schema=self._schema(),
            context=self.context,
            servers=("options", "risk"),
        )

    def _answer_format(self) -> str:
        lines = [
            "Reply with one JSON object with the keys pnl, greeks, strategy and risk (25 points each). Numbers are "
            "JSON numbers without units or thousands separators; losses are positive where the name says loss or "
            "value at risk, profits have their sign. A number is right within 5% of the exact value, or within the "
            "absolute margin given with it, whichever is wider; a price level of the underlying within 0.2%."
        ]
        for dimension in DIMENSIONS:
            items = "; ".join(
                f"{figure.name}: {figure.meaning} (margin {figure.floor:g})" for figure in self.figures[dimension]
            )
            lines.append(f'"{dimension}": {items}.')
        lines.append(
            f'"strategy": an object with the key "legs". {self.legs_wanted} Each leg is an object with "kind" '
            '("call", "put" or "stock"), "quantity" (whole contracts of 100 shares, or shares of stock; positive '
            'bought, negative sold) and, for options, "strike" and "days_to_expiry".'
        )
        if any(figure.of_legs for figures in self.figures.values() for figure in figures):
            lines.append("Figures that describe your position are checked against the legs that you give.")
        return "\n".join(lines)

    def _schema(self) -> dict[str, Json]:
        properties: dict[str, Json] = {}
        for dimension in DIMENSIONS:
            names = {
                figure.name: {"type": "number", "description": figure.meaning} for figure in self.figures[dimension]
            }
            properties[dimension] = {"type": "object", "properties": names, "required": list(names)}
        leg = {
            "type": "object",
            "properties": {
                "kind": {"enum": ["call", "put", "stock"]},
                "quantity": {"type": "integer"},
                "strike": {"type": "number"},
                "days_to_expiry": {"type": "integer"},
            },
            "required": ["kind", "quantity"],
        }
        properties["strategy"] = {
            "type": "object",
            "properties": {"legs": {"type": "array", "items": leg}},
            "required": ["legs"],
        }
        return {"type": "object", "properties": properties, "required": [*DIMENSIONS, "strategy"]}

    def perfect_reply(self) -> str:
        """Return a reply that earns every point."""
        truth = self.truth(self.solution)
        reply: dict[str, Json] = {
            dimension: {figure.name: float(f"{truth[figure.name]:.8g}") for figure in self.figures[dimension]}
            for dimension in DIMENSIONS
        }
        reply["strategy"] = {"legs": [written(holding) for holding in self.solution]}
        return json.dumps(reply)


def written(holding: Holding) -> dict[str, Json]:
    """Return a leg as a reply lists it."""
    if holding.series is None:
        return {"kind": "stock", "quantity": holding.quantity}
    return {
        "kind": holding.series.kind,
        "quantity": holding.quantity,
        "strike": holding.series.strike,
        "days_to_expiry": holding.series.days,
    }
