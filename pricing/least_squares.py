"""Nonlinear least squares by Levenberg and Marquardt, with derivatives by forward differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

Residuals = Callable[[jax.Array], jax.Array]


class Solution(NamedTuple):
    """Where the iteration ended.

    Attributes
    ----------
    x
        Parameters, shape ``[parameters]``.
    cost
        Half the sum of squared residuals.
    steepness
        Largest absolute component of the gradient of the cost.
    """

    x: jax.Array
    cost: jax.Array
    steepness: jax.Array


class _State(NamedTuple):
    x: jax.Array
    cost: jax.Array
    damping: jax.Array
    gradient: jax.Array
    normal: jax.Array


def minimize(residuals: Residuals, start: jax.Array, *, iterations: int) -> Solution:
    """Minimise the sum of squares of ``residuals(x)`` from ``start``; steps that do not improve are not taken.

    Traceable, so that it can be compiled, mapped over starts, and run on any device. Marquardt, J. SIAM 11(2), 1963.
    """

    def twice(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        r = residuals(x)
        return r, r

    both = jax.jacfwd(twice, has_aux=True)

    def step(_: int, state: _State) -> _State:
        diagonal = jnp.diag(state.normal)
        scaled = state.normal + jnp.diag(state.damping * diagonal + 1e-14 * (1.0 + diagonal.max()))
        tried = state.x - jnp.linalg.solve(scaled, state.gradient)
        slopes, r = both(tried)
        cost = 0.5 * jnp.vdot(r, r)
        better = cost < state.cost
        damping = jnp.clip(state.damping * jnp.where(better, 0.2, 4.0), 1e-12, 1e12)
        new = _State(tried, cost, damping, slopes.T @ r, slopes.T @ slopes)
        kept = state._replace(damping=damping)
        return _State(*(jnp.where(better, n, k) for n, k in zip(new, kept, strict=True)))

    # At first there is no gradient, so the first step evaluates the start itself: the program holds residuals once.
    zero = jnp.zeros_like(start)
    infinite = jnp.asarray(jnp.inf, start.dtype)
    first = _State(
        start, infinite, jnp.asarray(5e-2, start.dtype), zero, jnp.zeros((start.size, start.size), start.dtype)
    )
    last = jax.lax.fori_loop(0, iterations + 1, step, first)
    return Solution(last.x, last.cost, jnp.abs(last.gradient).max())
