"""Volatility implied by European option prices, whole chains in one call.

Jaeckel, "Let's be rational", Wilmott 2015: a rational-cubic guess in four regions of price and two Householder steps of
fourth order on an objective chosen by region, here on the out-of-the-money part of the price that
:mod:`pricing.out_of_the_money` computes without loss of digits.

A price that no volatility gives is answered with a status, never with a number.
"""

from __future__ import annotations

import enum
import math
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from native import kernel
from pricing.black_scholes import all_greeks
from pricing.inputs import broadcast, possible, refuse_impossible, require
from pricing.moneyness import log_forward_over_strike
from pricing.normal import density, mills_ratio, rough_quantile_from_log
from pricing.out_of_the_money import intrinsic, out_of_the_money
from pricing.rational_cubic import Segment, interpolate
from pricing.signature import labelled

_SQRT_THREE = math.sqrt(3.0)
_SQRT_HALF_PI = math.sqrt(0.5 * math.pi)


class Status(enum.IntEnum):
    """What an answer of :func:`solve` means.

    Members
    -------
    SOLVED
        ``value`` reproduces the price.
    BELOW_INTRINSIC, ABOVE_BOUND
        The price violates the no-arbitrage bounds; no volatility exists and ``value`` is NaN.
    UNDEFINED
        An argument is NaN, or spot, strike or time is zero; ``value`` is NaN.
    NO_TIME_VALUE
        The price is intrinsic value to rounding. ``value`` is 0, and every volatility below some bound fits as well.
    ILL_CONDITIONED
        ``value`` reproduces the price, but one rounding unit of the price moves it by more than one part in a million.
    """

    SOLVED = 0
    BELOW_INTRINSIC = 1
    ABOVE_BOUND = 2
    UNDEFINED = 3
    NO_TIME_VALUE = 4
    ILL_CONDITIONED = 5


class ImpliedVolatility(NamedTuple):
    """Answer of :func:`solve`; both fields have the broadcast shape of the arguments.

    Attributes
    ----------
    value
        Volatility per year as a decimal; NaN where there is none.
    status
        int32, a member of :class:`Status`.
    """

    value: jax.Array
    status: jax.Array


