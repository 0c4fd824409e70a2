"""Risk Management: its figures by another route than the family's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.evaluators.casebook.second_routes.told import Answers


def component_risk(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    amount = np.array(i["held"]) * np.array(i["daily"]) * 1e4 * math.sqrt(i["days"])
    quantile = {95: 1.645, 99: 2.326}[i["level"]]

    def at_risk(vector: Any) -> float:
        return quantile * float(np.sqrt(vector @ np.array(i["rho"]) @ vector))

    # the component by a numeric slope in the size of the position
    parts = []
    for n in range(len(amount)):
        step = np.zeros(len(amount))
        step[n] = 1e-4 * amount[n]
        parts.append((at_risk(amount + step) - at_risk(amount - step)) / 2e-4)
    whole = at_risk(amount)
    assert sum(parts) == pytest.approx(whole)
    return [
        {
            "value_at_risk_usd": whole,
            "component_usd": parts[i["asked_of"]],
            "diversification_usd": sum(quantile * abs(each) for each in amount) - whole,
            "largest_component": i["assets"][int(np.argmax(parts))],
        }
    ]
