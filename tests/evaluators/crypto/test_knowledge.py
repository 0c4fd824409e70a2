"""The score by conditional mean: who knows earns what he knows, and nobody earns by luck."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from evaluators.crypto.hindsight import Array
from evaluators.crypto.knowledge import (
    COEFFICIENTS,
    banded,
    credited,
    equivalent_ic,
    forecaster_worth,
    informed,
    informed_moves,
    spent,
)
from tests.evaluators.crypto import knowable_task
from tests.evaluators.crypto.knowable_task import BARS, WINDOWS, draw, judged, learnt, moved


def test_a_bar_is_credited_with_exposure_times_mean_per_unit_of_the_largest_exposure() -> None:
    exposure = np.array([[0.0, 2.0], [0.5, -1.0]])
    largest = np.array([[0.0, 2.0], [0.5, 4.0]])
    mean = np.array([[0.01, 0.01], [0.02, 0.04]])
    np.testing.assert_allclose(credited(exposure, largest, mean), [[0.0, 0.01], [0.02, -0.01]])


def test_sides_change_where_the_forecast_pays_for_one_trade() -> None:
    forecast = np.array([[0.5], [2.0], [-0.9], [-1.1], [1.0], [1.5]])
    np.testing.assert_array_equal(banded(forecast, np.ones((6, 1)))[:, 0], [0, 1, 1, -1, -1, 1])
    np.testing.assert_array_equal(spent(banded(forecast, np.ones((6, 1))), np.ones((6, 1)))[:, 0], [0, 1, 0, 2, 0, 2])


def test_no_band_nets_more_than_the_informed_policy_in_expectation() -> None:
    """Against the best rule of a wider family: enter, leave and turn at thresholds of their own, found by search."""
    rng = np.random.default_rng(0)
    mean = 0.0025 * rng.uniform(-1.0, 1.0, (28, 4_000))
    cost = np.full(mean.shape, 0.0006)
    best = informed(mean, cost)
    net = float((best.timing - best.cost).mean())

    def other(enter: float, turn: float, leave: float) -> float:
        held, sides = np.zeros(mean.shape[1]), np.zeros(mean.shape)
        for bar, forecast in enumerate(mean):
            against = -held * forecast
            held = np.where(
                held == 0.0,
                np.where(np.abs(forecast) > enter, np.sign(forecast), 0.0),
                np.where(against > turn, -held, np.where(against > leave, 0.0, held)),
            )
            sides[bar] = held
        return float(((sides * mean).sum(axis=0) - spent(sides, cost).sum(axis=0)).mean())

    grid = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0]) * 0.0006
    found = max(other(*levels) for levels in product(grid, grid, grid))
    # Entering a little earlier is worth something at the start of an episode; nothing else is.
    assert net <= found <= 1.02 * net


def test_the_informed_have_100_and_the_idle_and_constant_0() -> None:
    task = draw(1)
    assert judged(task, task.best.sides).value == pytest.approx(100.0)
    assert judged(task, np.zeros_like(task.mean)).value == 0.0
    assert abs(judged(task, np.ones_like(task.mean)).value) < 1e-9
    assert judged(task, -task.best.sides).value < -50.0


def test_size_changes_nothing() -> None:
    task = draw(2)
    small, large = (judged(task, size * task.best.sides) for size in (0.1, 3.0))
    assert small.timing == pytest.approx(large.timing) and small.value == pytest.approx(large.value)


def test_both_credits_have_one_expectation_and_the_known_one_a_third_of_the_deviation() -> None:
    """Informed sides, before costs: the difference is luck, and only that."""
    known, happened = np.array(
        [
            [judged(task, task.best.sides, realised=realised).timing for realised in (False, True)]
            for task in map(draw, range(40))
        ]
    ).T
    luck = happened - known
    assert abs(luck.mean()) < 3.5 * luck.std() / np.sqrt(luck.size)
    assert known.std() < 0.6 * happened.std()


def test_the_equivalent_coefficient_of_a_forecaster_is_his_own() -> None:
    rng = np.random.default_rng(4)
    deviation = np.full((28, 600), 0.006)
    returns, cost = deviation * rng.standard_normal(deviation.shape), np.full(deviation.shape, 0.0006)
    usual = np.full(600, 0.005)
    given = {"usual": usual, "repeats": 4}
    worth = forecaster_worth(returns, deviation, cost, **given, coefficients=COEFFICIENTS, seed=1)
    assert (np.diff(worth) >= 0.0).all()
    unit = float(worth[-1])
    for rho in (0.2, 0.45, 0.8):
        one = forecaster_worth(returns, deviation, cost, **given, coefficients=np.array([rho]), seed=2)
        found = equivalent_ic(100.0 * float(one[0]) / unit, 2.0, worth, coefficients=COEFFICIENTS, unit=unit)
        assert found.value == pytest.approx(rho, abs=0.02)
        assert found.low < found.value < found.high
    assert equivalent_ic(-3.0, 1.0, worth, coefficients=COEFFICIENTS, unit=unit) == (0.0, 0.0, 0.0)
    assert equivalent_ic(100.0, 0.0, worth, coefficients=COEFFICIENTS, unit=unit).value == pytest.approx(1.0)
    with pytest.raises(ValueError, match=r"unit must be above 0 .*, got 0\.0"):
        equivalent_ic(1.0, 1.0, worth, coefficients=COEFFICIENTS, unit=0.0)


def play(tasks: int, rng: np.random.Generator) -> dict[str, Array]:
    """Return the scores of agents of known worth, ``[tasks]`` each."""
    scores: dict[str, list[float]] = {}
    for seed in range(tasks):
        task = draw(1_000 + seed)
        knows = np.tile(rng.permutation(WINDOWS) < WINDOWS // 2, 2)
        agents = {
            "informed": task.best.sides,
            "half": task.best.sides * knows,
            "hold": np.ones_like(task.mean),
            **{f"trend {back}": np.sign(moved(task, back)) for back in (1, 3, 6, 24)},
            **{f"reversal {back}": -np.sign(moved(task, back)) for back in (1, 3, 6, 24)},
            "buy the dip": (moved(task, 1) < -task.usual).astype(float),
            "random": rng.choice([-1.0, 1.0], task.mean.shape),
            "flow": np.sign(task.shown.channels.flow[:, -BARS - 1 : -1].T),
            "news": np.sign(task.shown.channels.news[:, -BARS - 1 : -1].T),
            "premium": np.sign(task.shown.channels.premium[:, -BARS - 1 : -1].T),
        }
        for name, exposure in agents.items():
            scores.setdefault(name, []).append(judged(task, exposure).value)
    return {name: np.array(values) for name, values in scores.items()}


@pytest.mark.campaign
def test_agents_of_known_worth_score_what_they_are_worth() -> None:
    scores = play(200, np.random.default_rng(5))
    mean = {name: float(values.mean()) for name, values in scores.items()}
    assert mean.pop("informed") == pytest.approx(100.0, abs=1.0)
    assert mean.pop("half") == pytest.approx(50.0, abs=3.0)
    assert mean.pop("hold") == pytest.approx(0.0, abs=1e-9)
    assert abs(mean.pop("random")) < 1.0
    for name, value in mean.items():
        assert value <= 5.0, (name, value)


@pytest.mark.campaign
def test_a_learner_that_fits_on_the_warm_up_finds_most_of_it() -> None:
    values = []
    for seed in range(40):
        task = draw(2_000 + seed)
        values.append(judged(task, banded(learnt(task), task.cost)).value)
    assert np.mean(values) - 2.0 * np.std(values) / np.sqrt(len(values)) >= 72.0
    assert np.mean(values) >= 75.0


@pytest.mark.campaign
def test_the_equivalent_coefficient_of_the_informed_is_near_what_was_drawn() -> None:
    task = draw(7)
    worth = forecaster_worth(
        task.returns, task.deviation, task.cost, usual=task.usual, coefficients=COEFFICIENTS, repeats=20, seed=3
    )
    unit = float(informed_moves(task.best, task.usual, task.window).mean())
    found = equivalent_ic(100.0, 3.0, worth, coefficients=COEFFICIENTS, unit=unit)
    assert 0.3 < found.low < found.value < found.high < 0.6
    assert knowable_task.ONE_WAY == pytest.approx(0.0006)
