"""Paths of Heston's, Bates' and Merton's models on equal time steps.

Variance is stepped by the quadratic-exponential scheme with martingale correction (Andersen, "Simple and efficient
simulation of the Heston stochastic volatility model", J. Computational Finance 11, 2008) or by Euler steps with full
truncation (Lord, Koekkoek and van Dijk, Quantitative Finance 10, 2010). Merton's model is exact at any step.
"""

from __future__ import annotations

import enum
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln, ndtri
from jax.typing import ArrayLike

from pricing.bates import Jumps, require_jumps
from pricing.heston import Parameters, require_parameters
from pricing.inputs import require
from pricing.signature import checked
from pricing.simulation.draws import Draws, uniforms

_SWITCH = 1.5
_MOST_JUMPS_IN_A_STEP = 40


class Scheme(enum.Enum):
    """How variance is stepped."""

    QUADRATIC_EXPONENTIAL = "quadratic_exponential"
    FULL_TRUNCATION = "full_truncation"


class Paths(NamedTuple):
    """Simulated paths, at time 0 and after each step.

    Attributes
    ----------
    spot
        Price of the underlying, shape ``[steps + 1, paths]``.
    variance
        Variance per year between jumps, shape ``[steps + 1, paths]``.
    """

    spot: jax.Array
    variance: jax.Array


@checked
def heston(
    key: jax.Array,
    *,
    spot: float,
    time: float,
    rate: float,
    parameters: Parameters,
    steps: int,
    paths: int,
    dividend_yield: float = 0.0,
    jumps: Jumps | None = None,
    draws: Draws = Draws.ANTITHETIC,
    scheme: Scheme = Scheme.QUADRATIC_EXPONENTIAL,
) -> Paths:
    """Simulate Heston's model, or Bates' when there are jumps.

    Parameters
    ----------
    key
        Of ``jax.random``; the same key gives the same random numbers whatever the parameters.
    spot, time
        Price now and years, above zero.
    rate, dividend_yield
        Per year, continuously compounded.
    parameters, jumps
        Scalars; the volatility of variance must be above zero.
    steps, paths
        Counts. A step takes two random numbers, four with jumps.
    draws, scheme
        How random numbers are made, how variance is stepped.

    Raises
    ------
    ValueError
        When an argument is out of its range.
    """
    _require_counts(spot, time, steps)
    require_parameters(parameters)
    require("vol_of_vol", parameters.vol_of_vol, above=0.0)
    if jumps is not None:
        require_jumps(jumps)
    per_step = 2 if jumps is None else 4
    numbers = uniforms(key, dimensions=per_step * steps, paths=paths, draws=draws)
    market = tuple(jnp.asarray(value, float) for value in (spot, time / steps, rate, dividend_yield))
    p = Parameters(*(jnp.asarray(value, float) for value in parameters))
    j = None if jumps is None else Jumps(*(jnp.asarray(value, float) for value in jumps))
    answer: Paths = _heston(market, p, j, numbers.reshape(steps, per_step, paths), scheme)
    return answer


@checked
def merton(
    key: jax.Array,
    *,
    spot: float,
    time: float,
    rate: float,
    volatility: float,
    jumps: Jumps,
    steps: int,
    paths: int,
    dividend_yield: float = 0.0,
    draws: Draws = Draws.ANTITHETIC,
) -> Paths:
    """Simulate Merton's model; a step takes three random numbers; arguments and errors as in :func:`heston`."""
    _require_counts(spot, time, steps)
    require("volatility", volatility, at_least=0.0)
    require_jumps(jumps)
    numbers = uniforms(key, dimensions=3 * steps, paths=paths, draws=draws)
    market = tuple(jnp.asarray(value, float) for value in (spot, time / steps, rate, dividend_yield))
    j = Jumps(*(jnp.asarray(value, float) for value in jumps))
    answer: Paths = _merton(market, jnp.asarray(volatility, float), j, numbers.reshape(steps, 3, paths))
    return answer


def _require_counts(spot: ArrayLike, time: ArrayLike, steps: int) -> None:
    require("spot", spot, above=0.0)
    require("time", time, above=0.0)
    if steps < 1:
        raise ValueError(f"steps must be >= 1, got {steps}")


@partial(jax.jit, static_argnames="scheme")
def _heston(
    market: tuple[jax.Array, ...], p: Parameters, jumps: Jumps | None, numbers: jax.Array, scheme: Scheme
) -> Paths:
    spot, step, rate, dividend_yield = market
    advance = _quadratic_exponential if scheme is Scheme.QUADRATIC_EXPONENTIAL else _full_truncation

    def move(state: tuple[jax.Array, jax.Array], u: jax.Array) -> tuple[tuple[jax.Array, jax.Array], Paths]:
        level, variance = state
        gain, later = advance(p, step, variance, u[0], u[1])
        level = level + (rate - dividend_yield) * step + gain
        if jumps is not None:
            level = level + _jump(jumps, step, u[2], u[3])
        return (level, later), Paths(jnp.exp(level), jnp.maximum(later, 0.0))

    ones = jnp.ones_like(numbers[0, 0])
    start = (jnp.log(spot) * ones, jnp.asarray(p.initial_variance) * ones)
    _, after = jax.lax.scan(move, start, numbers)
    return Paths(_with_start(spot, after.spot), _with_start(jnp.asarray(p.initial_variance), after.variance))


