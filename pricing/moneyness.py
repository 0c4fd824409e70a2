"""Logarithm of forward over strike without loss of digits, by compensated arithmetic.

The plain ``log(spot / strike) + (rate - dividend_yield) * time`` loses up to nine digits where the two terms cancel or
where spot is near strike, and a price 36 standard deviations out of the money multiplies the loss by a thousand.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from pricing.normal import horner

_LN2_HIGH = {jnp.dtype("float64"): 0.693147180369123816490, jnp.dtype("float32"): 0.693359375}
_LN2_LOW = {jnp.dtype("float64"): 1.90821492927058770002e-10, jnp.dtype("float32"): -2.12194440e-4}
_ATANH = (
    0.3333333333333333,
    0.2000000000000044,
    0.14285714285401616,
    0.11111111195900235,
    0.09090897815442374,
    0.07693120102906854,
    0.06634379834277701,
    0.06543383504997692,
)


def two_sum(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Sum of two floats as the rounded sum and its exact error (Knuth)."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


def two_product(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Product of two floats as the rounded product and its error to twice the precision.

    The factors are split by masking bits, which no compiler may rewrite, whereas Dekker's multiplicative split breaks
    where multiplications and additions are fused.
    """
    a_high, b_high = _upper_half(a), _upper_half(b)
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _upper_half(a: jax.Array) -> jax.Array:
    if a.dtype == jnp.float32:
        return lax.bitcast_convert_type(lax.bitcast_convert_type(a, jnp.int32) & jnp.int32(-4096), jnp.float32)
    return lax.bitcast_convert_type(lax.bitcast_convert_type(a, jnp.int64) & jnp.int64(-(1 << 27)), jnp.float64)


def _mantissa_exponent(a: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Mantissa in [1, 2) and binary exponent (as a float) of positive normal floats."""
    if a.dtype == jnp.float32:
        bits = lax.bitcast_convert_type(a, jnp.int32)
        mantissa = lax.bitcast_convert_type((bits & 0x007FFFFF) | 0x3F800000, jnp.float32)
        return mantissa, ((bits >> 23) - 127).astype(jnp.float32)
    bits = lax.bitcast_convert_type(a, jnp.int64)
    mantissa = lax.bitcast_convert_type((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000, jnp.float64)
    return mantissa, ((bits >> 52) - 1023).astype(jnp.float64)


@jax.custom_jvp
def log_forward_over_strike(
    spot: jax.Array, strike: jax.Array, time: jax.Array, rate: jax.Array, dividend_yield: jax.Array
) -> jax.Array:
    """``log(spot / strike) + (rate - dividend_yield) * time``, right to about one unit in the last place of the sum.

    ``spot / strike = 2**k (1 + s) / (1 - s)`` with the numerator of ``s`` exact, so its logarithm is
    ``k log 2 + 2 atanh(s)`` with a leading term held in two floats. Gives -inf at spot 0, inf at strike 0, 0 at both.
    """
    spot_mantissa, spot_exponent = _mantissa_exponent(spot)
    strike_mantissa, strike_exponent = _mantissa_exponent(strike)
    exponent = spot_exponent - strike_exponent
    high = spot_mantissa > 1.4142135623730951 * strike_mantissa
    low = strike_mantissa > 1.4142135623730951 * spot_mantissa
    spot_mantissa = jnp.where(high, 0.5 * spot_mantissa, spot_mantissa)
    strike_mantissa = jnp.where(low, 0.5 * strike_mantissa, strike_mantissa)
    exponent = exponent + high.astype(exponent.dtype) - low.astype(exponent.dtype)

    numerator = spot_mantissa - strike_mantissa
    denominator, denominator_error = two_sum(spot_mantissa, strike_mantissa)
    reciprocal = 1.0 / denominator
    s = numerator * reciprocal
    product, product_error = two_product(s, denominator)
    s_error = (((numerator - product) - product_error) - s * denominator_error) * reciprocal

    carry, carry_error = two_sum(rate, -dividend_yield)
    growth, growth_error = two_product(carry, time)
    growth_error = growth_error + carry_error * time

    z = s * s
    leading, leading_error = two_sum(exponent * _LN2_HIGH[s.dtype], 2.0 * s)
    total, total_error = two_sum(leading, growth)
    tail = 2.0 * (s * z * horner(_ATANH, z) + s_error) + exponent * _LN2_LOW[s.dtype]
    value = total + (((tail + growth_error) + leading_error) + total_error)
    # The products with zero carry a NaN through.
    at_zero_spot = jnp.where(strike == 0.0, 0.0, -jnp.inf) + 0.0 * strike
    at_zero_strike = jnp.where(spot == 0.0, 0.0, jnp.inf) + 0.0 * spot
    value = jnp.where((spot > 0.0) & (strike > 0.0), value, jnp.nan)
    return jnp.where(strike == 0.0, at_zero_strike, jnp.where(spot == 0.0, at_zero_spot, value))


@log_forward_over_strike.defjvp
def _log_forward_over_strike_jvp(
    primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]
) -> tuple[jax.Array, jax.Array]:
    spot, strike, time, rate, dividend_yield = primals
    d_spot, d_strike, d_time, d_rate, d_yield = tangents
    value = log_forward_over_strike(*primals)
    return value, (d_spot / spot - d_strike / strike + (rate - dividend_yield) * d_time + time * (d_rate - d_yield))
