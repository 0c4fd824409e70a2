"""What could be known, what was credited and what hindsight nets, on a few bars by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from backtest.market import Market
from backtest.rules import FREE
from evaluators.crypto import hindsight, knowledge
from evaluators.crypto.hindsight import available, best_path, trade_costs, usual_move
from evaluators.crypto.knowledge import (
    Traded,
    Truth,
    banded,
    credited,
    in_all,
    informed,
    judge_known,
    net,
    reader,
    traded,
    truth,
)
from evaluators.crypto.play import Measured
from evaluators.crypto.published import as_published, linear, paper_product
from evaluators.crypto.windows import Episodes, Known

ONE = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
FORECAST = np.array([[1.5, 2.0], [-0.5, -2.5], [-3.0, 9.0], [1.0, 1.0]])
KNOWN = Truth(FORECAST, np.zeros((4, 2)), 2.0 * ONE, np.array([0.0 * ONE, ONE, 2.5 * ONE]))


def test_sides_are_taken_where_the_forecast_exceeds_one_trade() -> None:
    assert banded(FORECAST, ONE).tolist() == [[1, 0], [1, -1], [-1, 1], [-1, 1]]
    assert banded(FORECAST, ONE, every=2).tolist() == [[1, 0], [1, 0], [-1, 1], [-1, 1]]
    assert banded(FORECAST[:, None], ONE[:, None]).tolist() == [[[1, 0]], [[1, -1]], [[-1, 1]], [[-1, 1]]]


def test_a_policy_earns_side_times_mean_and_pays_for_what_it_changes() -> None:
    found = informed(KNOWN)
    assert found.sides.tolist() == [[1, 0], [1, -1], [-1, 1], [-1, 1]]
    assert found.timing.tolist() == [[3, 0], [-1, 10], [6, 36], [-2, 4]]
    # from flat to a side one trade, from side to side two, told in deviations
    assert found.cost.tolist() == [[2, 0], [0, 8], [5, 20], [0, 0]]
    held = traded(np.ones((4, 2)), KNOWN)
    assert held.cost.tolist() == [[2, 8], [0, 0], [0, 0], [0, 0]]
    assert informed(KNOWN, every=2).timing.tolist() == [[3, 0], [-1, 0], [6, 36], [-2, 4]]


def test_what_a_policy_nets_is_the_mean_over_the_episodes_of_a_window() -> None:
    found = informed(KNOWN)
    assert net(found, np.array([0, 1])).tolist() == [-1.0, 22.0]
    assert net(found, np.array([0, 0])).tolist() == [10.5]


def test_a_deviation_is_worth_as_much_in_all_windows() -> None:
    assert in_all(np.array([0.25, 0.75])).tolist() == [200.0, 200.0]
    assert in_all(np.array([1.0, -1.0, 0.0])).tolist() == [0.0, 0.0, 0.0]


def test_a_bar_is_credited_with_its_mean_and_what_was_added_per_unit_of_the_largest_exposure() -> None:
    exposure, largest = np.array([[0.0, 2.0], [0.25, -1.0]]), np.array([[0.0, 2.0], [0.5, 4.0]])
    cost = np.array([[0.0, 0.006], [0.002, 0.0]])
    nothing = np.zeros((2, 2))
    known = Truth(
        np.array([[0.01, 0.01], [0.02, 0.04]]), np.array([[0.5, 0.02], [0.0, -0.01]]), np.array([[50.0, 20], [10, 5]]),
        nothing,
    )  # fmt: skip
    timing, paid = credited(Measured(nothing, exposure, largest, cost, nothing), known)
    assert timing.ravel().tolist() == pytest.approx([0.0, 0.6, 0.1, -0.0375])
    assert paid.ravel().tolist() == pytest.approx([0.0, 0.06, 0.04, 0.0])


def test_the_informed_have_100_and_who_finds_half_without_costs_what_that_is() -> None:
    """Nets are 2 and 6 deviations by window, so a deviation is 25 points; half of the timing is 1.5 and 3.5 of them."""
    sides = np.ones((1, 3))
    best = Traded(sides, np.array([[2.0, 7.0, 4.0]]), np.array([[1.0, 1.0, 1.0]]))
    window, families = np.array([0, 1, 0]), ("a", "b")
    half = judge_known(0.5 * best.timing, 0.0 * best.cost, best, window=window, families=families)
    assert net(best, window).tolist() == [2.0, 6.0]
    assert half.points.tolist() == [[37.5, 0.0], [87.5, 0.0]] and half.value == 62.5
    paid = judge_known(np.array([[3.0, 7.0, 3.0]] * 2), np.array([[1.0] * 3, [0.0] * 3]), best, window=window,
                       families=families)  # fmt: skip
    # the second bar gives up what the first has cost: 25 points of 125
    assert (paid.value, paid.timing, paid.cost) == (100.0, 250.0, 25.0)
    assert paid.samples.mean() == pytest.approx(225.0)


def test_the_best_of_all_paths_on_a_card() -> None:
    """Costs of 1 a trade: the fall of 1.5 pays for no turn of 2 trades there and back, that of 5 does."""
    returns = np.array([[3.0, -0.5], [-1.5, 0.3], [2.0, -0.5], [-5.0, 4.0]])
    one = np.ones((4, 2))
    best, sides = best_path(returns, np.array([0.0 * one, one, 2.0 * one]))
    assert sides.tolist() == [[1, 0], [1, 0], [1, 0], [-1, 1]]
    assert best.tolist() == [8.5 - 3.0, 3.0]


def test_the_published_weighting_on_a_card() -> None:
    assert [linear(value, 2.0, 4.0) for value in (1.0, 2.0, 2.5, 4.0, 9.0)] == [0.0, 0.0, 0.25, 1.0, 1.0]
    # 0.6 of 35 points, 0.75 of 30, 0.5 of 20, 0.8 of 15
    found = as_published(total_return=0.1, sharpe=1.5, max_drawdown=0.1, win_rate=0.5)
    assert found == pytest.approx(21.0 + 22.5 + 10.0 + 12.0)
    assert as_published(total_return=-0.2, sharpe=-1.5, max_drawdown=0.25, win_rate=0.4) == pytest.approx(
        0.3 * 35 + 0.25 * 30 + 0.25 * 20 + 0.5 * 15
    )
    assert paper_product(total_return=0.5, sharpe=3.0, max_drawdown=0.25) == 1.125
    assert math.copysign(1.0, paper_product(total_return=-0.5, sharpe=3.0, max_drawdown=0.25)) == -1.0


def market(opens: np.ndarray, closes: np.ndarray, volume: np.ndarray) -> Market:
    return Market(
        time=np.zeros_like(opens), open=opens, high=opens, low=opens, close=closes, volume=volume,
        funding_rate=np.zeros_like(opens),
    )  # fmt: skip


def test_a_trade_costs_its_size_times_the_cost_of_one_of_that_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Oracle: a loop; the cost of one way is a fee of 0.001 and a share of the volume here."""
    # numpy in the place of jax: forks that play mutants must not compute with it
    monkeypatch.setattr(hindsight, "jnp", np)
    monkeypatch.setattr(hindsight, "one_way", lambda *, quantity, volume, rules: 0.001 + quantity / volume)
    unit, volume = np.array([[2.0, 4.0], [8.0, 1.0]]), np.array([[1000.0, 500.0], [2000.0, 250.0]])
    expected = [
        [
            [size * (0.001 + size * u / v) for u, v in zip(us, vs, strict=True)]
            for us, vs in zip(unit, volume, strict=True)
        ]
        for size in (0, 1, 2)
    ]
    np.testing.assert_allclose(trade_costs(unit, volume, FREE), expected, rtol=1e-6)


