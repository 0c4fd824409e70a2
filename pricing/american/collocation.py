"""American options by spectral collocation of the exercise boundary: price, Greeks, boundary.

The boundary ``B(t)`` (t is time to expiry) solves an integral equation. It is represented by Chebyshev interpolation of
``log(B / B(0))^2`` in ``sqrt(t)``, and found by fixed-point iteration on the smooth-pasting equation (system A of the
source); the early-exercise premium is then one integral. All integrals run over the angle ``phi`` of
``elapsed = horizon sin(phi)^2``, which makes the integrands smooth at both ends: Gauss-Legendre quadrature needs a
third of the points that it needs in ``sqrt(elapsed)``. Boundaries stay between their perpetual and their immediate
limit, and the iteration is damped where drift is large against volatility, where it would oscillate.

Andersen, Lake and Offengenden, "High-performance American option pricing", J. Computational Finance 20(1), 2016.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from numpy.typing import NDArray

from pricing import black_scholes
from pricing.american.arguments import Put, as_put, checked, require_single_boundary
from pricing.black_scholes import Greeks
from pricing.inputs import require
from pricing.normal import INVERSE_SQRT_TWO_PI, mills_ratio

_BLOCK = 512
_DAMPING = 1.5


class Scheme(NamedTuple):
    """Effort of the method.

    Attributes
    ----------
    nodes
        Collocation points of the boundary.
    quadrature
        Points of the integrals in the boundary equation.
    iterations
        Fixed-point iterations.
    premium_quadrature
        Points of the early-exercise premium.
    """

    nodes: int
    quadrature: int
    iterations: int
    premium_quadrature: int


FAST = Scheme(7, 7, 4, 12)
ACCURATE = Scheme(10, 10, 8, 20)
PRECISE = Scheme(32, 32, 24, 48)


class _Rule(NamedTuple):
    """Quadrature in the angle.

    Attributes
    ----------
    share
        ``sqrt(elapsed / horizon)`` at the points, shape ``[points]``.
    left
        ``sqrt(1 - elapsed / horizon)`` at the points, shape ``[points]``.
    weight
        Weights of ``d phi``, shape ``[points]``.
    """

    share: NDArray[np.float64]
    left: NDArray[np.float64]
    weight: NDArray[np.float64]


def _rule(points: int) -> _Rule:
    x, weight = np.polynomial.legendre.leggauss(points)
    angle = 0.25 * np.pi * (1.0 + x)
    return _Rule(np.sin(angle), np.cos(angle), 0.25 * np.pi * weight)


def _node_roots(nodes: int) -> NDArray[np.float64]:
    """``sqrt(t / horizon)`` at the collocation points, from 1 downwards; the last point, 0, is left out."""
    return 0.5 * (1.0 + np.cos(np.pi * np.arange(nodes) / nodes))


def _interpolation(nodes: int, root: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matrix from values at the collocation points (0 at time 0) to values at ``root``, shape ``[*root, nodes]``."""
    index = np.arange(nodes + 1)
    weight = (-1.0) ** index
    weight[[0, -1]] *= 0.5
    distance = 2.0 * root[..., None] - 1.0 - np.cos(np.pi * index / nodes)
    exact = np.abs(distance) < 1e-14
    terms = weight / np.where(exact, 1.0, distance)
    matrix = terms / terms.sum(axis=-1, keepdims=True)
    return np.where(exact.any(axis=-1, keepdims=True), exact, matrix)[..., :nodes]


def _root_or_zero(value: jax.Array) -> jax.Array:
    positive = value > 0.0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, value, 1.0)), 0.0)


def _discounted_density(d: jax.Array, discount: jax.Array) -> jax.Array:
    return INVERSE_SQRT_TWO_PI * jnp.exp(-0.5 * d * d - discount)


def _discounted_cdf(d: jax.Array, density: jax.Array, discount: jax.Array) -> jax.Array:
    tail = density * mills_ratio(jnp.abs(d))
    return jnp.where(d > 0.0, jnp.exp(-discount) - tail, tail)


def _limits(put: Put) -> tuple[jax.Array, jax.Array]:
    """Log of boundary over strike just before expiry and for a perpetual option."""
    positive = put.dividend_yield > put.rate
    ratio = put.rate / jnp.where(positive, put.dividend_yield, 1.0)
    at_expiry = jnp.where(positive, jnp.log(jnp.where(positive, ratio, 1.0)), 0.0)
    variance = put.volatility**2
    drift = (put.rate - put.dividend_yield) / variance - 0.5
    root = jnp.sqrt(drift * drift + 2.0 * put.rate / variance)
    power = jnp.where(drift >= 0.0, drift + root, 2.0 * put.rate / variance / jnp.where(drift < 0.0, root - drift, 1.0))
    power = jnp.maximum(power, 1e-30)
    return at_expiry, jnp.minimum(jnp.log(power / (1.0 + power)), at_expiry)


