"""What a venue shows beside candles: order flow, the book, the premium, a leading coin, announcements.

All are drawn independently of the market's own direction. A leader or a flow that moved with the same bar's return
would make the next return depend on this one, which real hourly returns do not (``facts``); what a channel says about
the **next** bars is the structure's business.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

BITS = 16
PREMIUM_PERSISTENCE = 0.8
PREMIUM_NOISE = 1e-4
LEADER_VOLATILITY = 0.7
"""Of the leading coin, per year; the same in all markets."""
NEWS_SHARE = 0.6
"""Share of the bars that end with an announcement."""


class Channels(NamedTuple):
    """Public series of a market beside its candles, fields ``[bars]`` or ``[batch, bars]``, float64.

    Attributes
    ----------
    flow
        Imbalance of aggressive orders within the bar, -1 (all sold) to 1 (all bought).
    book
        Imbalance of the resting volume at the bar's close, -1 (all asks) to 1 (all bids).
    premium
        Premium of the future over the index at the bar's close, fraction of the price:
        ``PREMIUM_PERSISTENCE`` times the one before, and a surprise. The surprises of the bars between two payments
        of funding are what moves the rate.
    leader
        Log-return of a leading coin within the bar.
    news
        1 where an announcement at the bar's close says that the price will rise, -1 that it will fall, 0 without one.
    """

    flow: jax.Array
    book: jax.Array
    premium: jax.Array
    leader: jax.Array
    news: jax.Array


POINTING = ("flow", "book", "leader", "news")
"""Channels that point up or down; in a mirror image they are inverted. The premium is not: it is mostly positive, so
that inverted it would name the image."""


def mirrored(channels: Channels) -> Channels:
    """Return the channels of the mirror image."""
    return channels._replace(**{name: -getattr(channels, name) for name in POINTING})


class Shocks(NamedTuple):
    """Random numbers behind channels and directions: independent, uniform on (-1, 1), float32 ``[bars]``.

    Attributes
    ----------
    direction
        On 24 bits: below the lean of the bar it rises, else it falls.
    flow, book, premium, leader, news
        Of the channels.
    regime
        Of what a structure keeps hidden.
    """

    direction: jax.Array
    flow: jax.Array
    book: jax.Array
    premium: jax.Array
    leader: jax.Array
    news: jax.Array
    regime: jax.Array


def shocks(key: jax.Array, bars: int) -> Shocks:
    """Return the random numbers of ``bars`` bars: two words of 64 bits each."""
    first, second = jax.random.bits(key, (2, bars), jnp.uint64)
    return Shocks(
        direction=_signed(first, 0, 24),
        flow=_signed(first, 24, BITS),
        book=_signed(first, 40, BITS),
        premium=_signed(second, 0, BITS),
        leader=_signed(second, 16, BITS),
        news=_signed(second, 32, BITS),
        regime=_signed(second, 48, BITS),
    )


def shown(drawn: Shocks, premium: jax.Array, *, years: jax.Array) -> Channels:
    """Return the channels of some bars; ``premium`` ``[bars]`` as it was summed up, ``years`` the length of a bar."""
    scale = LEADER_VOLATILITY * jnp.sqrt(years)
    return Channels(
        flow=drawn.flow,
        book=drawn.book,
        premium=premium,
        leader=scale * jnp.sqrt(2.0) * lax.erf_inv(drawn.leader),
        news=spoken(drawn.news),
    )


def spoken(drawn: jax.Array) -> jax.Array:
    """Return 1, -1 or, where nothing is announced, 0."""
    return jnp.where(jnp.abs(drawn) < NEWS_SHARE, jnp.sign(drawn), 0.0)


def premium_after(before: jax.Array, surprise: jax.Array) -> jax.Array:
    """Return the premium after a bar."""
    return PREMIUM_PERSISTENCE * before + PREMIUM_NOISE * surprise


def _signed(word: jax.Array, place: int, bits: int) -> jax.Array:
    """Return odd multiples of ``2 ** -bits`` in (-1, 1), which have their negatives and are never 0."""
    chosen = ((word >> jnp.uint64(place)) & jnp.uint64(2**bits - 1)).astype(jnp.int32)
    signed: jax.Array = (2 * chosen + 1 - 2**bits).astype(jnp.float32) * jnp.float32(2.0**-bits)
    return signed
