"""Moving averages of the close, and what is made of them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp

from backtest.indicators.streaming import Indicator, Memory, at_least
from backtest.market import Market
from native.windows import greatest_of, least_of, mean_of, push, ring, squares_of
from pricing.signature import checked


@checked
@cache
def ema(window: int) -> Indicator:
    """Exponential moving average of the close with weight ``2 / (window + 1)``, started at the first close.

    Never NaN. Equal to ``pandas.Series.ewm(span=window, adjust=False).mean()``.
    """
    weight = 2.0 / (at_least("window", window) + 1.0)

    def update(memory: Memory, bar: Market) -> tuple[Memory, jax.Array]:
        value = memory + weight * (bar.close - memory)
        return value, value

    return Indicator(init=lambda bar: bar.close, update=update)


@checked
@cache
def sma(window: int) -> Indicator:
    """Mean of the last ``window`` closes. NaN for the first ``window - 1`` bars, as in pandas and TA-Lib."""
    at_least("window", window)

    def update(memory: Memory, bar: Market) -> tuple[Memory, jax.Array]:
        memory = push(memory, bar.close)
        return memory, mean_of(memory)

    return Indicator(init=lambda bar: ring(bar.close, window), update=update)


class Macd(NamedTuple):
    """MACD line, its signal line, and their difference; quote currency, ``[...]``."""

    line: jax.Array
    signal: jax.Array
    histogram: jax.Array


@checked
@cache
def macd(fast: int = 12, slow: int = 26, signal: int = 9) -> Indicator:
    """MACD, moving average convergence divergence (Appel): ``ema(fast) - ema(slow)`` and its own average.

    All three averages start at their first value, so nothing is NaN; TA-Lib starts them with plain means instead, and
    the two agree to within rounding after some ten times ``slow`` bars.
    """
    if at_least("fast", fast) >= at_least("slow", slow):
        raise ValueError(f"fast must be below slow, got fast={fast}, slow={slow}")
    quick, lazy, weight = ema(fast), ema(slow), 2.0 / (at_least("signal", signal) + 1.0)

    def init(bar: Market) -> Memory:
        return quick.init(bar), lazy.init(bar), jnp.zeros_like(bar.close)

    def update(memory: Memory, bar: Market) -> tuple[Memory, Macd]:
        fast_memory, fast_value = quick.update(memory[0], bar)
        slow_memory, slow_value = lazy.update(memory[1], bar)
        line = fast_value - slow_value
        average = memory[2] + weight * (line - memory[2])
        return (fast_memory, slow_memory, average), Macd(line, average, line - average)

    return Indicator(init=init, update=update)


class Bands(NamedTuple):
    """A middle line and a band around it; quote currency, ``[...]``."""

    middle: jax.Array
    upper: jax.Array
    lower: jax.Array


@checked
@cache
def bollinger(window: int = 20, deviations: float = 2.0) -> Indicator:
    """Bollinger bands: ``sma(window)`` plus and minus ``deviations`` population standard deviations (as TA-Lib)."""
    at_least("window", window, 2)

    def update(memory: Memory, bar: Market) -> tuple[Memory, Bands]:
        memory = push(memory, bar.close)
        middle = mean_of(memory)
        width = deviations * jnp.sqrt(squares_of(memory, middle) / window)
        return memory, Bands(middle, middle + width, middle - width)

    return Indicator(init=lambda bar: ring(bar.close, window), update=update)


@checked
@cache
def donchian(window: int = 20) -> Indicator:
    """Donchian channel: highest high and lowest low of the last ``window`` bars, this bar included."""
    at_least("window", window)

    def init(bar: Market) -> Memory:
        return ring(bar.close, window), ring(bar.close, window)

    def update(memory: Memory, bar: Market) -> tuple[Memory, Bands]:
        highs, lows = push(memory[0], bar.high), push(memory[1], bar.low)
        upper, lower = greatest_of(highs), least_of(lows)
        return (highs, lows), Bands(0.5 * (upper + lower), upper, lower)

    return Indicator(init=init, update=update)


@checked
@cache
def vwap() -> Indicator:
    """Volume-weighted average of the typical price ``(high + low + close) / 3`` since midnight UTC.

    The typical price itself while nothing was traded since midnight.
    """

    def init(bar: Market) -> Memory:
        return jnp.zeros_like(bar.close), jnp.zeros_like(bar.close), jnp.floor(bar.time / 86_400.0)

    def update(memory: Memory, bar: Market) -> tuple[Memory, jax.Array]:
        value, volume, day = memory
        today = jnp.floor(bar.time / 86_400.0)
        typical = (bar.high + bar.low + bar.close) / 3.0
        value = jnp.where(today == day, value, 0.0) + typical * bar.volume
        volume = jnp.where(today == day, volume, 0.0) + bar.volume
        return (value, volume, today), jnp.where(volume > 0.0, value / jnp.where(volume > 0.0, volume, 1.0), typical)

    return Indicator(init=init, update=update)
