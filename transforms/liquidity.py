"""A book that dries up: little volume, wide bars, expensive trades."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.market import Market
from transforms.record import Events, mark, transform
from transforms.slots import place


@transform(channel="both")
def liquidity(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    volume_fraction: float = 0.001,
    range_multiple: float = 2.0,
    every_bars: int = 96,
    length_bars: int = 24,
) -> tuple[Market, Events]:
    """Let volume fall to ``volume_fraction`` and wicks grow by ``range_multiple`` for ``length_bars`` bars; it is real.

    Both are powers of severity. Slippage follows by itself: it grows with order size over volume.
    """
    slots = place(key, bars=market.close.shape[0], every_bars=every_bars, length_bars=length_bars)
    inside = (slots.phase >= 0) & (slots.phase < length_bars)
    left = jnp.where(inside, jnp.power(volume_fraction, severity), 1.0)
    wider = jnp.where(inside, jnp.power(range_multiple, severity), 1.0)
    top, bottom = jnp.maximum(market.open, market.close), jnp.minimum(market.open, market.close)
    changed = market._replace(
        high=top * (market.high / top) ** wider,
        low=bottom * (market.low / bottom) ** wider,
        volume=market.volume * left,
    )
    return changed, mark("liquidity_drought", inside & (left != 1.0), left)
