"""The arithmetic of the score on a few bars of three windows, beside plain loops and figures that fit on a card."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from evaluators.crypto.hindsight import Available
from evaluators.crypto.skill import best_moves, by_window, error_of_mean, judge, moves, scales, shares

Rows = list[list[float]]
"""``[bars][windows]``."""
FAMILIES = ("bull", "bear", "bull")
BEST = [0.5, 1.5, 0.4]


class Case(NamedTuple):
    """What was played, what one usual move is worth in points, and how much of the costs was collected."""

    timing: Rows
    cost: Rows
    unit: list[float] | None
    collected: float


def mean(row: Sequence[float]) -> float:
    return sum(row) / len(row)


def shares_by_loop(timing: Sequence[float], cost: Sequence[float]) -> list[float]:
    """Return ``g``: what is owed over the mean timing of the bars before, less one, cut to [0, 1]."""
    found: list[float] = []
    for bar in range(len(timing)):
        given_up = abs(sum((1.0 - share) * moved for share, moved in zip(found, timing, strict=False)))
        debt = max(0.0, sum(cost[:bar]) - given_up)
        typical = abs(sum(timing[:bar])) / bar if bar else 0.0
        found.append(1.0 if debt == 0.0 else max(0.0, 1.0 - debt / typical) if typical > 0.0 else 0.0)
    return found


def units_by_loop(best: Sequence[float]) -> list[float]:
    """Return 100 over the mean of the other windows' best."""
    others = [mean([*best[:place], *best[place + 1 :]]) for place in range(len(best))]
    return [100.0 / other if other > 0.0 else 0.0 for other in others]


def column(rows: Rows, window: int) -> list[float]:
    return [row[window] for row in rows]


@pytest.mark.parametrize(
    ("timing", "cost", "expected"),
    [
        # 4 of the first bar's 10 are owed and taken from the second
        ([10, 10, 10], [4, 0, 0], [1, 0.6, 1]),
        # more is owed than a bar brings: it is taken whole, and the rest of 3 from the next
        ([10, 10, 10], [13, 0, 0], [1, 0, 0.7]),
        # a loser owes as well, and his losses shrink by it
        ([-10, -10, -10], [4, 0, 0], [1, 0.6, 1]),
        # typical is what came so far, 10 over 2 bars
        ([10, 0, 8, 8], [0, 2, 0, 0], [1, 1, 0.6, 1]),
        # paid was 0.2 of 20, which leaves 2 of 6
        ([10, 20, 30, 10], [2, 4, 0, 0], [1, 0.8, 1 - 2 / 15, 1]),
        # gains and losses that are given up make up for each other
        ([10, -20, 40, 1], [5, 0, 0, 0], [1, 0.5, 1, 1]),
        ([0, 7, 7], [1, 0, 0], [1, 0, 1]),
        ([0, 0, 7], [0, 0, 0], [1, 1, 1]),
        ([0.5, 0.5, 0.5], [0.2, 0, 0], [1, 0.6, 1]),
    ],
)
def test_shares_on_a_card(timing: list[float], cost: list[float], expected: list[float]) -> None:
    assert shares_by_loop(timing, cost) == pytest.approx(expected)
    found = shares(np.array([timing, timing]).T, np.array([cost, [0.0] * len(cost)]).T)
    assert found[:, 0].tolist() == pytest.approx(expected)
    assert found[:, 1].tolist() == [1.0] * len(timing)


