"""European options on a normally distributed forward (Bachelier 1900): price and Greeks.

Forward and strike may have any sign, and ``volatility`` is absolute: currency per square root of a year.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from pricing.black_scholes import Greeks
from pricing.inputs import broadcast, require
from pricing.normal import density, mills_ratio
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
    """Price of European calls and puts.

    Parameters
    ----------
    forward, strike
        Any sign, finite.
    time_to_expiry
        Years, >= 0.
    rate
        Continuously compounded, per year.
    volatility
        Absolute, per square root of a year, >= 0.
    is_call
        As in :func:`pricing.black_scholes.price`.

    Returns
    -------
    Price today per unit of the underlying, broadcast shape.

    Raises
    ------
    ValueError
        When a value known before tracing is out of range, or shapes do not broadcast.
    """
    value: jax.Array = _price_compiled(*_arguments(forward, strike, time_to_expiry, rate, volatility, is_call))
    return value


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
    """Sensitivities with the forward held fixed; theta per year, vega per 1.00 of absolute volatility, rho per 1.00.

    Arguments are those of :func:`price`.
    """
    value: Greeks = _greeks_compiled(*_arguments(forward, strike, time_to_expiry, rate, volatility, is_call))
    return value


def _out_of_the_money(gap: jax.Array, deviation: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Undiscounted out-of-the-money price, tail probability and density at the standardised gap."""
    deviation = jnp.where(deviation < 0.0, jnp.nan, deviation)  # what traced code cannot refuse
    x = jnp.where(gap == 0.0, 0.0 * deviation, jnp.abs(gap) / deviation)
    x = jnp.minimum(x, 60.0)
    ratio, height = mills_ratio(x), density(x)
    return deviation * height * (1.0 - x * ratio), height * ratio, height


def _price(
    forward: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    volatility: jax.Array,
    is_call: jax.Array,
) -> jax.Array:
    gap = jnp.where(is_call, forward - strike, strike - forward)
    out_price, _, _ = _out_of_the_money(gap, volatility * jnp.sqrt(time))
    return jnp.exp(-rate * time) * (out_price + jnp.maximum(gap, 0.0))


def _greeks(
    forward: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    volatility: jax.Array,
    is_call: jax.Array,
) -> Greeks:
    gap = jnp.where(is_call, forward - strike, strike - forward)
    sqrt_time = jnp.sqrt(time)
    deviation = volatility * sqrt_time
    out_price, tail, height = _out_of_the_money(gap, deviation)
    discount = jnp.exp(-rate * time)
    value = discount * (out_price + jnp.maximum(gap, 0.0))
    decay = jnp.where(height == 0.0, 0.0, 0.5 * discount * volatility * height / sqrt_time)
    exercised = jnp.where(gap > 0.0, 1.0 - tail, tail)
    return Greeks(
        delta=discount * jnp.where(is_call, exercised, -exercised),
        gamma=jnp.where(height == 0.0, 0.0, discount * height / deviation),
        theta=rate * value - decay,
        vega=discount * sqrt_time * height,
        rho=-time * value,
    )


_price_compiled = jax.jit(_price)
_greeks_compiled = jax.jit(_greeks)


def _arguments(
    forward: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    is_call: ArrayLike,
) -> tuple[ArrayLike, ...]:
    named = {
        "forward": forward,
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "rate": rate,
        "volatility": volatility,
    }
    for name in ("forward", "strike", "rate"):
        require(name, named[name])
    for name in ("time_to_expiry", "volatility"):
        require(name, named[name], at_least=0.0)
    return broadcast(named, is_call)
