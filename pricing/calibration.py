"""Heston's parameters from a chain of quotes, by least squares with exact derivatives."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from pricing import black_scholes, heston
from pricing.least_squares import minimize
from pricing.signature import labelled

_ITERATIONS = 50
_LARGEST_CORRELATION = 0.999


class Calibration(NamedTuple):
    """Result of :func:`fit_heston`.

    Attributes
    ----------
    parameters
        Fitted parameters.
    volatility_error
        Model less market price over vega, about the error in volatility, shape ``[quotes]``.
    steepness
        Largest absolute component of the gradient at the end: 0 at an optimum.
    feller_ratio
        ``2 kappa theta / xi^2``; variance never touches zero when it is 1 or more.
    """

    parameters: heston.Parameters
    volatility_error: jax.Array
    steepness: jax.Array
    feller_ratio: jax.Array


def _parameters(x: jax.Array) -> heston.Parameters:
    """Bring free numbers to the domain."""
    initial, kappa, theta, xi = (jnp.exp(x[i]) for i in range(4))
    return heston.Parameters(initial, kappa, theta, xi, _LARGEST_CORRELATION * jnp.tanh(x[4]))


@jax.jit
def _fit(market: dict[str, jax.Array], price: jax.Array, weight: jax.Array, start: jax.Array) -> Calibration:
    def residuals(x: jax.Array) -> jax.Array:
        return weight * (heston.price(**market, parameters=_parameters(x)) - price)

    solution = minimize(residuals, start, iterations=_ITERATIONS)
    p = _parameters(solution.x)
    feller = 2.0 * jnp.asarray(p.mean_reversion) * p.long_run_variance / jnp.asarray(p.vol_of_vol) ** 2
    return Calibration(p, residuals(solution.x), solution.steepness, feller)


@labelled
def fit_heston(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    dividend_yield: ArrayLike = 0.0,
    start: heston.Parameters | None = None,
) -> Calibration:
    """Fit Heston's model to the implied volatilities of a chain.

    Out-of-the-money prices are compared in units of their vega, so errors are in volatility. The derivatives are those
    of the characteristic function, by forward differentiation; the steps are Levenberg-Marquardt.

    Parameters
    ----------
    spot, strike, time_to_expiry, rate, dividend_yield
        As in :func:`pricing.black_scholes.price`, positive where that says >= 0; they broadcast to ``[quotes]``.
    volatility
        Implied volatility of each quote, > 0.
    start
        First guess; by default the volatilities themselves give the variances, with a mean reversion of 1.5, a
        volatility of variance of 0.5 and a correlation of -0.5.

    Raises
    ------
    ValueError
        When a value is not finite and positive, there are fewer than five quotes, or ``start`` is out of its range.
    """
    named = {"spot": spot, "strike": strike, "time_to_expiry": time_to_expiry, "volatility": volatility}
    others = {"rate": rate, "dividend_yield": dividend_yield}
    columns = np.broadcast_arrays(*(np.ravel(np.asarray(v, float)) for v in (*named.values(), *others.values())))
    quotes = dict(zip((*named, *others), columns, strict=True))
    for name, values in quotes.items():
        wrong = ~np.isfinite(values) | ((values <= 0.0) if name in named else False)
        if wrong.any():
            raise ValueError(f"{name} must be finite{' and > 0' if name in named else ''}, got {values[wrong][0]!r}")
    if columns[0].size < 5:
        raise ValueError(f"volatility must hold at least five quotes, got {columns[0].size}")

    implied = quotes.pop("volatility")
    forward = quotes["spot"] * np.exp((quotes["rate"] - quotes["dividend_yield"]) * quotes["time_to_expiry"])
    market = {name: jnp.asarray(values) for name, values in quotes.items()}
    market["is_call"] = jnp.asarray(quotes["strike"] >= forward)
    price, greeks = black_scholes.price_and_greeks(**market, volatility=implied)
    # Far wings have no vega: a floor keeps a quote of no value from outweighing the rest.
    vega = jnp.maximum(greeks.vega, 0.02 * greeks.vega.max())
    weight = 1.0 / vega / np.sqrt(implied.size)

    if start is None:
        near, far = np.argmin(quotes["time_to_expiry"]), np.argmax(quotes["time_to_expiry"])
        start = heston.Parameters(implied[near] ** 2, 1.5, implied[far] ** 2, 0.5, -0.5)
    heston.require_parameters(start)
    if not float(np.asarray(start.vol_of_vol)) > 0.0:
        raise ValueError(f"start.vol_of_vol must be > 0, got {start.vol_of_vol!r}")
    positive = jnp.log(jnp.stack([jnp.asarray(v, float) for v in start[:4]]))
    tilt = jnp.arctanh(jnp.clip(jnp.asarray(start.correlation, float) / _LARGEST_CORRELATION, -0.999, 0.999))
    answer: Calibration = _fit(market, price, weight, jnp.append(positive, tilt))
    return answer._replace(volatility_error=answer.volatility_error * np.sqrt(implied.size))
