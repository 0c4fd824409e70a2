"""Macro Analysis: its figures by another route than the family's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.evaluators.casebook.second_routes.told import Answers, found


def curve_move(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    before, after = dict(i["before"]), dict(i["after"])
    if i["missing"]:
        quoted = sorted(t for t in after if t != i["missing"])
        after[i["missing"]] = float(np.interp(i["missing"], quoted, [after[t] for t in quoted]))
    change = {t: after[t] - before[t] for t in after}
    profit = sum(np.polyval([5e5 * c / 1e4, -1e6 * d / 100, 0.0], change[t]) * m for t, m, d, c in i["bonds"])
    side = "bear" if change[10] > 0 else "bull"
    shape = "steepener" if change[10] > change[2] else "flattener"
    return [{"slope_change_bp": 100 * (change[10] - change[2]), "book_profit_usd": profit, "move": f"{side} {shape}"}]


def inflation_rule(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    rows = i["rows"]
    if level == "easy":
        inflation = float(rows[15][1]) / float(rows[3][1]) - 1
    elif level == "hard":
        inflation = math.expm1(4 * math.log(float(rows[15][2]) / float(rows[12][2])))
    else:
        link = next(row for row in rows if all(cell[0].isdigit() for cell in row[1:]))
        inflation = float(rows[15][2]) / float(link[2]) * float(link[1]) / float(rows[3][1]) - 1
    rule = 1.5 * inflation - 0.5 * i["target"] + i["neutral"] + 0.5 * i["gap"]
    return [
        {
            "inflation_percent": 100 * inflation,
            "gap_to_rule_bp": 1e4 * (i["policy"] - rule),
            "real_policy_rate_percent": 100 * (i["policy"] - inflation) / (1 + inflation),
            "policy": "tight" if i["policy"] > rule else "loose",
        }
    ]


def volatility_regime(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    past = np.array(i["past"])
    told: dict[str, Any] = {
        "average_before": past.mean(),
        "one_deviation_loss_usd": i["position"] * i["beta"] * i["now"] / 100 * (i["horizon"] / 252) ** 0.5,
    }
    if level != "easy":
        score = (i["now"] - past.mean()) / past.std(ddof=1)
        bar = float(found(r"z-score exceeds ([0-9.]+),", texts[0])[1])
        told |= {"z_score": score, "regime": ["calm", "ordinary", "stressed"][int(score > -bar) + int(score > bar)]}
    return [told]
