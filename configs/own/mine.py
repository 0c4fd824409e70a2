"""A strategy, a transform and a metric of your own: what ``sweep.yaml`` beside this file names.

Each is one function. Strategies and transforms are traced by jax once and then played in many markets side by side, so
choices are ``jnp.where`` and every number may be an array, one value a market.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import transforms
from backtest import indicators
from backtest.account import Account, Action
from backtest.episode import Strategy
from backtest.market import Market
from backtest.metrics import Statistics, ratio
from backtest.strategies.orders import when_changed


def pullback(trend: int = 200, window: int = 14, low: float = 40.0, exposure: float = 1.0) -> Strategy:
    """Long when the RSI dips below ``low`` above the long average; flat once the close falls below that average."""
    average, strength = indicators.ema(trend), indicators.rsi(window)

    def init(bar: Market) -> Any:
        return average.init(bar), strength.init(bar), jnp.zeros_like(bar.close)

    def decide(memory: Any, bar: Market, account: Account) -> tuple[Any, Action]:
        of_average, of_strength, side = memory
        of_average, middle = average.update(of_average, bar)
        of_strength, value = strength.update(of_strength, bar)
        dips = (bar.close > middle) & (value < low)
        wanted = jnp.where(bar.close < middle, 0.0, jnp.where(dips, 1.0, side)).astype(side.dtype)
        return (of_average, of_strength, wanted), when_changed(wanted, side, exposure)

    return Strategy(init, decide, reads_account=False)


@transforms.transform(channel="observed")
def late_close(key: jax.Array, market: Market, *, severity: float | jax.Array = 1.0, bps: float = 10.0) -> Market:
    """Show closes a little higher than they were."""
    del key
    up = 1.0 + severity * bps * 1e-4
    return market._replace(close=market.close * up, high=market.high * up)


def growth_over_drawdown(s: Statistics) -> jax.Array:
    """Return log growth over the largest drawdown. NaN without a drawdown."""
    return ratio(jnp.log(s.growth), s.max_drawdown)
