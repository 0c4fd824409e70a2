"""Strategy Construction: its figures by another route than the family's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.evaluators.casebook.second_routes.told import Answers


def exit_rules(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    marks, credit = i["marks"], i["credit"]
    days = range(len(marks))
    reached = {
        "target": next((n for n in days if marks[n] <= credit * (100 - i["take"]) / 100), 99),
        "stop": next((n for n in days if marks[n] >= credit * i["stop"]), 99),
        "time": len(marks) - 1 - i["out"] if i["out"] else 99,
        "expiry": len(marks) - 1,
    }
    reason = min(reached, key=lambda name: reached[name])
    fee, slip, shares = 2 * i["fee"] * i["contracts"], i["slip"], 100 * i["contracts"]
    opened = shares * (credit - slip) - fee
    closing = shares * (marks[reached[reason]] + slip) + fee if reason != "expiry" else shares * marks[-1]
    profit = opened - closing
    return [
        {
            "profit_usd": profit,
            "return_on_risk_percent": 100 * profit / (shares * i["width"] - opened),
            "given_up_usd": opened - shares * (min(marks) + slip) - fee - profit,
            "exit": reason,
        }
    ]
