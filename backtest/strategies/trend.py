"""Followers of a trend."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp

from backtest.account import HOLD, TARGET, Account, Action, target
from backtest.episode import Memory, Strategy
from backtest.market import Market


@cache
def moving_average_cross(fast: int = 12, slow: int = 26, exposure: float = 1.0) -> Strategy:
    """Long while the fast exponential moving average is above the slow one, else short. Trades on a cross only."""
    if not 1 <= fast < slow:
        raise ValueError(f"fast must be at least 1 and below slow, got fast={fast}, slow={slow}")
    fast_weight, slow_weight = 2.0 / (fast + 1.0), 2.0 / (slow + 1.0)

    def init(bar: Market) -> Memory:
        return bar.close, bar.close, jnp.zeros_like(bar.close)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        quick, lazy, side = memory
        quick = quick + fast_weight * (bar.close - quick)
        lazy = lazy + slow_weight * (bar.close - lazy)
        wanted = jnp.sign(quick - lazy)
        return (quick, lazy, wanted), when_changed(wanted, side, exposure)

    return Strategy(init=init, decide=decide)


def when_changed(wanted: jax.Array, before: jax.Array, exposure: float) -> Action:
    """Return an order to ``wanted * exposure`` where the wanted side has changed, else a hold."""
    order = target(wanted * exposure)
    return order._replace(kind=jnp.where(wanted == before, HOLD, TARGET).astype(jnp.int32))
