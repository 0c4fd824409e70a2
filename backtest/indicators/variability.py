"""How much the market moves, and what holding it pays."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp

from backtest.indicators.streaming import Indicator, Memory, at_least
from backtest.market import Market
from native.windows import mean_of, push, ring
from pricing.signature import checked


@checked
@cache
def realised_volatility(window: int = 24, bars_per_year: float = 8760.0) -> Indicator:
    """Annualised root mean square of the last ``window`` log returns. NaN for the first ``window`` bars."""
    at_least("window", window)

    def init(bar: Market) -> Memory:
        return jnp.full_like(bar.close, jnp.nan), ring(bar.close, window)

    def update(memory: Memory, bar: Market) -> tuple[Memory, jax.Array]:
        log_close = jnp.log(bar.close)
        squares = push(memory[1], (log_close - memory[0]) ** 2)
        return (log_close, squares), jnp.sqrt(mean_of(squares) * bars_per_year)

    return Indicator(init=init, update=update)


@checked
@cache
def funding_carry(window: int = 72, bars_per_year: float = 8760.0) -> Indicator:
    """Funding paid by a long over the last ``window`` bars, per year, as a fraction of notional.

    NaN for the first ``window - 1`` bars. Bars without funding count as 0.
    """
    at_least("window", window)

    def update(memory: Memory, bar: Market) -> tuple[Memory, jax.Array]:
        memory = push(memory, bar.funding_rate)
        return memory, mean_of(memory) * bars_per_year

    return Indicator(init=lambda bar: ring(bar.close, window), update=update)
