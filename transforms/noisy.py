"""Feed noise: the agent's prices jitter, the account's do not."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.market import Market
from transforms.candles import deviate
from transforms.record import Events, mark, transform


def jitter(key: jax.Array, market: Market, *, price_sigma: float | jax.Array) -> Market:
    """Return the market with independent Gaussian log-noise of ``price_sigma`` at every open and close."""
    # 24 bits of noise are plenty, and cost a third of what 53 do.
    drawn = jax.random.normal(key, (2, market.close.shape[0]), jnp.float32).astype(market.close.dtype)
    at_open, at_close = price_sigma * drawn
    return deviate(market, at_open=at_open, at_close=at_close)


@transform(channel="observed")
def noisy(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    price_sigma: float = 0.02,
    spike_probability: float = 0.05,
    spike_multiple: float = 3.0,
) -> tuple[Market, Events]:
    """Add Gaussian price noise (2%) and sporadic volume spikes (3x), as the paper defines the noisy condition."""
    price_key, spike_key = jax.random.split(key)
    spike = jax.random.bernoulli(spike_key, jnp.float32(spike_probability), market.volume.shape)
    multiple = jnp.where(spike, 1.0 + severity * (spike_multiple - 1.0), 1.0)
    changed = jitter(price_key, market, price_sigma=severity * price_sigma)
    return changed._replace(volume=market.volume * multiple), mark("volume_spike", spike & (multiple != 1.0), multiple)
