"""Capital among traders: the best shares by trying every way of rising, falling and staying."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tests.evaluators.casebook.second_routes.told import Answers


def total(path: Sequence[float], skills: Sequence[float], days: int, slippage: float, fee: float) -> float:
    earned = sum(days * (share * skill - slippage * share**2) for share, skill in zip(path, skills, strict=True))
    return earned - fee * sum(abs(now - old) for now, old in zip(path, [0.0, *path], strict=False))


def best_path(skills: Sequence[float], days: int, slippage: float, fee: float) -> list[float]:
    """Return the best of all paths that rise, fall or stay after each stretch, each level where its slope vanishes."""
    candidates = []
    for moves in itertools.product((1, 0, -1) if fee else (2,), repeat=len(skills) - 1):
        path: list[float] = []
        start, came = 0, 1
        for end, goes in enumerate([*moves, 2], start=1):
            if goes == 0:
                continue
            # a rise into a level costs the fee, a rise out of it spares as much of what follows
            gone = goes if goes != 2 else 0
            paid = fee * (came - gone)
            mean = (days * sum(skills[start:end]) - paid) / (days * (end - start))
            path += [max(0.0, mean / (2 * slippage))] * (end - start)
            start, came = end, gone
        candidates.append(path)
    return max(candidates, key=lambda path: total(path, skills, days, slippage, fee))


def trader_allocation(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    told: Answers = []
    for start in range(0, len(i["skills"]), i["stay"]):
        stretches = i["skills"][start : start + i["stay"]]
        paths = [best_path(skills, i["days"], i["slippage"], i["fee"]) for skills in zip(*stretches, strict=True)]
        told += [{"shares": list(choice)} for choice in zip(*paths, strict=True)]
    return told
