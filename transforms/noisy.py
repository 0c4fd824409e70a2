"""Feed noise: the agent's prices jitter, the account's do not."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.market import Market
from backtest.simulators.draws import normal, uniform
from transforms.candles import with_body
from transforms.record import Events, mark, transform


def jitter(words: jax.Array, market: Market, *, price_sigma: float | jax.Array) -> Market:
    """Return the market with independent Gaussian log-noise of ``price_sigma`` at every open and close.

    ``words`` are ``[bars]`` random uint64, of which the lower 48 bits are used: 24 bits of noise are plenty.
    """
    sigma = jnp.asarray(price_sigma, jnp.float32)
    at_open, at_close = (
        1.0 + jnp.expm1(sigma * normal(words, place=place, bits=24)).astype(market.close.dtype) for place in (0, 24)
    )
    return with_body(market, open=market.open * at_open, close=market.close * at_close)


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
    words = jax.random.bits(key, market.volume.shape, jnp.uint64)
    spike = uniform(words, place=48, bits=16) < spike_probability
    multiple = jnp.where(spike, 1.0 + severity * (spike_multiple - 1.0), 1.0)
    changed = jitter(words, market, price_sigma=severity * price_sigma)
    return changed._replace(volume=market.volume * multiple), mark("volume_spike", spike & (multiple != 1.0), multiple)
