"""European options on a lognormal asset with a continuous dividend yield: price and Greeks.

Conventions: time in years, rates and volatility per year as decimals, rates continuously compounded. Any argument may
be an array or a pandas Series; all are broadcast together. Series must have one index, which comes back with the
answer; a DataFrame is refused (name a column). ``is_call`` may be an array too. Float32 arrays are priced in float32.

The out-of-the-money option is always computed first, from two Mills ratios that share one density, and parity gives
the other. So no digits are lost deep out of the money, and put-call parity holds to rounding.

Limits are part of the formulas: zero time or volatility gives discounted intrinsic value, zero strike or spot the
forward or the discounted strike. NaN in any argument gives NaN. Gradients flow through every function.

References
----------
Haug, *The Complete Guide to Option Pricing Formulas*, 2nd ed., chapters 1 and 2. The difference of Mills ratios follows
Jaeckel, "Let's be rational", Wilmott 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from native import kernel
from pricing.inputs import broadcast, possible, refuse_impossible, require
from pricing.moneyness import log_forward_over_strike
from pricing.out_of_the_money import intrinsic, out_of_the_money
from pricing.signature import labelled


class Greeks(NamedTuple):
    """First-order sensitivities and gamma. Every field has the broadcast shape of the arguments.

    Attributes
    ----------
    delta
        Price change per 1.00 of spot.
    gamma
        Delta change per 1.00 of spot.
    theta
        Price change per **year** of calendar time passing (negative when the option decays).
    vega
        Price change per 1.00 of volatility (per 100 points).
    rho
        Price change per 1.00 of rate.
    """

    delta: jax.Array
    gamma: jax.Array
    theta: jax.Array
    vega: jax.Array
    rho: jax.Array


class AllGreeks(NamedTuple):
    """Price and every first and second-order sensitivity. Every field has the broadcast shape of the arguments.

    Attributes
    ----------
    price
        Price per unit of the underlying.
    delta, gamma, theta, vega, rho
        As in :class:`Greeks`.
    dividend_rho
        Price change per 1.00 of dividend yield.
    vanna
        Delta change per 1.00 of volatility.
    volga
        Vega change per 1.00 of volatility.
    charm
        Delta change per year of calendar time passing.
    speed
        Gamma change per 1.00 of spot.
    dual_delta
        Price change per 1.00 of strike.
    """

    price: jax.Array
    delta: jax.Array
    gamma: jax.Array
    theta: jax.Array
    vega: jax.Array
    rho: jax.Array
    dividend_rho: jax.Array
    vanna: jax.Array
    volga: jax.Array
    charm: jax.Array
    speed: jax.Array
    dual_delta: jax.Array


class _Parts(NamedTuple):
    """What price and Greeks are made of.

    Attributes
    ----------
    d1, d2
        Standardised log-moneyness under the share and the cash measure.
    deviation, sqrt_time
        ``volatility * sqrt(time)`` and ``sqrt(time)``.
    price
        Price of the option asked for.
    share_leg, cash_leg
        Positive values of the two legs: price = sign * (share_leg - cash_leg).
    sign
        +1 for a call, -1 for a put.
    scaled_density
        ``spot e^{-qT} n(d1) = strike e^{-rT} n(d2)``.
    """

    d1: jax.Array
    d2: jax.Array
    deviation: jax.Array
    sqrt_time: jax.Array
    price: jax.Array
    share_leg: jax.Array
    cash_leg: jax.Array
    sign: jax.Array
    scaled_density: jax.Array


def _parts(
    spot: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    volatility: jax.Array,
    dividend_yield: jax.Array,
    is_call: jax.Array,
) -> _Parts:
    log_moneyness = log_forward_over_strike(spot, strike, time, rate, dividend_yield)
    sqrt_time = jnp.sqrt(time)
    deviation = volatility * sqrt_time
    shares = spot * jnp.exp(-dividend_yield * time)
    cash = strike * jnp.exp(-rate * time)

    call_is_out = log_moneyness <= 0.0
    smaller = jnp.where(call_is_out, shares, cash)
    out = out_of_the_money(jnp.abs(log_moneyness), deviation, smaller)
    scaled_density, far_leg = out.scaled_density, out.far_leg
    near_leg = jnp.where(out.near > 0.0, smaller - out.near_tail, out.near_tail)
    near_complement = jnp.where(out.near > 0.0, out.near_tail, smaller - out.near_tail)

    asked_is_out = call_is_out == is_call
    in_value = intrinsic(jnp.abs(log_moneyness), smaller, jnp.abs(shares - cash))
    asked_near = jnp.where(asked_is_out, near_leg, near_complement)
    asked_far = jnp.where(asked_is_out, far_leg, jnp.where(call_is_out, cash, shares) - far_leg)
    return _Parts(
        d1=jnp.where(call_is_out, out.near, -out.far),
        d2=jnp.where(call_is_out, out.far, -out.near),
        deviation=deviation,
        sqrt_time=sqrt_time,
        price=jnp.where(asked_is_out, out.price, out.price + in_value),
        share_leg=jnp.where(call_is_out, asked_near, asked_far),
        cash_leg=jnp.where(call_is_out, asked_far, asked_near),
        sign=jnp.where(is_call, 1.0, -1.0).astype(spot.dtype),
        scaled_density=scaled_density,
    )


@jax.custom_jvp
def _price(
    spot: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    volatility: jax.Array,
    dividend_yield: jax.Array,
    is_call: jax.Array,
) -> jax.Array:
    return _parts(spot, strike, time, rate, volatility, dividend_yield, is_call).price


@_price.defjvp
def _price_jvp(primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
    spot, strike, time, rate, volatility, dividend_yield, is_call = primals
    d_spot, d_strike, d_time, d_rate, d_volatility, d_yield, _ = tangents
    g = _all_greeks(spot, strike, time, rate, volatility, dividend_yield, is_call)
    tangent = (
        g.delta * d_spot
        + g.dual_delta * d_strike
        - g.theta * d_time
        + g.rho * d_rate
        + g.vega * d_volatility
        + g.dividend_rho * d_yield
    )
    return g.price, tangent


def _divide(numerator: jax.Array, denominator: jax.Array) -> jax.Array:
    """Quotient that is 0 where the numerator is 0, as every Greek is in its limit."""
    return jnp.where(numerator == 0.0, 0.0, numerator / denominator)


def _price_and_greeks(
    spot: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    volatility: jax.Array,
    dividend_yield: jax.Array,
    is_call: jax.Array,
) -> tuple[jax.Array, Greeks]:
    p = _parts(spot, strike, time, rate, volatility, dividend_yield, is_call)
    gamma = _divide(p.scaled_density, spot * spot * p.deviation)
    return p.price, Greeks(gamma=gamma, **_first_order(p, spot, time, rate, volatility, dividend_yield, is_call))


def _greeks(*arguments: jax.Array) -> Greeks:
    return _price_and_greeks(*arguments)[1]


def _first_order(
    p: _Parts,
    spot: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    volatility: jax.Array,
    dividend_yield: jax.Array,
    is_call: jax.Array,
) -> dict[str, jax.Array]:
    """Return what :class:`Greeks` and :class:`AllGreeks` have in common, by name."""
    return {
        "delta": jnp.where(
            spot == 0.0, _delta_of_worthless(time, dividend_yield, is_call), p.sign * p.share_leg / spot
        ),
        "theta": -_divide(0.5 * p.scaled_density * volatility, p.sqrt_time)
        + p.sign * (dividend_yield * p.share_leg - rate * p.cash_leg),
        "vega": p.scaled_density * p.sqrt_time,
        "rho": p.sign * time * p.cash_leg,
    }


def _delta_of_worthless(time: jax.Array, dividend_yield: jax.Array, is_call: jax.Array) -> jax.Array:
    return jnp.where(is_call, 0.0, -jnp.exp(-dividend_yield * time))


def _all_greeks(
    spot: jax.Array,
    strike: jax.Array,
    time: jax.Array,
    rate: jax.Array,
    volatility: jax.Array,
    dividend_yield: jax.Array,
    is_call: jax.Array,
) -> AllGreeks:
    p = _parts(spot, strike, time, rate, volatility, dividend_yield, is_call)
    share_density = _divide(p.scaled_density, spot)
    gamma = _divide(share_density, spot * p.deviation)
    first = _first_order(p, spot, time, rate, volatility, dividend_yield, is_call)
    carry = rate - dividend_yield
    drift = _divide(share_density * carry, p.deviation) - _divide(0.5 * share_density * p.d2, time)
    return AllGreeks(
        price=p.price,
        gamma=gamma,
        **first,
        dividend_rho=-p.sign * time * p.share_leg,
        vanna=-_divide(share_density * p.d2, volatility),
        volga=_divide(p.scaled_density * p.sqrt_time * p.d1 * p.d2, volatility),
        charm=dividend_yield * first["delta"] - drift,
        speed=-jnp.where(gamma == 0.0, 0.0, gamma / spot * (1.0 + _divide(p.d1, p.deviation))),
        dual_delta=jnp.where(
            strike == 0.0,
            jnp.where(is_call, -jnp.exp(-rate * time), 0.0),
            -p.sign * p.cash_leg / strike,
        ),
    )


def _kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as one compiled loop that also tells which arguments are possible."""

    def looked_at(*arguments: jax.Array) -> tuple[Any, jax.Array]:
        spot, strike, time, rate, volatility, dividend_yield, _ = arguments
        fine = possible(at_least_zero=(spot, strike, time, volatility), finite=(rate, dividend_yield))
        return function(*arguments), fine

    return jax.jit(kernel(looked_at))


