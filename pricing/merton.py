"""European options under Merton's jump diffusion: a Poisson mixture of lognormal prices.

Merton, "Option pricing when underlying stock returns are discontinuous", J. Financial Economics 3, 1976, eq. 19.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammainc, gammaln
from jax.typing import ArrayLike

from pricing import black_scholes
from pricing.bates import Jumps, require_jumps
from pricing.heston import option_arguments
from pricing.inputs import broadcast, is_traced, require
from pricing.signature import labelled

_TERMS_IN_TRACED_CODE = 64


class Series(NamedTuple):
    """A truncated series; both fields have the broadcast shape of the arguments.

    Attributes
    ----------
    price
        Sum of the terms taken.
    remainder
        Upper bound of what is missing; the true price lies in ``[price, price + remainder]``.
    """

    price: jax.Array
    remainder: jax.Array


@partial(jax.jit, static_argnames="terms")
def _series(*arguments: jax.Array, terms: int) -> Series:
    shape = arguments[0].shape
    spot, strike, time, rate, income, volatility, *rest, is_call = (a.reshape(-1) for a in arguments)
    intensity, mean, deviation = rest
    expired = time <= 0.0
    horizon = jnp.where(expired, 1.0, time)
    log_factor = mean + 0.5 * deviation**2
    expected = intensity * horizon * jnp.exp(log_factor)

    count = jnp.arange(terms, dtype=spot.dtype)[:, None]
    positive = expected > 0.0
    log_expected = jnp.log(jnp.where(positive, expected, 1.0))[None]
    weight = jnp.exp(count * log_expected - expected[None] - gammaln(count + 1.0))
    weight = jnp.where(positive[None], weight, jnp.where(count == 0.0, 1.0, 0.0))

    compensated = rate - intensity * jnp.expm1(log_factor)
    values = black_scholes.price(
        spot=spot[None],
        strike=strike[None],
        time_to_expiry=horizon[None],
        rate=compensated[None] + count * (log_factor / horizon)[None],
        volatility=jnp.sqrt((volatility**2)[None] + count * (deviation**2 / horizon)[None]),
        dividend_yield=income[None],
        is_call=is_call[None],
    )
    # A call is worth at most its shares, a put its discounted strike, whatever the number of jumps.
    as_calls = spot * jnp.exp(-income * horizon) * gammainc(float(terms), expected)
    as_puts = strike * jnp.exp(-rate * horizon) * gammainc(float(terms), intensity * horizon)
    intrinsic = jnp.maximum(jnp.where(is_call, spot - strike, strike - spot), 0.0)
    price = jnp.where(expired, intrinsic, (weight * values).sum(axis=0))
    remainder = jnp.where(expired, 0.0, jnp.where(is_call, as_calls, as_puts))
    remainder = jnp.where(jnp.isnan(price), jnp.nan, remainder)
    return Series(price.reshape(shape), remainder.reshape(shape))


@labelled
def series(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    jumps: Jumps,
    terms: int,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
) -> Series:
    """Sum of the first ``terms`` terms with a bound of the remainder; other arguments as in :func:`price`."""
    if terms < 1:
        raise ValueError(f"terms must be >= 1, got {terms}")
    require_jumps(jumps)
    require("volatility", volatility, at_least=0.0)
    named = option_arguments(
        spot=spot, strike=strike, time_to_expiry=time_to_expiry, rate=rate, dividend_yield=dividend_yield
    )
    columns = broadcast({**named, "volatility": volatility, **jumps._asdict()}, is_call)
    answer: Series = _series(*map(jnp.asarray, columns), terms=terms)
    return answer


@labelled
def price(
    *,
    spot: ArrayLike,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    rate: ArrayLike,
    volatility: ArrayLike,
    jumps: Jumps,
    dividend_yield: ArrayLike = 0.0,
    is_call: ArrayLike = True,
) -> jax.Array:
    """Price of European calls and puts under Merton's model, to rounding.

    Parameters
    ----------
    spot, strike, time_to_expiry, rate, volatility, dividend_yield, is_call
        As in :func:`pricing.black_scholes.price`; volatility is that between jumps, spot and strike are above zero.
    jumps
        Intensity, mean and deviation of log jumps.

    Returns
    -------
    Price per unit of the underlying, broadcast shape. The number of terms makes the remainder less than 1e-15 of spot
    or strike; in traced code it is 64, enough for 25 expected jumps.

    Raises
    ------
    ValueError
        As :func:`pricing.black_scholes.price`, or when jumps are out of their range.
    """
    return series(
        spot=spot,
        strike=strike,
        time_to_expiry=time_to_expiry,
        rate=rate,
        volatility=volatility,
        jumps=jumps,
        terms=_enough_terms(jumps, time_to_expiry),
        dividend_yield=dividend_yield,
        is_call=is_call,
    ).price


def _enough_terms(jumps: Jumps, time: ArrayLike) -> int:
    """Choose a multiple of 32 terms after which the Poisson tail is below 1e-15."""
    if any(is_traced(value) for value in (*jumps, time)):
        return _TERMS_IN_TRACED_CODE
    factor = np.exp(np.maximum(np.asarray(jumps.mean_log_jump) + 0.5 * np.asarray(jumps.log_jump_deviation) ** 2, 0.0))
    expected = float(np.nanmax(np.asarray(jumps.intensity) * np.asarray(time) * factor, initial=0.0))
    return 32 * int(np.ceil((expected + 9.0 * np.sqrt(expected) + 20.0) / 32.0))
