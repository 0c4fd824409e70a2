"""Indicators against pandas where it has the definition, else against loops written from the book; and causality."""

from __future__ import annotations

import json
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest

from backtest import indicators, simulators
from backtest.indicators import over
from backtest.market import Market

BARS = 400


@pytest.fixture(scope="module")
def market() -> Market:
    drawn = simulators.simulate(jax.random.key(7), bars=BARS)
    return Market(*(np.asarray(field) for field in drawn))


def close(market: Market) -> pd.Series:
    return pd.Series(market.close)


def test_ema_is_the_one_of_pandas(market: Market) -> None:
    expected = close(market).ewm(span=20, adjust=False).mean()
    np.testing.assert_allclose(over(indicators.ema(20), market), expected, rtol=1e-12)


def test_sma_is_the_one_of_pandas(market: Market) -> None:
    expected = close(market).rolling(10).mean()
    np.testing.assert_allclose(over(indicators.sma(10), market), expected, rtol=1e-12)


def test_bollinger_is_mean_and_population_deviation_of_pandas(market: Market) -> None:
    rolling = close(market).rolling(20)
    bands = over(indicators.bollinger(20, 2.5), market)
    np.testing.assert_allclose(bands.middle, rolling.mean(), rtol=1e-12)
    np.testing.assert_allclose(bands.upper, rolling.mean() + 2.5 * rolling.std(ddof=0), rtol=1e-9)
    np.testing.assert_allclose(bands.lower, rolling.mean() - 2.5 * rolling.std(ddof=0), rtol=1e-9)


def test_donchian_is_the_rolling_extreme_of_pandas(market: Market) -> None:
    channel = over(indicators.donchian(15), market)
    np.testing.assert_array_equal(channel.upper, pd.Series(market.high).rolling(15).max())
    np.testing.assert_array_equal(channel.lower, pd.Series(market.low).rolling(15).min())


def test_macd_is_made_of_averages_of_pandas(market: Market) -> None:
    line = close(market).ewm(span=12, adjust=False).mean() - close(market).ewm(span=26, adjust=False).mean()
    value = over(indicators.macd(), market)
    np.testing.assert_allclose(value.line, line, atol=1e-8)
    np.testing.assert_allclose(value.signal, line.ewm(span=9, adjust=False).mean(), atol=1e-8)
    np.testing.assert_allclose(value.histogram, np.asarray(value.line) - np.asarray(value.signal), atol=1e-12)


def wilder(values: list[float], window: int) -> list[float]:
    """Wilder 1978, page 23: the first average is a plain mean, then (13 old + new) / 14."""
    result = [np.nan] * (window - 1) + [sum(values[:window]) / window]
    for value in values[window:]:
        result.append((result[-1] * (window - 1) + value) / window)
    return result


def test_rsi_follows_the_worksheet_of_wilder(market: Market) -> None:
    change = np.diff(market.close)
    up, down = wilder(list(change.clip(0)), 14), wilder(list((-change).clip(0)), 14)
    expected = [np.nan] + [100 - 100 / (1 + u / d) for u, d in zip(up, down, strict=True)]
    np.testing.assert_allclose(over(indicators.rsi(14), market), expected, rtol=1e-10)


def test_rsi_of_a_market_that_stands_still_is_50() -> None:
    still = Market(*(np.full(30, value) for value in (0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)))
    still = still._replace(time=3600.0 * np.arange(30))
    assert (np.asarray(over(indicators.rsi(14), still))[14:] == 50.0).all()


def true_ranges(market: Market) -> list[float]:
    rows = zip(market.high[1:], market.low[1:], market.close[:-1], strict=True)
    return [max(h - low, abs(h - c), abs(low - c)) for h, low, c in rows]


def test_atr_follows_the_worksheet_of_wilder(market: Market) -> None:
    expected = [np.nan, *wilder(true_ranges(market), 14)]
    np.testing.assert_allclose(over(indicators.atr(14), market), expected, rtol=1e-10)


def test_adx_follows_the_worksheet_of_wilder(market: Market) -> None:
    n, plus, minus = 14, [], []
    for i in range(1, BARS):
        rise, fall = market.high[i] - market.high[i - 1], market.low[i - 1] - market.low[i]
        plus.append(rise if rise > fall and rise > 0 else 0.0)
        minus.append(fall if fall > rise and fall > 0 else 0.0)
    ranges = wilder(true_ranges(market), n)
    di_plus = [100 * p / r for p, r in zip(wilder(plus, n), ranges, strict=True)]
    di_minus = [100 * m / r for m, r in zip(wilder(minus, n), ranges, strict=True)]
    pairs = list(zip(di_plus, di_minus, strict=True))[n - 1 :]
    adx = [np.nan] * n + wilder([100 * abs(p - m) / (p + m) for p, m in pairs], n)
    value = over(indicators.adx(n), market)
    np.testing.assert_allclose(value.plus, [np.nan, *di_plus], rtol=1e-9)
    np.testing.assert_allclose(value.minus, [np.nan, *di_minus], rtol=1e-9)
    np.testing.assert_allclose(value.adx, adx, rtol=1e-9)


