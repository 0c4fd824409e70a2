"""Losses in the tail: from the returns themselves, and from their moments.

A loss is positive. NaN in what a measure reads gives NaN.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from backtest.metrics.numbers import normal_quantile, one_a_bar, ratio, require_level
from pricing.inputs import require
from pricing.signature import checked


@checked
def value_at_risk(returns: jax.Array, *, level: float = 0.95) -> jax.Array:
    """Return the loss (positive) that a bar exceeds with chance ``1 - level``, from the empirical quantile.

    numpy's linear interpolation, as in empyrical ``value_at_risk``, whose sign is the other.
    """
    require_level(level)
    return -jnp.quantile(one_a_bar(returns), 1.0 - level, axis=-1)


@checked
def expected_shortfall(returns: jax.Array, *, level: float = 0.95) -> jax.Array:
    """Return the mean loss (positive) of the worst ``1 - level`` of bars, at least one bar.

    The worst ``floor((1 - level) (bars - 1)) + 1`` bars, as in empyrical ``conditional_value_at_risk``.
    """
    require_level(level)
    returns = one_a_bar(returns)
    worst = int((1.0 - level) * (returns.shape[-1] - 1)) + 1
    shortfall = -jnp.mean(jnp.sort(returns, axis=-1)[..., :worst], axis=-1)
    # A sort puts what is missing last, where it would go unseen.
    return jnp.where(jnp.isnan(returns).any(axis=-1), jnp.nan, shortfall)


@checked
def modified_value_at_risk(
    *, mean: jax.Array, deviation: jax.Array, skewness: jax.Array, kurtosis: jax.Array, level: float = 0.95
) -> jax.Array:
    """Return value at risk from four moments (Cornish-Fisher; Favre and Galeano 2002). A loss is positive.

    What a sweep reports, because it needs no stored path.
    """
    require_level(level)
    require("deviation", deviation, at_least=0.0)
    z = normal_quantile(1.0 - level)
    excess = kurtosis - 3.0
    bent = (
        z
        + (z**2 - 1.0) * skewness / 6.0
        + (z**3 - 3.0 * z) * excess / 24.0
        - (2.0 * z**3 - 5.0 * z) * skewness**2 / 36.0
    )
    return -(mean + deviation * bent)


@checked
def modified_expected_shortfall(
    *, mean: jax.Array, deviation: jax.Array, skewness: jax.Array, kurtosis: jax.Array, level: float = 0.95
) -> jax.Array:
    """Return expected shortfall from four moments (second-order Edgeworth tail; Boudt, Peterson and Croux 2008).

    The tail is cut at the Cornish-Fisher quantile; never less than the modified value at risk, as in the authors'
    R package PerformanceAnalytics.
    """
    require_level(level)
    chance = 1.0 - level
    excess = kurtosis - 3.0
    var = modified_value_at_risk(mean=mean, deviation=deviation, skewness=skewness, kurtosis=kurtosis, level=level)
    g = ratio(-var - mean, deviation)
    density = jnp.exp(-0.5 * g**2) / math.sqrt(2.0 * math.pi)
    third = (g**3) * skewness / 6.0
    fourth = (g**4 - 2.0 * g**2 - 1.0) * excess / 24.0
    square = (g**6 - 9.0 * g**4 + 9.0 * g**2 + 3.0) * skewness**2 / 72.0
    shortfall = deviation * density / chance * (1.0 + third + fourth + square) - mean
    return jnp.maximum(shortfall, var)
