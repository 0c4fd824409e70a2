"""American options by spectral collocation: price, Greeks, boundary.

Price is the European price and one integral over the exercise boundary of :mod:`pricing.american.boundary`.

Andersen, Lake and Offengenden, "High-performance American option pricing", J. Computational Finance 20(1), 2016.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from pricing import black_scholes
from pricing.american.arguments import Put, as_put, checked, require_single_boundary
from pricing.american.boundary import (
    ACCURATE,
    Scheme,
    boundary,
    discounted_cdf,
    discounted_density,
    interpolation,
    root_or_zero,
    rule,
)
from pricing.black_scholes import Greeks
from pricing.inputs import require
from pricing.signature import labelled

_BLOCK = 512


def _premium(put: Put, squared: jax.Array, at_expiry: jax.Array, scheme: Scheme) -> jax.Array:
    """Value of the right to exercise early, at a spot above the boundary."""
    dtype = put.spot.dtype
    angles = rule(scheme.premium_quadrature)
    matrix = jnp.asarray(interpolation(scheme.nodes, angles.left), dtype)
    points = (
        matrix,
        *(jnp.asarray(values, dtype) for values in (angles.share, 2.0 * angles.share * angles.left * angles.weight)),
    )
    moneyness = jnp.log(put.spot / put.strike)
    deviation = put.volatility * jnp.sqrt(put.time)

    def add(total: jax.Array, point: tuple[jax.Array, ...]) -> tuple[jax.Array, None]:
        row, share, weight = point
        later = at_expiry - root_or_zero(row @ squared)
        spread, elapsed = deviation * share, put.time * share**2
        centre = -(moneyness - later + (put.rate - put.dividend_yield) * elapsed) / spread
        plus, minus = centre - 0.5 * spread, centre + 0.5 * spread
        interest, income = put.rate * elapsed, put.dividend_yield * elapsed
        cash = discounted_cdf(minus, discounted_density(minus, interest), interest)
        shares = discounted_cdf(plus, discounted_density(plus, income), income)
        flow = put.rate * put.strike * cash - put.dividend_yield * put.spot * shares
        return total + weight * flow, None

    total, _ = jax.lax.scan(add, jnp.zeros_like(put.spot), points)
    return put.time * total


def _certain(put: Put) -> jax.Array:
    """Value when the future is known (no time, volatility, spot or strike): the best moment to exercise."""
    never = (put.rate == put.dividend_yield) | (put.rate * put.dividend_yield * put.spot * put.strike <= 0.0)
    ratio = jnp.where(never, 1.0, put.rate * put.strike / jnp.where(never, 1.0, put.dividend_yield * put.spot))
    best = jnp.log(ratio) / jnp.where(never, 1.0, put.rate - put.dividend_yield)
    value = jnp.zeros_like(put.spot)
    for moment in (jnp.zeros_like(put.time), jnp.clip(best, 0.0, put.time), put.time):
        exercised = put.strike * jnp.exp(-put.rate * moment) - put.spot * jnp.exp(-put.dividend_yield * moment)
        value = jnp.maximum(value, exercised)
    return value


class _Front(NamedTuple):
    """Everything that does not depend on the spot, and which options are not for collocation.

    Attributes
    ----------
    squared, at_expiry
        Of :func:`pricing.american.boundary.boundary`.
    level
        Log of the boundary now over strike; minus infinity where it is never right to exercise.
    certain
        The future is known to rounding.
    waits
        Never exercised early.
    twice
        Two boundaries.
    """

    squared: jax.Array
    at_expiry: jax.Array
    level: jax.Array
    certain: jax.Array
    waits: jax.Array
    twice: jax.Array


def _replaced(put: Put, where: jax.Array) -> Put:
    harmless = (1.0, 1.0, 1.0, 0.05, 0.0, 0.2)
    return Put(*(jnp.where(where, default, value) for value, default in zip(put, harmless, strict=True)))


def _front(put: Put, scheme: Scheme) -> _Front:
    rounding = float(np.finfo(put.spot.dtype).eps)
    certain = (put.volatility * jnp.sqrt(put.time) <= rounding) | (put.spot <= 0.0) | (put.strike <= 0.0)
    negligible = 1e-3 * rounding
    waits = (put.rate <= put.dividend_yield) & (put.rate <= negligible * jnp.abs(put.dividend_yield))
    twice = (put.rate < 0.0) & (put.dividend_yield < put.rate)
    squared, at_expiry = boundary(_replaced(put, certain | waits | twice), scheme)
    level = jnp.where(waits, -jnp.inf, at_expiry - root_or_zero(squared[0]))
    return _Front(squared, at_expiry, level, certain, waits, twice)


def _is_exercised(put: Put, front: _Front) -> jax.Array:
    plain = front.certain | front.waits | front.twice
    return ~plain & (put.spot <= put.strike * jnp.exp(front.level))


def _value(put: Put, front: _Front, scheme: Scheme) -> jax.Array:
    plain = front.certain | front.waits | front.twice
    lively = _replaced(put, front.certain)
    european = black_scholes.price(
        spot=lively.spot,
        strike=lively.strike,
        time_to_expiry=lively.time,
        rate=lively.rate,
        volatility=lively.volatility,
        dividend_yield=lively.dividend_yield,
        is_call=False,
    )
    premium = jnp.maximum(_premium(_replaced(put, plain), front.squared, front.at_expiry, scheme), 0.0)
    immediate = put.strike - put.spot
    held = jnp.where(front.waits, european, jnp.maximum(european + jnp.where(plain, 0.0, premium), immediate))
    value = jnp.where(_is_exercised(put, front), immediate, held)
    value = jnp.where(front.certain, _certain(put), value)
    missing = jnp.isnan(put.spot + put.strike + put.time + put.rate + put.dividend_yield + put.volatility)
    return jnp.where(missing | (front.twice & ~front.certain), jnp.nan, value)


def _price(*arguments: jax.Array, scheme: Scheme) -> jax.Array:
    put = as_put(*arguments)
    return _value(put, _front(put, scheme), scheme)


def _greeks(*arguments: jax.Array, scheme: Scheme) -> tuple[jax.Array, Greeks]:
    spot, strike, time, rate, volatility, dividend_yield, is_call = arguments
    one, zero = jnp.ones_like(spot), jnp.zeros_like(spot)
    put = as_put(*arguments)
    front = _front(put, scheme)

    def delta_at(value: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jax.jvp(lambda s: _value(as_put(s, *arguments[1:]), front, scheme), (value,), (one,))

    (price, delta), (_, gamma) = jax.jvp(delta_at, (spot,), (one,))

    def along(direction: tuple[jax.Array, jax.Array]) -> jax.Array:
        def of(v: jax.Array, r: jax.Array) -> jax.Array:
            return _price(spot, strike, time, r, v, dividend_yield, is_call, scheme=scheme)

        slope: jax.Array = jax.jvp(of, (volatility, rate), direction)[1]
        return slope

    vega, rho = jax.vmap(along)((jnp.stack([one, zero]), jnp.stack([zero, one])))
    decay = rate * price - (rate - dividend_yield) * spot * delta - 0.5 * (volatility * spot) ** 2 * gamma
    theta = jnp.where(_is_exercised(put, front), 0.0, decay)
    # The clamps of the boundary give a NaN argument the slope 0.
    known = Greeks(delta=delta, gamma=gamma, theta=theta, vega=vega, rho=rho)
    return price, jax.tree.map(lambda greek: jnp.where(jnp.isnan(price), jnp.nan, greek), known)


def _level(*arguments: jax.Array, scheme: Scheme) -> jax.Array:
    is_call, strike = arguments[-1], arguments[1]
    level = _front(as_put(*arguments), scheme).level
    spot: jax.Array = strike * jnp.exp(jnp.where(is_call, -level, level))
    return spot


@partial(jax.jit, static_argnames=("function", "scheme"))
def _in_blocks(function: object, scheme: Scheme, arguments: tuple[jax.Array, ...]) -> jax.Array:
    """Apply ``function`` to blocks that stay in the processor's cache; whole batches elsewhere."""
    assert callable(function)
    shape, count = arguments[0].shape, arguments[0].size
    block = min(_BLOCK, count) if jax.default_backend() == "cpu" else count
    blocks = -(-count // max(block, 1))
    padded = [
        jnp.pad(a.reshape(-1), (0, blocks * block - count), mode="edge").reshape(blocks, block) for a in arguments
    ]
    answer = jax.lax.map(lambda part: function(*part, scheme=scheme), padded)
    unpadded: jax.Array = jax.tree.map(lambda values: values.reshape(-1)[:count].reshape(shape), answer)
    return unpadded


@labelled
def price(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
    scheme: Scheme = ACCURATE,
) -> jax.Array:
    """Price of American calls and puts, a whole batch in one call.

    >>> put = price(spot=100.0, strike=100.0, time_to_expiry=1.0, rate=0.05, volatility=0.2, is_call=False)
    >>> round(float(put), 4)
    6.0904

    Parameters
    ----------
    spot, strike, time_to_expiry, rate, volatility, dividend_yield, is_call
        As in :func:`pricing.black_scholes.price`.
    scheme
        ``FAST``, ``ACCURATE`` or ``PRECISE``: errors of at most 6e-6, 8e-7 and 3e-8 of spot, in the mean square 6e-7,
        4e-8 and 1e-9, for rates and yields to 10%, volatilities of 10% to 60% and three years. Where
        ``(rate - dividend_yield) sqrt(time) / volatility`` exceeds 1 (puts; calls with the sign changed) errors grow:
        ``ACCURATE`` is then off by up to 1e-4 of spot, ``PRECISE`` by 1e-8, from 2 on by 5e-6.

    Returns
    -------
    Price per unit of the underlying, broadcast shape; NaN where an argument is NaN, and in traced code where exercise
    has two boundaries.

    Raises
    ------
    ValueError
        When a value known before tracing is negative or infinite, shapes do not broadcast, or the option has two
        exercise boundaries (a put with ``dividend_yield < rate < 0``).
    """
    require_single_boundary(rate, dividend_yield, is_call)
    arguments = checked(
        spot=spot,
        strike=strike,
        time_to_expiry=time_to_expiry,
        rate=rate,
        volatility=volatility,
        dividend_yield=dividend_yield,
        is_call=is_call,
    )
    value: jax.Array = _in_blocks(_price, scheme, arguments)
    return value


@labelled
def greeks(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
    scheme: Scheme = ACCURATE,
) -> tuple[jax.Array, Greeks]:
    """Price and Greeks by forward differentiation of :func:`price`; theta from the pricing equation, 0 once exercised.

    Arguments, units and errors as in :func:`price` and :class:`pricing.black_scholes.Greeks`. Not defined on the
    boundary itself, where gamma jumps.
    """
    require_single_boundary(rate, dividend_yield, is_call)
    arguments = checked(
        spot=spot,
        strike=strike,
        time_to_expiry=time_to_expiry,
        rate=rate,
        volatility=volatility,
        dividend_yield=dividend_yield,
        is_call=is_call,
    )
    value: tuple[jax.Array, Greeks] = _in_blocks(_greeks, scheme, arguments)
    return value


@labelled
def exercise_boundary(
    *,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
    scheme: Scheme = ACCURATE,
) -> jax.Array:
    """Spot at which it is optimal to exercise now: at or below it for puts, at or above it for calls.

    Arguments and errors as in :func:`price`. A put that is never exercised early has the boundary 0, a call infinity.
    Time and volatility must be positive (``ValueError``).
    """
    require_single_boundary(rate, dividend_yield, is_call)
    require("time_to_expiry", time_to_expiry, above=0.0)
    require("volatility", volatility, above=0.0)
    arguments = checked(
        spot=strike,
        strike=strike,
        time_to_expiry=time_to_expiry,
        rate=rate,
        volatility=volatility,
        dividend_yield=dividend_yield,
        is_call=is_call,
    )
    value: jax.Array = _in_blocks(_level, scheme, arguments)
    return value