def test_vwap_restarts_at_midnight(market: Market) -> None:
    frame = pd.DataFrame({"day": market.time // 86_400, "volume": market.volume})
    frame["value"] = (market.high + market.low + market.close) / 3 * market.volume
    sums = frame.groupby("day")[["value", "volume"]].cumsum()
    np.testing.assert_allclose(over(indicators.vwap(), market), sums.value / sums.volume, rtol=1e-12)


def test_realised_volatility_is_the_root_mean_square_of_log_returns(market: Market) -> None:
    squares = np.log(close(market)).diff() ** 2
    expected = np.sqrt(squares.rolling(24).mean() * 8760)
    np.testing.assert_allclose(over(indicators.realised_volatility(24), market), expected, rtol=1e-10)


def test_funding_carry_is_the_mean_rate_a_year(market: Market) -> None:
    expected = pd.Series(market.funding_rate).rolling(72).mean() * 8760
    np.testing.assert_allclose(over(indicators.funding_carry(72), market), expected, atol=1e-12)


EVERY = {
    "ema": indicators.ema(20),
    "sma": indicators.sma(20),
    "bollinger": indicators.bollinger(),
    "donchian": indicators.donchian(),
    "macd": indicators.macd(),
    "vwap": indicators.vwap(),
    "rsi": indicators.rsi(),
    "atr": indicators.atr(),
    "adx": indicators.adx(),
    "realised_volatility": indicators.realised_volatility(),
    "funding_carry": indicators.funding_carry(),
}


@pytest.mark.parametrize("name", sorted(EVERY))
def test_changing_the_future_changes_no_past_value(name: str, market: Market) -> None:
    changed = Market(*(np.array(field) for field in market))
    for field in changed[1:]:
        field[200:] = field[200:][::-1] * 1.7
    before, after = over(EVERY[name], market), over(EVERY[name], changed)
    for (
        past,
        same,
    ) in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        np.testing.assert_array_equal(past[:200], same[:200])
        assert not np.array_equal(past[200:], same[200:])


@pytest.mark.parametrize("name", sorted(EVERY))
def test_a_batch_gives_what_each_market_gives(name: str, market: Market) -> None:
    batch = Market(*(np.stack([field, field * 1.01]) for field in market))._replace(time=np.stack([market.time] * 2))
    for pair, single in zip(
        jax.tree.leaves(over(EVERY[name], batch)), jax.tree.leaves(over(EVERY[name], market)), strict=True
    ):
        np.testing.assert_allclose(pair[0], single, rtol=1e-12)


@pytest.mark.parametrize("window", [0, -3, 4.5])
def test_a_window_that_is_no_whole_number_of_bars_is_refused(window: float) -> None:
    with pytest.raises(ValueError, match=rf"window must be a whole number.*, got {window}"):
        indicators.ema(window)


ORACLE = Path(__file__).parents[1] / "oracles" / "talib_indicators.json"


@pytest.mark.parametrize(("name", "rtol"), [("rsi", 1e-10), ("atr", 1e-10), ("sma", 1e-10), ("upper", 1e-9)])
def test_values_are_those_of_ta_lib(name: str, rtol: float) -> None:
    table = json.loads(ORACLE.read_text())
    series = {field: np.array(table["market"][field]) for field in ("open", "high", "low", "close", "volume")}
    bars = len(series["close"])
    market = Market(3600.0 * np.arange(bars), **series, funding_rate=np.zeros(bars))
    ours = {
        "rsi": lambda: over(indicators.rsi(14), market),
        "atr": lambda: over(indicators.atr(14), market),
        "sma": lambda: over(indicators.sma(20), market),
        "upper": lambda: over(indicators.bollinger(20, 2.0), market).upper,
    }[name]()
    theirs = np.array([np.nan if value is None else value for value in table[name]])
    np.testing.assert_allclose(ours, theirs, rtol=rtol)


@pytest.mark.parametrize("name", ["macd", "adx"])
def test_values_approach_those_of_ta_lib_after_the_start_is_forgotten(name: str) -> None:
    table = json.loads(ORACLE.read_text())
    series = {field: np.array(table["market"][field]) for field in ("open", "high", "low", "close", "volume")}
    bars = len(series["close"])
    market = Market(3600.0 * np.arange(bars), **series, funding_rate=np.zeros(bars))
    value = over(indicators.macd(), market).line if name == "macd" else over(indicators.adx(14), market).adx
    theirs = np.array([np.nan if value is None else value for value in table[name]])
    np.testing.assert_allclose(np.asarray(value)[-20:], theirs[-20:], rtol=1e-6)
