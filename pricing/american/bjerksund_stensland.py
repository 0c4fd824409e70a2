"""American options by the closed formula of Bjerksund and Stensland: a lower bound, usually within 0.5%.

Bjerksund and Stensland, "Closed form valuation of American options", 2002: exercise at two flat boundaries, one for
each part of the life of the option, divided by the golden section. The correlation of the bivariate normal is then a
constant.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from pricing import black_scholes
from pricing.american.arguments import Put, as_put, checked, require_single_boundary
from pricing.normal import cdf
from pricing.signature import labelled

_SPLIT = 0.5 * (math.sqrt(5.0) - 1.0)
_CORRELATION = math.sqrt(_SPLIT)
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def _both_below(a: jax.Array, b: jax.Array, sign: float) -> jax.Array:
    """Bivariate normal distribution function with correlation ``sign * sqrt(golden section)``."""
    top = math.asin(_CORRELATION)
    total = jnp.zeros_like(a)
    for point, weight in zip(_POINTS, _WEIGHTS, strict=True):
        angle = 0.5 * top * (1.0 + float(point))
        sine = sign * math.sin(angle)
        exponent = -(a * a + b * b - 2.0 * sine * a * b) / (2.0 * math.cos(angle) ** 2)
        total = total + float(weight) * jnp.exp(exponent)
    return cdf(a) * cdf(b) + sign * 0.25 * top / math.pi * total


class _Call(NamedTuple):
    """The call that an option is turned into.

    Attributes
    ----------
    spot, strike, time, rate, carry, volatility
        Carry is the rate less the dividend yield.
    """

    spot: jax.Array
    strike: jax.Array
    time: jax.Array
    rate: jax.Array
    carry: jax.Array
    volatility: jax.Array


def _drift(c: _Call, power: jax.Array) -> jax.Array:
    return c.carry + (power - 0.5) * c.volatility**2


def _growth(c: _Call, power: jax.Array, time: jax.Array) -> jax.Array:
    rate = -c.rate + power * c.carry + 0.5 * power * (power - 1.0) * c.volatility**2
    return jnp.exp(rate * time + power * jnp.log(c.spot))


def _one_boundary(c: _Call, time: jax.Array, power: jax.Array, level: jax.Array, barrier: jax.Array) -> jax.Array:
    """``phi`` of the paper: a power of spot at ``time`` if it is below ``level`` and ``barrier`` was never touched."""
    deviation = c.volatility * jnp.sqrt(time)
    d = -(jnp.log(c.spot / level) + _drift(c, power) * time) / deviation
    exponent = 2.0 * c.carry / c.volatility**2 + 2.0 * power - 1.0
    distance = jnp.log(barrier / c.spot)
    reflected = jnp.exp(exponent * distance) * cdf(d - 2.0 * distance / deviation)
    return _growth(c, power, time) * (cdf(d) - reflected)


def _two_boundaries(c: _Call, power: jax.Array, level: jax.Array, first: jax.Array, second: jax.Array) -> jax.Array:
    """``psi`` of the paper: as ``phi`` at expiry, with barrier ``first`` until the split and ``second`` after it."""
    split = _SPLIT * c.time
    root, root_split = c.volatility * jnp.sqrt(c.time), c.volatility * jnp.sqrt(split)
    drift = _drift(c, power)
    exponent = 2.0 * c.carry / c.volatility**2 + 2.0 * power - 1.0
    direct, mirrored = jnp.log(c.spot / second), jnp.log(first * first / (c.spot * second))
    e1, e2 = (direct + drift * split) / root_split, (mirrored + drift * split) / root_split
    e3, e4 = (direct - drift * split) / root_split, (mirrored - drift * split) / root_split
    ahead = drift * c.time
    f1 = (jnp.log(c.spot / level) + ahead) / root
    f2 = (jnp.log(first * first / (c.spot * level)) + ahead) / root
    f3 = (jnp.log(second * second / (c.spot * level)) + ahead) / root
    f4 = (jnp.log(c.spot * second * second / (level * first * first)) + ahead) / root
    return _growth(c, power, c.time) * (
        _both_below(-e1, -f1, 1.0)
        - jnp.exp(exponent * jnp.log(first / c.spot)) * _both_below(-e2, -f2, 1.0)
        - jnp.exp(exponent * jnp.log(second / c.spot)) * _both_below(-e3, -f3, -1.0)
        + jnp.exp(exponent * jnp.log(second / first)) * _both_below(-e4, -f4, -1.0)
    )


def _call(c: _Call) -> jax.Array:
    variance = c.volatility**2
    centre = 0.5 - c.carry / variance
    power = centre + jnp.sqrt(centre * centre + 2.0 * c.rate / variance)
    perpetual = power / (power - 1.0) * c.strike
    income = c.rate - c.carry
    at_expiry = jnp.maximum(c.strike, c.rate / income * c.strike)
    scale = c.strike**2 / ((perpetual - at_expiry) * at_expiry)

    def boundary(time: jax.Array) -> jax.Array:
        decay = (c.carry * time + 2.0 * c.volatility * jnp.sqrt(time)) * scale
        return at_expiry - (perpetual - at_expiry) * jnp.expm1(-jnp.maximum(decay, 0.0))

    split = _SPLIT * c.time
    first, second = boundary(c.time), boundary(split)
    exercised = c.spot >= first
    c = c._replace(spot=jnp.where(exercised, 0.5 * first, c.spot))
    none, one = jnp.zeros_like(power), jnp.ones_like(power)
    gain_first = (first - c.strike) * jnp.exp(-power * jnp.log(first))
    gain_second = (second - c.strike) * jnp.exp(-power * jnp.log(second))
    value = gain_first * (jnp.exp(power * jnp.log(c.spot)) - _one_boundary(c, split, power, first, first))
    value += _one_boundary(c, split, one, first, first) - _one_boundary(c, split, one, second, first)
    value -= c.strike * (_one_boundary(c, split, none, first, first) - _one_boundary(c, split, none, second, first))
    value += gain_second * (
        _one_boundary(c, split, power, second, first) - _two_boundaries(c, power, second, first, second)
    )
    value += _two_boundaries(c, one, second, first, second) - _two_boundaries(c, one, c.strike, first, second)
    value -= c.strike * (
        _two_boundaries(c, none, second, first, second) - _two_boundaries(c, none, c.strike, first, second)
    )
    return jnp.where(exercised, jnp.nan, value)


@jax.jit
def _price(arguments: tuple[jax.Array, ...]) -> jax.Array:
    spot, strike, time, rate, volatility, dividend_yield, is_call = arguments
    put: Put = as_put(*arguments)
    european = black_scholes.price(
        spot=spot,
        strike=strike,
        time_to_expiry=time,
        rate=rate,
        volatility=volatility,
        dividend_yield=dividend_yield,
        is_call=is_call,
    )
    waits = (put.rate <= 0.0) | (time <= 0.0) | (volatility <= 0.0) | (put.spot <= 0.0) | (put.strike <= 0.0)
    # The formula is for calls: the put on spot is the call on strike, with rate and yield exchanged.
    values = (put.strike, put.spot, time, put.dividend_yield, put.dividend_yield - put.rate, volatility)
    defaults = (1.0, 1.0, 1.0, 0.05, 0.0, 0.2)
    safe = _Call(*(jnp.where(waits, default, value) for value, default in zip(values, defaults, strict=True)))
    immediate = put.strike - put.spot
    formula = _call(safe)
    early = jnp.where(jnp.isnan(formula), immediate, jnp.maximum(formula, immediate))
    value = jnp.where(
        waits, jnp.where(put.rate <= put.dividend_yield, european, jnp.maximum(european, immediate)), early
    )
    return jnp.where(jnp.isnan(european), jnp.nan, jnp.maximum(value, european))


@labelled
def bjerksund_stensland_price(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
) -> jax.Array:
    """Approximate price of American options: never above the true price, and cheap.

    Arguments, shapes and errors as in :func:`pricing.american.price`.
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
    value: jax.Array = _price(arguments)
    return value