@labelled
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

    >>> answer = solve(price=18.5, spot=450.0, strike=460.0, time_to_expiry=45 / 365, rate=0.0525)
    >>> round(float(answer.value), 4), Status(int(answer.status)).name
    (0.3439, 'SOLVED')

    Parameters
    ----------
    price
        Per unit of the underlying. Prices outside the no-arbitrage bounds are answered with a status.
    spot, strike, time_to_expiry, rate, dividend_yield, is_call
        As in :func:`pricing.black_scholes.price`.

    Returns
    -------
    Volatility and status, in the dtype of the arguments. The volatility is differentiable in every argument, by the
    implicit function theorem.

    Raises
    ------
    ValueError
        When spot, strike or time known before tracing is negative or infinite, or shapes do not broadcast.
    """
    named = {
        "spot": spot,
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "rate": rate,
        "price": price,
        "dividend_yield": dividend_yield,
    }
    answer, fine = _solve_compiled(*broadcast(named, is_call, numbers_stay=True))
    refuse_impossible(fine, lambda: _require_possible(named))
    result: ImpliedVolatility = answer
    return result


def _require_possible(named: dict[str, ArrayLike]) -> None:
    for name, value in named.items():
        require(name, value, at_least=0.0 if name in ("spot", "strike", "time_to_expiry") else None)


@jax.custom_jvp
def _solve(
    spot: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    price: jax.Array,
    dividend_yield: jax.Array,
    is_call: jax.Array,
) -> ImpliedVolatility:
    log_moneyness = log_forward_over_strike(spot, strike, time, rate, dividend_yield)
    shares, cash = spot * jnp.exp(-dividend_yield * time), strike * jnp.exp(-rate * time)
    call_is_out = log_moneyness <= 0.0
    smaller, larger = jnp.where(call_is_out, shares, cash), jnp.where(call_is_out, cash, shares)
    smallest_distance = 1e-30 if price.dtype == jnp.float32 else 1e-150
    log_distance = jnp.maximum(jnp.abs(log_moneyness), smallest_distance)

    in_value = jnp.where(
        call_is_out == is_call, 0.0, intrinsic(jnp.abs(log_moneyness), smaller, jnp.abs(shares - cash))
    )
    time_value = price - in_value
    scale = jnp.exp(-0.5 * log_distance)
    normalised = time_value / smaller * scale
    deviation, vega = _deviation(normalised, log_distance, scale)

    rounding = float(np.finfo(price.dtype).eps) * jnp.where(in_value > 0.0, larger, price)
    relative_vega = vega * deviation * smaller / scale
    status = jnp.full_like(price, Status.SOLVED, jnp.int32)
    # A price that is the bound to rounding has no guess, either.
    above = (time_value >= smaller) | (jnp.isnan(deviation) & (time_value > 0.5 * smaller))
    # From the last to the first that counts.
    for applies, found in (
        (rounding > 1e-6 * relative_vega, Status.ILL_CONDITIONED),
        (time_value <= 4.0 * jnp.where(in_value > 0.0, rounding, 0.0), Status.NO_TIME_VALUE),
        (above, Status.ABOVE_BOUND),
        (time_value < -4.0 * rounding, Status.BELOW_INTRINSIC),
        (jnp.isnan(price + log_moneyness) | (spot <= 0.0) | (strike <= 0.0) | (time <= 0.0), Status.UNDEFINED),
    ):
        status = jnp.where(applies, jnp.int32(found), status)
    answered = (status == Status.SOLVED) | (status == Status.ILL_CONDITIONED)
    without = jnp.where(status == Status.NO_TIME_VALUE, 0.0, jnp.nan)
    return ImpliedVolatility(jnp.where(answered, deviation / jnp.sqrt(time), without), status)


@_solve.defjvp
def _solve_jvp(
    primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]
) -> tuple[ImpliedVolatility, ImpliedVolatility]:
    spot, strike, time, rate, _, dividend_yield, is_call = primals
    d_spot, d_strike, d_time, d_rate, d_price, d_yield, _ = tangents
    answer = _solve(*primals)
    g = all_greeks(
        spot=spot,
        strike=strike,
        time_to_expiry=time,
        rate=rate,
        volatility=answer.value,
        dividend_yield=dividend_yield,
        is_call=is_call,
    )
    moved = g.delta * d_spot + g.dual_delta * d_strike - g.theta * d_time + g.rho * d_rate + g.dividend_rho * d_yield
    no_tangent = cast(jax.Array, np.zeros(answer.status.shape, jax.dtypes.float0))
    return answer, ImpliedVolatility((d_price - moved) / g.vega, no_tangent)


def _looked_at(*arguments: jax.Array) -> tuple[ImpliedVolatility, jax.Array]:
    spot, strike, time, rate, price, dividend_yield, _ = arguments
    fine = possible(at_least_zero=(spot, strike, time), finite=(rate, price, dividend_yield))
    return _solve(*arguments), fine


_solve_compiled = jax.jit(kernel(_looked_at))


def _deviation(price: jax.Array, log_distance: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array]:
    """``volatility * sqrt(time)`` of a normalised out-of-the-money price, and the normalised vega there.

    Parameters
    ----------
    price
        Price over the geometric mean of the discounted forward and strike, in (0, scale).
    log_distance
        Absolute log-moneyness, > 0.
    scale
        ``exp(-log_distance / 2)``, the upper bound of ``price``.
    """
    deviation, in_lowest, in_highest = _guess(price, log_distance, scale)
    log_price = jnp.log(price)
    for _ in range(2):
        step = _householder_step(price, log_price, log_distance, scale, deviation, in_lowest, in_highest)
        # Where the guess reaches the bound to the last digit there is no slope left to correct it by.
        deviation = deviation + jnp.where(jnp.isfinite(step), step, 0.0)
    return deviation, scale * density(0.5 * deviation - log_distance / deviation)


def _guess(price: jax.Array, log_distance: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """First approximation, and which of the two outer objectives serves the price."""
    centre = jnp.sqrt(2.0 * log_distance)
    at_centre = out_of_the_money(log_distance, centre, scale)
    below = price < at_centre.price
    step = jnp.where(below, -at_centre.price, scale - at_centre.price) / at_centre.scaled_density
    edge = centre + step
    at_edge = out_of_the_money(log_distance, edge, scale)
    lowest = below & (price < at_edge.price)
    highest = ~below & (price > at_edge.price)
    middle = ~lowest & ~highest

    lower, lower_slope, lower_curvature = _lower_map(log_distance, edge)
    ratio = (log_distance / edge) ** 2
    upper_tail = density(0.5 * edge) * mills_ratio(0.5 * edge)
    upper_slope = -0.5 * jnp.exp(0.5 * ratio)
    upper_curvature = _SQRT_HALF_PI * jnp.exp(ratio + 0.125 * edge * edge) * ratio / edge

    inverse_centre, inverse_edge = 1.0 / at_centre.scaled_density, 1.0 / at_edge.scaled_density
    zero = jnp.zeros_like(price)

    def pick(in_lowest: jax.Array, in_lower: jax.Array, in_upper: jax.Array, in_highest: jax.Array) -> jax.Array:
        return jnp.where(lowest, in_lowest, jnp.where(highest, in_highest, jnp.where(below, in_lower, in_upper)))

    segment = Segment(
        left=pick(zero, at_edge.price, at_centre.price, at_edge.price),
        right=pick(at_edge.price, at_centre.price, at_edge.price, scale),
        left_value=pick(zero, edge, centre, upper_tail),
        right_value=pick(lower, centre, edge, zero),
        left_slope=pick(zero + 1.0, inverse_edge, inverse_centre, upper_slope),
        right_slope=pick(lower_slope, inverse_centre, inverse_edge, zero - 0.5),
    )
    curvature = pick(lower_curvature, zero, zero, upper_curvature)
    value = interpolate(segment, price, curvature=curvature, at_right=below)
    t = (price - segment.left) / (segment.right - segment.left)
    # Where the interpolant leaves the range of the map, a parabola with the same outer slope stays inside.
    parabola = jnp.where(
        lowest,
        (lower * t + at_edge.price * (1.0 - t)) * t,
        (upper_tail * (1.0 - t) + 0.5 * (scale - at_edge.price) * t) * (1.0 - t),
    )
    value = jnp.where(middle | (value > 0.0), value, parabola)

    logarithm = jnp.log(value)
    quantile = rough_quantile_from_log(
        jnp.where(lowest, (logarithm + jnp.log(1.5 * _SQRT_THREE / math.pi / log_distance)) / 3.0, logarithm)
    )
    guess = jnp.where(lowest, log_distance / (_SQRT_THREE * quantile), 2.0 * quantile)
    return jnp.where(middle, value, guess), lowest, highest & (price > 0.5 * scale)


def _lower_map(log_distance: jax.Array, deviation: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Jaeckel's map of low prices (eq. 4.34), nearly linear in price, with its first two derivatives in price."""
    z = log_distance / (_SQRT_THREE * deviation)
    y, square = z * z, deviation * deviation
    mills = mills_ratio(z)
    tail = density(z) * mills
    value = (2.0 * math.pi / (3.0 * _SQRT_THREE)) * log_distance * tail**3
    slope = y * mills * mills * jnp.exp(0.125 * square)
    bracket = (
        8.0 * _SQRT_THREE * deviation * log_distance
        + (3.0 * square * (square - 8.0) - 8.0 * log_distance * log_distance) * mills
    )
    curvature = (math.pi / 6.0) * y / (square * deviation) * tail * bracket * jnp.exp(2.0 * y + 0.25 * square)
    return value, slope, curvature


