"""Changing candles without breaking them, and what a transform may know at a bar."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from backtest.market import Market


def with_body(market: Market, *, open: jax.Array, close: jax.Array) -> Market:
    """Return the market with new opens and closes; each bar keeps its wicks in proportion, so it stays valid."""
    upper = market.high / jnp.maximum(market.open, market.close)
    lower = market.low / jnp.minimum(market.open, market.close)
    return market._replace(
        open=open,
        high=jnp.maximum(open, close) * upper,
        low=jnp.minimum(open, close) * lower,
        close=close,
    )


def deviate(market: Market, *, at_open: jax.Array, at_close: jax.Array) -> Market:
    """Return the market with log-price deviations added at the opens and closes, each ``[bars]``."""
    return with_body(market, open=market.open * jnp.exp(at_open), close=market.close * jnp.exp(at_close))


def deviate_closes(market: Market, deviation: jax.Array) -> Market:
    """Return the market with a log-price deviation at each close that the next open carries on, ``[bars]``."""
    factor = jnp.exp(deviation)
    return with_body(market, open=market.open * previous(factor, first=1.0), close=market.close * factor)


def previous(values: jax.Array, *, first: float | jax.Array) -> jax.Array:
    """Return ``values`` one bar later, starting with ``first``."""
    return jnp.concatenate([jnp.reshape(jnp.asarray(first, values.dtype), (1,)), values[:-1]])


def bars_before(values: jax.Array, starts: jax.Array, *, length: int, missing: float) -> jax.Array:
    """Return ``values`` of the ``length`` bars before each start, ``[events, length]``; ``missing`` before bar 0."""
    padded = jnp.concatenate([jnp.full((length,), missing, values.dtype), values])
    windows: jax.Array = jax.vmap(lambda start: lax.dynamic_slice(padded, (start,), (length,)))(starts)
    return windows


def volatility_before(market: Market, starts: jax.Array, *, length: int = 20) -> jax.Array:
    """Return the root mean square log-return of the ``length`` bars before each start, ``[events]``; 0 before none."""
    squares = jnp.log(market.close / market.open) ** 2
    total = jnp.sum(bars_before(squares, starts, length=length, missing=0.0), axis=1)
    return jnp.sqrt(total / jnp.clip(starts, 1, length))


def levels_before(market: Market, starts: jax.Array, *, length: int = 20) -> tuple[jax.Array, jax.Array]:
    """Return resistance and support at each start, ``[events]``: extremes of the ``length`` bars before it.

    Before the first bar both are its open.
    """
    highest = jnp.max(bars_before(market.high, starts, length=length, missing=-jnp.inf), axis=1)
    lowest = jnp.min(bars_before(market.low, starts, length=length, missing=jnp.inf), axis=1)
    known = starts > 0
    return jnp.where(known, highest, market.open[0]), jnp.where(known, lowest, market.open[0])


def trend_before(market: Market, starts: jax.Array, *, length: int = 20) -> jax.Array:
    """Return the sign of the return over the ``length`` bars before each start, ``[events]``; +1 when flat."""
    last = jnp.where(starts > 0, market.close[jnp.maximum(starts - 1, 0)], market.open[0])
    first = market.open[jnp.maximum(starts - length, 0)]
    return jnp.where(last >= first, 1.0, -1.0)
