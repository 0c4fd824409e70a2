"""Traders against the last move."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp

from backtest import indicators
from backtest.account import Account, Action
from backtest.episode import Memory, Strategy
from backtest.indicators.streaming import at_least
from backtest.market import Market
from backtest.strategies.orders import when_changed
from native.windows import Ring, greatest_of, least_of, push, ring
from pricing.signature import checked


@checked
@cache
def rsi_reversal(window: int = 14, low: float = 30.0, high: float = 70.0, exposure: float = 1.0) -> Strategy:
    """Long once the RSI is below ``low``, short once above ``high``, flat again when it crosses 50."""
    if not 0.0 < low < 50.0 < high < 100.0:
        raise ValueError(f"low must be in (0, 50) and high in (50, 100), got low={low}, high={high}")
    strength = indicators.rsi(window)

    def init(bar: Market) -> Memory:
        return strength.init(bar), jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        state, value = strength.update(memory[0], bar)
        side = memory[1]
        done = (side > 0.0) & (value >= 50.0) | (side < 0.0) & (value <= 50.0)
        kept = jnp.where(done, 0.0, side)
        wanted = jnp.where(value < low, 1.0, jnp.where(value > high, -1.0, kept)).astype(side.dtype)
        return (state, wanted), when_changed(wanted, side, exposure)

    return Strategy(init, decide, reads_account=False)


@checked
@cache
def rsi_divergence(window: int = 14, lookback: int = 24, exposure: float = 1.0) -> Strategy:
    """Trade against a new extreme of the price that the RSI does not confirm.

    Long when the close is the lowest of ``lookback`` bars while the RSI is above its own lowest by 5 points and below
    50; short in the mirror case; flat when the RSI crosses 50.
    """
    strength = indicators.rsi(window)
    at_least("lookback", lookback)

    def init(bar: Market) -> Memory:
        rings = ring(bar.close, lookback), ring(bar.close, lookback)
        return strength.init(bar), rings, (jnp.full_like(bar.close, jnp.nan),) * 4, jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        state, (closes, values), (low, high, weak, strong), side = memory
        state, value = strength.update(state, bar)
        bull = (bar.close < low) & (value > weak + 5.0) & (value < 50.0)
        bear = (bar.close > high) & (value < strong - 5.0) & (value > 50.0)
        done = (side > 0.0) & (value >= 50.0) | (side < 0.0) & (value <= 50.0)
        kept = jnp.where(done, 0.0, side)
        wanted = jnp.where(bull, 1.0, jnp.where(bear, -1.0, kept)).astype(side.dtype)
        closes, values = push(closes, bar.close), push(values, value)
        # Extremes are taken when a bar is added, not when the next one is compared: read before write would have the
        # compiler copy both rings at every bar.
        extremes = (*_extremes(closes), *_extremes(values))
        return (state, (closes, values), extremes, wanted), when_changed(wanted, side, exposure)

    return Strategy(init, decide, reads_account=False)


def _extremes(memory: Ring) -> tuple[jax.Array, jax.Array]:
    return least_of(memory), greatest_of(memory)


@checked
@cache
def grid(spacing: float = 0.01, levels: int = 4, window: int = 168, exposure: float = 1.0) -> Strategy:
    """Buy one step for each ``spacing`` (log) that the price is below its average, sell one for each above.

    ``levels`` steps lead to ``exposure``; the average is exponential over ``window`` bars.
    """
    if not spacing > 0.0:
        raise ValueError(f"spacing must be above 0, got {spacing!r}")
    at_least("levels", levels)
    anchor = indicators.ema(window)

    def init(bar: Market) -> Memory:
        return anchor.init(bar), jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        state, middle = anchor.update(memory[0], bar)
        steps = jnp.clip(jnp.round(jnp.log(middle / bar.close) / spacing), -levels, levels)
        return (state, steps), when_changed(steps, memory[1], exposure / levels)

    return Strategy(init, decide, reads_account=False)


@checked
@cache
def bollinger_reversal(window: int = 20, deviations: float = 2.0, exposure: float = 1.0) -> Strategy:
    """Long below the lower band, short above the upper one, flat when the close crosses the middle."""
    bands = indicators.bollinger(window, deviations)

    def init(bar: Market) -> Memory:
        return bands.init(bar), jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        state, band = bands.update(memory[0], bar)
        side = memory[1]
        done = (side > 0.0) & (bar.close >= band.middle) | (side < 0.0) & (bar.close <= band.middle)
        kept = jnp.where(done, 0.0, side)
        wanted = jnp.where(bar.close < band.lower, 1.0, jnp.where(bar.close > band.upper, -1.0, kept))
        return (state, wanted.astype(side.dtype)), when_changed(wanted, side, exposure)

    return Strategy(init, decide, reads_account=False)