_price_compiled = _kernel(_price)
_greeks_compiled = _kernel(_greeks)
_price_and_greeks_compiled = _kernel(_price_and_greeks)
_all_greeks_compiled = _kernel(_all_greeks)


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
) -> jax.Array:
    """Price of European calls and puts.

    >>> round(float(price(spot=175.0, strike=180.0, time_to_expiry=30 / 365, rate=0.05, volatility=0.25)), 2)
    3.22

    Parameters
    ----------
    spot, strike
        Price of the underlying and exercise price, >= 0, any broadcastable shapes.
    time_to_expiry
        Years, >= 0.
    rate, dividend_yield
        Continuously compounded, per year, any sign.
    volatility
        Per year, as a decimal, >= 0.
    is_call
        True, 1, ``"call"`` or ``"c"`` for a call; False, 0, ``"put"`` or ``"p"`` for a put, words in any case. Only
        booleans within ``jit``, ``vmap`` and ``grad``, where values cannot be looked at.

    Returns
    -------
    Price per unit of the underlying, broadcast shape, float64 (float32 if arrays are float32).

    Raises
    ------
    ValueError
        When an argument is no number or ``is_call`` no kind of option, a value known before tracing is negative or
        infinite, shapes do not broadcast, or Series have different indexes.
    """
    named = _named(spot, strike, time_to_expiry, rate, volatility, dividend_yield)
    value: jax.Array = _answer(_price_compiled, named, is_call)
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
) -> Greeks:
    """Delta, gamma, theta (per year), vega and rho (per 1.00); arguments and errors as in :func:`price`."""
    named = _named(spot, strike, time_to_expiry, rate, volatility, dividend_yield)
    value: Greeks = _answer(_greeks_compiled, named, is_call)
    return value


