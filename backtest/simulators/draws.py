"""Random numbers of a bar: three words of 64 bits, cut into as many numbers as their grids allow.

One call of the generator (threefry) makes 64 bits, so a word for each number would throw most of them away.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


class Draws(NamedTuple):
    """Independent random numbers, float32 ``[bars]``.

    Attributes
    ----------
    price, variance
        Standard normal on 24 bits: uniform steps of 6e-8, cut at 5.4.
    event
        Uniform on [0, 1) of 32 bits, rounded to float32: small values keep seven digits.
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


def draw(key: jax.Array, bars: int) -> Draws:
    """Return the random numbers of ``bars`` bars."""
    first, second, third = jax.random.bits(key, (3, bars), jnp.uint64)
    return Draws(
        price=normal(uniform(first, place=0, bits=24)),
        variance=normal(uniform(first, place=24, bits=24)),
        event=(second & jnp.uint64(2**32 - 1)).astype(jnp.uint32).astype(jnp.float32) * jnp.float32(2.0**-32),
        jump=normal(uniform(second, place=32, bits=16)),
        volume=normal(uniform(second, place=48, bits=16)),
        premium=normal(uniform(third, place=0, bits=16)),
        above=jnp.log(uniform(third, place=16, bits=16)),
        below=jnp.log(uniform(third, place=32, bits=16)),
    )


def uniform(word: jax.Array, *, place: int, bits: int) -> jax.Array:
    """Return the middles of ``2 ** bits`` equal parts of (0, 1), chosen by the bits of ``word`` from ``place`` on."""
    chosen = ((word >> jnp.uint64(place)) & jnp.uint64(2**bits - 1)).astype(jnp.int32)
    middle: jax.Array = (chosen.astype(jnp.float32) + jnp.float32(0.5)) * jnp.float32(2.0**-bits)
    return middle


def normal(uniform: jax.Array) -> jax.Array:
    """Return standard normal numbers of uniform ones: the quantile, float32."""
    quantile: jax.Array = jnp.float32(2.0**0.5) * lax.erf_inv(jnp.float32(2.0) * uniform - jnp.float32(1.0))
    return quantile
