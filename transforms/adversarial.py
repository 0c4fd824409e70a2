"""Coordinated false signals against followers of moving averages, RSI and MACD."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.market import Market
from transforms.candles import deviate_closes, trailing_trend, trailing_volatility
from transforms.record import Events, mark, overlay, transform
from transforms.slots import place, value_at_start

CROSS, DIVERGENCE, MOMENTUM = range(3)


def cross_shape(phase: jax.Array, length_bars: int) -> jax.Array:
    """Return a push to a plateau and back, long enough to cross moving averages; 0 to 1."""
    progress = (phase + 1.0) / length_bars
    return jnp.clip(jnp.minimum(3.0 * progress, 3.0 * (1.0 - progress)), 0.0, 1.0)


def divergence_shape(phase: jax.Array, length_bars: int) -> jax.Array:
    """Return a fast push, a retreat and a slower push beyond the first: price and RSI disagree; 0 to 1."""
    progress = (phase + 1.0) / length_bars
    turns = jnp.asarray([0.0, 0.25, 0.4, 0.8, 1.0], progress.dtype)
    return jnp.interp(progress, turns, jnp.asarray([0.0, 0.85, 0.45, 1.0, 0.0], progress.dtype))


def momentum_shape(phase: jax.Array, length_bars: int) -> jax.Array:
    """Return three swings from side to side, each of which turns the MACD histogram; -1 to 1."""
    progress = (phase + 1.0) / length_bars
    return jnp.sin(6.0 * jnp.pi * progress) * jnp.sin(jnp.pi * progress)


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
    """Inject false moving-average crosses, RSI divergences and MACD swings against the trend (paper: adversarial).

    In every stretch of ``every_bars`` bars one false signal of ``length_bars`` bars is shown,
    ``push_volatilities`` bar volatilities times the square root of ``length_bars`` high: crosses and swings in the
    direction of the trend of the ``level_bars`` bars before it (a bull trap), divergences against it. It uses nothing
    of the future, so a signal that is recognised as false tells nothing about what comes next; it hurts by the trades
    that it provokes.
    """
    place_key, kind_key = jax.random.split(key)
    slots = place(place_key, bars=market.close.shape[0], every_bars=every_bars, length_bars=length_bars)
    kind = jax.random.randint(kind_key, (slots.events,), 0, 3)[slots.slot]
    inside = (slots.phase >= 0) & (slots.phase < length_bars)
    side = jnp.where(kind == DIVERGENCE, -1.0, 1.0) * value_at_start(slots, trailing_trend(market, length=level_bars))
    height = push_volatilities * jnp.sqrt(float(length_bars)) * value_at_start(slots, trailing_volatility(market))

    phase = slots.phase.astype(market.close.dtype)
    shape = jnp.select(
        [kind == CROSS, kind == DIVERGENCE],
        [cross_shape(phase, length_bars), divergence_shape(phase, length_bars)],
        momentum_shape(phase, length_bars),
    )
    deviation = severity * jnp.where(inside, side * height * shape, 0.0)
    injected = inside & (deviation != 0.0)
    events = overlay(
        mark("false_cross", injected & (kind == CROSS), deviation),
        overlay(
            mark("false_divergence", injected & (kind == DIVERGENCE), deviation),
            mark("false_momentum", injected & (kind == MOMENTUM), deviation),
        ),
    )
    return deviate_closes(market, deviation), events
