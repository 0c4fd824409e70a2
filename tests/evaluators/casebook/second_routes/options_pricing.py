"""Options Pricing: its figures by another route than the family's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from tests.evaluators.casebook.second_routes.told import Answers


def early_exercise(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    """Every path of the tree: the European value is a sum over paths, the American one a recursion over them."""
    up = math.exp(i["volatility"] * math.sqrt(i["step"]))
    weight = (math.exp(i["rate"] * i["step"]) - 1 / up) / (up - 1 / up)
    bare = i["spot"] - i["dividend"] * math.exp(-i["rate"] * i["step"] * i["paid_after"])
    sign = 1 if i["call"] else -1

    def gain(moves: tuple[int, ...]) -> float:
        left = i["paid_after"] - len(moves)
        due = i["dividend"] * math.exp(-i["rate"] * i["step"] * left) if left > 0 else 0.0
        return max(sign * (bare * up ** sum(moves) + due - i["strike"]), 0.0)

    def american(moves: tuple[int, ...]) -> float:
        if len(moves) == i["steps"]:
            return gain(moves)
        held = weight * american((*moves, 1)) + (1 - weight) * american((*moves, -1))
        return max(gain(moves), math.exp(-i["rate"] * i["step"]) * held)

    european = 0.0
    for moves in itertools.product((1, -1), repeat=i["steps"]):
        ups = moves.count(1)
        european += weight**ups * (1 - weight) ** (i["steps"] - ups) * gain(moves)
    european *= math.exp(-i["rate"] * i["step"] * i["steps"])
    value = american(())
    return [
        {
            "american_value": value,
            "european_value": european,
            "early_exercise_premium": value - european,
            "exercise_now": "yes" if value == gain(()) else "no",
        }
    ]
