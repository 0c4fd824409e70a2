"""Noise plus false market structure: trends, breakouts and broken levels that the traded market never had."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from backtest.market import Market
from transforms.candles import deviate_closes, levels_before, trend_before, volatility_before
from transforms.noisy import jitter
from transforms.record import Events, mark, overlay, transform
from transforms.slots import place

TREND, BREAKOUT, VIOLATION = range(3)


@transform(channel="observed")
def meta(
    key: jax.Array,
    market: Market,
    *,
    severity: float | jax.Array = 1.0,
    price_sigma: float = 0.02,
    every_bars: int = 16,
    length_bars: int = 8,
    level_bars: int = 20,
    breakout_margin: float = 0.01,
    trend_volatilities: float = 4.0,
) -> tuple[Market, Events]:
    """Combine noise with trend modifications, false breakouts and support/resistance violations (paper: meta).

    In every stretch of ``every_bars`` bars one of three things is shown that did not happen: a trend against the
    recent one, up to ``trend_volatilities`` bar volatilities (times the square root of ``length_bars``) and back; a
    breakout above the recent resistance by ``breakout_margin``; or a break below the recent support by the same.
    """
    noise_key, place_key, kind_key = jax.random.split(key, 3)
    slots = place(place_key, bars=market.close.shape[0], every_bars=every_bars, length_bars=length_bars)
    kind = slots.spread(jax.random.randint(kind_key, (slots.events,), 0, 3, jnp.int32))
    starts = jnp.minimum(slots.starts, market.close.shape[0] - 1)
    inside = (slots.phase >= 0) & (slots.phase < length_bars)
    bow = jnp.sin(jnp.pi * jnp.arange(1.0, length_bars + 1.0, dtype=market.close.dtype) / (length_bars + 1.0))
    hump = bow[jnp.clip(slots.phase, 0, length_bars - 1)]

    against = -trend_before(market, starts, length=level_bars)
    height = trend_volatilities * math.sqrt(length_bars) * volatility_before(market, starts, length=level_bars)
    trend = slots.spread(against * height) * hump
    log_close = jnp.log(market.close)
    resistance, support = (slots.spread(jnp.log(level)) for level in levels_before(market, starts, length=level_bars))
    held = slots.phase < length_bars // 2
    breakout = jnp.where(held, jnp.maximum(resistance - log_close + breakout_margin, 0.0), 0.0)
    violation = jnp.where(held, jnp.minimum(support - log_close - breakout_margin, 0.0), 0.0)
    shown = jnp.where(kind == TREND, trend, jnp.where(kind == BREAKOUT, breakout, violation))
    deviation = severity * jnp.where(inside, shown, 0.0)

    changed = deviate_closes(market, deviation)
    injected = inside & (deviation != 0.0)
    events = overlay(
        mark("trend_modification", injected & (kind == TREND), deviation),
        overlay(
            mark("false_breakout", injected & (kind == BREAKOUT), deviation),
            mark("level_violation", injected & (kind == VIOLATION), deviation),
        ),
    )
    words = jax.random.bits(noise_key, market.close.shape, jnp.uint64)
    return jitter(words, changed, price_sigma=severity * price_sigma), events
