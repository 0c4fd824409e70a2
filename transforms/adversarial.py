"""Coordinated false signals against followers of moving averages, RSI and MACD."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from backtest.market import Market
from transforms.candles import deviate_closes, trend_before, volatility_before
from transforms.record import Events, mark, overlay, transform
from transforms.slots import place

CROSS, DIVERGENCE, MOMENTUM = range(3)


def cross_shape(phase: jax.Array, length_bars: int) -> jax.Array:
    """Return three plateaus on alternating sides, each long enough to cross moving averages; -1 to 1."""
    progress = (phase + 1.0) / length_bars
    return jnp.clip(2.0 * jnp.sin(3.0 * jnp.pi * progress), -1.0, 1.0)


def divergence_shape(phase: jax.Array, length_bars: int) -> jax.Array:
    """Return a fast push, a retreat and a slower push beyond the first: price and RSI disagree; 0 to 1."""
    progress = (phase + 1.0) / length_bars
    turns = jnp.asarray([0.0, 0.25, 0.4, 0.8, 1.0], progress.dtype)
    return jnp.interp(progress, turns, jnp.asarray([0.0, 0.85, 0.45, 1.0, 0.0], progress.dtype))


def momentum_shape(phase: jax.Array, length_bars: int) -> jax.Array:
    """Return three swings from side to side, each of which turns the MACD histogram; -1 to 1."""
    progress = (phase + 1.0) / length_bars
    return jnp.sin(6.0 * jnp.pi * progress) * jnp.sin(jnp.pi * progress)


def shapes(length_bars: int, dtype: DTypeLike) -> jax.Array:
    """Return the three shapes bar by bar, ``[3, length_bars]``: a table is quicker to read than to compute."""
    phase = jnp.arange(length_bars, dtype=dtype)
    made = (cross_shape, divergence_shape, momentum_shape)
    return jnp.stack([shape(phase, length_bars) for shape in made])


@transform(channel="observed")
def adversarial(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    level_bars: int = 20,
    every_bars: int = 16,
    length_bars: int = 15,
    push_volatilities: float = 2.5,
) -> tuple[Market, Events]:
    """Inject false moving-average crosses, RSI divergences and MACD swings (paper: adversarial).

    In every stretch of ``every_bars`` bars one false signal of ``length_bars`` bars is shown,
    ``push_volatilities`` bar volatilities times the square root of ``length_bars`` high: crosses and swings first in
    the direction of the trend of the ``level_bars`` bars before it (a bull trap), divergences against it. It uses
    nothing of the future, so a signal that is recognised as false tells nothing about what comes next; it hurts by the
    trades that it provokes. A follower who seldom trades may be kept out of the market instead: swings in both
    directions hold a slow RSI near 50.
    """
    place_key, kind_key = jax.random.split(key)
    slots = place(place_key, bars=market.close.shape[0], every_bars=every_bars, length_bars=length_bars)
    drawn = jax.random.randint(kind_key, (slots.events,), 0, 3, jnp.int32)
    starts = jnp.minimum(slots.starts, market.close.shape[0] - 1)
    side = jnp.where(drawn == DIVERGENCE, -1.0, 1.0) * trend_before(market, starts, length=level_bars)
    height = push_volatilities * math.sqrt(length_bars) * volatility_before(market, starts, length=level_bars)
    kind, push = slots.spread(drawn), slots.spread(side * height)
    inside = (slots.phase >= 0) & (slots.phase < length_bars)
    shape = shapes(length_bars, market.close.dtype)[kind, jnp.clip(slots.phase, 0, length_bars - 1)]
    deviation = severity * jnp.where(inside, push * shape, 0.0)
    injected = inside & (deviation != 0.0)
    events = overlay(
        mark("false_cross", injected & (kind == CROSS), deviation),
        overlay(
            mark("false_divergence", injected & (kind == DIVERGENCE), deviation),
            mark("false_momentum", injected & (kind == MOMENTUM), deviation),
        ),
    )
    return deviate_closes(market, deviation), events
