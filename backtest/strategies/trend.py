"""Followers of a trend."""

from __future__ import annotations

from functools import cache

import jax.numpy as jnp

from backtest import indicators
from backtest.account import Account, Action
from backtest.episode import Memory, Strategy
from backtest.market import Market
from backtest.strategies.orders import when_changed
from pricing.signature import checked


@checked
@cache
def moving_average_cross(fast: int = 12, slow: int = 26, exposure: float = 1.0) -> Strategy:
    """Long while the fast exponential moving average is above the slow one, short while below."""
    if not 1 <= fast < slow:
        raise ValueError(f"fast must be at least 1 and below slow, got fast={fast}, slow={slow}")
    quick, lazy = indicators.ema(fast), indicators.ema(slow)

    def init(bar: Market) -> Memory:
        return quick.init(bar), lazy.init(bar), jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        fast_memory, fast_value = quick.update(memory[0], bar)
        slow_memory, slow_value = lazy.update(memory[1], bar)
        side = jnp.sign(fast_value - slow_value)
        return (fast_memory, slow_memory, side), when_changed(side, memory[2], exposure)

    return Strategy(init, decide, reads_account=False)


@checked
@cache
def macd(fast: int = 12, slow: int = 26, signal: int = 9, exposure: float = 1.0) -> Strategy:
    """Long while the MACD line is above its signal line, short while below."""
    lines = indicators.macd(fast, slow, signal)

    def init(bar: Market) -> Memory:
        return lines.init(bar), jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        state, value = lines.update(memory[0], bar)
        side = jnp.sign(value.histogram)
        return (state, side), when_changed(side, memory[1], exposure)

    return Strategy(init, decide, reads_account=False)


@checked
@cache
def donchian_breakout(window: int = 48, exposure: float = 1.0) -> Strategy:
    """Long after a close above the highest high of the ``window`` bars before, short after one below the lowest low."""
    channel = indicators.donchian(window)

    def init(bar: Market) -> Memory:
        unknown = jnp.full_like(bar.close, jnp.nan)
        return channel.init(bar), unknown, unknown, jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        state, highest, lowest, side = memory
        wanted = jnp.where(bar.close > highest, 1.0, jnp.where(bar.close < lowest, -1.0, side)).astype(side.dtype)
        state, value = channel.update(state, bar)
        return (state, value.upper, value.lower, wanted), when_changed(wanted, side, exposure)

    return Strategy(init, decide, reads_account=False)