def _boundary(put: Put, scheme: Scheme) -> tuple[jax.Array, jax.Array]:
    """Collocated boundary.

    Returns
    -------
    ``log(B / B(0))^2`` at the collocation points, shape ``[nodes, options]``, and ``log(B(0) / strike)``, shape
    ``[options]``.
    """
    dtype = put.spot.dtype
    roots = _node_roots(scheme.nodes)
    rule = _rule(scheme.quadrature)
    matrices = jnp.asarray(_interpolation(scheme.nodes, rule.left[:, None] * roots[None, :]), dtype)
    points = (matrices, *(jnp.asarray(values, dtype) for values in (rule.share, rule.left * rule.weight)))

    at_expiry, perpetual = (limit[None] for limit in _limits(put))
    rate, dividend_yield, volatility = (v[None] for v in (put.rate, put.dividend_yield, put.volatility))
    root_time = jnp.sqrt(put.time)[None] * jnp.asarray(roots, dtype)[:, None]
    time = root_time * root_time
    carry = (rate - dividend_yield) * time
    deviation = volatility * root_time
    damping = 1.0 / jnp.maximum(1.0, _DAMPING * (rate - dividend_yield) * jnp.sqrt(put.time)[None] / volatility)

    def improve(squared: jax.Array, _: object) -> tuple[jax.Array, None]:
        level = at_expiry - _root_or_zero(squared)

        def add(
            sums: tuple[jax.Array, jax.Array, jax.Array], point: tuple[jax.Array, ...]
        ) -> tuple[tuple[jax.Array, jax.Array, jax.Array], None]:
            matrix, share, weight = point
            later = at_expiry - _root_or_zero(matrix @ squared)
            spread = deviation * share
            centre = (level - later + carry * share**2) / spread
            plus = centre + 0.5 * spread
            cash = _discounted_density(centre - 0.5 * spread, rate * time * share**2)
            income = dividend_yield * time * share**2
            shares = _discounted_density(plus, income)
            cash_sum, share_sum, tail_sum = sums
            return (
                cash_sum + weight * cash,
                share_sum + weight * shares,
                tail_sum + weight * share * _discounted_cdf(plus, shares, income),
            ), None

        zero = jnp.zeros_like(squared)
        (cash_sum, share_sum, tail_sum), _ = jax.lax.scan(add, (zero, zero, zero), points)
        centre = (level + carry) / deviation
        plus = centre + 0.5 * deviation
        cash = _discounted_density(centre - 0.5 * deviation, rate * time)
        shares = _discounted_density(plus, dividend_yield * time)
        # d elapsed / sqrt(elapsed) = 2 sqrt(time) cos(phi) d phi
        numerator = cash / deviation + 2.0 * rate * root_time / volatility * cash_sum
        denominator = (
            shares / deviation
            + _discounted_cdf(plus, shares, dividend_yield * time)
            + 2.0 * dividend_yield * (root_time / volatility * share_sum + time * tail_sum)
        )
        smallest = float(np.finfo(dtype).tiny)
        target = jnp.log(jnp.maximum(numerator, smallest)) - jnp.log(jnp.maximum(denominator, smallest))
        moved = jnp.clip(level + damping * (target - level), perpetual, at_expiry) - at_expiry
        return moved * moved, None

    share_left = (jnp.exp(at_expiry) - jnp.exp(perpetual)) / jnp.exp(at_expiry)
    decay = jnp.maximum(2.0 * deviation - carry, 0.0) / jnp.maximum(share_left, 1e-3)
    first = jnp.log(jnp.exp(perpetual - at_expiry) * (1.0 - jnp.exp(-decay)) + jnp.exp(-decay))
    squared, _ = jax.lax.scan(improve, first * first, None, length=scheme.iterations)
    return squared, at_expiry[0]


