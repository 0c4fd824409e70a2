"""European prices from a characteristic function, by integration along a line in the complex plane.

With the line through the middle of the strip (imaginary part one half) one integral gives every option:
``forward price of the covered call = sqrt(F K) / pi * integral over u >= 0 of
Re(exp(i u log(F / K)) characteristic(u - i/2)) / (u^2 + 1/4)``.

The Black-Scholes integrand of the same total variance is subtracted and its price added back, so what is integrated is
small and decays fast (a control variate). Lewis, "A simple option formula for general jump-diffusion and other
exponential Levy processes", 2001; Andersen and Piterbarg, *Interest Rate Modeling*, vol. 1, section 8.4.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from pricing import black_scholes

Exponent = Callable[[jax.Array], jax.Array]
"""Log of ``E[(S_T / F)^(i z)]`` at complex ``z``, shape ``[options, points]``."""

_POINTS = 384
_X, _WEIGHT = np.polynomial.legendre.leggauss(_POINTS)
_DECAY = 38.0


def price(
    exponent: Exponent,
    *,
    spot: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    dividend_yield: jax.Array,
    is_call: jax.Array,
    total_variance: jax.Array,
    decay: jax.Array,
) -> jax.Array:
    """Price of options whose log-return has the given characteristic exponent.

    Parameters
    ----------
    exponent
        Of the log-return against the forward.
    spot, strike, time, rate, dividend_yield, is_call
        As in :func:`pricing.black_scholes.price`, all of one shape ``[options]``, time and spot above zero.
    total_variance
        A scale for the control variate: about the variance of the log-return, > 0.
    decay
        Rate at which the log of the characteristic function falls for large arguments, > 0, infinite if faster.
    """
    forward = spot * jnp.exp((rate - dividend_yield) * time)
    moneyness = jnp.log(forward / strike)
    # u = scale sinh(end t): fine steps where the control lives, coarse ones to where the model has decayed.
    t = jnp.asarray(0.5 * (1.0 + _X), spot.dtype)[None]
    scale = 1.0 / jnp.sqrt(total_variance)
    last = jnp.maximum(_DECAY / decay, jnp.sqrt(2.0 * _DECAY) * scale)
    end, scale = jnp.arcsinh(last / scale)[:, None], scale[:, None]
    u = scale * jnp.sinh(end * t)
    slope = scale * end * jnp.cosh(end * t)
    weight = jnp.asarray(0.5 * _WEIGHT, spot.dtype)[None] * slope / (u * u + 0.25)
    # exp(exponent) at u - i/2, for the model and for the lognormal control.
    phase = u * moneyness[:, None]
    control = -0.5 * total_variance[:, None] * (u * u + 0.25)
    model = exponent(u - 0.5j)
    difference = jnp.exp(control) * jnp.cos(phase) - jnp.exp(model.real) * jnp.cos(model.imag + phase)
    correction = (weight * difference).sum(axis=1) * jnp.sqrt(forward * strike) / jnp.pi * jnp.exp(-rate * time)
    lognormal = black_scholes.price(
        spot=spot,
        strike=strike,
        time_to_expiry=time,
        rate=rate,
        volatility=jnp.sqrt(total_variance / time),
        dividend_yield=dividend_yield,
        is_call=is_call,
    )
    return lognormal + correction
