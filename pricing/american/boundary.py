"""The exercise boundary of American puts by spectral collocation.

The boundary ``B(t)`` (t is time to expiry) solves an integral equation. It is represented by Chebyshev interpolation of
``log(B / B(0))^2`` in ``sqrt(t)``, and found by fixed-point iteration on the smooth-pasting equation (system A of the
source); the early-exercise premium is then one integral. All integrals run over the angle ``phi`` of
``elapsed = horizon sin(phi)^2``, which makes the integrands smooth at both ends: Gauss-Legendre quadrature needs a
third of the points that it needs in ``sqrt(elapsed)``. Boundaries stay between their perpetual and their immediate
limit, and the iteration is damped where drift is large against volatility, where it would oscillate.

Andersen, Lake and Offengenden, "High-performance American option pricing", J. Computational Finance 20(1), 2016.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from pricing.american.arguments import Put
from pricing.normal import INVERSE_SQRT_TWO_PI, mills_ratio

_DAMPING = 1.5


class Scheme(NamedTuple):
    """Effort of the method.

    Attributes
    ----------
    nodes
        Collocation points of the boundary.
    quadrature
        Points of the integrals in the boundary equation.
    iterations
        Fixed-point iterations.
    premium_quadrature
        Points of the early-exercise premium.
    """

    nodes: int
    quadrature: int
    iterations: int
    premium_quadrature: int


FAST = Scheme(7, 7, 4, 12)
ACCURATE = Scheme(10, 10, 8, 20)
PRECISE = Scheme(32, 32, 24, 48)


class Rule(NamedTuple):
    """Quadrature in the angle.

    Attributes
    ----------
    share
        ``sqrt(elapsed / horizon)`` at the points, shape ``[points]``.
    left
        ``sqrt(1 - elapsed / horizon)`` at the points, shape ``[points]``.
    weight
        Weights of ``d phi``, shape ``[points]``.
    """

    share: NDArray[np.float64]
    left: NDArray[np.float64]
    weight: NDArray[np.float64]


def rule(points: int) -> Rule:
    """Gauss-Legendre points of the angle from 0 to a right angle."""
    x, weight = np.polynomial.legendre.leggauss(points)
    angle = 0.25 * np.pi * (1.0 + x)
    return Rule(np.sin(angle), np.cos(angle), 0.25 * np.pi * weight)


def _node_roots(nodes: int) -> NDArray[np.float64]:
    """``sqrt(t / horizon)`` at the collocation points, from 1 downwards; the last point, 0, is left out."""
    return 0.5 * (1.0 + np.cos(np.pi * np.arange(nodes) / nodes))


def interpolation(nodes: int, root: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrix from values at the collocation points (0 at time 0) to values at ``root``, shape ``[*root, nodes]``."""
    index = np.arange(nodes + 1)
    weight = (-1.0) ** index
    weight[[0, -1]] *= 0.5
    distance = 2.0 * root[..., None] - 1.0 - np.cos(np.pi * index / nodes)
    exact = np.abs(distance) < 1e-14
    terms = weight / np.where(exact, 1.0, distance)
    matrix = terms / terms.sum(axis=-1, keepdims=True)
    return np.where(exact.any(axis=-1, keepdims=True), exact, matrix)[..., :nodes]


def root_or_zero(value: jax.Array) -> jax.Array:
    """Square root that is 0, with slope 0, below zero."""
    positive = value > 0.0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, value, 1.0)), 0.0)


def discounted_density(d: jax.Array, discount: jax.Array) -> jax.Array:
    """Compute the normal density times ``exp(-discount)``."""
    return INVERSE_SQRT_TWO_PI * jnp.exp(-0.5 * d * d - discount)


def discounted_cdf(d: jax.Array, density: jax.Array, discount: jax.Array) -> jax.Array:
    """Compute the normal distribution function times ``exp(-discount)``, from the discounted density."""
    tail = density * mills_ratio(jnp.abs(d))
    return jnp.where(d > 0.0, jnp.exp(-discount) - tail, tail)


