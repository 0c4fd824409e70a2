"""P&L Attribution: its figures by another route than the family's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.evaluators.casebook.second_routes.told import Answers


def smile_day(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    moved = i["parallel"] + i["slope"] * i["change"] / i["spot"] * 100
    # value of the book as a polynomial in the move of the share and of volatility
    terms = np.array([i["delta"], i["gamma"] / 2 * i["change"], i["vanna"] * moved]) * i["change"]
    parts = {"delta": terms[0], "gamma": terms[1], "vanna": terms[2], "vega": i["vega"] * moved,
             "theta": i["theta"] * i["days"]}  # fmt: skip
    total = float(sum(parts.values()))
    return [
        {
            "gamma_pnl": float(parts["gamma"]),
            "vega_pnl": parts["vega"],
            "explained_pnl": total,
            "unexplained_pnl": i["actual"] - total,
            "largest": max(parts, key=lambda name: abs(parts[name])),
        }
    ]
