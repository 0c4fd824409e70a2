"""Shape-preserving rational cubic interpolation.

Delbourgo and Gregory, "Shape preserving piecewise rational interpolation", SIAM J. Sci. Stat. Comput. 6 (1985), with
the control parameter that matches a second derivative at one end, as in Jaeckel, "Let's be rational" (2015), section 4.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Segment(NamedTuple):
    """One interval with values and slopes at its ends, any common shape.

    Attributes
    ----------
    left, right
        Abscissae.
    left_value, right_value
        Ordinates.
    left_slope, right_slope
        First derivatives.
    """

    left: jax.Array
    right: jax.Array
    left_value: jax.Array
    right_value: jax.Array
    left_slope: jax.Array
    right_slope: jax.Array


def interpolate(segment: Segment, x: jax.Array, *, curvature: jax.Array, at_right: jax.Array) -> jax.Array:
    """Value at ``x`` of the monotone or convex interpolant with a given second derivative at one end.

    Parameters
    ----------
    segment
        The interval.
    x
        Point within it.
    curvature
        Second derivative wanted at the right end where ``at_right``, else at the left end.
    at_right
        Which end.
    """
    s = segment
    width = s.right - s.left
    secant = (s.right_value - s.left_value) / width
    rise, left_gap, right_gap = s.right_slope - s.left_slope, secant - s.left_slope, s.right_slope - secant
    gap = jnp.where(at_right, right_gap, left_gap)
    wanted = (0.5 * width * curvature + rise) / gap
    monotone = (s.left_slope + s.right_slope) / secant
    convex = jnp.maximum(jnp.abs(rise / right_gap), jnp.abs(rise / left_gap))
    smallest = jnp.where(left_gap * right_gap > 0.0, jnp.maximum(monotone, convex), jnp.maximum(monotone, 0.0))
    control = jnp.maximum(wanted, smallest)
    t = (x - s.left) / width
    rest = 1.0 - t
    top = (
        s.right_value * t**3
        + (control * s.right_value - width * s.right_slope) * t * t * rest
        + (control * s.left_value + width * s.left_slope) * t * rest * rest
        + s.left_value * rest**3
    )
    linear = s.left_value * rest + s.right_value * t
    return jnp.where(control < 1e15, top / (1.0 + (control - 3.0) * t * rest), linear)
