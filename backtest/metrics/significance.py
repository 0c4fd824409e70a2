"""Whether a Sharpe ratio shows skill, or the luck of the best of many."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax.scipy.special import ndtr

from backtest.metrics.numbers import normal_quantile
from pricing.inputs import require
from pricing.signature import checked

EULER_GAMMA = 0.5772156649015329


@checked
def probabilistic_sharpe(
    *,
    sharpe_per_bar: jax.Array,
    skewness: jax.Array,
    kurtosis: jax.Array,
    bars: int,
    benchmark: jax.Array | float = 0.0,
) -> jax.Array:
    """Return the chance that the true Sharpe ratio (per bar) exceeds ``benchmark`` (Bailey and Lopez de Prado 2012)."""
    if bars < 1:
        raise ValueError(f"bars must be at least 1, got {bars}")
    variance = 1.0 - skewness * sharpe_per_bar + 0.25 * (kurtosis - 1.0) * sharpe_per_bar**2
    return ndtr((sharpe_per_bar - benchmark) * math.sqrt(bars - 1) / jnp.sqrt(variance))


@checked
def deflated_sharpe(
    *,
    sharpe_per_bar: jax.Array,
    skewness: jax.Array,
    kurtosis: jax.Array,
    bars: int,
    trials: int,
    trial_variance: jax.Array | float,
) -> jax.Array:
    """Return the chance that skill is real after the best of ``trials`` was picked (Bailey and Lopez de Prado 2014).

    Parameters
    ----------
    sharpe_per_bar, skewness, kurtosis
        Of the returns of the picked one, not annualised.
    bars
        Number of returns.
    trials
        How many independent ones were tried, >= 1; 1 gives :func:`probabilistic_sharpe` against 0.
    trial_variance
        Variance of the Sharpe ratios (per bar) of the trials.

    Raises
    ------
    ValueError
        When trials is below 1.
    """
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    require("trial_variance", trial_variance, at_least=0.0)
    benchmark: jax.Array | float = 0.0
    if trials > 1:
        first, second = normal_quantile(1.0 - 1.0 / trials), normal_quantile(1.0 - 1.0 / (trials * math.e))
        benchmark = jnp.sqrt(trial_variance) * ((1.0 - EULER_GAMMA) * first + EULER_GAMMA * second)
    return probabilistic_sharpe(
        sharpe_per_bar=sharpe_per_bar, skewness=skewness, kurtosis=kurtosis, bars=bars, benchmark=benchmark
    )
