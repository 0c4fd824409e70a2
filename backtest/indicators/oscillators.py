"""Wilder's indicators (New Concepts in Technical Trading Systems, 1978), with his smoothing as in TA-Lib."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp

from backtest.indicators.streaming import Indicator, Memory, Smoothed, at_least, ready, smooth, smoothed
from backtest.market import Market
from pricing.signature import checked


@checked
@cache
def rsi(window: int = 14) -> Indicator:
    """Relative strength index, 0 to 100. NaN for the first ``window`` bars; 50 where there was no move at all."""
    at_least("window", window)

    def init(bar: Market) -> Memory:
        return bar.close, smoothed(bar.close), smoothed(bar.close), jnp.zeros((), bool)

    def update(memory: Memory, bar: Market) -> tuple[Memory, jax.Array]:
        close, gains, losses, started = memory
        change = bar.close - close
        gains = _if(started, smooth(gains, jnp.maximum(change, 0.0), window), gains)
        losses = _if(started, smooth(losses, jnp.maximum(-change, 0.0), window), losses)
        total = gains.mean + losses.mean
        strength = jnp.where(total > 0.0, 100.0 * gains.mean / jnp.where(total > 0.0, total, 1.0), 50.0)
        value = jnp.where(gains.seen >= float(window), strength, jnp.nan)
        return (bar.close, gains, losses, jnp.ones((), bool)), value

    return Indicator(init=init, update=update)


@checked
@cache
def atr(window: int = 14) -> Indicator:
    """Average true range, quote currency. NaN for the first ``window`` bars."""
    at_least("window", window)

    def init(bar: Market) -> Memory:
        return bar.close, smoothed(bar.close), jnp.zeros((), bool)

    def update(memory: Memory, bar: Market) -> tuple[Memory, jax.Array]:
        close, average, started = memory
        average = _if(started, smooth(average, true_range(bar, close), window), average)
        return (bar.close, average, jnp.ones((), bool)), ready(average, window)

    return Indicator(init=init, update=update)


def true_range(bar: Market, previous_close: jax.Array) -> jax.Array:
    """Return the range of the bar, the gap from the previous close included."""
    return jnp.maximum(bar.high, previous_close) - jnp.minimum(bar.low, previous_close)


class Directional(NamedTuple):
    """Average directional index and the two directional indicators, 0 to 100, ``[...]``."""

    adx: jax.Array
    plus: jax.Array
    minus: jax.Array


@checked
@cache
def adx(window: int = 14) -> Indicator:
    """Average directional index. NaN for the first ``2 * window - 1`` bars; 0 where there was no directional move.

    Wilder's sums start with plain means here and in his book; TA-Lib drops one bar of the first sum, so the two agree
    to within rounding only after some twenty times ``window`` bars.
    """
    at_least("window", window)

    def init(bar: Market) -> Memory:
        four = tuple(smoothed(bar.close) for _ in range(4))
        return (bar.high, bar.low, bar.close), four, jnp.zeros((), bool)

    def update(memory: Memory, bar: Market) -> tuple[Memory, Directional]:
        (last_high, last_low, last_close), (up, down, ranges, index), started = memory
        rise, fall = bar.high - last_high, last_low - bar.low
        moves = (
            jnp.where((rise > fall) & (rise > 0.0), rise, 0.0),
            jnp.where((fall > rise) & (fall > 0.0), fall, 0.0),
            true_range(bar, last_close),
        )
        up, down, ranges = (
            _if(started, smooth(average, move, window), average)
            for average, move in zip((up, down, ranges), moves, strict=True)
        )
        spread = jnp.where(ranges.mean > 0.0, ranges.mean, 1.0)
        plus, minus = 100.0 * up.mean / spread, 100.0 * down.mean / spread
        total = plus + minus
        dx = jnp.where(total > 0.0, 100.0 * jnp.abs(plus - minus) / jnp.where(total > 0.0, total, 1.0), 0.0)
        full = ranges.seen >= float(window)
        index = _if(full, smooth(index, dx, window), index)
        value = Directional(ready(index, window), jnp.where(full, plus, jnp.nan), jnp.where(full, minus, jnp.nan))
        return ((bar.high, bar.low, bar.close), (up, down, ranges, index), jnp.ones((), bool)), value

    return Indicator(init=init, update=update)


def _if(condition: jax.Array, new: Smoothed, old: Smoothed) -> Smoothed:
    return Smoothed(jnp.where(condition, new.mean, old.mean), jnp.where(condition, new.seen, old.seen))
