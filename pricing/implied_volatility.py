"""Volatility implied by European option prices, whole chains in one call.

A price below its intrinsic value or above its bound has no volatility: the answer is NaN with a status that says which.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from pricing.black_scholes import _price
from pricing.inputs import floats, require


class Status(enum.IntEnum):
    """Why an implied volatility is or is not there."""

    SOLVED = 0
    BELOW_INTRINSIC = 1
    ABOVE_BOUND = 2
    UNDEFINED = 3


class ImpliedVolatility(NamedTuple):
    """Answer of :func:`solve`; both fields have the broadcast shape of the arguments.

    Attributes
    ----------
    value
        Volatility per year as a decimal; NaN unless the status is ``SOLVED``.
    status
        int32, a member of :class:`Status`.
    """

    value: jax.Array
    status: jax.Array


def solve(
    *,
    price: ArrayLike,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
) -> ImpliedVolatility:
    """Volatility at which the Black-Scholes-Merton price equals ``price``.

    Arguments are those of :func:`pricing.black_scholes.price`, with ``price`` per unit of the underlying.

    Raises
    ------
    ValueError
        When spot, strike or time known before tracing is negative or infinite, or shapes do not broadcast.
    """
    named = {
        "price": price,
        "spot": spot,
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "rate": rate,
        "dividend_yield": dividend_yield,
    }
    for name in ("spot", "strike", "time_to_expiry"):
        require(name, named[name], at_least=0.0)
    *values, flags = floats({**named, "is_call": jnp.asarray(is_call, bool)})
    answer: ImpliedVolatility = _solve(*values, flags != 0.0)
    return answer


@jax.jit
def _solve(
    price: jax.Array,
    spot: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    dividend_yield: jax.Array,
    is_call: jax.Array,
) -> ImpliedVolatility:
    shares, cash = spot * jnp.exp(-dividend_yield * time), strike * jnp.exp(-rate * time)
    intrinsic = jnp.maximum(jnp.where(is_call, shares - cash, cash - shares), 0.0)
    bound = jnp.where(is_call, shares, cash)
    defined = (spot > 0.0) & (strike > 0.0) & (time > 0.0) & jnp.isfinite(price) & jnp.isfinite(rate * dividend_yield)
    status = jnp.where(
        ~defined,
        Status.UNDEFINED,
        jnp.where(price < intrinsic, Status.BELOW_INTRINSIC, jnp.where(price >= bound, Status.ABOVE_BOUND, 0)),
    ).astype(jnp.int32)

    def halve(_: int, bracket: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = bracket
        middle = 0.5 * (low + high)
        above = _price(spot, strike, time, rate, jnp.exp(middle), dividend_yield, is_call) > price
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    floor = jnp.log(jnp.asarray(1e-12, price.dtype)) - 0.5 * jnp.log(time)
    low, high = jax.lax.fori_loop(0, 60, halve, (floor, floor + 34.0))
    return ImpliedVolatility(jnp.where(status == Status.SOLVED, jnp.exp(0.5 * (low + high)), jnp.nan), status)