def _householder_step(
    price: jax.Array,
    log_price: jax.Array,
    log_distance: jax.Array,
    scale: jax.Array,
    deviation: jax.Array,
    in_lowest: jax.Array,
    in_highest: jax.Array,
) -> jax.Array:
    """Correction of fourth order for ``log price``, ``price`` or ``log (bound - price)``, by region."""
    at = out_of_the_money(log_distance, deviation, scale)
    over_deviation = 1.0 / deviation
    h = log_distance * over_deviation
    second = h * h * over_deviation - 0.25 * deviation
    third = second * second - 3.0 * (h * over_deviation) ** 2 - 0.25

    # One logarithm and one quotient serve both outer regions.
    missing = scale - at.price
    logarithm = jnp.log(jnp.where(in_lowest, at.price, (scale - price) / missing))
    relative = at.scaled_density / jnp.where(in_lowest, at.price, missing)
    inverse_log = 1.0 / logarithm
    curve = relative * (1.0 + 2.0 * inverse_log)

    newton = jnp.where(
        in_lowest,
        (log_price - logarithm) * logarithm / (log_price * relative),
        jnp.where(in_highest, -logarithm / relative, (price - at.price) / at.scaled_density),
    )
    halley = second + jnp.where(in_lowest, -curve, jnp.where(in_highest, relative, 0.0))
    cubic = third + jnp.where(
        in_lowest,
        2.0 * relative * relative * (1.0 + 3.0 * inverse_log * (1.0 + inverse_log)) - 3.0 * second * curve,
        jnp.where(in_highest, relative * (2.0 * relative + 3.0 * second), 0.0),
    )
    return newton * (1.0 + 0.5 * halley * newton) / (1.0 + newton * (halley + cubic * newton / 6.0))
