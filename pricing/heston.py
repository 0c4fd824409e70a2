"""European options under Heston's stochastic volatility.

``dS = (r - q) S dt + sqrt(v) S dW``, ``dv = kappa (theta - v) dt + xi sqrt(v) dZ``, ``dW dZ = rho dt``.

The characteristic function is in the form that stays on one branch of the logarithm (Albrecher, Mayer, Schoutens and
Tistaert, "The little Heston trap", Wilmott 2007), rearranged so that nothing cancels as the volatility of variance
tends to zero, where it is the lognormal model with a deterministic variance.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from pricing import fourier
from pricing.inputs import broadcast, require
from pricing.signature import labelled


class Parameters(NamedTuple):
    """Parameters of the variance process; scalars, or arrays that broadcast with the options.

    Attributes
    ----------
    initial_variance
        Variance per year now, > 0.
    mean_reversion
        Speed ``kappa`` per year, > 0.
    long_run_variance
        Level ``theta`` per year, > 0.
    vol_of_vol
        Volatility of variance ``xi``, >= 0.
    correlation
        Between spot and variance, -1 to 1.
    """

    initial_variance: ArrayLike
    mean_reversion: ArrayLike
    long_run_variance: ArrayLike
    vol_of_vol: ArrayLike
    correlation: ArrayLike


def require_parameters(parameters: Parameters) -> None:
    """Raise ``ValueError`` for parameters out of their range."""
    for name in ("initial_variance", "mean_reversion", "long_run_variance"):
        require(name, getattr(parameters, name), above=0.0)
    require("vol_of_vol", parameters.vol_of_vol, at_least=0.0)
    require("correlation", parameters.correlation, at_least=-1.0)
    require("minus correlation", -jnp.asarray(parameters.correlation), at_least=-1.0)


def expected_variance(p: Parameters, time: jax.Array) -> jax.Array:
    """Expect this integral of the variance until ``time``, > 0 for positive time."""
    kappa = jnp.asarray(p.mean_reversion)
    decayed = -jnp.expm1(-kappa * time) / kappa
    return jnp.asarray(p.long_run_variance) * (time - decayed) + jnp.asarray(p.initial_variance) * decayed


def decay(p: Parameters, time: jax.Array) -> jax.Array:
    """Rate at which the log of the characteristic function falls for large arguments."""
    across = jnp.sqrt(jnp.maximum(1.0 - jnp.asarray(p.correlation) ** 2, 1e-4))
    paid_in = jnp.asarray(p.initial_variance) + jnp.asarray(p.mean_reversion) * jnp.asarray(p.long_run_variance) * time
    xi = jnp.asarray(p.vol_of_vol)
    return jnp.where(xi > 0.0, across * paid_in / jnp.where(xi > 0.0, xi, 1.0), jnp.inf)


def exponent(p: Parameters, time: jax.Array, z: jax.Array) -> jax.Array:
    """Log of ``E[(S_T / F)^(i z)]``; ``p`` and ``time`` of shape ``[options]``, ``z`` of ``[options, points]``."""
    initial, kappa, theta, xi, rho, horizon = (jnp.asarray(value)[:, None] for value in (*p, time))
    beta = kappa - 1j * rho * xi * z
    quadratic = z * (z + 1j)
    d = jnp.sqrt(beta * beta + xi * xi * quadratic)
    decay = jnp.exp(-d * horizon)
    # slope is (beta - d) / xi^2 without the cancellation, ratio is "g" of the source over xi^2.
    slope = -quadratic / (beta + d)
    ratio = slope / (beta + d)
    inner = ratio * (1.0 - decay) / (1.0 - xi * xi * ratio)
    certain = xi == 0.0
    square = jnp.where(certain, 1.0, xi * xi)
    logarithm = jnp.where(certain, inner, jnp.log1p(square * inner) / square)
    variance_term = slope * (1.0 - decay) / (1.0 - xi * xi * ratio * decay)
    return kappa * theta * (slope * horizon - 2.0 * logarithm) + initial * variance_term


@jax.jit
def _price(*arguments: jax.Array) -> jax.Array:
    shape = arguments[0].shape
    spot, strike, time, rate, dividend_yield, *parameters, is_call = (a.reshape(-1) for a in arguments)
    p = Parameters(*parameters)
    expired = time <= 0.0
    safe = jnp.where(expired, 1.0, time)
    value = fourier.price(
        lambda z: exponent(p, safe, z),
        spot=spot,
        strike=strike,
        time=safe,
        rate=rate,
        dividend_yield=dividend_yield,
        is_call=is_call,
        total_variance=expected_variance(p, safe),
        decay=decay(p, safe),
    )
    intrinsic = jnp.maximum(jnp.where(is_call, spot - strike, strike - spot), 0.0)
    return jnp.where(expired, intrinsic, value).reshape(shape)


@labelled
def price(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    parameters: Parameters,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
) -> jax.Array:
    """Price of European calls and puts under Heston's model; differentiable in every argument.

    >>> p = Parameters(0.04, 2.0, 0.04, 0.3, -0.7)
    >>> round(float(price(spot=100.0, strike=100.0, time_to_expiry=1.0, rate=0.03, parameters=p)), 4)
    9.2425

    Parameters
    ----------
    spot, strike, time_to_expiry, rate, dividend_yield, is_call
        As in :func:`pricing.black_scholes.price`; spot and strike above zero.
    parameters
        Of the variance process; they broadcast with the options.

    Returns
    -------
    Price per unit of the underlying, broadcast shape; error about 1e-10 of spot from two weeks on.

    Raises
    ------
    ValueError
        When a value known before tracing is out of its range, or shapes do not broadcast.
    """
    require_parameters(parameters)
    named = option_arguments(
        spot=spot, strike=strike, time_to_expiry=time_to_expiry, rate=rate, dividend_yield=dividend_yield
    )
    value: jax.Array = _price(*map(jnp.asarray, broadcast({**named, **parameters._asdict()}, is_call)))
    return value


def option_arguments(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    dividend_yield: ArrayLike,
) -> dict[str, ArrayLike]:
    """Check what every model of a positive asset asks of an option; return the arguments by name, in this order."""
    require("spot", spot, above=0.0)
    require("strike", strike, above=0.0)
    require("time_to_expiry", time_to_expiry, at_least=0.0)
    require("rate", rate)
    require("dividend_yield", dividend_yield)
    return {
        "spot": spot,
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "rate": rate,
        "dividend_yield": dividend_yield,
    }
