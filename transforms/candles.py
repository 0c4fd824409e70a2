"""Changing candles without breaking them, and what a transform may know at a bar."""

from __future__ import annotations

import jax
import jax.numpy as jnp

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
    return deviate(market, at_open=previous(deviation, first=0.0), at_close=deviation)


def previous(values: jax.Array, *, first: float | jax.Array) -> jax.Array:
    """Return ``values`` one bar later, starting with ``first``."""
    return jnp.concatenate([jnp.reshape(jnp.asarray(first, values.dtype), (1,)), values[:-1]])


def bars_before(starts: jax.Array, *, length: int) -> tuple[jax.Array, jax.Array]:
    """Return the indices of the ``length`` bars before each start, ``[events, length]``, and which of them exist."""
    index = starts[:, None] - 1 - jnp.arange(length, dtype=starts.dtype)[None, :]
    return jnp.maximum(index, 0), index >= 0


def volatility_before(market: Market, starts: jax.Array, *, length: int = 20) -> jax.Array:
    """Return the root mean square log-return of the ``length`` bars before each start, ``[events]``; 0 before none."""
    index, exists = bars_before(starts, length=length)
    squares = jnp.log(market.close[index] / market.open[index]) ** 2
    return jnp.sqrt(jnp.sum(jnp.where(exists, squares, 0.0), axis=1) / jnp.maximum(jnp.sum(exists, axis=1), 1))


def levels_before(market: Market, starts: jax.Array, *, length: int = 20) -> tuple[jax.Array, jax.Array]:
    """Return resistance and support at each start, ``[events]``: extremes of the ``length`` bars before it.

    Before the first bar both are its open.
    """
    index, exists = bars_before(starts, length=length)
    known = jnp.any(exists, axis=1)
    highest = jnp.max(jnp.where(exists, market.high[index], -jnp.inf), axis=1)
    lowest = jnp.min(jnp.where(exists, market.low[index], jnp.inf), axis=1)
    return jnp.where(known, highest, market.open[0]), jnp.where(known, lowest, market.open[0])


def trend_before(market: Market, starts: jax.Array, *, length: int = 20) -> jax.Array:
    """Return the sign of the return over the ``length`` bars before each start, ``[events]``; +1 when flat."""
    last = jnp.where(starts > 0, market.close[jnp.maximum(starts - 1, 0)], market.open[0])
    first = market.open[jnp.maximum(starts - length, 0)]
    return jnp.where(last >= first, 1.0, -1.0)
