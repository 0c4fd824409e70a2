"""Volatility Trading: its figures by another route than the family's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pricing.surface import history
from tests.evaluators.casebook.second_routes.told import Answers, claimed


def rank_and_percentile(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    percentile = history.iv_percentile(i["now"], i["known"])
    told: dict[str, Any] = {
        "iv_rank": history.iv_rank(i["now"], i["known"]),
        "iv_percentile": percentile,
        "expected_move_usd": i["spot"] * i["now"] * math.sqrt(i["days"] / 365) / 100,
    }
    high = claimed(texts[0], "percentile exceeds", ", buy")
    low = claimed(texts[0], "it is below", ", else")
    side = "sell" if percentile > high else "buy" if percentile < low else "wait"
    if level == "expert":
        told["gain_at_realised_usd"] = i["vega"] * i["realised"] - i["vega"] * i["now"]
        if (side == "sell" and i["realised"] >= i["now"]) or (side == "buy" and i["realised"] <= i["now"]):
            side = "wait"
    return [told | {"trade": side}]
