"""Mean of a sample with its standard error, antithetic pairs and control variates taken into account."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from pricing.signature import checked
from pricing.simulation.draws import Draws


class Estimate(NamedTuple):
    """A mean.

    Attributes
    ----------
    value
        The estimate.
    standard_error
        Of the value; for Sobol draws it is that of independent draws, an upper bound in practice.
    """

    value: jax.Array
    standard_error: jax.Array


@checked
def estimate(
    values: jax.Array,
    *,
    draws: Draws = Draws.RANDOM,
    control: jax.Array | None = None,
    control_mean: ArrayLike = 0.0,
) -> Estimate:
    """Estimate the mean of ``values``.

    Parameters
    ----------
    values
        One result a path, shape ``[paths]``.
    draws
        How the paths were drawn: antithetic pairs are averaged before their spread is taken.
    control
        A quantity on the same paths whose mean is known, shape ``[paths]``; its coefficient is the regression's.
    control_mean
        The known mean.

    Raises
    ------
    ValueError
        When ``values`` has not one dimension, fewer than four paths, or another shape than ``control``.
    """
    if values.ndim != 1 or values.size < 4:
        raise ValueError(f"values must have shape [paths] with at least 4 paths, got {values.shape}")
    sample = _pairs(values, draws)
    if control is not None:
        if control.shape != values.shape:
            raise ValueError(f"control must have the shape of values {values.shape}, got {control.shape}")
        known = _pairs(control, draws)
        moved = known - known.mean()
        slope = jnp.vdot(moved, sample - sample.mean()) / jnp.vdot(moved, moved)
        sample = sample - slope * (known - control_mean)
    return Estimate(sample.mean(), sample.std(ddof=1) / jnp.sqrt(sample.size))


def _pairs(values: jax.Array, draws: Draws) -> jax.Array:
    if draws is not Draws.ANTITHETIC:
        return values
    half = values.size // 2
    return 0.5 * (values[:half] + values[half:])
