"""The out-of-the-money option, from which every other price follows by parity."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from native import where_any
from pricing.normal import density, horner, mills_ratio

_EXPONENTIAL = (1.0, 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720)
_FARTHEST = 60.0


class OutOfTheMoney(NamedTuple):
    """An option whose discounted forward ``smaller`` must move up by ``distance`` in log terms to be exercised.

    Attributes
    ----------
    price
        Its value, to full relative accuracy.
    near, far
        Standardised distances, ``near - far = deviation`` and far <= 0 (d1 and d2 of a call, -d2 and -d1 of a put).
    scaled_density
        ``smaller * density(near)``, which is also the other leg's ``larger * density(far)``.
    near_tail
        ``smaller * cdf(-abs(near))``.
    far_leg
        ``larger * cdf(far)``.
    """

    price: jax.Array
    near: jax.Array
    far: jax.Array
    scaled_density: jax.Array
    near_tail: jax.Array
    far_leg: jax.Array


def out_of_the_money(log_distance: jax.Array, deviation: jax.Array, smaller: jax.Array) -> OutOfTheMoney:
    """Price an out-of-the-money option and keep what its Greeks are made of.

    The price is ``scaled_density * (Y(near) - Y(far))`` with ``Y = cdf / density``, as in Jaeckel, "Let's be rational".
    Where the two terms nearly cancel, the difference is summed as a series in ``deviation``.

    Parameters
    ----------
    log_distance
        Absolute logarithm of forward over strike, >= 0.
    deviation
        ``volatility * sqrt(time)``; below 0, which traced code cannot refuse, everything is NaN.
    smaller
        Discounted value of the leg that the option buys: the shares of a call, the cash of a put.
    """
    deviation = jnp.where(deviation < 0.0, jnp.nan, deviation)
    distance = jnp.where(log_distance == 0.0, 0.0, log_distance / deviation)
    near = jnp.maximum(0.5 * deviation - distance, -_FARTHEST)
    far = jnp.maximum(-0.5 * deviation - distance, -_FARTHEST)
    scaled_density = smaller * density(near)
    near_mills, far_mills = mills_ratio(jnp.abs(near)), mills_ratio(-far)
    price = jnp.where(
        near > 0.0, smaller - scaled_density * (near_mills + far_mills), scaled_density * (near_mills - far_mills)
    )
    narrow = deviation < 0.024
    price = where_any(
        narrow,
        lambda price: jnp.where(narrow, scaled_density * _mills_difference(far, far_mills, deviation), price),
        price,
    )
    return OutOfTheMoney(price, near, far, scaled_density, scaled_density * near_mills, scaled_density * far_mills)


def _mills_difference(far: jax.Array, far_mills: jax.Array, width: jax.Array) -> jax.Array:
    """``Y(far + width) - Y(far)`` by Taylor's series, whose terms are all positive; for small width and far <= 0."""
    previous, current = far_mills, 1.0 + far * far_mills
    total, power = current * width, width
    for order in range(1, 9):
        previous, current = current, order * previous + far * current
        power = power * width / (order + 1)
        total = total + current * power
    return total


def intrinsic(log_distance: jax.Array, smaller: jax.Array, difference: jax.Array) -> jax.Array:
    """Discounted forward intrinsic value ``larger - smaller``, without cancellation where the two are close.

    ``difference`` is the rounded subtraction, which serves where it loses nothing.
    """
    return jnp.where(log_distance < 0.01, smaller * log_distance * horner(_EXPONENTIAL, log_distance), difference)
