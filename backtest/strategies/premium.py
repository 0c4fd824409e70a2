"""Collectors of a premium: for bearing volatility, or for taking the unpopular side of the funding."""

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
def volatility_target(
    volatility: float = 0.4, window: int = 72, largest: float = 2.0, band: float = 0.1, bars_per_year: float = 8760.0
) -> Strategy:
    """Long with the exposure that would have had the annualised ``volatility``, at most ``largest``.

    It trades when that exposure is more than ``band`` away from the one it last asked for.
    """
    if not volatility > 0.0:
        raise ValueError(f"volatility must be above 0, got {volatility!r}")
    realised = indicators.realised_volatility(window, bars_per_year)

    def init(bar: Market) -> Memory:
        return realised.init(bar), jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        state, value = realised.update(memory[0], bar)
        wanted = jnp.minimum(volatility / value, largest)
        asked = jnp.where(jnp.abs(wanted - memory[1]) > band, wanted, memory[1])
        return (state, asked), when_changed(asked, memory[1], 1.0)

    return Strategy(init, decide, reads_account=False)


@checked
@cache
def carry(window: int = 72, threshold: float = 0.10, exposure: float = 1.0, bars_per_year: float = 8760.0) -> Strategy:
    """Take the side that is paid funding while its mean exceeds ``threshold`` a year; flat otherwise."""
    if not threshold >= 0.0:
        raise ValueError(f"threshold must be at least 0, got {threshold!r}")
    paid = indicators.funding_carry(window, bars_per_year)

    def init(bar: Market) -> Memory:
        return paid.init(bar), jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        state, value = paid.update(memory[0], bar)
        side = jnp.where(value > threshold, -1.0, jnp.where(value < -threshold, 1.0, 0.0)).astype(bar.close.dtype)
        return (state, side), when_changed(side, memory[1], exposure)

    return Strategy(init, decide, reads_account=False)