def unit_and_volume(unit: np.ndarray, volume: np.ndarray, rules: object) -> np.ndarray:
    """Stand in for the costs: one trade costs what equity buys, and two cost a share of the volume."""
    return np.array([0.0 * unit, unit, volume / 1000.0])


def test_what_a_market_offered_is_told_from_open_to_open_and_to_the_last_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hindsight, "trade_costs", unit_and_volume)
    opens = np.array([[100.0, 90, 110, 70, 99, 50], [100.0, 90, 99, 70, 120, 50]])
    closes, volume = opens + 5.0, np.full((2, 6), 30.0) + np.arange(6.0)
    found = available(market(opens, closes, volume), decision_every=2, rules=FREE, equity=5.0)
    rose = np.log([[1.1, 0.99], [0.9, 120 / 99], [55 / 99, 55 / 120]])
    np.testing.assert_allclose(found.returns, rose)
    # one trade costs some 0.05 and a turn some 0.03, less than what each of the moves but one brings
    assert found.sides.tolist() == [[1, 0], [-1, 1], [-1, -1]]
    timing = [rose[0, 0] - rose[1, 0] - rose[2, 0], rose[1, 1] - rose[2, 1]]
    np.testing.assert_allclose(found.timing, timing)
    np.testing.assert_allclose(found.cost, [5 / 100 + 0.032, 5 / 99 + 0.034])


