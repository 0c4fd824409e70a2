"""Crashes and pumps that really happen: a fall or a rise within one bar, and what is left of it afterwards."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.market import Market
from transforms.candles import deviate_closes
from transforms.record import Events, mark, transform
from transforms.slots import place


def shock(
    key: jax.Array,
    market: Market,
    *,
    kind: str,
    log_size: float | jax.Array,
    every_bars: int,
    recovery_bars: float,
    permanent: float,
    volume_multiple: float | jax.Array,
) -> tuple[Market, Events]:
    """Return the market with one shock in every stretch of ``every_bars`` bars.

    The price moves by ``log_size`` within the bar; all but the share ``permanent`` of it fades with the time constant
    ``recovery_bars``. Volume rises to ``volume_multiple`` and fades likewise.
    """
    bars = market.close.shape[0]
    slots = place(key, bars=bars, every_bars=every_bars, length_bars=1)
    started = slots.phase >= 0
    count = slots.spread(jnp.arange(slots.events, dtype=jnp.int32)) + started
    latest = jnp.where(started, slots.spread(slots.starts), slots.spread(jnp.roll(slots.starts, 1)))
    age = (jnp.arange(bars) - latest).astype(market.close.dtype)
    fading = jnp.where(count > 0, jnp.exp(-jnp.maximum(age, 0.0) / recovery_bars), 0.0)
    deviation = log_size * ((1.0 - permanent) * fading + permanent * count)
    multiple = 1.0 + (volume_multiple - 1.0) * fading
    changed = deviate_closes(market, deviation)._replace(volume=market.volume * multiple)
    return changed, mark(kind, (slots.phase == 0) & (deviation != 0.0), jnp.full_like(deviation, log_size))


@transform(channel="both")
def flash_crash(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    log_depth: float = 0.2,
    every_bars: int = 336,
    recovery_bars: float = 12.0,
    permanent: float = 0.3,
    volume_multiple: float = 8.0,
) -> tuple[Market, Events]:
    """Let the price fall by ``log_depth`` within one bar, and partly recover; it is traded on."""
    return shock(
        key,
        market,
        kind="crash",
        log_size=-severity * log_depth,
        every_bars=every_bars,
        recovery_bars=recovery_bars,
        permanent=permanent,
        volume_multiple=1.0 + severity * (volume_multiple - 1.0),
    )


@transform(channel="both")
def flash_pump(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    log_height: float = 0.15,
    every_bars: int = 336,
    recovery_bars: float = 12.0,
    permanent: float = 0.3,
    volume_multiple: float = 8.0,
) -> tuple[Market, Events]:
    """Let the price jump by ``log_height`` within one bar, and partly fall back; it is traded on."""
    return shock(
        key,
        market,
        kind="pump",
        log_size=severity * log_height,
        every_bars=every_bars,
        recovery_bars=recovery_bars,
        permanent=permanent,
        volume_multiple=1.0 + severity * (volume_multiple - 1.0),
    )
