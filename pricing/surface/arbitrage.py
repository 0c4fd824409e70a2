"""Checks of a whole surface for arbitrage, between its expiries too."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.tree_util import Partial
from jax.typing import ArrayLike

from pricing.signature import checked
from pricing.surface.svi import GRID

TotalVariance = Callable[[jax.Array, jax.Array], jax.Array]
_ROUNDING = 1e-12


class Arbitrage(NamedTuple):
    """Report on a surface.

    Attributes
    ----------
    smallest_density
        Smallest of Gatheral's function g over the grid and times; negative is a butterfly arbitrage.
    at_log_moneyness, at_time
        Where that is.
    smallest_rise
        Smallest increase of total variance from one time to the next; negative is a calendar arbitrage.
    """

    smallest_density: float
    at_log_moneyness: float
    at_time: float
    smallest_rise: float

    @property
    def is_free(self) -> bool:
        """Whether neither kind was found."""
        return self.smallest_density >= 0.0 and self.smallest_rise >= -_ROUNDING


@checked
def check(surface: TotalVariance, times: ArrayLike) -> Arbitrage:
    """Check total variance ``surface(log_moneyness, time)`` at ``times`` (ascending) and log-moneyness -1.5 to 1.5.

    Differentiated exactly, not by differences. Prices are free of butterfly arbitrage at a time when g >= 0, of
    calendar arbitrage when total variance rises (Gatheral and Jacquier 2014, section 2).

    A ``jax.tree_util.Partial`` of a function and its surface is compiled once for all surfaces of one shape, any other
    function each time.
    """
    moments = jnp.atleast_1d(jnp.asarray(times, float))
    grid = jnp.asarray(GRID)
    variance, density = _figures(surface if isinstance(surface, Partial) else Partial(surface), grid, moments)
    row, column = jnp.unravel_index(jnp.argmin(density), density.shape)
    rise = jnp.min(jnp.diff(variance, axis=0)) if moments.size > 1 else jnp.inf
    return Arbitrage(float(density[row, column]), float(grid[column]), float(moments[row]), float(rise))


@jax.jit
def _figures(surface: Partial, grid: jax.Array, moments: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return total variance and density over ``[times, grid]``; a ``Partial`` brings its arrays as arguments."""

    def at_point(k: jax.Array, t: jax.Array) -> tuple[jax.Array, jax.Array]:
        def at(x: jax.Array) -> jax.Array:
            value: jax.Array = surface(x, t)
            return value

        variance, slope, bend = at(k), jax.grad(at)(k), jax.grad(jax.grad(at))(k)
        density = (1.0 - 0.5 * k * slope / variance) ** 2 - 0.25 * slope**2 * (1.0 / variance + 0.25) + 0.5 * bend
        return variance, density

    over_grid: tuple[jax.Array, jax.Array] = jax.vmap(jax.vmap(at_point, in_axes=(0, None)), in_axes=(None, 0))(
        grid, moments
    )
    return over_grid
