"""Stakes on several strategies: all ways of a play by a plain loop, the best stakes by a quasi-Newton method."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from tests.evaluators.casebook.second_routes.told import Answers

Array = NDArray[np.float64]


def ways(
    chances: Sequence[float],
    wins: Sequence[float],
    losses: Sequence[float],
    pair: Sequence[int] | None,
    together: float,
) -> tuple[Array, Array]:
    """Return what a stake of 1 brings in each way that all can end, and how likely the way is."""
    payoffs, likely = [], []
    for won in itertools.product((True, False), repeat=len(chances)):
        each = [chance if good else 1 - chance for good, chance in zip(won, chances, strict=True)]
        chance = math.prod(each)
        if pair:
            # one draw decides both: it lies between the bounds within which either ends so
            bounds = [(0.0, chances[n]) if won[n] else (chances[n], 1.0) for n in pair]
            common = max(0.0, min(high for _, high in bounds) - max(low for low, _ in bounds))
            rest = math.prod(value for n, value in enumerate(each) if n not in pair)
            chance = (1 - together) * chance + together * common * rest
        payoffs.append([win if good else -loss for good, win, loss in zip(won, wins, losses, strict=True)])
        likely.append(chance)
    return np.array(payoffs), np.array(likely)


def best_stakes(payoffs: Array, likely: Array) -> list[float]:
    def loss(stakes: Array) -> tuple[float, Array]:
        wealth = 1 + payoffs @ stakes
        if wealth.min() <= 1e-9:
            return 1e3, -payoffs.min(axis=0)
        return -float(likely @ np.log(wealth)), -payoffs.T @ (likely / wealth)

    count = payoffs.shape[1]
    found = optimize.minimize(
        loss, np.full(count, 0.01), jac=True, method="L-BFGS-B", bounds=[(0, 0.9)] * count,
        options={"ftol": 1e-16, "gtol": 1e-9, "maxiter": 500},
    )  # fmt: skip
    return [float(stake) for stake in found.x]


def unknown_odds(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    known: dict[str, list[float]] = {}
    told: Answers = []
    for law in zip(i["chances"], i["wins"], i["losses"], i["pairs"], i["together"], strict=True):
        if str(law) not in known:
            known[str(law)] = best_stakes(*ways(*law))
        told.append({"stakes": known[str(law)]})
    return told
