"""Changes that leave the market what it is: another unit, another date, the mirror image."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.market import Market
from transforms.record import transform


@transform(channel="both")
def scale(key: jax.Array, market: Market, *, severity: float | jax.Array = 1.0, factor: float = 10.0) -> Market:
    """Quote the market in another unit: prices times ``factor ** severity``, volumes so that notional is kept."""
    del key
    by = jnp.power(factor, severity)
    return market._replace(
        open=market.open * by,
        high=market.high * by,
        low=market.low * by,
        close=market.close * by,
        volume=market.volume / by,
    )


@transform(channel="both")
def time_shift(
    key: jax.Array, market: Market, *, severity: float | jax.Array = 1.0, shift_seconds: float = 2_592_000.0
) -> Market:
    """Move the market to another date, ``severity * shift_seconds`` later; multiples of 8 h keep the funding clock."""
    del key
    return market._replace(time=market.time + severity * shift_seconds)


def power_of_returns(market: Market, *, pivot: jax.Array, power: float | jax.Array) -> Market:
    """Return the market whose log-prices are ``power`` times as far from ``pivot``; funding is multiplied alike."""
    first, second = pivot * (market.high / pivot) ** power, pivot * (market.low / pivot) ** power
    return market._replace(
        open=pivot * (market.open / pivot) ** power,
        high=jnp.maximum(first, second),
        low=jnp.minimum(first, second),
        close=pivot * (market.close / pivot) ** power,
        funding_rate=power * market.funding_rate,
    )


@transform(channel="both")
def invert(key: jax.Array, market: Market, *, severity: float | jax.Array = 1.0) -> Market:
    """Mirror the market in log-returns about its first open, funding included; done twice, nothing has changed.

    Severity 0.5 gives a market that stands still.
    """
    del key
    return power_of_returns(market, pivot=market.open[0], power=1.0 - 2.0 * severity)
