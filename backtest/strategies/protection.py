"""A stop-loss for any strategy that trades to a target."""

from __future__ import annotations

from functools import cache

import jax.numpy as jnp

from backtest.account import HOLD, Account, Action
from backtest.episode import Memory, Strategy
from backtest.market import Market
from pricing.signature import checked


@checked
@cache
def with_stop(strategy: Strategy, stop: float) -> Strategy:
    """Return the strategy with a stop-loss that goes with each of its orders to a position.

    Parameters
    ----------
    strategy
        One whose orders are all of kind TARGET, as those of all reference strategies are.
    stop
        Distance of the stop from the observed close at which the order is decided, as a fraction of that close; in
        (0, 1). The stop stays where it is until the next order.
    """
    if not 0.0 < stop < 1.0:
        raise ValueError(f"stop must be above 0 and below 1, got {stop!r}")

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        memory, order = strategy.decide(memory, bar, account)
        side = jnp.sign(order.size)
        placed = (order.kind != HOLD) & (side != 0.0)
        return memory, order._replace(stop_loss=jnp.where(placed, bar.close * (1.0 - side * stop), jnp.nan))

    return strategy._replace(decide=decide)
