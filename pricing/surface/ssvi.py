"""The SSVI surface: three parameters and the at-the-money variance of each expiry, free of arbitrage by construction.

``w = theta / 2 (1 + rho phi k + sqrt((phi k + rho)^2 + 1 - rho^2))`` with
``phi = eta / (theta^gamma (1 + theta)^(1 - gamma))``, ``eta (1 + |rho|) <= 2``, ``0 < gamma <= 1/2`` and theta rising
in time. Gatheral and Jacquier 2014, section 4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from pricing.least_squares import minimize
from pricing.signature import checked, labelled

_ITERATIONS = 60


class SSVI(NamedTuple):
    """Parameters of the surface.

    Attributes
    ----------
    time
        Years to each expiry, ascending, shape ``[expiries]``.
    theta
        At-the-money total variance at each expiry, ascending, shape ``[expiries]``.
    rho, eta, gamma
        Correlation, size and power of the skew.
    """

    time: jax.Array
    theta: jax.Array
    rho: jax.Array
    eta: jax.Array
    gamma: jax.Array


@labelled
def ssvi_total_variance(surface: SSVI, log_moneyness: ArrayLike, time: ArrayLike) -> jax.Array:
    """Total variance at any time: theta is linear in time between expiries, from 0 at time 0, and beyond the last."""
    t = jnp.asarray(time)
    ends = jnp.concatenate([jnp.zeros(1), surface.time]), jnp.concatenate([jnp.zeros(1), surface.theta])
    inside = jnp.interp(t, *ends)
    pace = (ends[1][-1] - ends[1][-2]) / (ends[0][-1] - ends[0][-2])
    theta = jnp.where(t > ends[0][-1], ends[1][-1] + pace * (t - ends[0][-1]), inside)
    variance: jax.Array = natural_variance(jnp.asarray(log_moneyness), theta, surface.rho, surface.eta, surface.gamma)
    return variance


def natural_variance(log_moneyness: Any, theta: Any, rho: Any, eta: Any, gamma: Any) -> Any:
    """Total variance where that at the money is ``theta``: the formula alone, for numbers and arrays of every kind."""
    scaled = eta / (theta**gamma * (1.0 + theta) ** (1.0 - gamma)) * log_moneyness
    return theta / 2.0 * (1.0 + rho * scaled + ((scaled + rho) ** 2 + 1.0 - rho**2) ** 0.5)


def _parameters(x: jax.Array, time: jax.Array) -> SSVI:
    rho = jnp.tanh(x[0])
    eta = 2.0 / (1.0 + jnp.abs(rho)) * jax.nn.sigmoid(x[1])
    return SSVI(time, jnp.cumsum(jnp.exp(x[3:])), rho, eta, 0.5 * jax.nn.sigmoid(x[2]))


@jax.jit
def _fit(
    k: jax.Array, expiry: jax.Array, variance: jax.Array, weight: jax.Array, time: jax.Array, start: jax.Array
) -> SSVI:
    def residuals(x: jax.Array) -> jax.Array:
        s = _parameters(x, time)
        weighted: jax.Array = weight * (natural_variance(k, s.theta[expiry], s.rho, s.eta, s.gamma) - variance)
        return weighted

    return _parameters(minimize(residuals, start, iterations=_ITERATIONS).x, time)


@checked
def fit_ssvi(
    *, log_moneyness: ArrayLike, time_to_expiry: ArrayLike, total_variance: ArrayLike, tolerance: ArrayLike = 1.0
) -> SSVI:
    """Fit a whole chain by weighted least squares; arguments as in :func:`fit_svi`, with the years of each quote.

    Raises
    ------
    ValueError
        When a value is not finite, or a time, variance or tolerance is not above zero.
    """
    k, times, variance, allowed = np.broadcast_arrays(
        *(np.asarray(value, float) for value in (log_moneyness, time_to_expiry, total_variance, tolerance))
    )
    if not np.isfinite(k).all():
        raise ValueError(f"log_moneyness must be finite, got {float(k[~np.isfinite(k)][0])!r}")
    if k.ndim != 1 or not k.size:
        raise ValueError(f"log_moneyness must have shape [quotes] with at least one quote, got {k.shape}")
    for name, values in (("time_to_expiry", times), ("total_variance", variance), ("tolerance", allowed)):
        wrong = ~(np.isfinite(values) & (values > 0.0))
        if wrong.any():
            raise ValueError(f"{name} must be finite and > 0, got {values[wrong][0]!r}")
    expiries, index = np.unique(times, return_inverse=True)
    levels = np.array([variance[times == t][np.argmin(np.abs(k[times == t]))] for t in expiries])
    rises = np.maximum(np.diff(np.maximum.accumulate(levels), prepend=0.0), 1e-3 * levels)
    start = np.r_[-0.5, 0.0, 0.0, np.log(rises)]
    weight = 1.0 / allowed
    weight = weight / np.sqrt(np.sum((weight * variance) ** 2))
    arrays = (jnp.asarray(v) for v in (k, index, variance, weight, expiries, start))
    answer: SSVI = _fit(*arrays)
    return answer
