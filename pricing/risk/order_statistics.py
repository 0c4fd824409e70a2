"""Order statistics without sorting: XLA's sort takes hundreds of times as long as a pass over the values."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

_MOST_HALVINGS = 64


class _Interval(NamedTuple):
    """Where each value is: above ``low``, at most ``high``, and how many values are not above either."""

    low: jax.Array
    high: jax.Array
    below_low: jax.Array
    below_high: jax.Array
    halvings: jax.Array


def order_statistics(values: jax.Array, ranks: jax.Array) -> jax.Array:
    """Return the values that would stand at ``ranks`` if all were sorted, shape ``[ranks]``; NaN where one is NaN.

    The interval that holds a value is halved until it holds no other, some twenty passes for a sample of thousands.
    Values that are equal, or differ by less than 2**-64 of the range, are never parted: then the smallest is returned.

    Parameters
    ----------
    values
        Shape ``[n]``, finite.
    ranks
        Whole numbers from 0 to n - 1.
    """

    def go_on(where: _Interval) -> jax.Array:
        return (where.halvings < _MOST_HALVINGS) & jnp.any(where.below_high - where.below_low > 1)

    def halve(where: _Interval) -> _Interval:
        middle = where.low + 0.5 * (where.high - where.low)
        below = (values[:, None] <= middle[None, :]).sum(axis=0, dtype=jnp.int32)
        left = below > ranks
        return _Interval(
            low=jnp.where(left, where.low, middle),
            high=jnp.where(left, middle, where.high),
            below_low=jnp.where(left, where.below_low, below),
            below_high=jnp.where(left, below, where.below_high),
            halvings=where.halvings + 1,
        )

    lowest, highest = jnp.min(values), jnp.max(values)
    everywhere = _Interval(
        low=jnp.broadcast_to(lowest - jnp.maximum(highest - lowest, jnp.abs(lowest)), ranks.shape),
        high=jnp.broadcast_to(highest, ranks.shape),
        below_low=jnp.zeros(ranks.shape, jnp.int32),
        below_high=jnp.full(ranks.shape, values.size, jnp.int32),
        halvings=jnp.zeros((), jnp.int32),
    )
    low = lax.while_loop(go_on, halve, everywhere).low
    above = jnp.where(values[:, None] > low[None, :], values[:, None], highest)
    return jnp.where(jnp.isnan(lowest), jnp.nan, jnp.min(above, axis=0))
