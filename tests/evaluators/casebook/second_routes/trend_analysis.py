"""Trend Analysis: its figures by another route than the family's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tests.evaluators.casebook.second_routes.told import Answers


def forecast(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    # month by month: centre and variance of the distance from the line
    gap, variance = i["value"] - i["start"] - i["drift"] * i["last"] - i["season"][i["last"] % 12], 0.0
    for _ in range(i["steps"]):
        gap, variance = gap * i["keep"], variance * i["keep"] ** 2 + i["noise"] ** 2
    ahead = i["last"] + i["steps"]
    mean = i["start"] + i["drift"] * ahead + i["season"][ahead % 12] + gap
    return [{"forecast": {"mean": mean, "deviation": math.sqrt(variance)}}]
