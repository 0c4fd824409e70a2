"""European options on a forward or future (Black 1976): price and Greeks.

The asset of :mod:`pricing.black_scholes` with a dividend yield equal to the rate, so accuracy and limits are the same.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from pricing import black_scholes
from pricing.black_scholes import Greeks
from pricing.signature import labelled


@labelled
def price(
    *,
    forward: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    is_call: ArrayLike = True,
) -> jax.Array:
    """Price of European calls and puts on a forward.

    >>> float(price(forward=19.0, strike=19.0, time_to_expiry=0.75, rate=0.10, volatility=0.28).round(4))
    1.7011

    Parameters
    ----------
    forward, strike
        Forward price for delivery at expiry and exercise price, >= 0.
    time_to_expiry, rate, volatility, is_call
        As in :func:`pricing.black_scholes.price`.

    Returns
    -------
    Price today per unit of the underlying, broadcast shape.

    References
    ----------
    The example is Haug, *Option Pricing Formulas*, 2nd ed., page 5.
    """
    with _names_of_a_forward():
        return black_scholes.price(
            spot=forward,
            strike=strike,
            time_to_expiry=time_to_expiry,
            rate=rate,
            volatility=volatility,
            dividend_yield=rate,
            is_call=is_call,
        )


@labelled
def greeks(
    *,
    forward: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    is_call: ArrayLike = True,
) -> Greeks:
    """Sensitivities with the forward held fixed: delta and gamma to the forward, theta per year, vega and rho per 1.00.

    Arguments are those of :func:`price`.
    """
    with _names_of_a_forward():
        g = black_scholes.all_greeks(
            spot=forward,
            strike=strike,
            time_to_expiry=time_to_expiry,
            rate=rate,
            volatility=volatility,
            dividend_yield=rate,
            is_call=is_call,
        )
    time = jnp.broadcast_to(jnp.asarray(time_to_expiry, g.price.dtype), g.price.shape)
    return Greeks(delta=g.delta, gamma=g.gamma, theta=g.theta, vega=g.vega, rho=-time * g.price)


@contextlib.contextmanager
def _names_of_a_forward() -> Iterator[None]:
    """Let errors of the spot's formula name the arguments that were given here."""
    try:
        yield
    except ValueError as error:
        text = re.sub(r", dividend_yield \([^)]*\)", "", str(error))
        raise ValueError(re.sub(r"\bspot\b", "forward", text)) from None
