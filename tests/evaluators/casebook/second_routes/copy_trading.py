"""Copy Trading: its figures by another route than the family's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from tests.evaluators.casebook.second_routes.told import Answers, found


def follow_or_fade(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    expected = []
    for _, months, mean in i["traders"]:
        # the posterior mean of a normal with a normal prior by quadrature
        skill = np.linspace(-8 * i["skill_sd"], 8 * i["skill_sd"], 20_001)
        weight = stats.norm.pdf(skill, 0, i["skill_sd"]) * stats.norm.pdf(
            mean, skill, i["noise_sd"] / math.sqrt(months)
        )
        expected.append(float((skill * weight).sum() / weight.sum()))
    names, cost = [row[0] for row in i["traders"]], i["cost"]
    best = int(np.argmax([row[2] for row in i["traders"]]))
    gain = sum(max(value - cost, -value - cost, 0) for value in expected) * i["each"] / 1e4
    return [
        {
            "expected_skill_of_best_bp": expected[best],
            "expected_gain_usd": gain,
            "follow": {name for name, value in zip(names, expected, strict=True) if value > cost},
            "fade": {name for name, value in zip(names, expected, strict=True) if value < -cost},
        }
    ]


def copied_fills(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    ratio, lag = Fraction(str(i["ratio"])), Fraction(i["lag"], 10_000)
    buys = [row for row in i["fills"] if row[0] > 0]
    sells = [row for row in i["fills"] if row[0] < 0]
    leader = sum(-sign * shares * Fraction(str(price)) for sign, shares, price in i["fills"])
    bought = [int(row[1] * ratio) for row in buys]
    sold = [int(row[1] * ratio) for row in sells[:-1]]
    sold.append(sum(bought) * i["split"] - sum(sold))
    paid = sum(n * Fraction(str(row[2])) * (1 + lag) for n, row in zip(bought, buys, strict=True))
    got = sum(n * Fraction(str(row[2])) * (1 - lag) for n, row in zip(sold, sells, strict=True))
    fees = sum(max(Fraction(i["least"]), n * Fraction(str(i["fee"]))) for n in bought + sold)
    copy = got - paid - fees
    return [
        {
            "leader_profit_usd": float(leader),
            "copy_profit_usd": float(copy),
            "shortfall_usd": float(leader * ratio - copy),
            "result": "gained" if copy > 0 else "lost",
        }
    ]


def luck_or_skill(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    chance = 0.5 if level == "easy" else i["loss"] / (i["win"] + i["loss"])
    tail = stats.binom.sf(i["wins"] - 1, i["bets"], chance)
    best = stats.binom.sf(0, i["pool"], tail)
    bar = float(found(r"does as well is below ([0-9]+)%", texts[0])[1])
    told: dict[str, Any] = {
        "chance_of_one_percent": 100 * tail,
        "chance_of_best_percent": 100 * best,
        "verdict": "skill" if 100 * best < bar else "luck",
    }
    if level == "expert":
        by_skill = stats.binom.pmf(i["wins"], i["bets"], min(0.95, chance + i["edge"])) * i["prior"]
        by_luck = stats.binom.pmf(i["wins"], i["bets"], chance) * (1 - i["prior"])
        told["belief_in_skill_percent"] = 100 * by_skill / (by_skill + by_luck)
    return [told]
