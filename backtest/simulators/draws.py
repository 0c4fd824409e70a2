"""Random numbers of a bar: three words of 64 bits, cut into as many numbers as their grids allow.

One call of the generator (threefry) makes 64 bits, so a word for each number would throw most of them away.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

MEAN_SIZE = math.sqrt(2.0 / math.pi)
"""Of a standard normal number."""
PER_SIZE = math.sqrt(math.pi / 2.0)
"""Standard deviation over mean size of a normal number."""


class Draws(NamedTuple):
    """Independent random numbers, float32 ``[bars]``.

    Attributes
    ----------
    price, variance
        Standard normal on 24 bits: uniform steps of 6e-8, cut at 5.4; a number and its negative are equally likely.
    event
        Uniform on [0, 1) of 32 bits, rounded to float32: small values keep seven digits. What would round to 1 is the
        largest number below it.
    jump, volume, premium
        Standard normal on 16 bits: uniform steps of 1.5e-5, cut at 4.2.
    above, below
        Logarithm of a uniform on 16 bits, at least -11.8.
    """

    price: jax.Array
    variance: jax.Array
    event: jax.Array
    jump: jax.Array
    volume: jax.Array
    premium: jax.Array
    above: jax.Array
    below: jax.Array


WHOLE = 24
"""Bits of a float32's significand: integers and halves that need more of them are rounded, at the top up to 1."""
BELOW_ONE = 1.0 - 2.0**-WHOLE


def draw(key: jax.Array, bars: int) -> Draws:
    """Return the random numbers of ``bars`` bars."""
    first, second, third = jax.random.bits(key, (3, bars), jnp.uint64)
    return Draws(
        price=normal(first, place=0, bits=24),
        variance=normal(first, place=24, bits=24),
        event=share(second),
        jump=normal(second, place=32, bits=16),
        volume=normal(second, place=48, bits=16),
        premium=normal(third, place=0, bits=16),
        above=jnp.log(uniform(third, place=16, bits=16)),
        below=jnp.log(uniform(third, place=32, bits=16)),
    )


def share(word: jax.Array) -> jax.Array:
    """Return the lower 32 bits of ``word`` as a number of [0, 1), float32."""
    rounded = (word & jnp.uint64(2**32 - 1)).astype(jnp.uint32).astype(jnp.float32) * jnp.float32(2.0**-32)
    below: jax.Array = jnp.minimum(rounded, jnp.float32(BELOW_ONE))
    return below


def uniform(word: jax.Array, *, place: int, bits: int) -> jax.Array:
    """Return the middles of ``2 ** bits`` equal parts of (0, 1), chosen by the bits of ``word`` from ``place`` on.

    Raises
    ------
    ValueError
        When there are more bits than a float32 has room for beside the half.
    """
    chosen = _integer(word, place, bits, most=WHOLE - 1)
    middle: jax.Array = (chosen.astype(jnp.float32) + jnp.float32(0.5)) * jnp.float32(2.0**-bits)
    return middle


def normal(word: jax.Array, *, place: int, bits: int) -> jax.Array:
    """Return standard normal numbers: the quantiles of the middles of ``2 ** bits`` equal parts of (0, 1), float32.

    The middles are taken as odd multiples of ``2 ** -bits`` in (-1, 1), which float32 holds exactly up to 24 bits. So
    none is an end of the interval, whose quantile is infinite, and each has its negative.

    Raises
    ------
    ValueError
        When there are more bits than a float32 has room for.
    """
    odd = 2 * _integer(word, place, bits, most=WHOLE) + 1 - 2**bits
    quantile: jax.Array = jnp.float32(2.0**0.5) * lax.erf_inv(odd.astype(jnp.float32) * jnp.float32(2.0**-bits))
    return quantile


def _integer(word: jax.Array, place: int, bits: int, *, most: int) -> jax.Array:
    """Return the ``bits`` of ``word`` from ``place`` on as int32."""
    if not 1 <= bits <= most:
        raise ValueError(f"bits must be between 1 and {most}, the most that float32 holds exactly, got {bits}")
    chosen: jax.Array = ((word >> jnp.uint64(place)) & jnp.uint64(2**bits - 1)).astype(jnp.int32)
    return chosen
