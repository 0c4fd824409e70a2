"""Arguments of American options, and the put that every option is priced as."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from pricing.inputs import broadcast, is_traced, require


class Put(NamedTuple):
    """Put options; a call on ``spot`` is the put on ``strike`` struck at ``spot`` with rate and yield exchanged.

    Attributes
    ----------
    spot, strike
        Price of the underlying and exercise price.
    time
        Years to expiry.
    rate, dividend_yield, volatility
        Per year, continuously compounded.
    """

    spot: jax.Array
    strike: jax.Array
    time: jax.Array
    rate: jax.Array
    dividend_yield: jax.Array
    volatility: jax.Array


def as_put(
    spot: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    volatility: jax.Array,
    dividend_yield: jax.Array,
    is_call: jax.Array,
) -> Put:
    """Exchange the roles of spot and strike for calls (McDonald and Schroder, J. Computational Finance 1998)."""
    return Put(
        spot=jnp.where(is_call, strike, spot),
        strike=jnp.where(is_call, spot, strike),
        time=time,
        rate=jnp.where(is_call, dividend_yield, rate),
        dividend_yield=jnp.where(is_call, rate, dividend_yield),
        volatility=volatility,
    )


def checked(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    dividend_yield: ArrayLike,
    is_call: ArrayLike,
) -> tuple[jax.Array, ...]:
    """One dtype and one shape; ``ValueError`` for what cannot be."""
    named = {
        "spot": spot,
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "rate": rate,
        "volatility": volatility,
        "dividend_yield": dividend_yield,
    }
    for name, value in named.items():
        require(name, value, at_least=None if name in ("rate", "dividend_yield") else 0.0)
    return tuple(jnp.asarray(value) for value in broadcast(named, is_call))


def require_single_boundary(rate: ArrayLike, dividend_yield: ArrayLike, is_call: ArrayLike) -> None:
    """Raise ``ValueError`` where early exercise has two boundaries."""
    if is_traced(rate) or is_traced(dividend_yield) or is_traced(is_call):
        return
    interest = np.where(is_call, dividend_yield, rate)
    income = np.where(is_call, rate, dividend_yield)
    if np.any((income < interest) & (interest < 0.0)):
        raise ValueError(
            "rate and dividend_yield: a put with dividend_yield < rate < 0 (a call with rate < dividend_yield < 0) has "
            "two exercise boundaries, which collocation does not cover; use pricing.american.tree_price"
        )
