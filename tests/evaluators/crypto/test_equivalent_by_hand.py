"""The equivalent information coefficient beside a plain loop over bars, and read off a curve of five points."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from evaluators.crypto.equivalent import COEFFICIENTS, LEAST_BELIEF, TWO_SIDED_95, equivalent_ic, forecaster_worth
from tests.evaluators.crypto.test_skill_by_hand import Rows, mean, shares_by_loop

RETURNS: Rows = [[0.02, -0.03], [-0.04, 0.01], [0.03, 0.05], [0.01, -0.02], [-0.05, 0.04], [0.02, 0.03], [0.01, -0.06]]
"""``[bars][episodes]``."""
DEVIATION: Rows = [[0.03, 0.02], [0.04, 0.03], [0.02, 0.0], [0.03, 0.05], [0.04, 0.02], [0.03, 0.03], [0.02, 0.04]]
ONE: Rows = [[0.001 * (1 + bar), 0.0005 * (8 - bar)] for bar in range(7)]
TWO: Rows = [[2.5 * each for each in row] for row in ONE]
COST = np.array([np.zeros((7, 2)), ONE, TWO])
BY_BAR: Rows = [[10.0 + bar, 20.0 - bar] for bar in range(7)]


def worth_by_loop(unit: Rows, rho: float, repeats: int, seed: int) -> float:
    """Return what one forecaster nets, bar by bar and episode by episode, costs paid out of timing."""
    total = 0.0
    for noise in np.random.default_rng(seed).standard_normal((repeats, 7, 2)).tolist():
        timing: Rows = [[0.0, 0.0] for _ in range(7)]
        paid: Rows = [[0.0, 0.0] for _ in range(7)]
        for episode in range(2):
            held = 0
            for bar in range(7):
                deviation, moved = DEVIATION[bar][episode], RETURNS[bar][episode]
                z = moved / deviation if deviation else 0.0
                seen = rho * z + math.sqrt(1.0 - rho * rho) * noise[bar][episode]
                forecast = max(rho, 0.1) * deviation * seen
                side = held
                if abs(forecast) > ONE[bar][episode]:
                    side = 1 if forecast > 0 else -1
                trade = {0: 0.0, 1: ONE[bar][episode], 2: TWO[bar][episode]}[abs(side - held)]
                timing[bar][episode] = side * moved * unit[bar][episode]
                paid[bar][episode] = trade * unit[bar][episode]
                held = side
        moves, costs = [mean(row) for row in timing], [mean(row) for row in paid]
        total += sum(share * moved for share, moved in zip(shares_by_loop(moves, costs), moves, strict=True))
    return total / repeats


@pytest.mark.parametrize("unit", [BY_BAR, [[10.0, 30.0]] * 7], ids=["by bar", "by episode"])
@pytest.mark.parametrize(("rho", "seed"), [(0.0, 3), (0.05, 3), (0.3, 1), (0.7, 2), (1.0, 4)])
def test_a_forecaster_is_worth_what_a_plain_loop_nets(unit: Rows, rho: float, seed: int) -> None:
    """Oracle: forecasts, sides, changes and costs one after the other; a worth below 0 is told as 0."""
    expected = worth_by_loop(unit, rho, 3, seed)
    given = np.array(unit) if unit is BY_BAR else np.array(unit[0])
    found = forecaster_worth(
        np.array(RETURNS), np.array(DEVIATION), COST, unit=given, coefficients=np.array([rho]), repeats=3, seed=seed
    )
    assert found.tolist() == pytest.approx([max(0.0, expected)])


def test_the_loop_is_no_row_of_zeros_and_the_curve_only_rises() -> None:
    grid = [0.0, 0.05, 0.3, 0.6, 0.7, 1.0]
    alone = [worth_by_loop(BY_BAR, rho, 3, 1) for rho in grid]
    assert sum(each > 0.0 for each in alone) >= 3 and any(a > b for a, b in itertools.pairwise(alone))
    found = forecaster_worth(
        np.array(RETURNS), np.array(DEVIATION), COST, unit=np.array(BY_BAR), coefficients=np.array(grid), repeats=3,
        seed=1,
    )  # fmt: skip
    assert found.tolist() == pytest.approx([max(0.0, *alone[: place + 1]) for place in range(len(grid))])


def test_the_grid_is_the_unit_interval_in_fortieths() -> None:
    assert COEFFICIENTS.tolist() == pytest.approx([place / 40 for place in range(41)])
    assert (LEAST_BELIEF, TWO_SIDED_95) == (0.1, 1.959964)


GRID, WORTH = np.array([0.0, 0.25, 0.5, 0.75, 1.0]), np.array([0.0, 0.0, 0.25, 0.5, 1.0])
"""In units of a half: 0, 0, 50, 100 and 200 points."""


@pytest.mark.parametrize(
    ("score", "value"),
    [(75.0, 0.625), (50.0, 0.5), (25.0, 0.25), (0.5, 0.005), (200.0, 1.0), (900.0, 1.0), (0.0, 0.0), (-5.0, 0.0)],
)
def test_a_score_is_read_off_the_curve(score: float, value: float) -> None:
    assert equivalent_ic(score, 0.0, WORTH, unit=0.5, coefficients=GRID) == pytest.approx((value, value, value))


def test_the_interval_is_read_off_at_its_ends() -> None:
    se = 10.0 / 1.959964
    assert equivalent_ic(75.0, se, WORTH, unit=0.5, coefficients=GRID) == pytest.approx((0.625, 0.575, 0.675))
    assert equivalent_ic(5.0, se, WORTH, unit=0.5, coefficients=GRID) == pytest.approx((0.05, 0.0, 0.15))


def test_the_curve_begins_at_0_and_of_several_coefficients_the_smallest_is_told() -> None:
    late = equivalent_ic(25.0, 0.0, np.array([1.0, 2.0, 2.0]), unit=2.0, coefficients=np.array([0.2, 0.4, 0.9]))
    assert late.value == pytest.approx(0.1)
    most = equivalent_ic(100.0, 0.0, np.array([1.0, 2.0, 2.0]), unit=2.0, coefficients=np.array([0.2, 0.4, 0.9]))
    assert most.value == pytest.approx(0.4)


@pytest.mark.parametrize("unit", [0.0, -1.0, math.nan])
def test_without_anything_to_be_known_no_score_says_anything(unit: float) -> None:
    with pytest.raises(ValueError, match="unit must be above 0"):
        equivalent_ic(50.0, 1.0, WORTH, unit=unit, coefficients=GRID)
