"""Volatility implied by American option prices."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from pricing.american.boundary import ACCURATE, Scheme
from pricing.american.collocation import price as american_price
from pricing.inputs import broadcast, require
from pricing.signature import labelled

_LOWEST, _HIGHEST = 0.005, 8.0
_HALVINGS = 46


@partial(jax.jit, static_argnames="scheme")
def _solve(*arguments: jax.Array, scheme: Scheme) -> jax.Array:
    price, spot, strike, time, rate, dividend_yield, is_call = arguments

    def value(volatility: jax.Array) -> jax.Array:
        return american_price(
            spot=spot,
            strike=strike,
            time_to_expiry=time,
            rate=rate,
            volatility=volatility,
            dividend_yield=dividend_yield,
            is_call=is_call,
            scheme=scheme,
        )

    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        middle = 0.5 * (low + high)
        too_low = value(middle) < price
        return jnp.where(too_low, middle, low), jnp.where(too_low, high, middle)

    low, high = jnp.full_like(price, _LOWEST), jnp.full_like(price, _HIGHEST)
    answered = (price > value(low)) & (price < value(high)) & (time > 0.0)
    low, high = jax.lax.fori_loop(0, _HALVINGS, halve, (low, high))
    return jnp.where(answered, 0.5 * (low + high), jnp.nan)


@labelled
def implied_volatility(
    *,
    price: ArrayLike,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
    scheme: Scheme = ACCURATE,
) -> jax.Array:
    """Volatility at which :func:`pricing.american.price` equals ``price``, by bisection to 1e-13.

    Arguments and errors as there. NaN where no volatility between 0.5% and 800% gives the price: below or at what
    immediate exercise pays, above the bound, or expired.
    """
    for name, value in (("spot", spot), ("strike", strike), ("time_to_expiry", time_to_expiry)):
        require(name, value, at_least=0.0)
    named = {
        "price": price,
        "spot": spot,
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "rate": rate,
        "dividend_yield": dividend_yield,
    }
    answer: jax.Array = _solve(*map(jnp.asarray, broadcast(named, is_call)), scheme=scheme)
    return answer
