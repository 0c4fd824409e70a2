"""By what a task is judged, on a few bars: what is handed to the score, and what stands beside it."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from backtest.rules import FREE
from evaluators.crypto import hindsight, knowledge
from evaluators.crypto import verdict as verdicts
from evaluators.crypto.equivalent import equivalent_ic, forecaster_worth
from evaluators.crypto.hindsight import Available
from evaluators.crypto.knowledge import Traded, Truth
from evaluators.crypto.play import Measured
from evaluators.crypto.skill import judge
from evaluators.crypto.verdict import Conditional, Realised, verdict
from tests.evaluators.crypto.test_knowledge_by_hand import episodes, unit_and_volume

RETURNS = np.array([[0.02, 0.01, -0.03], [-0.01, 0.03, 0.05]])
TRADES = np.array([np.zeros((2, 3)), np.full((2, 3), 0.001), np.full((2, 3), 0.002)])
USUAL = np.array([0.5, 0.0, 2.0])


def realised(cost: tuple[float, ...] = (0.5, 1.0, 2.0), returns: np.ndarray = RETURNS) -> Realised:
    """Three windows of one episode: hindsight nets 1, 0 and 2 usual moves where its costs are as given here."""
    offered = Available(returns, np.sign(returns), np.array([1.0, 9.0, 6.0]), np.array(cost))
    placed = episodes()._replace(window=np.arange(3))
    return Realised(placed, ("a", "b", "a"), offered, USUAL, TRADES)


def test_on_candles_100_is_a_quarter_of_what_hindsight_nets() -> None:
    """Oracle: the score of windows that are put together here, costs per unit of the largest exposure."""
    timing, cost = [[0.01, 0.02, 0.04], [0.03, -0.02, 0.08]], [[0.0, 0.004, 0.006], [0.002, 0.0, 0.009]]
    largest = [[0.0, 2.0, 1.5], [0.5, 2.0, 3.0]]
    unit = [2.0, 0.0, 0.5]
    windows = [
        [
            [timing[bar][each] * unit[each], cost[bar][each] / (largest[bar][each] or 1.0) * unit[each]]
            for each in range(3)
        ]
        for bar in range(2)
    ]
    measured = Measured(*map(np.array, (timing, timing, largest, cost, timing)))
    found, expected = realised().skill(measured), judge(np.array(windows), np.array([0.25, 0.0, 0.5]), ("a", "b", "a"))
    assert found[:4] == pytest.approx(expected[:4]) and found.se > 0.0 and found.cost > 0.0
    np.testing.assert_allclose(found.samples, expected.samples)
    assert realised().details(found) == {"credit": "realised"}
    assert realised().sides.tolist() == [[1, 1, -1], [-1, 1, 1]]


def test_the_coefficient_on_candles_is_that_of_forecasters_of_these_returns() -> None:
    """The deviation is the root of the mean square return of an episode; 100 points are a quarter of 1 usual move."""
    deviation = [[math.sqrt(sum(row[each] ** 2 for row in RETURNS.tolist()) / 2) for each in range(3)]] * 2
    worth = forecaster_worth(RETURNS, np.array(deviation), TRADES, unit=np.array([2.0, 0.0, 0.5]), repeats=4, seed=0)
    found = realised().equivalent(5.0, 1.0)
    assert found is not None and found == equivalent_ic(5.0, 1.0, worth, unit=0.25) and 0.0 < found.value < 1.0
    assert realised(cost=(1.0, 9.0, 6.0)).equivalent(5.0, 1.0) is None


@pytest.mark.parametrize(("bars", "repeats"), [(2, 4), (99, 4), (100, 1), (101, 1)])
def test_long_episodes_are_played_once_by_each_forecaster(
    bars: int, repeats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def worth(*given: Any, **named: Any) -> np.ndarray:
        asked.append(named)
        return np.linspace(0.0, 1.0, 41)

    monkeypatch.setattr(verdicts, "forecaster_worth", worth)
    judged = realised(returns=np.ones((bars, 3)))
    assert judged.equivalent(10.0, 1.0) == judged.equivalent(10.0, 1.0)
    assert [(each["repeats"], each["seed"]) for each in asked] == [(repeats, 0)]


@pytest.mark.parametrize(("every", "lanes"), [(1, [[4.0, 5.0], [2.0, 10.0]]), (2, [[4.0, 5.0]])])
def test_on_candles_costs_and_offers_are_those_of_the_decisions(
    every: int, lanes: list[list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hindsight, "trade_costs", unit_and_volume)
    found = verdict(episodes(known=False), families=["a", "b"], every=every, rules=FREE, equity=400.0)
    assert isinstance(found, Realised) and found.families == ("a", "b")
    assert found.cost[1].tolist() == lanes
    assert found.cost[2].tolist() == [[0.002, 0.006], [0.003, 0.007]][: len(lanes)]
    whole = [[2.0, 0.5], [0.5, 1.5]] if every == 1 else [[1.0, 0.75]]
    np.testing.assert_allclose(found.available.returns, np.log(whole), atol=1e-15)
    assert found.usual.tolist() == pytest.approx([math.log(1.1)] * 2)


ONES = np.ones((2, 4))
TRUTH = Truth(0.01 * ONES, 0.0 * ONES, 50.0 * ONES, np.array([0.0 * ONES, 0.001 * ONES, 0.002 * ONES]))
BEST = Traded(
    np.array([[1.0, -1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]]),
    np.array([[0.5, 0.5, 1.0, 1.0], [0.25, 0.25, 0.5, 0.5]]),
    np.array([[0.5, 0.5, 0.75, 0.75], [0.0, 0.0, 0.0, 0.0]]),
)
"""Nets 0.25 deviations in the first window and 0.75 in the second, 0.5 on average."""
WINDOW = np.array([0, 0, 1, 1])


def conditional(*, best: Traded = BEST, known: bool = True, every: int = 1) -> Conditional:
    """Two windows with an image each; the reader nets 0.1 and 0.3. Of the images only the first names a structure."""
    deviations = 0.01 * np.arange(1.0, 13.0).reshape(4, 3)
    told = SimpleNamespace(structure=("trend", "-", "carry", "-"), drawn=3.0 * deviations, deviation=deviations)
    placed = episodes()._replace(window=WINDOW, warmup=1, known=told if known else None)
    reached = Traded(best.sides, 0.4 * (BEST.timing - BEST.cost), 0.0 * BEST.cost)
    return Conditional(placed, ("a", "b"), every, TRUTH, best, lambda: reached)


def shown(judged: Conditional) -> Any:
    exposure = np.array([[1.0, 1.0, 0.5, 0.5], [1.0, 1.0, 1.0, 1.0]])
    largest, cost = np.ones((2, 4)), np.array([[0.002, 0.002, 0.004, 0.004], [0.0, 0.0, 0.0, 0.0]])
    return judged.skill(Measured(exposure, exposure, largest, cost, exposure))


def test_where_it_is_known_100_is_what_the_informed_net() -> None:
    """A deviation is 200 points: exposures of 1 earn half a deviation a bar, costs of 0.002 are a tenth of one."""
    found = shown(conditional())
    assert found.points.tolist() == [pytest.approx([200.0, 20.0]), pytest.approx([150.0, 40.0])]
    assert conditional().unit == 0.5
    assert conditional().sides.tolist() == BEST.sides.tolist()
    assert conditional(every=2).sides.tolist() == BEST.sides[:1].tolist()


def test_beside_it_stand_the_structures_and_what_a_reader_reaches() -> None:
    details = conditional().details(shown(conditional()))
    assert details["credit"] == "conditional mean" and details["reachable"] == pytest.approx(40.0)
    carry, trend = details["structures"]
    assert carry == {"structure": "carry", "windows": 1, "points": pytest.approx(110.0), "offered": 150.0}
    assert trend == {"structure": "trend", "windows": 1, "points": pytest.approx(180.0), "offered": 50.0}
    assert conditional(known=False).details(shown(conditional()))["structures"] == []
    nothing = conditional(best=Traded(BEST.sides, BEST.cost, BEST.cost))
    assert nothing.details(shown(conditional()))["reachable"] == 0.0


def test_windows_of_one_structure_are_told_together() -> None:
    told = SimpleNamespace(structure=("trend", "carry", "trend", "trend"))
    four = episodes()._replace(window=np.arange(4), warmup=1, known=told)
    judged = dataclasses.replace(conditional(), episodes=four, families=("a", "b", "c", "d"))
    carry, trend = judged.details(shown(judged))["structures"]
    assert carry == {"structure": "carry", "windows": 1, "points": pytest.approx(180.0), "offered": 50.0}
    assert (trend["structure"], trend["windows"]) == ("trend", 3)
    assert (trend["points"], trend["offered"]) == pytest.approx((400 / 3, 350 / 3))


def test_the_coefficient_is_that_of_forecasters_of_the_drawn_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def worth(*given: Any, **named: Any) -> np.ndarray:
        asked.append((*given, named))
        return np.linspace(0.0, 1.0, 41)

    monkeypatch.setattr(verdicts, "forecaster_worth", worth)
    judged = conditional()
    # 100 points are half a deviation, so 50 points are a quarter of the way
    assert judged.equivalent(50.0, 0.0) == pytest.approx((0.25, 0.25, 0.25))
    ((drawn, deviation, cost, named),) = asked
    assert deviation.tolist() == [[0.02, 0.05, 0.08, 0.11], [0.03, 0.06, 0.09, 0.12]]
    np.testing.assert_allclose(drawn, 3.0 * deviation)
    assert cost is TRUTH.cost and named["unit"] is TRUTH.unit and (named["repeats"], named["seed"]) == (4, 0)
    assert conditional(known=False).equivalent(50.0, 1.0) == (0.0, 0.0, 0.0)
    assert conditional(best=Traded(BEST.sides, BEST.cost, BEST.cost)).equivalent(50.0, 1.0) is None


def test_the_unit_is_the_informed_or_what_can_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "truth", lambda placed, *, rules, equity: TRUTH)
    monkeypatch.setattr(knowledge, "informed", lambda known, *, every: BEST._replace(timing=every * BEST.timing))
    monkeypatch.setattr(knowledge, "reader", lambda placed, known, *, every: BEST._replace(cost=every * BEST.cost))
    given: dict[str, Any] = {"families": ["a", "b"], "every": 3, "rules": FREE, "equity": 400.0}
    played = episodes()
    told = verdict(played, **given)
    assert isinstance(told, Conditional) and (told.families, told.every) == (("a", "b"), 3)
    assert told.best.timing.tolist() == (3 * BEST.timing).tolist()
    assert told.reached().cost.tolist() == (3 * BEST.cost).tolist()
    other = played._replace(observed=played.traded._replace(volume=np.ones((2, 4))))
    said = verdict(other, **given, said=lambda market, known: BEST._replace(sides=market.volume))
    assert isinstance(said, Conditional) and said.best.sides is other.traded.volume
    assert said.reached().sides is other.observed.volume