@labelled
def price_and_greeks(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
) -> tuple[jax.Array, Greeks]:
    """Price and :class:`Greeks` of a chain in one pass; arguments and errors as in :func:`price`."""
    named = _named(spot, strike, time_to_expiry, rate, volatility, dividend_yield)
    value: tuple[jax.Array, Greeks] = _answer(_price_and_greeks_compiled, named, is_call)
    return value


@labelled
def all_greeks(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
) -> AllGreeks:
    """Price with all first and second-order Greeks; arguments and errors as in :func:`price`."""
    named = _named(spot, strike, time_to_expiry, rate, volatility, dividend_yield)
    value: AllGreeks = _answer(_all_greeks_compiled, named, is_call)
    return value


def _named(
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    dividend_yield: ArrayLike,
) -> dict[str, ArrayLike]:
    return {
        "spot": spot,
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "rate": rate,
        "volatility": volatility,
        "dividend_yield": dividend_yield,
    }


def _require_possible(named: dict[str, ArrayLike]) -> None:
    for name, value in named.items():
        require(name, value, at_least=None if name in ("rate", "dividend_yield") else 0.0)


def _answer(compiled: Callable[..., Any], named: dict[str, ArrayLike], is_call: ArrayLike) -> Any:
    value, fine = compiled(*broadcast(named, is_call, numbers_stay=True))
    refuse_impossible(fine, lambda: _require_possible(named))
    return value
