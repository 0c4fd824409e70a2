"""Formulas of declared strategies: their values against numpy, and what is refused of them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from backtest import episode, simulators
from backtest.simulators import Channels
from evaluators.crypto.strategy_formulas import FORMULAS
from evaluators.crypto.strategy_program import Seen, program, rule, series
from evaluators.crypto.strategy_rules import BadStrategy, read_strategy
from tests.evaluators.crypto.venue_play import LONG

BARS = 60
RNG = np.random.default_rng(5)
FIRST, SECOND = RNG.standard_normal((2, BARS))
CLOSE = 50.0 * np.exp(np.cumsum(0.01 * FIRST))


def value(name: str, *operands: Any, **numbers: Any) -> Any:
    """Return a formula at every bar."""
    formula = FORMULAS[name].make(**numbers)
    given = tuple(jnp.asarray(operand, float) for operand in operands)
    return np.asarray(
        lax.scan(lambda memory, each: formula.update(memory, *each), formula.init(jnp.zeros(())), given)[1]
    )


def test_simple_formulas_are_what_they_say() -> None:
    late = value("lag", FIRST, bars=3)
    assert np.isnan(late[:3]).all()
    np.testing.assert_array_equal(late[3:], FIRST[:-3])
    np.testing.assert_array_equal(value("sign", FIRST), np.sign(FIRST))
    np.testing.assert_array_equal(value("product", FIRST, SECOND), FIRST * SECOND)
    np.testing.assert_allclose(value("sum", FIRST, SECOND, weight=-0.5), FIRST - 0.5 * SECOND, rtol=1e-12)
    np.testing.assert_allclose(value("clip", FIRST, scale=1.5), np.clip(1.5 * FIRST, -1.0, 1.0), rtol=1e-12)
    marks = tuple(float(number) for number in range(24))
    np.testing.assert_array_equal(value("hours", np.arange(BARS) % 24, values=marks), np.arange(BARS) % 24)


def test_a_mean_begins_with_the_first_known_value_and_keeps_over_unknown_ones() -> None:
    given = FIRST.copy()
    given[[0, 1, 20]] = np.nan
    found, mean = value("mean", given, window=4), np.nan
    for bar, number in enumerate(given):
        if not np.isnan(number):
            mean = number if np.isnan(mean) else mean + 0.4 * (number - mean)
        assert found[bar] == pytest.approx(mean, nan_ok=True)


def test_an_agreement_is_the_belief_of_bayes() -> None:
    """Against probabilities of both states, kept apart."""
    follows, before = 0.5, 0.0
    for bar, found in enumerate(value("agreement", FIRST, SECOND, strength=0.6, switching=0.05)):
        agrees = before * np.sign(SECOND[bar])
        if agrees:
            like, unlike = (0.8, 0.2) if agrees > 0.0 else (0.2, 0.8)
            follows = follows * like / (follows * like + (1.0 - follows) * unlike)
        follows = 0.95 * follows + 0.05 * (1.0 - follows)
        assert found == pytest.approx(2.0 * follows - 1.0, abs=1e-12)
        before = np.sign(FIRST[bar])


def test_surprises_and_broken_levels_are_in_usual_deviations() -> None:
    change, usual, sizes = np.diff(np.log(CLOSE)), np.nan, []
    surprises = [np.nan]
    for each in np.abs(change) * np.sqrt(np.pi / 2.0):
        sizes.append(usual)
        usual = each if np.isnan(usual) else usual + 0.1 * (min(each, 4.0 * usual) - usual)
    surprises += list(change / np.array(sizes))
    np.testing.assert_allclose(value("surprise", CLOSE, window=19), surprises, rtol=1e-9)
    found, after = value("beyond", CLOSE, window=3), [np.nan, *sizes[1:], usual]
    assert np.isnan(found[:3]).all()
    for bar in range(3, BARS):
        high, low = CLOSE[bar - 3 : bar].max(), CLOSE[bar - 3 : bar].min()
        wanted = max(np.log(CLOSE[bar] / high), 0.0) - max(np.log(low / CLOSE[bar]), 0.0)
        assert found[bar] * after[bar] == pytest.approx(wanted, abs=1e-12)


def test_series_are_told_in_the_units_of_the_columns() -> None:
    market = simulators.simulate(jax.random.key(3), bars=40)
    one = np.ones(40)
    seen = Seen(market, Channels(*(jnp.asarray(number * one) for number in (0.25, -0.5, 3e-4, 0.01, -1.0))))
    told = {name: np.asarray(series(name, seen, 3600.0)) for name in ("flow", "book", "premium", "leader", "news")}
    for name, wanted in (("flow", 25.0), ("book", -50.0), ("premium", 3.0), ("leader", 100.0), ("news", -1.0)):
        np.testing.assert_allclose(told[name], wanted)
    np.testing.assert_allclose(series("move", seen, 3600.0), 1e4 * np.log(market.close / market.open))
    np.testing.assert_allclose(series("range", seen, 3600.0), 1e4 * np.log(market.high / market.low))
    hours = np.asarray(market.time) % 86_400.0 // 3600.0
    np.testing.assert_array_equal(series("hour", seen, 3600.0), hours)
    np.testing.assert_array_equal(series("next_hour", seen, 3600.0), (hours + 1.0) % 24.0)


def test_formulas_of_candles_trade_in_an_engine_that_shows_no_channels() -> None:
    """Long in the bars that follow two rises in a row, and only there."""
    market = simulators.simulate(jax.random.key(9), bars=300)
    spec = LONG | {
        "indicators": {
            "side": {"type": "sign", "of": "move"},
            "before": {"type": "lag", "of": "side", "bars": 1},
            "both": {"type": "sum", "of": "side", "plus": "before"},
        },
        "enter_long": [{"left": "both", "op": ">=", "right": 2}],
        "exit_long": [{"left": "both", "op": "<", "right": 2}],
    }
    held = np.asarray(episode.run(market, program(read_strategy(spec), bars_per_year=8760.0)).position) > 0.0
    rose = np.asarray(market.close > market.open)
    np.testing.assert_array_equal(held[2:], rose[:-2] & rose[1:-1])


def test_rebalancing_brings_a_position_back_to_its_size() -> None:
    market = simulators.simulate(jax.random.key(9), bars=300)
    spread = {}
    for again in (True, False):
        spec = read_strategy(LONG | {"size": 2.0, "rebalance": again})
        exposure = np.asarray(episode.run(market, program(spec, bars_per_year=8760.0)).exposure)[2:]
        spread[again] = float(np.abs(exposure - 2.0).max())
    assert spread[True] < 0.35 * spread[False]


@pytest.mark.parametrize(
    ("indicators", "message"),
    [
        ({"x": {"type": "lag", "of": "close"}}, "indicator 'x': lag needs bars"),
        ({"x": {"type": "lag", "of": "close", "bars": 0}}, "bars must be from 1 to 48, got 0"),
        ({"x": {"type": "lag", "of": "close", "bars": 1.5}}, "bars must be a whole number from 1 to 48, got 1.5"),
        ({"x": {"type": "sign", "of": "x"}}, "'x' is neither a price nor one of your indicators .*before it"),
        ({"x": {"type": "sign", "of": "y"}, "y": {"type": "sign", "of": "close"}}, "'y' is neither a price"),
        ({"x": {"type": "sign", "of": "close", "by": 2}}, "sign takes of, not 'by'"),
        ({"x": {"type": "sign", "of": [1]}}, "indicator 'x': of must be a number"),
        ({"x": {"type": "hours", "values": [1, 2]}}, "values must be a list of 24 numbers"),
        ({"x": {"type": "hours", "values": [float("nan")] * 24}}, "values must be a finite number"),
        ({"x": {"type": "agreement", "of": "move", "strength": 1.0, "switching": 0.1}}, "strength must be from 0 to"),
        ({"flow": {"type": "sign", "of": "close"}}, "must be a plain word that is no price and no series"),
        ({"x": {"type": "sign", "of": "flow"}}, "flow is told on simulated venues only; here are open, high"),
        ({"x": {"type": "sign", "of": "next_hour"}}, "'next_hour' is neither a price"),
    ],
)
def test_a_bad_formula_is_refused_with_what_is_wrong(indicators: dict[str, Any], message: str) -> None:
    with pytest.raises(BadStrategy, match=message):
        read_strategy(LONG | {"indicators": indicators})
    with pytest.raises(BadStrategy, match="rebalance must be true or false"):
        read_strategy(LONG | {"rebalance": 1})


def test_channels_are_read_where_they_are_shown() -> None:
    spec = LONG | {"enter_long": [{"left": "flow", "op": ">", "right": 10}]}
    with pytest.raises(BadStrategy, match="flow is told on simulated venues only"):
        read_strategy(spec)
    read = read_strategy(spec, channels=True)
    assert read.enter_long[0].left == ("flow", "")
    assert rule(read, bars_per_year=8760.0) is rule(read, bars_per_year=8760.0)
