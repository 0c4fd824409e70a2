"""Candles in a DataFrame: what is read, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from backtest import batch, episode, indicators, metrics, strategies
from backtest.account import TARGET, Action, action
from backtest.market import Market, bar_at, stack, window
from backtest.rules import Rules


def candles(bars: int = 6, **changes: Any) -> pd.DataFrame:
    hours = pd.date_range("2026-01-01", periods=bars, freq="h", tz="Europe/Berlin")
    close = 100.0 + np.arange(bars)
    columns = {"Open": close - 1.0, "High": close + 2.0, "Low": close - 3.0, "Close": close, "Volume": 5.0}
    return pd.DataFrame({**columns, **changes}, index=hours)


def test_times_are_seconds_of_utc_whatever_the_zone_and_resolution() -> None:
    market = Market.from_frame(candles(), funding_rate=0.0)
    assert market.time[0] == 1767222000.0  # 2025-12-31 23:00 UTC, date -d @1767222000
    assert np.diff(market.time).tolist() == [3600.0] * 5
    for unit in ("s", "ms", "us", "ns"):
        naive = candles().set_axis(candles().index.tz_convert("UTC").tz_localize(None).as_unit(unit))
        np.testing.assert_array_equal(Market.from_frame(naive, funding_rate=0.0).time, market.time)
    column = candles(opened=market.time).reset_index(drop=True)
    np.testing.assert_array_equal(Market.from_frame(column, time="opened", funding_rate=0.0).time, market.time)
    np.testing.assert_array_equal(market.close, 100.0 + np.arange(6))


@pytest.mark.parametrize(
    ("frame", "named", "message"),
    [
        (candles().drop(columns="Volume"), {}, "no column 'volume', it has Open, High, Low, Close"),
        (candles(), {"funding_rate": None}, "no column 'funding_rate'.*pass funding_rate=0.0"),
        (candles(close=1.0), {}, r"one column 'close', got \['Close', 'close'\]"),
        (candles().reset_index(drop=True), {}, "got 0, 1, 2, ...: name the column"),
        (candles(), {"time": "when"}, "time must name one column .* got 'when'"),
        (candles(t=1.7e12 + 3.6e6 * np.arange(6)), {"time": "t"}, "milliseconds"),
        (candles(t="2026-01-01 00:00:00"), {"time": "t"}, "got text '2026-01-01 00:00:00': pandas.to_datetime it"),
        (candles(Close="x"), {}, "close must be numbers"),
        (candles(High=1.0), {}, r"high\[0\] = 1.0 must be at least"),
        (candles().iloc[::-1], {}, r"time\[1\] .* later than the bar before"),
        ({"open": [1.0]}, {}, "frame must be a DataFrame"),
    ],
)
def test_what_is_missing_is_named(frame: Any, named: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Market.from_frame(frame, **{"funding_rate": 0.0, **named})


def test_columns_of_a_frame_are_played_and_keep_their_index() -> None:
    frame = candles(40)
    arrays = Market.from_frame(frame, funding_rate=0.0)
    columns = Market(
        time=pd.Series(arrays.time, frame.index),
        **{name.lower(): frame[name] for name in frame},
        funding_rate=pd.Series(0.0, frame.index),
    )
    played, plain = (episode.run(market, strategies.macd(3, 6, 2)) for market in (columns, arrays))
    assert isinstance(played.position, pd.Series) and played.position.index.equals(frame.index)
    np.testing.assert_array_equal(played.position, np.asarray(plain.position))
    np.testing.assert_array_equal(played.equity, plain.equity)
    average = indicators.over(indicators.ema(5), columns)
    pd.testing.assert_series_equal(average, frame["Close"].ewm(span=5, adjust=False).mean(), check_names=False)
    one, other = (batch.evaluate(market, [strategies.macd(3, 6, 2)]) for market in (columns, arrays))
    np.testing.assert_array_equal(one.total_return, other.total_return)
    with pytest.raises(ValueError, match=r"market\.time and market\.close must have the same index"):
        episode.run(columns._replace(close=frame["Close"].iloc[::-1]), strategies.flat())


def test_equity_in_a_series_gives_returns_under_the_later_label() -> None:
    equity = pd.Series([100.0, 110.0, 99.0], index=pd.date_range("2026-01-01", periods=3))
    got = metrics.returns(equity)
    pd.testing.assert_series_equal(got, equity.pct_change().iloc[1:], check_freq=False)
    assert metrics.drawdowns(equity).index.equals(equity.index)
    assert float(metrics.max_drawdown(equity)) == pytest.approx(0.1)


@pytest.mark.parametrize("measure", [metrics.expected_shortfall, metrics.value_at_risk, metrics.skewness])
def test_a_missing_return_is_never_left_out(measure: Any) -> None:
    assert np.isnan(measure(np.array([0.01, np.nan, -0.02, 0.03])))


def test_a_missing_equity_is_never_a_return_of_zero() -> None:
    equity = np.array([100.0, np.nan, 110.0, 90.0])
    np.testing.assert_allclose(metrics.returns(equity), [np.nan, np.nan, 90.0 / 110.0 - 1.0])
    assert np.isnan(metrics.max_drawdown_bars(equity))


def test_an_action_without_like_has_the_shape_of_what_it_is_made_of() -> None:
    market = Market.from_frame(candles(5), funding_rate=0.0)
    orders = action(TARGET, np.array([1.0, 0.0, -1.0, 0.5, 0.0]))
    assert [field.shape for field in orders] == [(5,)] * 4
    assert episode.run(market, orders).equity.shape == (6,)
    with pytest.raises(ValueError, match=r"fields of an action must broadcast, got kind \(\), size \(2,\)"):
        action(TARGET, np.ones(2), stop_loss=np.ones(3))
    with pytest.raises(ValueError, match=r"must broadcast to like, got .* size \(2,\)"):
        action(TARGET, np.ones(2), like=np.ones(3))
    with pytest.raises(ValueError, match="kind must be whole numbers"):
        action(1.7, 1.0)
    assert isinstance(action(TARGET, 1.0), Action) and action(TARGET, 1.0).size.shape == ()


def test_bars_that_do_not_exist_are_not_answered_with_others() -> None:
    market = Market.from_frame(candles(5), funding_rate=0.0)
    assert float(bar_at(market, -1).close) == 104.0
    with pytest.raises(ValueError, match="index must be one of the 5 bars, got 5"):
        bar_at(market, 5)
    with pytest.raises(ValueError, match="start < stop"):
        window(market, 2, 9)
    with pytest.raises(ValueError, match=r"of market 1 must have the shape"):
        stack([market, window(market, 0, 3)])


def test_a_sweep_refuses_rules_and_shapes_that_a_run_refuses() -> None:
    market = Market.from_frame(candles(5), funding_rate=0.0)
    with pytest.raises(ValueError, match=r"rules\.fee_bps"):
        batch.evaluate(market, [strategies.flat()], Rules(fee_bps=-1.0))
    with pytest.raises(ValueError, match=r"low must have the shape of close"):
        batch.evaluate(market._replace(low=market.low[1:]), [strategies.flat()])
