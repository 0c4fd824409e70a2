"""Race to 10M: its figures by another route than the family's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import optimize

from tests.evaluators.casebook.second_routes.told import Answers


def walk(chance: float, units: int, goal: int) -> tuple[float, float]:
    """Return success and length of a walk by unit steps, from the linear equations of its states."""
    size = goal - 1
    matrix = np.eye(size) - chance * np.eye(size, k=1) - (1 - chance) * np.eye(size, k=-1)
    edge = np.zeros(size)
    edge[-1] = chance
    return float(np.linalg.solve(matrix, edge)[units - 1]), float(np.linalg.solve(matrix, np.ones(size))[units - 1])


def growth_stake(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    net = i["gain"] * (1 - i["tax"])

    def growth(stake: float) -> float:
        return i["chance"] * math.log(1 + stake * net) + (1 - i["chance"]) * math.log(1 - stake * i["lost"])

    most = 0.999999 / i["lost"]
    capped = most
    if level == "expert":
        capped = optimize.brentq(lambda f: (1 - f * i["lost"]) ** i["streak"] - (1 - i["most"]), 0, most)
    free = optimize.minimize_scalar(
        lambda f: -growth(f), bounds=(0, most), method="bounded", options={"xatol": 1e-10}
    ).x
    stake = min(free, capped)
    told: dict[str, Any] = {
        "stake_percent": 100 * stake,
        "growth_percent": 100 * growth(stake),
        "years_to_goal": math.log(1e7 / i["start"]) / growth(stake) / i["a_year"],
    }
    return [told | ({"limit": "binds" if capped < free else "does not bind"} if level == "expert" else {})]


def ruin_or_goal(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    if level == "expert":
        goal, chance = i["goal"], i["chance"]
        best = np.zeros(goal + 1)
        best[goal] = 1
        timid = best.copy()
        for _ in range(i["rounds"]):
            new, slow = best.copy(), timid.copy()
            for held in range(1, goal):
                bets = range(0, min(held, goal - held) + 1)
                new[held] = max(chance * best[held + bet] + (1 - chance) * best[held - bet] for bet in bets)
                slow[held] = chance * timid[held + 1] + (1 - chance) * timid[held - 1]
            best, timid = new, slow
        return [
            {"best_chance_percent": 100 * best[i["units"]], "timid_chance_percent": 100 * timid[i["units"]]},
        ]
    if level == "easy":
        success, rounds = walk(i["chance"], i["units"], i["goal"])
        return [{"success_percent": 100 * success, "expected_rounds": rounds}]
    for part in (1, 2, 4, 8):
        success, rounds = walk(i["chance"], i["units"] * part, i["goal"] * part)
        if 1 - success <= i["limit"]:
            break
    return [{"success_percent": 100 * success, "expected_rounds": rounds, "stake": f"${i['unit'] // part:,}"}]


def leverage(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    mean, sigma, rate = i["mean"], i["sigma"], i["rate"]

    def growth(times: float) -> float:
        earned = times * mean + (1 - times) * rate - (times - 1) * i["spread"] * (times > 1)
        return earned - (times * sigma) ** 2 / 2

    def fall(times: float) -> float:
        # a Brownian motion with drift g and deviation s ever reaches -b with probability exp(-2 g b / s^2)
        return math.exp(-2 * growth(times) * -math.log(i["keep"]) / (times * sigma) ** 2)

    times = i["times"]
    if level == "hard":
        times = i["fraction"] * optimize.minimize_scalar(lambda t: -growth(t), bounds=(0, 80), method="bounded").x
    if level == "expert":
        times = optimize.brentq(lambda t: fall(t) - i["limit"], 0.05, 50)
    told = {"growth_percent": 100 * growth(times), "median_years": math.log(1e7 / i["start"]) / growth(times)}
    told |= {} if level == "expert" else {"fall_percent": 100 * fall(times)}
    return [told | ({} if level == "easy" else {"leverage": times})]
