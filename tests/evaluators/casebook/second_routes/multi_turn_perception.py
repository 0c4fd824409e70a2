"""Multi-turn Perception: its figures by another route than the family's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tests.evaluators.casebook.second_routes.told import Answers, claimed, number


def evidence(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    def belief(signs: list[list[Any]]) -> float:
        true, false = Fraction(i["prior"], 100), 1 - Fraction(i["prior"], 100)
        for _, if_true, if_false in signs:
            true, false = true * if_true, false * if_false
        return float(100 * true / (true + false))

    signs = i["signs"]
    told: Answers = [{"probability_percent": belief(signs[:n])} for n in range(1, len(signs) + 1)]
    gone = next(n for n, sign in enumerate(signs) if sign[0] in texts[-1])
    told.append({"probability_percent": belief(signs[:gone] + signs[gone + 1 :])})
    if level != "easy":
        told[-1]["probability_then_percent"] = belief(signs[: len(signs) - 1])
    return told


def restated_results(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    published = [number(each) for each in re.findall(r"\$[0-9,.]+ (?:million|thousand)", texts[0])]
    new = number(re.findall(r"\$[0-9,.]+ (?:million|thousand)", texts[1])[0])
    corrected = number(re.findall(r"\$[0-9,.]+ (?:million|thousand)", texts[2])[0])

    def growth(values: list[float]) -> float:
        return 100 * (np.sum(values[-4:]) - np.sum(values[-8:-4])) / np.sum(values[-8:-4])

    late = [*published, new]
    fixed = list(late)
    fixed[i["which"]] = corrected
    then = growth(published) if level == "easy" else growth(fixed[:8])
    told: Answers = [
        {"growth_percent": growth(published)},
        {"growth_percent": growth(late)},
        {"growth_percent": growth(fixed), "growth_then_percent": then},
    ]
    if level == "expert":
        moved = number(re.findall(r"\$[0-9,.]+ (?:million|thousand)", texts[3])[0])
        fixed[8], fixed[7] = fixed[8] - moved, fixed[7] + moved
        told.append({"growth_percent": growth(fixed), "quarter_growth_percent": 100 * (fixed[7] - fixed[3]) / fixed[3]})
    return told


def ledger(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    lots, (sold, price), split = i["lots"], i["sale"], i["split"]

    def cost(rows: list[list[float]]) -> float:
        return float(np.average([row[1] for row in rows], weights=[row[0] for row in rows]))

    kept = [lot for n, lot in enumerate(lots) if n != i["gone"]]
    first, second = cost(lots), cost(kept) / split
    told: Answers = [{"average_cost_usd": first}, {"realised_usd": sold * price - sold * first / split}]
    if split > 1:
        told[1]["average_cost_usd"] = first / split
    left = sum(row[0] for row in kept) * split - sold
    told.append(
        {
            "realised_usd": sold * price - sold * second,
            "average_cost_usd": second,
            "unrealised_usd": left * i["mark"] - left * second,
        }
    )
    if level == "expert":
        at = claimed(texts[3], r"stood at \$", r"\. Which")
        told.append({"unrealised_then_usd": sum(row[0] * (at - row[1]) for row in lots)})
    return told
