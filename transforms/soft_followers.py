"""Smooth versions of the reference strategies: what an adversary can differentiate through."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

COST = 6e-4
"""Cost of trading one times equity: 5 bps fee and 1 bp slippage."""
SHARPNESS = 2.0


def ema(values: jax.Array, window: int) -> jax.Array:
    """Return the exponential moving average with weight ``2 / (window + 1)``, started at the first value."""
    weight = 2.0 / (window + 1.0)

    def update(mean: jax.Array, value: jax.Array) -> tuple[jax.Array, jax.Array]:
        mean = mean + weight * (value - mean)
        return mean, mean

    return lax.scan(update, values[0], values)[1]


def moving_average_cross(log_close: jax.Array, unit: jax.Array) -> jax.Array:
    """Return the exposure of a follower of the 12/26 cross, ``[bars]`` in [-1, 1]."""
    return jnp.tanh(SHARPNESS * (ema(log_close, 12) - ema(log_close, 26)) / unit)


def macd(log_close: jax.Array, unit: jax.Array) -> jax.Array:
    """Return the exposure of a follower of the MACD histogram 12/26/9."""
    line = ema(log_close, 12) - ema(log_close, 26)
    return jnp.tanh(2.0 * SHARPNESS * (line - ema(line, 9)) / unit)


def rsi_reversal(log_close: jax.Array, unit: jax.Array) -> jax.Array:
    """Return the exposure of somebody who buys weakness and sells strength by RSI 14."""
    change = jnp.diff(log_close, prepend=log_close[:1])
    softness = 0.05 * unit
    rise = softness * jax.nn.softplus(change / softness)
    fall = softness * jax.nn.softplus(-change / softness)
    up, down = ema(rise, 27), ema(fall, 27)
    return jnp.tanh(SHARPNESS * 3.0 * (down - up) / (up + down))


FOLLOWERS = (moving_average_cross, macd, rsi_reversal)


def log_growth(exposure: jax.Array, log_open: jax.Array, log_end: jax.Array) -> jax.Array:
    """Return first-order log growth after costs of an exposure decided at each close and held from the next open."""
    held = exposure[:-1]
    returns = jnp.concatenate([log_open[2:], log_end[-1:]]) - log_open[1:]
    traded = jnp.abs(jnp.diff(held, prepend=jnp.zeros_like(held[:1])))
    return jnp.sum(held * returns) - COST * jnp.sum(traded)


def best_growth(observed_log_close: jax.Array, log_open: jax.Array, log_end: jax.Array, unit: jax.Array) -> jax.Array:
    """Return the log growth of the follower that fares best, smoothly: an adversary that lowers it spares nobody.

    Parameters
    ----------
    observed_log_close
        ``[bars]`` what they see.
    log_open, log_end
        ``[bars]`` opens and closes they trade at.
    unit
        Volatility per bar, which makes signals comparable between markets.
    """
    growth = jnp.stack([log_growth(follow(observed_log_close, unit), log_open, log_end) for follow in FOLLOWERS])
    softness = 0.2 * unit * math.sqrt(observed_log_close.shape[0])
    return softness * jax.nn.logsumexp(growth / softness)
