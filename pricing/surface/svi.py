"""The SVI curve of total variance at one expiry, and its fit.

``w(k) = a + b (rho (k - m) + sqrt((k - m)^2 + sigma^2))``, k the log of strike over forward.

Gatheral and Jacquier, "Arbitrage-free SVI volatility surfaces", Quantitative Finance 14(1), 2014.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from pricing.least_squares import minimize
from pricing.signature import labelled

GRID = tuple(float(k) for k in np.linspace(-1.5, 1.5, 121))
"""Log-moneyness at which curves are kept free of arbitrage and checked."""

_ITERATIONS = 40
_PENALTIES = (0.05, 1.0, 20.0)


class SVI(NamedTuple):
    """Raw parameters, scalars or arrays of one shape.

    Attributes
    ----------
    a
        Level of total variance.
    b
        Slope of the wings, >= 0.
    rho
        Tilt, -1 to 1.
    m
        Position in log-moneyness.
    sigma
        Width of the bend, > 0.
    """

    a: jax.Array
    b: jax.Array
    rho: jax.Array
    m: jax.Array
    sigma: jax.Array


class SVIFit(NamedTuple):
    """Result of :func:`fit_svi`.

    Attributes
    ----------
    curve
        The curve.
    residual
        Fitted less given total variance, shape ``[quotes]``, NaN where the weight is 0.
    smallest_density
        Smallest value on the grid of Gatheral's function g, the risk-neutral density up to a positive factor; negative
        is a butterfly arbitrage.
    smallest_calendar_gap
        Smallest rise on the grid of total variance over the earlier curve, infinite without one; negative is a calendar
        arbitrage.
    """

    curve: SVI
    residual: jax.Array
    smallest_density: jax.Array
    smallest_calendar_gap: jax.Array


@labelled
def svi_total_variance(curve: SVI, log_moneyness: ArrayLike) -> jax.Array:
    """Total variance at ``log_moneyness``; both broadcast."""
    k = jnp.asarray(log_moneyness) - curve.m
    return curve.a + curve.b * (curve.rho * k + jnp.sqrt(k * k + curve.sigma**2))


@labelled
def svi_density(curve: SVI, log_moneyness: ArrayLike) -> jax.Array:
    """Gatheral's g: 0 or more wherever butterflies cost nothing or more."""
    x = jnp.asarray(log_moneyness)
    k = x - curve.m
    root = jnp.sqrt(k * k + curve.sigma**2)
    variance = curve.a + curve.b * (curve.rho * k + root)
    slope = curve.b * (curve.rho + k / root)
    bend = curve.b * curve.sigma**2 / root**3
    return (1.0 - 0.5 * x * slope / variance) ** 2 - 0.25 * slope**2 * (1.0 / variance + 0.25) + 0.5 * bend


def _curve(x: jax.Array) -> SVI:
    """Bring free numbers to the domain: lowest variance > 0, wings no steeper than Lee's moment formula allows."""
    rho = jnp.tanh(x[2])
    b = 2.0 / (1.0 + jnp.abs(rho)) * jax.nn.sigmoid(x[1])
    sigma = jnp.exp(x[4])
    lowest = jnp.exp(x[0])
    return SVI(lowest - b * sigma * jnp.sqrt(1.0 - rho * rho), b, rho, x[3], sigma)


def _repaired(curve: SVI, floor: jax.Array, grid: jax.Array, least: jax.Array) -> SVI:
    """Remove what the penalties left: flatten the wings about the lowest point, then lift the whole curve."""
    bottom = curve.a + curve.b * curve.sigma * jnp.sqrt(1.0 - curve.rho**2)

    def flattened(share: jax.Array) -> SVI:
        b = share * curve.b
        return curve._replace(a=bottom - b * curve.sigma * jnp.sqrt(1.0 - curve.rho**2), b=b)

    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        good, bad = ends
        share = 0.5 * (good + bad)
        fine = svi_density(flattened(share), grid).min() >= least
        return jnp.where(fine, share, good), jnp.where(fine, bad, share)

    one = jnp.ones_like(bottom)
    share, _ = jax.lax.fori_loop(0, 40, halve, (0.0 * one, one))
    best = flattened(jnp.where(svi_density(curve, grid).min() >= least, one, share))
    gap = jnp.min(svi_total_variance(best, grid) - floor)
    return best._replace(a=best.a + jnp.maximum(1e-9 * bottom - gap, 0.0))