@jax.jit
def _merton(market: tuple[jax.Array, ...], volatility: jax.Array, jumps: Jumps, numbers: jax.Array) -> Paths:
    spot, step, rate, dividend_yield = market
    drift = (rate - dividend_yield - 0.5 * volatility**2) * step
    diffused = drift + volatility * jnp.sqrt(step) * ndtri(numbers[:, 0])
    jumped = jax.lax.map(lambda u: _jump(jumps, step, u[1], u[2]), numbers)
    after = spot * jnp.exp(jnp.cumsum(diffused + jumped, axis=0))
    variance = jnp.full_like(after, 1.0) * volatility**2
    return Paths(_with_start(spot, after), _with_start(volatility**2, variance))


def _with_start(first: jax.Array, after: jax.Array) -> jax.Array:
    return jnp.concatenate([jnp.broadcast_to(first, (1, after.shape[1])), after])


def _jump(jumps: Jumps, step: jax.Array, u: jax.Array, v: jax.Array) -> jax.Array:
    """Compensated log jump of one step: the number by inversion of the Poisson distribution, then their sum."""
    intensity, mean, deviation = (jnp.asarray(value) for value in jumps)
    expected = intensity * step
    counts = jnp.arange(_MOST_JUMPS_IN_A_STEP, dtype=u.dtype)
    log_expected = jnp.log(jnp.where(expected > 0.0, expected, 1.0))
    probability = jnp.exp(counts * log_expected - expected - gammaln(counts + 1.0))
    probability = jnp.where(expected > 0.0, probability, jnp.where(counts == 0.0, 1.0, 0.0))
    number = jnp.searchsorted(jnp.cumsum(probability), u).astype(u.dtype)
    compensator = expected * jnp.expm1(mean + 0.5 * deviation**2)
    return number * mean + jnp.sqrt(number) * deviation * ndtri(v) - compensator


def _full_truncation(
    p: Parameters, step: jax.Array, variance: jax.Array, u: jax.Array, v: jax.Array
) -> tuple[jax.Array, jax.Array]:
    _, kappa, theta, xi, rho = (jnp.asarray(value) for value in p)
    positive = jnp.maximum(variance, 0.0)
    root = jnp.sqrt(positive * step)
    shock = ndtri(u)
    gain = -0.5 * positive * step + root * (rho * shock + jnp.sqrt(1.0 - rho * rho) * ndtri(v))
    return gain, variance + kappa * (theta - positive) * step + xi * root * shock


def _quadratic_exponential(
    p: Parameters, step: jax.Array, variance: jax.Array, u: jax.Array, v: jax.Array
) -> tuple[jax.Array, jax.Array]:
    _, kappa, theta, xi, rho = (jnp.asarray(value) for value in p)
    decay = jnp.exp(-kappa * step)
    mean = theta + (variance - theta) * decay
    spread = xi**2 / kappa * (1.0 - decay) * (variance * decay + 0.5 * theta * (1.0 - decay))
    ratio = spread / mean**2
    quadratic = ratio <= _SWITCH

    inverse = 2.0 / jnp.minimum(ratio, _SWITCH)
    square = inverse - 1.0 + jnp.sqrt(inverse * (inverse - 1.0))
    scale = mean / (1.0 + square)
    by_square = scale * (jnp.sqrt(square) + ndtri(u)) ** 2

    at_zero = (jnp.maximum(ratio, _SWITCH) - 1.0) / (jnp.maximum(ratio, _SWITCH) + 1.0)
    pace = (1.0 - at_zero) / mean
    by_exponential = jnp.where(u <= at_zero, 0.0, jnp.log((1.0 - at_zero) / (1.0 - u)) / pace)
    later = jnp.where(quadratic, by_square, by_exponential)

    # Andersen's K1 to K4 with central weights; K0 makes the discounted asset a martingale at each step.
    tilt = 0.5 * step * (kappa * rho / xi - 0.5)
    k1, k2 = tilt - rho / xi, tilt + rho / xi
    k3 = 0.5 * step * (1.0 - rho * rho)
    power = k2 + 0.5 * k3
    room_square, room_exponential = 1.0 - 2.0 * power * scale, pace - power
    safe_square = jnp.where(room_square > 0.0, room_square, 1.0)
    safe_exponential = jnp.where(room_exponential > 0.0, room_exponential, 1.0)
    log_square = power * square * scale / safe_square - 0.5 * jnp.log(safe_square)
    log_exponential = jnp.log(at_zero + pace * (1.0 - at_zero) / safe_exponential)
    exact = jnp.where(quadratic, room_square > 0.0, room_exponential > 0.0)
    correction = -jnp.where(quadratic, log_square, log_exponential) - (k1 + 0.5 * k3) * variance
    k0 = jnp.where(exact, correction, -rho * kappa * theta / xi * step)
    return k0 + k1 * variance + k2 * later + jnp.sqrt(k3 * (variance + later)) * ndtri(v), later
