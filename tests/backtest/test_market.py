"""What is a market, and what is not."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from backtest import episode, simulators, strategies
from backtest.account import action, open_account
from backtest.market import Market, bar_at, check, problems, stack, window
from backtest.rules import Rules, check_rules


def candles(bars: int = 10) -> Market:
    one = np.ones(bars)
    return Market(3600.0 * np.arange(bars), 100 * one, 110 * one, 90 * one, 105 * one, one, 0 * one)


def test_a_sound_market_has_no_problems() -> None:
    assert problems(candles()) == []
    assert problems(candles(1)) == []


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("open", np.nan, r"open\[3\] = nan must be finite"),
        ("close", -1.0, r"close\[3\] = -1.0 must be above 0"),
        ("low", 101.0, r"low\[3\] = 101.0 must be at most min\(open, close\)"),
        ("high", 104.0, r"high\[3\] = 104.0 must be at least max\(open, close\)"),
        ("volume", -2.0, r"volume\[3\] = -2.0 must be at least 0"),
        ("funding_rate", 1.5, r"funding_rate\[3\] = 1.5 must be between -1 and 1"),
        ("time", 0.0, r"time\[3\] = 0.0 must be later than the bar before \(1 of 10 bars\)"),
    ],
)
def test_each_fault_names_field_bar_and_value(field: str, value: float, message: str) -> None:
    broken = candles()
    getattr(broken, field)[3] = value
    with pytest.raises(ValueError, match=message):
        check(broken)


def test_an_empty_market_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one bar"):
        check(candles(0))


def test_unequal_lengths_are_named() -> None:
    with pytest.raises(ValueError, match=r"volume has shape \(9,\)"):
        check(candles()._replace(volume=np.ones(9)))


def test_one_bar_can_be_played() -> None:
    played = episode.run(candles(1), strategies.always(1.0))
    assert played.equity.shape == (2,)
    assert float(played.equity[-1]) == 10_000.0


def test_batches_are_made_and_cut() -> None:
    batch = stack([candles(), candles()])
    assert batch.close.shape == (2, 10)
    assert window(batch, 2, 5).close.shape == (2, 3)
    assert bar_at(batch, 4).close.shape == (2,)


def test_run_refuses_what_cannot_be_played() -> None:
    with pytest.raises(ValueError, match="warmup must leave at least one of the 10 bars to trade, got 10"):
        episode.run(candles(), strategies.flat(), warmup=10)
    with pytest.raises(ValueError, match="equity must be one finite number, got nan"):
        episode.run(candles(), strategies.flat(), equity=float("nan"))
    with pytest.raises(ValueError, match="observed has shape"):
        episode.run(candles(), strategies.flat(), observed=candles(5))
    with pytest.raises(ValueError, match=r"actions.kind must have the market's shape \(10,\), got \(\)"):
        episode.run(candles(), action(0))


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_leverage", 1e308), ("max_leverage", 0.0), ("fee_bps", -1.0), ("maintenance_margin", float("nan"))],
)
def test_bad_rules_are_named(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"rules.{field} must be"):
        check_rules(Rules(**{field: value}))


def test_a_float32_account_stays_float32_and_close_to_float64() -> None:
    market = simulators.simulate(jax.random.key(5), bars=300)
    double = episode.run(market, strategies.moving_average_cross())
    single = episode.run(market, strategies.moving_average_cross(), dtype=np.float32)
    assert {leaf.dtype for leaf in jax.tree.leaves(single.account)} == {np.dtype("float32"), np.dtype("int32")}
    np.testing.assert_allclose(single.equity, double.equity, rtol=1e-3)


def test_starting_equity_is_what_the_account_opens_with() -> None:
    assert float(open_account(equity=5.0).cash) == 5.0
