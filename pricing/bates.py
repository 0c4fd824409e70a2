"""European options under Bates' model: Heston's stochastic volatility with lognormal jumps of the asset.

Bates, "Jumps and stochastic volatility", Review of Financial Studies 9, 1996.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from pricing import fourier, heston
from pricing.inputs import broadcast, require
from pricing.signature import labelled


class Jumps(NamedTuple):
    """Lognormal jumps that arrive at a constant rate; scalars, or arrays that broadcast with the options.

    Attributes
    ----------
    intensity
        Expected jumps per year, >= 0.
    mean_log_jump
        Mean of the log of the factor of a jump.
    log_jump_deviation
        Standard deviation of that log, >= 0.
    """

    intensity: ArrayLike
    mean_log_jump: ArrayLike
    log_jump_deviation: ArrayLike


def require_jumps(jumps: Jumps) -> None:
    """Raise ``ValueError`` for jumps out of their range."""
    require("intensity", jumps.intensity, at_least=0.0)
    require("mean_log_jump", jumps.mean_log_jump)
    require("log_jump_deviation", jumps.log_jump_deviation, at_least=0.0)


def jump_exponent(jumps: Jumps, time: jax.Array, z: jax.Array) -> jax.Array:
    """Log of ``E[J^(i z)]``, J the compensated product of all jumps; shapes as in :func:`pricing.heston.exponent`."""
    intensity, mean, deviation, horizon = (jnp.asarray(value)[:, None] for value in (*jumps, time))
    variance = deviation * deviation
    jumped = jnp.exp(1j * z * mean - 0.5 * variance * z * z) - 1.0
    return intensity * horizon * (jumped - 1j * z * jnp.expm1(mean + 0.5 * variance))


@jax.jit
def _price(*arguments: jax.Array) -> jax.Array:
    shape = arguments[0].shape
    spot, strike, time, rate, dividend_yield, *rest, is_call = (a.reshape(-1) for a in arguments)
    p, jumps = heston.Parameters(*rest[:5]), Jumps(*rest[5:])
    expired = time <= 0.0
    safe = jnp.where(expired, 1.0, time)
    value = fourier.price(
        lambda z: heston.exponent(p, safe, z) + jump_exponent(jumps, safe, z),
        spot=spot,
        strike=strike,
        time=safe,
        rate=rate,
        dividend_yield=dividend_yield,
        is_call=is_call,
        total_variance=heston.expected_variance(p, safe),
        decay=heston.decay(p, safe),
    )
    intrinsic = jnp.maximum(jnp.where(is_call, spot - strike, strike - spot), 0.0)
    return jnp.where(expired, intrinsic, value).reshape(shape)


@labelled
def price(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    parameters: heston.Parameters,
    jumps: Jumps,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
) -> jax.Array:
    """Price of European calls and puts under Bates' model; arguments, result and errors as in Heston's."""
    heston.require_parameters(parameters)
    require_jumps(jumps)
    named = heston.option_arguments(
        spot=spot, strike=strike, time_to_expiry=time_to_expiry, rate=rate, dividend_yield=dividend_yield
    )
    columns = {**named, **parameters._asdict(), **jumps._asdict()}
    value: jax.Array = _price(*map(jnp.asarray, broadcast(columns, is_call)))
    return value
