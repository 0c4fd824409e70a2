"""Traders against the last move."""

from __future__ import annotations

from functools import cache

import jax.numpy as jnp

from backtest import indicators
from backtest.account import Account, Action
from backtest.episode import Memory, Strategy
from backtest.indicators.streaming import at_least, push, ring
from backtest.market import Market
from backtest.strategies.orders import when_changed


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

    return Strategy(init=init, decide=decide)


@cache
def rsi_divergence(window: int = 14, lookback: int = 24, exposure: float = 1.0) -> Strategy:
    """Trade against a new extreme of the price that the RSI does not confirm.

    Long when the close is the lowest of ``lookback`` bars while the RSI is above its own lowest by 5 points and below
    50; short in the mirror case; flat when the RSI crosses 50.
    """
    strength = indicators.rsi(window)
    at_least("lookback", lookback)

    def init(bar: Market) -> Memory:
        return strength.init(bar), ring(bar.close, lookback), ring(bar.close, lookback), jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        state, value = strength.update(memory[0], bar)
        closes, values, side = memory[1:]
        bull = (bar.close < jnp.min(closes.values, axis=0)) & (value > jnp.min(values.values, axis=0) + 5.0)
        bear = (bar.close > jnp.max(closes.values, axis=0)) & (value < jnp.max(values.values, axis=0) - 5.0)
        done = (side > 0.0) & (value >= 50.0) | (side < 0.0) & (value <= 50.0)
        kept = jnp.where(done, 0.0, side)
        wanted = jnp.where(bull & (value < 50.0), 1.0, jnp.where(bear & (value > 50.0), -1.0, kept)).astype(side.dtype)
        after = (state, push(closes, bar.close), push(values, value), wanted)
        return after, when_changed(wanted, side, exposure)

    return Strategy(init=init, decide=decide)


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

    return Strategy(init=init, decide=decide)


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

    return Strategy(init=init, decide=decide)
