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
    return deviate(market, at_open=previous(deviation, first=0.0), at_close=deviation)


def previous(values: jax.Array, *, first: float | jax.Array) -> jax.Array:
    """Return ``values`` one bar later, starting with ``first``."""
    return jnp.concatenate([jnp.reshape(jnp.asarray(first, values.dtype), (1,)), values[:-1]])


def trailing_volatility(market: Market, *, decay: float = 0.94) -> jax.Array:
    """Return the log-return volatility per bar known before each bar opens, ``[bars]``.

    An exponentially weighted mean of squared close-to-close returns that starts from the first bar's own range
    (Parkinson 1980), so that it is positive from the first bar on.
    """
    log_close = jnp.log(market.close)
    squared = jnp.diff(log_close, prepend=jnp.log(market.open[:1])) ** 2
    start = jnp.maximum(jnp.log(market.high[0] / market.low[0]) ** 2 / (4.0 * jnp.log(2.0)), 1e-8)

    def update(variance: jax.Array, square: jax.Array) -> tuple[jax.Array, jax.Array]:
        return decay * variance + (1.0 - decay) * square, variance

    known = lax.scan(update, start, squared)[1]
    # The first bar's own range is not known before it opens; bars after it may use it.
    return jnp.sqrt(known.at[0].set(0.0))


def trailing_levels(market: Market, *, length: int) -> tuple[jax.Array, jax.Array]:
    """Return resistance and support: the highest high and lowest low of the ``length`` bars before each bar."""
    high = previous(market.high, first=market.open[0])
    low = previous(market.low, first=market.open[0])
    padding = [(length - 1, 0)]
    resistance: jax.Array = lax.reduce_window(high, -jnp.inf, lax.max, (length,), (1,), padding)
    support: jax.Array = lax.reduce_window(low, jnp.inf, lax.min, (length,), (1,), padding)
    return resistance, support


def trailing_trend(market: Market, *, length: int) -> jax.Array:
    """Return the sign of the log-return over the ``length`` bars before each bar, +1 or -1 (+1 when flat)."""
    known = previous(jnp.log(market.close), first=jnp.log(market.open[0]))
    earlier = jnp.concatenate([jnp.full((length,), known[0]), known[:-length]]) if length < known.shape[0] else known[0]
    return jnp.where(known >= earlier, 1.0, -1.0)
