"""A book of options and stocks on several underlyings, and what it is worth in any scenario."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from pricing import black_scholes


class Book(NamedTuple):
    """Positions, one row each. Every field has shape ``[positions]``.

    Attributes
    ----------
    underlying
        Index of the underlying in the market's arrays, int.
    is_option
        False for stock, whose other option fields are not read (use NaN).
    is_call
        True for a call, False for a put.
    shares
        Signed number of shares: quantity times multiplier.
    strike
        Exercise price, > 0.
    time_to_expiry
        Years, >= 0.
    volatility
        Per year, as a decimal.
    """

    underlying: jax.Array
    is_option: jax.Array
    is_call: jax.Array
    shares: jax.Array
    strike: jax.Array
    time_to_expiry: jax.Array
    volatility: jax.Array


def revalue(
    book: Book,
    *,
    spot: ArrayLike,
    rate: ArrayLike = 0.0,
    dividend_yield: ArrayLike = 0.0,
    volatility_change: ArrayLike = 0.0,
    years_passed: ArrayLike = 0.0,
) -> jax.Array:
    """Value of the whole book in each scenario, every option priced anew.

    Parameters
    ----------
    book
        The positions.
    spot
        Prices of the underlyings, shape ``[underlyings]`` or ``[scenarios, underlyings]``.
    rate, dividend_yield
        Continuously compounded, per year: one number, or per scenario ``[scenarios]``.
    volatility_change
        Added to every volatility, 0.01 being one point: one number or ``[scenarios]``. No volatility falls below 0.
    years_passed
        Calendar time gone by: one number or ``[scenarios]``. An option past its expiry is worth its exercise value at
        the scenario's spot.

    Returns
    -------
    Value in currency, shape ``[]`` or ``[scenarios]``.
    """
    prices = jnp.asarray(spot, float)
    per_position = prices[..., jnp.asarray(book.underlying)]
    count = np.ndim(per_position) - 1
    rate, dividend_yield, volatility_change, years_passed = (
        jnp.reshape(jnp.asarray(value, float), np.shape(value) + (1,) * (1 if count else 0))
        for value in (rate, dividend_yield, volatility_change, years_passed)
    )

    def rows(value: jax.Array) -> jax.Array:
        return jnp.broadcast_to(value, per_position.shape)

    remaining = jnp.maximum(rows(jnp.asarray(book.time_to_expiry)) - rows(years_passed), 0.0)
    volatility = jnp.maximum(rows(jnp.asarray(book.volatility)) + rows(volatility_change), 0.0)
    is_option = rows(jnp.asarray(book.is_option))
    option_value = black_scholes.price(
        spot=per_position,
        strike=jnp.where(is_option, rows(jnp.asarray(book.strike)), 1.0),
        time_to_expiry=jnp.where(is_option, remaining, 1.0),
        rate=rate,
        volatility=jnp.where(is_option, volatility, 1.0),
        dividend_yield=dividend_yield,
        is_call=rows(jnp.asarray(book.is_call)),
    )
    return jnp.where(is_option, option_value, per_position) @ jnp.asarray(book.shares, float)