def _limits(put: Put) -> tuple[jax.Array, jax.Array]:
    """Log of boundary over strike just before expiry and for a perpetual option."""
    positive = put.dividend_yield > put.rate
    ratio = put.rate / jnp.where(positive, put.dividend_yield, 1.0)
    at_expiry = jnp.where(positive, jnp.log(jnp.where(positive, ratio, 1.0)), 0.0)
    variance = put.volatility**2
    drift = (put.rate - put.dividend_yield) / variance - 0.5
    root = jnp.sqrt(drift * drift + 2.0 * put.rate / variance)
    power = jnp.where(drift >= 0.0, drift + root, 2.0 * put.rate / variance / jnp.where(drift < 0.0, root - drift, 1.0))
    power = jnp.maximum(power, 1e-30)
    return at_expiry, jnp.minimum(jnp.log(power / (1.0 + power)), at_expiry)


def boundary(put: Put, scheme: Scheme) -> tuple[jax.Array, jax.Array]:
    """Find the boundary by collocation.

    Returns
    -------
    ``log(B / B(0))^2`` at the collocation points, shape ``[nodes, options]``, and ``log(B(0) / strike)``, shape
    ``[options]``.
    """
    dtype = put.spot.dtype
    roots = _node_roots(scheme.nodes)
    angles = rule(scheme.quadrature)
    matrices = jnp.asarray(interpolation(scheme.nodes, angles.left[:, None] * roots[None, :]), dtype)
    points = (matrices, *(jnp.asarray(values, dtype) for values in (angles.share, angles.left * angles.weight)))

    at_expiry, perpetual = (limit[None] for limit in _limits(put))
    rate, dividend_yield, volatility = (v[None] for v in (put.rate, put.dividend_yield, put.volatility))
    root_time = jnp.sqrt(put.time)[None] * jnp.asarray(roots, dtype)[:, None]
    time = root_time * root_time
    carry = (rate - dividend_yield) * time
    deviation = volatility * root_time
    damping = 1.0 / jnp.maximum(1.0, _DAMPING * (rate - dividend_yield) * jnp.sqrt(put.time)[None] / volatility)

    def improve(squared: jax.Array, _: object) -> tuple[jax.Array, None]:
        level = at_expiry - root_or_zero(squared)

        def add(
            sums: tuple[jax.Array, jax.Array, jax.Array], point: tuple[jax.Array, ...]
        ) -> tuple[tuple[jax.Array, jax.Array, jax.Array], None]:
            matrix, share, weight = point
            later = at_expiry - root_or_zero(matrix @ squared)
            spread = deviation * share
            centre = (level - later + carry * share**2) / spread
            plus = centre + 0.5 * spread
            cash = discounted_density(centre - 0.5 * spread, rate * time * share**2)
            income = dividend_yield * time * share**2
            shares = discounted_density(plus, income)
            cash_sum, share_sum, tail_sum = sums
            return (
                cash_sum + weight * cash,
                share_sum + weight * shares,
                tail_sum + weight * share * discounted_cdf(plus, shares, income),
            ), None

        zero = jnp.zeros_like(squared)
        (cash_sum, share_sum, tail_sum), _ = jax.lax.scan(add, (zero, zero, zero), points)
        centre = (level + carry) / deviation
        plus = centre + 0.5 * deviation
        cash = discounted_density(centre - 0.5 * deviation, rate * time)
        shares = discounted_density(plus, dividend_yield * time)
        # d elapsed / sqrt(elapsed) = 2 sqrt(time) cos(phi) d phi
        numerator = cash / deviation + 2.0 * rate * root_time / volatility * cash_sum
        denominator = (
            shares / deviation
            + discounted_cdf(plus, shares, dividend_yield * time)
            + 2.0 * dividend_yield * (root_time / volatility * share_sum + time * tail_sum)
        )
        smallest = float(np.finfo(dtype).tiny)
        target = jnp.log(jnp.maximum(numerator, smallest)) - jnp.log(jnp.maximum(denominator, smallest))
        moved = jnp.clip(level + damping * (target - level), perpetual, at_expiry) - at_expiry
        return moved * moved, None

    share_left = (jnp.exp(at_expiry) - jnp.exp(perpetual)) / jnp.exp(at_expiry)
    decay = jnp.maximum(2.0 * deviation - carry, 0.0) / jnp.maximum(share_left, 1e-3)
    first = jnp.log(jnp.exp(perpetual - at_expiry) * (1.0 - jnp.exp(-decay)) + jnp.exp(-decay))
    squared, _ = jax.lax.scan(improve, first * first, None, length=scheme.iterations)
    return squared, at_expiry[0]
