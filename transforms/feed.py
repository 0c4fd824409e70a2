"""A feed with faults: it stands still, loses bars, or reports trades that nobody made."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from backtest.market import Market
from transforms.record import Events, mark, transform
from transforms.slots import place


def shown_late(market: Market, index: jax.Array) -> Market:
    """Return the market whose bars show the prices and volumes of bars ``index`` ``[bars]`` at their own times."""
    return Market(market.time, *(field[index] for field in market[1:]))


@transform(channel="observed")
def stale_feed(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    every_bars: int = 48,
    length_bars: int = 6,
) -> tuple[Market, Events]:
    """Repeat the last bar for ``severity * length_bars`` bars in every stretch of ``every_bars``, then catch up."""
    slots = place(key, bars=market.close.shape[0], every_bars=every_bars, length_bars=length_bars)
    start = slots.spread(slots.starts)
    stale = (slots.phase >= 0) & (slots.phase < severity * length_bars) & (start > 0)
    now = jnp.arange(market.close.shape[0], dtype=jnp.int32)
    last_good = jnp.where(stale, start - 1, now)
    delay = (now - last_good).astype(market.close.dtype)
    return shown_late(market, last_good), mark("stale_bar", stale, delay)


@transform(channel="observed")
def missing_bars(
    key: jax.Array, market: Market, *, severity: float | jax.Array = 1.0, probability: float = 0.1
) -> tuple[Market, Events]:
    """Lose bars with chance ``severity * probability``; the feed fills them flat at the last close, without volume."""
    bars = market.close.shape[0]
    now = jnp.arange(bars, dtype=jnp.int32)
    lost = (jax.random.uniform(key, (bars,), jnp.float32) < severity * probability) & (now > 0)
    last_good = lax.cummax(jnp.where(lost, -1, now))
    flat = market.close[last_good]
    changed = market._replace(
        open=jnp.where(lost, flat, market.open),
        high=jnp.where(lost, flat, market.high),
        low=jnp.where(lost, flat, market.low),
        close=jnp.where(lost, flat, market.close),
        volume=jnp.where(lost, 0.0, market.volume),
    )
    return changed, mark("missing_bar", lost, (now - last_good).astype(market.close.dtype))


@transform(channel="observed")
def wash_volume(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    multiple: float = 5.0,
    every_bars: int = 48,
    length_bars: int = 12,
) -> tuple[Market, Events]:
    """Report ``multiple`` times the volume for ``length_bars`` bars in every stretch: trades between one hand."""
    slots = place(key, bars=market.close.shape[0], every_bars=every_bars, length_bars=length_bars)
    inside = (slots.phase >= 0) & (slots.phase < length_bars)
    factor = jnp.where(inside, 1.0 + severity * (multiple - 1.0), 1.0)
    return market._replace(volume=market.volume * factor), mark("wash_volume", inside & (factor != 1.0), factor)