def _premium(put: Put, squared: jax.Array, at_expiry: jax.Array, scheme: Scheme) -> jax.Array:
    """Value of the right to exercise early, at a spot above the boundary."""
    dtype = put.spot.dtype
    rule = _rule(scheme.premium_quadrature)
    matrix = jnp.asarray(_interpolation(scheme.nodes, rule.left), dtype)
    points = (
        matrix,
        *(jnp.asarray(values, dtype) for values in (rule.share, 2.0 * rule.share * rule.left * rule.weight)),
    )
    moneyness = jnp.log(put.spot / put.strike)
    deviation = put.volatility * jnp.sqrt(put.time)

    def add(total: jax.Array, point: tuple[jax.Array, ...]) -> tuple[jax.Array, None]:
        row, share, weight = point
        later = at_expiry - _root_or_zero(row @ squared)
        spread, elapsed = deviation * share, put.time * share**2
        centre = -(moneyness - later + (put.rate - put.dividend_yield) * elapsed) / spread
        plus, minus = centre - 0.5 * spread, centre + 0.5 * spread
        interest, income = put.rate * elapsed, put.dividend_yield * elapsed
        cash = _discounted_cdf(minus, _discounted_density(minus, interest), interest)
        shares = _discounted_cdf(plus, _discounted_density(plus, income), income)
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


class _Solved(NamedTuple):
    price: jax.Array
    level: jax.Array
    exercised: jax.Array


def _solve(put: Put, scheme: Scheme) -> _Solved:
    certain = (put.time <= 0.0) | (put.volatility <= 0.0) | (put.spot <= 0.0) | (put.strike <= 0.0)
    rounding = float(np.finfo(put.spot.dtype).eps)
    waits = (put.rate <= put.dividend_yield) & (put.rate <= 1e-3 * rounding * jnp.abs(put.dividend_yield))
    waits |= (put.rate == 0.0) & (put.dividend_yield == 0.0)
    twice = (put.rate < 0.0) & (put.dividend_yield < put.rate)
    plain = certain | waits | twice
    safe = Put(
        *(jnp.where(plain, default, value) for value, default in zip(put, (1.0, 1.0, 1.0, 0.05, 0.0, 0.2), strict=True))
    )
    squared, at_expiry = _boundary(safe, scheme)
    level = at_expiry - _root_or_zero(squared[0])
    level = jnp.where(waits, -jnp.inf, level)

    lively = Put(*(jnp.where(certain, d, v) for v, d in zip(put, (1.0, 1.0, 1.0, 0.05, 0.0, 0.2), strict=True)))
    european = black_scholes.price(
        spot=lively.spot,
        strike=lively.strike,
        time_to_expiry=lively.time,
        rate=lively.rate,
        volatility=lively.volatility,
        dividend_yield=lively.dividend_yield,
        is_call=False,
    )
    immediate = put.strike - put.spot
    held = jnp.where(plain, european, european + jnp.maximum(_premium(safe, squared, at_expiry, scheme), 0.0))
    exercised = ~plain & (put.spot <= put.strike * jnp.exp(level))
    value = jnp.where(exercised, immediate, jnp.where(waits, held, jnp.maximum(held, immediate)))
    value = jnp.where(certain, _certain(put), value)
    missing = jnp.isnan(put.spot + put.strike + put.time + put.rate + put.dividend_yield + put.volatility)
    return _Solved(jnp.where(missing | (twice & ~certain), jnp.nan, value), level, exercised)


def _price(*arguments: jax.Array, scheme: Scheme) -> jax.Array:
    return _solve(as_put(*arguments), scheme).price


def _greeks(*arguments: jax.Array, scheme: Scheme) -> tuple[jax.Array, Greeks]:
    spot, strike, time, rate, volatility, dividend_yield, is_call = arguments
    one = jnp.ones_like(spot)

    def delta_at(value: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jax.jvp(lambda s: _price(s, *arguments[1:], scheme=scheme), (value,), (one,))

    (price, delta), (_, gamma) = jax.jvp(delta_at, (spot,), (one,))
    vega = jax.jvp(
        lambda v: _price(spot, strike, time, rate, v, dividend_yield, is_call, scheme=scheme), (volatility,), (one,)
    )[1]
    rho = jax.jvp(
        lambda r: _price(spot, strike, time, r, volatility, dividend_yield, is_call, scheme=scheme), (rate,), (one,)
    )[1]
    held = _solve(as_put(*arguments), scheme)
    decay = rate * price - (rate - dividend_yield) * spot * delta - 0.5 * (volatility * spot) ** 2 * gamma
    return price, Greeks(delta, gamma, jnp.where(held.exercised, 0.0, decay), vega, rho)


def _level(*arguments: jax.Array, scheme: Scheme) -> jax.Array:
    put = as_put(*arguments)
    level = _solve(put, scheme).level
    is_call, strike = arguments[-1], arguments[1]
    return strike * jnp.exp(jnp.where(is_call, -level, level))


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
        ``FAST`` (error about 1e-4 of the strike per cent), ``ACCURATE`` (1e-5) or ``PRECISE`` (1e-8), for rates up to
        10%, three years and volatilities above 10%; errors grow where ``rate sqrt(time) / volatility`` exceeds 2.

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