@partial(jax.jit, static_argnames="with_earlier")
def _fit(
    k: jax.Array, variance: jax.Array, weight: jax.Array, earlier: SVI, least: jax.Array, with_earlier: bool
) -> SVIFit:
    grid = jnp.asarray(GRID, k.dtype)
    scale = weight / jnp.sqrt((weight * weight).sum())
    level = (scale * scale * variance).sum()
    floor = svi_total_variance(earlier, grid) if with_earlier else jnp.zeros_like(grid)

    def residuals(x: jax.Array, penalty: jax.Array) -> jax.Array:
        curve = _curve(x)
        error = scale * (svi_total_variance(curve, k) - variance) / level
        butterfly = jnp.minimum(svi_density(curve, grid) - least - 1e-3, 0.0)
        calendar = jnp.minimum((svi_total_variance(curve, grid) - floor) / level - 1e-5, 0.0)
        return jnp.concatenate([error, penalty * butterfly, penalty * calendar])

    def from_start(tilt: jax.Array, width: jax.Array) -> tuple[jax.Array, jax.Array]:
        steep = jnp.log(jnp.clip(0.25 * jnp.sqrt(level) / 2.0, 1e-4, 0.5))
        start = jnp.stack([jnp.log(0.7 * level), steep, tilt, 0.0 * tilt, jnp.log(width * jnp.sqrt(level))])

        # A hard wall stops the iteration far from the best curve, so it is raised in steps.
        def stage(x: jax.Array, penalty: jax.Array) -> tuple[jax.Array, jax.Array]:
            solution = minimize(lambda y: residuals(y, penalty), x, iterations=_ITERATIONS)
            return solution.x, solution.cost

        found, costs = jax.lax.scan(stage, start, jnp.asarray(_PENALTIES, k.dtype))
        return found, costs[-1]

    tilts = jnp.asarray([-0.6, 0.0, -0.6, 0.0, -1.2], k.dtype)
    widths = jnp.asarray([0.5, 0.5, 1.5, 1.5, 3.0], k.dtype)
    candidates, costs = jax.vmap(from_start)(tilts, widths)
    curve = _repaired(_curve(candidates[jnp.nanargmin(costs)]), floor, grid, least)
    fitted = svi_total_variance(curve, k)
    gap = jnp.min(svi_total_variance(curve, grid) - floor) if with_earlier else jnp.asarray(jnp.inf, k.dtype)
    residual = jnp.where(weight > 0.0, fitted - variance, jnp.nan)
    return SVIFit(curve, residual, svi_density(curve, grid).min(), gap)


@labelled
def fit_svi(
    *,
    log_moneyness: ArrayLike,
    total_variance: ArrayLike,
    tolerance: ArrayLike = 1.0,
    earlier: SVI | None = None,
    least_density: float = 0.0,
) -> SVIFit:
    """Fit one expiry by weighted least squares, free of butterfly arbitrage and of calendar arbitrage over ``earlier``.

    Levenberg-Marquardt from several starts. Lee's bound on the wings holds by construction; a negative density, or a
    total variance below ``earlier``, is penalised on :data:`GRID`, what is left of it removed by flattening and lifting
    the curve, and the outcome reported in the result.

    Parameters
    ----------
    log_moneyness
        Log of strike over forward, shape ``[quotes]``.
    total_variance
        Squared volatility times years, > 0, shape ``[quotes]``.
    tolerance
        Uncertainty of each total variance (half the spread), > 0, broadcast to ``[quotes]``; infinite leaves a quote
        out, so that chains of different sizes can share one compiled program.
    earlier
        Curve of the expiry before, or None.
    least_density
        What Gatheral's g may fall to on the grid, 0 to 0.5: above 0 it leaves room to what is interpolated between
        expiries, whose density is not that of a curve.

    Raises
    ------
    ValueError
        When fewer than five quotes count, or one of them is not a number or not positive.
    """
    if not 0.0 <= least_density <= 0.5:
        raise ValueError(f"least_density must lie between 0 and 0.5, got {least_density!r}")
    k, variance, allowed = np.broadcast_arrays(
        *(np.asarray(value, float) for value in (log_moneyness, total_variance, tolerance))
    )
    if k.ndim != 1:
        raise ValueError(f"log_moneyness must have one dimension, got shape {k.shape}")
    counted = np.isfinite(allowed)
    if counted.sum() < 5:
        raise ValueError(f"total_variance must hold at least five quotes that count, got {int(counted.sum())}")
    for name, values, wrong in (
        ("log_moneyness", k, ~np.isfinite(k)),
        ("total_variance", variance, ~(np.isfinite(variance) & (variance > 0.0))),
        ("tolerance", allowed, ~(allowed > 0.0)),
    ):
        bad = wrong & counted
        if bad.any():
            raise ValueError(f"{name} must be finite and positive where quotes count, got {values[bad][0]!r}")
    weight = np.where(counted, 1.0 / np.where(counted, allowed, 1.0), 0.0)
    clean = np.where(counted, k, 0.0), np.where(counted, variance, 1.0), weight
    before = earlier if earlier is not None else SVI(*(jnp.asarray(v) for v in (0.0, 0.0, 0.0, 0.0, 1.0)))
    answer: SVIFit = _fit(*map(jnp.asarray, clean), before, jnp.asarray(least_density), earlier is not None)
    return answer