def test_a_usual_move_is_the_mean_one_and_at_least_half_of_the_median() -> None:
    closes = np.exp([[0.0, 0.2, 0.1, 0.4], [0.0, 0.0, 0.0, 0.0], [0.0, -0.1, 0.2, 0.2], [0.0, 0.3, 0.0, 0.3]])
    # means 0.2, 0, 0.4 / 3 and 0.3; their median is that of the two in the middle
    middle = (0.2 + 0.4 / 3) / 2
    assert usual_move(market(closes, closes, closes)).tolist() == pytest.approx([0.2, middle / 2, 0.4 / 3, 0.3])


def episodes(known: bool = True) -> Episodes:
    """Two episodes of four bars, two of which are shown before the first decision."""
    opens = np.array([[100.0, 100, 100, 200], [50.0, 50, 80, 40]])
    closes = np.array([[100.0, 110, 110, 100], [50.0, 55, 40, 60]])
    volume = np.arange(8.0).reshape(2, 4)
    mean = np.array([[9.0, 9, 0.01, 0.02], [9.0, 9, -0.03, 0.04]])
    deviation = np.array([[9.0, 9, 0.05, 0.2], [9.0, 9, 0.5, 0.01]])
    drawn = np.array([[9.0, 9, 0.1, 0.3], [9.0, 9, 0.2, -0.1]])
    played = market(opens, closes, volume)
    told = Known(channels=None, mean=mean, drawn=drawn, deviation=deviation, lean=mean, traits=None)
    return Episodes(played, played, np.arange(2), np.zeros(2, bool), (), 2, told if known else None)


def test_what_could_be_known_of_the_played_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "trade_costs", unit_and_volume)
    found = truth(episodes(), rules=FREE, equity=400.0)
    assert found.mean.tolist() == [[0.01, -0.03], [0.02, 0.04]]
    np.testing.assert_allclose(found.beyond, np.log([[1.1, 0.5], [0.5, 1.5]]) - [[0.1, 0.2], [0.3, -0.1]])
    # half the deviation of a market whose mean move is the one of the bars shown first, 10% up
    least = 0.5 * math.log(1.1) / math.sqrt(2 / math.pi)
    np.testing.assert_allclose(found.unit, [[1 / least, 2.0], [5.0, 1 / least]])
    np.testing.assert_allclose(found.cost[1], [[4.0, 5.0], [2.0, 10.0]])
    np.testing.assert_allclose(found.cost[2], [[0.002, 0.006], [0.003, 0.007]])


def test_who_reads_the_bars_holds_what_its_own_forecast_pays_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forecasts are lean times mean size of the move: 0.0199 and 0.0399, then -0.0798 and 0.0072."""
    leans = np.array([[9.0, 9, 0.5, -0.5], [9.0, 9, 0.1, 0.9]])
    monkeypatch.setattr(knowledge, "_read", lambda observed, channels, traits: leans)
    one = np.array([[0.01, 0.05], [0.081, 0.001]])
    known = Truth(np.ones((2, 2)), 0.0 * one, np.ones((2, 2)), np.array([0.0 * one, one, 2.0 * one]))
    assert reader(episodes(), known).sides.tolist() == [[1, 0], [1, 1]]
    dear = known._replace(cost=np.array([0.0 * one, one, 9.0 * one]))
    assert reader(episodes(), dear, every=2).sides.tolist() == [[1, 0], [1, 0]]
    assert knowledge.BAR_SECONDS == 60.0 * 60.0


def test_nothing_can_be_known_of_candles() -> None:
    with pytest.raises(ValueError, match="in which something can be known"):
        truth(episodes(known=False), rules=FREE, equity=400.0)
    with pytest.raises(ValueError, match="in which something can be known"):
        reader(episodes(known=False), KNOWN)
