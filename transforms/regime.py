"""Markets that change their nature, or are made anew from pieces of themselves."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.market import Market
from transforms.candles import previous
from transforms.record import Events, mark, transform


@transform(channel="both")
def regime_change(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    volatility_multiple: float = 3.0,
    earliest: float = 0.2,
    latest: float = 0.8,
) -> tuple[Market, Events]:
    """Multiply all log-returns by ``volatility_multiple ** severity`` from a random bar on; the market really changes.

    The bar lies between the shares ``earliest`` and ``latest`` of the market.
    """
    bars = market.close.shape[0]
    place = jax.random.uniform(key, (), market.close.dtype, earliest, latest)
    first = jnp.maximum((place * bars).astype(jnp.int32), 1)
    pivot = market.close[first - 1]
    power = jnp.where(jnp.arange(bars) >= first, jnp.power(volatility_multiple, severity), 1.0)
    prices = {name: pivot * (getattr(market, name) / pivot) ** power for name in ("open", "high", "low", "close")}
    changes = (jnp.arange(bars) == first) & (power != 1.0)
    return market._replace(**prices), mark("regime_change", changes, power)


@transform(channel="both", looks_ahead=None)
def bootstrap_blocks(
    key: jax.Array, market: Market, *, severity: float | jax.Array = 1.0, block_bars: int = 24
) -> tuple[Market, Events]:
    """Replace blocks by random other blocks of the same market with chance ``severity``: history as it never was.

    Blocks keep their candles relative to the close before them, their volume and their funding (block bootstrap,
    Künsch 1989). A block may come from any place, so the result looks ahead.
    """
    bars = market.close.shape[0]
    if not 1 <= block_bars <= bars:
        raise ValueError(f"block_bars must be between 1 and the {bars} bars of the market, got {block_bars}")
    swap_key, source_key = jax.random.split(key)
    blocks = -(-bars // block_bars)
    swapped = jax.random.uniform(swap_key, (blocks,), jnp.float32) < severity
    source = jax.random.randint(source_key, (blocks,), 0, bars - block_bars + 1)
    now = jnp.arange(bars)
    block, offset = now // block_bars, now % block_bars
    index = jnp.where(swapped[block], source[block] + offset, now)

    before = previous(market.close, first=market.open[0])
    growth = jnp.log(market.close / before)[index]
    after = jnp.exp(jnp.cumsum(growth)) * market.open[0]
    base = previous(after, first=market.open[0])
    prices = {name: base * (getattr(market, name) / before)[index] for name in ("open", "high", "low", "close")}
    changed = market._replace(**prices, volume=market.volume[index], funding_rate=market.funding_rate[index])
    moved = (index != now).astype(market.close.dtype) * (index - now)
    return changed, mark("resampled_block", index != now, moved)
