"""Uniform numbers for simulations: independent, in antithetic pairs, or a shifted Sobol sequence."""

from __future__ import annotations

import enum
from functools import partial

import jax
import jax.numpy as jnp

from pricing.signature import checked
from pricing.simulation.sobol import BITS, directions


class Draws(enum.Enum):
    """How random numbers are made.

    Members
    -------
    RANDOM
        Independent.
    ANTITHETIC
        Path ``i`` and path ``i + paths / 2`` use u and 1 - u.
    SOBOL
        Sobol points under a random digital shift; best with a power of two of paths.
    """

    RANDOM = "random"
    ANTITHETIC = "antithetic"
    SOBOL = "sobol"


@checked
def uniforms(key: jax.Array, *, dimensions: int, paths: int, draws: Draws = Draws.RANDOM) -> jax.Array:
    """Numbers strictly between 0 and 1, float64, shape ``[dimensions, paths]``.

    Raises
    ------
    ValueError
        When a count is below 1, antithetic paths are odd in number, or Sobol dimensions exceed the table.
    """
    if dimensions < 1 or paths < 1:
        raise ValueError(f"dimensions and paths must be >= 1, got {dimensions} and {paths}")
    if draws is Draws.SOBOL:
        shifted: jax.Array = _sobol(key, jnp.asarray(directions(dimensions)), paths)
        return shifted
    if draws is Draws.ANTITHETIC:
        if paths % 2:
            raise ValueError(f"paths must be even for antithetic draws, got {paths}")
        half = jax.random.uniform(key, (dimensions, paths // 2), minval=2.0**-53, maxval=1.0)
        return jnp.concatenate([half, 1.0 - half], axis=1)
    return jax.random.uniform(key, (dimensions, paths), minval=2.0**-53, maxval=1.0)


@partial(jax.jit, static_argnames="paths")
def _sobol(key: jax.Array, table: jax.Array, paths: int) -> jax.Array:
    index = jnp.arange(paths, dtype=jnp.uint32)
    gray = index ^ (index >> 1)
    shift = jax.random.bits(key, (table.shape[0], 1), jnp.uint32) >> (32 - BITS)

    def add(bit: jax.Array, points: jax.Array) -> jax.Array:
        chosen = ((gray >> bit.astype(jnp.uint32)) & 1).astype(bool)[None]
        return jnp.where(chosen, points ^ table[:, bit][:, None], points)

    first = jnp.broadcast_to(shift, (table.shape[0], paths))
    points: jax.Array = jax.lax.fori_loop(0, BITS, add, first)
    return (points.astype(jnp.float64) + 0.5) / 2.0**BITS
