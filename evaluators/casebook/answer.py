"""What is asked in one turn, how it is to be written, and what a reply to it is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from evaluators.answers import Refusal, number_field, numbers_match, parse_json_object
from evaluators.answers.tolerance import CLEAR_MARGINS
from evaluators.contract import Json

RELATIVE_TOLERANCE = 0.005
PROBABILITY_MARGIN = 0.25
"""Percentage points, instead of a relative error: 1% of a likely thing would accept what many would guess."""

RIGHT = 0.9
"""Credit from which on an item is called right; only forecasts lie between 0 and 1."""


@dataclass(frozen=True)
class Figure:
    """A number to be stated.

    Attributes
    ----------
    name
        Key in the reply.
    meaning
        What it is, with its unit and sign.
    gold
        The right number.
    floor
        Absolute error that is always accepted, in the figure's unit: what rounding to sensible digits takes away.
    tolerance
        Relative error that is accepted.
    """

    name: str
    meaning: str
    gold: float
    floor: float = 0.0
    tolerance: float = RELATIVE_TOLERANCE

    @classmethod
    def of_probability(cls, name: str, meaning: str, gold: float) -> Figure:
        """Return the figure of a probability in percent."""
        return cls(name, meaning, gold, PROBABILITY_MARGIN, 0.0)

    @property
    def margin(self) -> float:
        """The error that is accepted."""
        return max(self.tolerance * abs(self.gold), self.floor)

    def is_right(self, value: float) -> bool:
        """Return whether a stated number is right."""
        return numbers_match(value, self.gold, relative=self.tolerance, absolute=self.floor)

    def is_clear_of_zero(self) -> bool:
        """Return whether 0 is no near miss."""
        return abs(self.gold) > max(CLEAR_MARGINS * self.floor, 1e-9)

    def describe(self) -> str:
        """Return what is to be written, for the answer format."""
        relative = f"{100 * self.tolerance:g}% of its value" if self.tolerance else ""
        wider = ", whichever is wider" if relative and self.floor else ""
        margin = " or ".join(part for part in (relative, f"{self.floor:g}" if self.floor else "") if part)
        return f"{self.meaning}; a JSON number, right within {margin}{wider}"

    def schema(self) -> dict[str, Json]:
        """Return its JSON schema."""
        return {"type": "number", "description": self.meaning}

    def written(self) -> Json:
        """Return it as an agent would write it."""
        return float(f"{self.gold:.8g}")


@dataclass(frozen=True)
class Verdict:
    """A word, or a set of labels, out of some that are named: guessed too easily to count without its figures.

    Attributes
    ----------
    name, meaning
        As of a :class:`Figure`.
    gold
        The right words: one, or where ``several`` any number of them.
    out_of
        All that may be written.
    several
        Whether a JSON array is asked for.
    """

    name: str
    meaning: str
    gold: tuple[str, ...]
    out_of: tuple[str, ...]
    several: bool = False

    def is_right(self, value: Any) -> bool:
        """Return whether the stated words are right, whatever their order and case."""
        words = value if self.several and isinstance(value, list) else [value]
        if not all(isinstance(word, str) for word in words):
            return False
        stated = sorted(word.strip().casefold() for word in words)
        return stated == sorted(word.casefold() for word in self.gold)

    def describe(self) -> str:
        """Return what is to be written, for the answer format."""
        kind = "a JSON array of any of" if self.several else "one of"
        return f"{self.meaning}; {kind} {', '.join(json.dumps(word) for word in self.out_of)}"

    def schema(self) -> dict[str, Json]:
        """Return its JSON schema."""
        word: dict[str, Json] = {"type": "string", "enum": list(self.out_of)}
        return {"type": "array", "items": word} if self.several else {**word, "description": self.meaning}

    def written(self) -> Json:
        """Return it as an agent would write it."""
        return list(self.gold) if self.several else self.gold[0]


@dataclass(frozen=True)
class Forecast:
    """A normal distribution to be stated, scored by the continuous ranked probability score, a proper rule.

    The score is the expected one under the law that makes the series, so that no luck is in it: 1 for the true
    distribution, 0 for what is not nearer to its score than to that of the last value, with whatever deviation suits
    that best.

    Attributes
    ----------
    name, meaning
        As of a :class:`Figure`.
    mean, deviation
        Of the true distribution, given what is shown.
    naive
        The last value shown.
    """

    name: str
    meaning: str
    mean: float
    deviation: float
    naive: float

    def expected_score(self, mean: float, deviation: float) -> float:
        """Return the expected score of a stated normal distribution; the smaller, the better."""
        apart = mean - self.mean
        spread = math.hypot(deviation, self.deviation)
        tail = math.erf(apart / (spread * math.sqrt(2)))
        near = math.exp(-0.5 * (apart / spread) * (apart / spread))
        distance = apart * tail + spread * math.sqrt(2 / math.pi) * near
        return distance - deviation / math.sqrt(math.pi)

    def credit(self, mean: float, deviation: float) -> float:
        """Return what a stated distribution is worth, 0 to 1."""
        if not (0 < deviation < math.inf and math.isfinite(mean)):
            return 0.0
        best, nothing = self.expected_score(self.mean, self.deviation), self.expected_score(self.naive, self._widest())
        gained = (nothing - self.expected_score(mean, deviation)) / (nothing - best)
        # nothing below half of the way, where a distribution gets by lying on the right side of the last value
        return min(1.0, max(0.0, 2.0 * gained - 1.0))

    def _widest(self) -> float:
        """Return the deviation with which the last value scores best: it grows with how far the last value is off."""
        low, high = self.deviation, self.deviation + 2 * abs(self.mean - self.naive)
        for _ in range(60):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            if self.expected_score(self.naive, left) < self.expected_score(self.naive, right):
                high = right
            else:
                low = left
        return low

    def is_clear_of_naive(self) -> bool:
        """Return whether the last value is a bad forecast, so that there is something to earn."""
        return abs(self.mean - self.naive) > 0.75 * self.deviation

    def describe(self) -> str:
        """Return what is to be written, for the answer format."""
        return (
            ': an object with the JSON numbers "mean" and "deviation" of a normal distribution, scored by its expected '
            "continuous ranked probability score (CRPS): full marks for the true distribution, none for what is no "
            "better than half-way between it and a forecast that repeats the last value shown"
        )

    def schema(self) -> dict[str, Json]:
        """Return its JSON schema."""
        keys = ("mean", "deviation")
        return {"type": "object", "properties": {key: {"type": "number"} for key in keys}, "required": list(keys)}

    def written(self) -> Json:
        """Return it as an agent would write it."""
        return {"mean": float(f"{self.mean:.12g}"), "deviation": float(f"{self.deviation:.12g}")}


Asked: TypeAlias = Figure | Verdict | Forecast


def answer_format(asked: Sequence[Asked]) -> str:
    """Return how the reply is to be written; holds no part of it."""
    keys = "\n".join(f'"{item.name}": {item.describe()}.' for item in asked)
    also = (
        " Words count only beside figures that are all right."
        if any(isinstance(item, Verdict) for item in asked)
        else ""
    )
    return f"Reply with one JSON object with these keys:\n{keys}\nEach key is worth the same.{also}"


def answer_schema(asked: Sequence[Asked]) -> dict[str, Json]:
    """Return the JSON schema of the reply."""
    return {
        "type": "object",
        "properties": {item.name: item.schema() for item in asked},
        "required": [item.name for item in asked],
    }


def perfect_reply(asked: Sequence[Asked]) -> str:
    """Return the reply that earns everything."""
    return json.dumps({item.name: item.written() for item in asked})


def mark(asked: Sequence[Asked], text: str) -> tuple[float, dict[str, dict[str, Json]]]:
    """Return how much of ``asked`` is credited, each counting one, and a note on each.

    Verdicts are credited only where every figure of the turn is right: a coin finds them half of the time.
    """
    document = parse_json_object(text)
    given: Mapping[str, Any] = {} if isinstance(document, Refusal) else document
    credits: dict[str, float] = {}
    notes: dict[str, dict[str, Json]] = {}
    for item in asked:
        credits[item.name], note = _compare(item, given)
        if isinstance(document, Refusal):
            note = {"note": document.reason}
        notes[item.name] = {"right": credits[item.name] >= RIGHT, "expected": item.written(), **note}
    worked_out = all(notes[item.name]["right"] for item in asked if not isinstance(item, Verdict))
    counted = (credits[item.name] for item in asked if worked_out or not isinstance(item, Verdict))
    return math.fsum(counted), notes


def _compare(item: Asked, given: Mapping[str, Any]) -> tuple[float, dict[str, Json]]:
    """Return what the statement on one item is worth, 0 to 1, and a note."""
    value = given.get(item.name)
    if isinstance(item, Verdict):
        return float(item.is_right(value)), {"given": json.dumps(value)[:200]}
    if isinstance(item, Forecast):
        stated = value if isinstance(value, dict) else {}
        mean, deviation = number_field(stated, "mean"), number_field(stated, "deviation")
        if isinstance(mean, Refusal) or isinstance(deviation, Refusal):
            return 0.0, {"note": next(each.reason for each in (mean, deviation) if isinstance(each, Refusal))}
        credit = item.credit(mean, deviation)
        return credit, {"given": {"mean": mean, "deviation": deviation}, "credit": credit}
    number = number_field(given, item.name)
    if isinstance(number, Refusal):
        return 0.0, {"note": number.reason}
    return float(item.is_right(number)), {"given": number}
