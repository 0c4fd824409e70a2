"""Prices that jump between one bar's close and the next bar's open."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.market import Market
from transforms.candles import deviate
from transforms.record import Events, mark, transform


@transform(channel="both")
def gap(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    gap_probability: float = 0.02,
    gap_sigma: float = 0.03,
) -> tuple[Market, Events]:
    """Open bars at a random distance from the close before, and go on from there; stops are jumped over."""
    where_key, size_key = jax.random.split(key)
    bars = market.close.shape[0]
    here = jax.random.bernoulli(where_key, jnp.float32(gap_probability), (bars,)) & (jnp.arange(bars) > 0)
    drawn = jax.random.normal(size_key, (bars,), jnp.float32).astype(market.close.dtype)
    jump = jnp.where(here, severity * gap_sigma * drawn, 0.0)
    level = jnp.cumsum(jump)
    return deviate(market, at_open=level, at_close=level), mark("gap", here & (jump != 0.0), jump)
