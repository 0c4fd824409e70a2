"""Shares to be stated turn after turn where the truth is not told, and the law by which they are scored."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from evaluators.answers import Refusal, number_field, parse_json_object
from evaluators.contract import Json

SLACK = 1e-6
"""By how much the sum may be exceeded: what rounding to sensible digits adds."""

Choice = tuple[float, ...]
"""A share for each name."""


class Law(Protocol):
    """The true law of a repeated decision: never told, and nothing in it is drawn after the answer."""

    def gains(self, choices: Sequence[Choice]) -> list[float]:
        """Return the expected gain of each round, given what was chosen in all of them."""
        ...


@dataclass(frozen=True)
class Shares:
    """How much goes where in the next round.

    Attributes
    ----------
    name
        Key in the reply.
    meaning
        What a share is.
    among
        The names, in the order of a choice.
    most
        What the shares may add up to.
    gold
        The choice of who knows the law.
    """

    name: str
    meaning: str
    among: tuple[str, ...]
    most: float
    gold: Choice

    def read(self, text: str) -> Choice | Refusal:
        """Return the stated shares, 0 for a name left out, or why the reply cannot be taken."""
        document = parse_json_object(text)
        if isinstance(document, Refusal):
            return document
        stated = document.get(self.name)
        if not isinstance(stated, dict):
            return Refusal(f"{self.name}: must be an object of names and numbers")
        unknown = next((name for name in stated if name not in self.among), None)
        if unknown is not None:
            return Refusal(f"{self.name}: no such name: {json.dumps(unknown)[:60]}")
        choice = []
        for name in self.among:
            share = number_field(stated, name) if name in stated else 0.0
            if isinstance(share, Refusal):
                return share
            if not 0 <= share <= self.most + SLACK:
                return Refusal(f"{name}: must lie between 0 and {self.most:g}, got {share:g}")
            choice.append(share)
        if math.fsum(choice) > self.most + SLACK:
            return Refusal(f"{self.name}: add up to {math.fsum(choice):g}, at most {self.most:g} is allowed")
        return tuple(choice)

    def answer_format(self) -> str:
        """Return how the reply is to be written."""
        first, second = self.among[:2]
        return (
            f'Reply with one JSON object with the key "{self.name}": an object that gives for each of '
            f"{', '.join(self.among)} {self.meaning}, as a JSON number of 0 or more; a name left out has 0. Together "
            f'they are at most {self.most:g}. For example: {{"{self.name}": {{"{first}": 0.07, "{second}": 0}}}}.'
        )

    def schema(self) -> dict[str, Json]:
        """Return the JSON schema of the reply."""
        numbers = {name: {"type": "number"} for name in self.among}
        inner = {"type": "object", "properties": numbers, "additionalProperties": False}
        return {"type": "object", "properties": {self.name: inner}, "required": [self.name]}

    def perfect_reply(self) -> str:
        """Return the reply of who knows the law."""
        written = {name: float(f"{share:.9g}") for name, share in zip(self.among, self.gold, strict=True)}
        return json.dumps({self.name: written})