TIMING: Rows = [[3.0, 1.0, 2.0], [0.5, 1.5, -0.5], [2.0, -1.0, 5.0], [1.0, 4.0, 0.25]]
COST: Rows = [[0.5, 0.25, 0.75], [0.0, 0.5, 0.1], [0.4, 0.0, 0.2], [2.0, 1.5, 3.0]]
CASES = {
    "costs that are collected in part": Case(TIMING, COST, None, 0.255),
    "costs of less than a point": Case(TIMING, COST, [0.04, 0.05, 0.06], 0.356),
    "a loser": Case([[-each for each in row] for row in TIMING], COST, None, 0.255),
    # nothing is typical yet, so the second bar is given up whole for a cost of 1
    "costs that are collected more than once": Case(
        [[1.0, -1.0, 0.0], [4.0, 3.0, 8.0], [2.0, 1.0, 1.0]],
        [[1.0, 0.5, 1.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        [10.0, 20.0, 5.0],
        1.0,
    ),
    "no costs": Case(TIMING, [[0.0, 0.0, 0.0]] * 4, None, 1.0),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_value_error_and_samples_are_those_of_a_plain_loop(case: Case) -> None:
    """Oracle: what the docstrings of the module and of ``judge`` say, window by window."""
    unit = units_by_loop(BEST) if case.unit is None else case.unit
    share = shares_by_loop([mean(row) for row in case.timing], [mean(row) for row in case.cost])
    timing, cost, counted = [], [], []
    for window in range(3):
        own = column(case.timing, window)
        timing.append(unit[window] * sum(own))
        cost.append(unit[window] * sum(column(case.cost, window)))
        counted.append(unit[window] * sum(part * moved for part, moved in zip(share, own, strict=True)))
    value, owed = mean(counted), mean(cost)
    collected = min(1.0, abs(mean(timing) - value) / owed) if owed else 1.0
    assert collected == pytest.approx(case.collected, abs=0.001)
    side = math.copysign(1.0, mean(timing))
    influence = []
    for window in range(3):
        net = timing[window] - side * cost[window]
        earned = (1.0 - collected) * counted[window] + collected * net
        influence.append(earned - value * BEST[window] / mean(BEST))
    samples = [value + each - mean(influence) for each in influence]
    bull, bear = (samples[0] + samples[2] - 2.0 * value) / 3.0, (samples[1] - value) / 3.0

    units = None if case.unit is None else lambda best: np.array(case.unit)
    shown = judge(np.stack([np.array(case.timing), np.array(case.cost)], axis=-1), np.array(BEST), FAMILIES, unit=units)
    assert shown.value == pytest.approx(min(value, 100.0))
    assert (shown.timing, shown.cost) == pytest.approx((mean(timing), owed))
    assert shown.points == pytest.approx(np.array([timing, cost]).T)
    assert shown.samples.tolist() == pytest.approx(samples)
    assert shown.samples.mean() == pytest.approx(value)
    assert shown.se == pytest.approx(math.sqrt(2.0 * (bull**2 + bear**2)))


def test_one_task_on_a_card() -> None:
    """Two windows of two bars, a point a move: costs of 2 are due in the first bar and paid in the second.

    By bar 4 and 4 are earned on average and 2 owed after the first: half of the second counts, 6 of 8 in all. Both
    windows offer as much; the samples are timing less costs, 10 - 3 and 6 - 1.
    """
    windows = np.array([[[5.0, 3.0], [3.0, 1.0]], [[5.0, 0.0], [3.0, 0.0]]])
    shown = judge(windows, np.array([9.0, 9.0]), ["a", "b"], unit=np.ones_like)
    assert (shown.value, shown.timing, shown.cost) == (6.0, 8.0, 2.0)
    assert shown.samples.tolist() == [7.0, 5.0] and shown.se == pytest.approx(1.0)
    assert shown.points.tolist() == [[10.0, 3.0], [6.0, 1.0]]


def test_more_than_everything_is_100_and_its_samples_are_not_cut() -> None:
    windows = np.array([[[4.0, 0.0], [6.0, 0.0]]])
    shown = judge(windows, np.array([4.0, 4.0]), ["a", "b"])
    assert shown.value == 100.0 and shown.timing == 125.0 and shown.samples.tolist() == [100.0, 150.0]


def test_where_nothing_was_to_be_had_there_are_no_points() -> None:
    shown = judge(np.ones((2, 3, 2)), np.zeros(3), FAMILIES)
    assert (shown.value, shown.se, shown.timing, shown.cost) == (0.0, 0.0, 0.0, 0.0)
    assert shown.samples.tolist() == [0.0, 0.0, 0.0]


def test_timing_and_cost_of_a_window_are_means_of_its_episodes_in_their_usual_moves() -> None:
    """The second episode never moved before it was played: it counts as nothing, in the mean as well."""
    timing, cost = np.array([[1.0, 9.0, 4.0], [3.0, 9.0, 8.0]]), np.array([[0.5, 9.0, 2.0], [0.0, 9.0, 1.0]])
    usual, window = np.array([0.5, 0.0, 2.0]), np.array([7, 7, 3])
    found = moves(timing, cost, usual, window)
    assert found.tolist() == [[[2.0, 1.0], [1.0, 0.5]], [[4.0, 0.5], [3.0, 0.0]]]
    offered = Available(timing, timing, np.array([1.0, 9.0, 4.0]), np.array([0.25, 9.0, 1.0]))
    assert best_moves(offered, usual, window).tolist() == [1.5, 0.75]


def test_means_are_taken_over_the_episodes_of_a_window() -> None:
    episodes = np.array([[[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]])
    assert by_window(episodes, np.array([0, 1, 0])).tolist() == [[[3.0, 4.5], [3.0, 4.0]]]


def test_a_scale_is_100_over_the_mean_of_the_others() -> None:
    assert scales(np.array([4.0, 0.5])).tolist() == [200.0, 25.0]
    assert scales(np.array(BEST)).tolist() == pytest.approx([100 / 0.95, 100 / 0.45, 100.0])
    assert scales(np.array([5.0, 0.0, 0.0])).tolist() == [0.0, 40.0, 40.0]
    with pytest.raises(ValueError, match="at least 2 windows"):
        scales(np.array([5.0]))


def test_the_error_of_a_mean_on_a_card() -> None:
    """Residuals of a third each: -1, 0 and 1 apart; -1 and 1 with the last two in one family."""
    samples = np.array([2.0, 5.0, 8.0])
    assert error_of_mean(samples, ["a", "b", "c"]) == pytest.approx(math.sqrt(1.5 * 2.0))
    assert error_of_mean(samples, ["a", "b", "b"]) == pytest.approx(math.sqrt(2.0 * 2.0))
    assert error_of_mean(samples, ["a", "a", "a"]) == 0.0
    with pytest.raises(ValueError, match="zip"):
        error_of_mean(samples, ["a", "b"])
