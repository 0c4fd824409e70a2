"""Value at risk and expected shortfall of a sample of profits, with their standard errors.

The sample may be history or the output of a simulation. Losses are positive: a book that cannot lose at the given
confidence has a negative value at risk.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pricing.signature import checked


class Estimate(NamedTuple):
    """A number from a sample, with its precision.

    Attributes
    ----------
    value
        In the unit of the profits; positive for a loss.
    standard_error
        Of ``value``, for independent outcomes; NaN where the sample is too small to tell.
    """

    value: float
    standard_error: float


@checked
def value_at_risk(profit_and_loss: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Loss that is exceeded with probability ``1 - confidence``.

    Parameters
    ----------
    profit_and_loss
        Outcomes over the horizon, shape ``[scenarios]``, profits positive, at least 2.
    confidence
        Between 0 and 1, exclusive.

    Returns
    -------
    The sample quantile (linear between order statistics), and the distance between the order statistics one binomial
    standard deviation to each side of it, halved.

    Raises
    ------
    ValueError
        When the confidence is out of range, or outcomes are too few or not finite.

    Examples
    --------
    >>> value_at_risk([-5.0, -1.0, 0.0, 1.0, 2.0], confidence=0.75).value
    1.0
    """
    losses = -_outcomes(profit_and_loss, confidence)
    last = losses.size - 1
    position = confidence * last
    spread = math.sqrt(losses.size * confidence * (1.0 - confidence))
    low, high = math.floor(position - spread), math.ceil(position + spread)
    below = math.floor(position)
    ranks = sorted({max(low, 0), below, min(below + 1, last), min(high, last)})
    ordered = np.partition(losses, ranks)
    weight = position - below
    value = (1.0 - weight) * ordered[below] + weight * ordered[min(below + 1, last)]
    error = math.nan if low < 0 or high > last else float(ordered[high] - ordered[low]) / 2.0
    return Estimate(float(value), error)


@checked
def expected_shortfall(profit_and_loss: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Mean loss in the worst ``1 - confidence`` of the outcomes.

    Arguments and errors are those of :func:`value_at_risk`. The outcome at the edge of the tail counts with the
    fraction of its weight that lies inside (Acerbi and Tasche 2002). The error counts the noise of the edge too:
    sqrt((variance of tail losses + confidence * (mean - edge)^2) / tail size).
    """
    losses = -_outcomes(profit_and_loss, confidence)
    tail = losses.size * (1.0 - confidence)
    # A tail of 5.000000000000004 outcomes is one of 5: the product above is rounded.
    whole = math.floor(tail + 1e-9 * losses.size)
    first = losses.size - whole
    ordered = np.partition(losses, [max(first - 1, 0), min(first, losses.size - 1)])
    fraction = max(tail - whole, 0.0)
    edge = float(ordered[max(first - 1, 0)])
    worst = ordered[first:]
    value = (float(worst.sum()) + fraction * edge) / (whole + fraction)
    if whole < 2:
        return Estimate(value, math.nan)
    variance = float(worst.var()) + confidence * (value - edge) ** 2
    return Estimate(value, math.sqrt(variance / whole))


def _outcomes(profit_and_loss: ArrayLike, confidence: float) -> NDArray[np.floating]:
    require_confidence(confidence)
    outcomes = np.asarray(profit_and_loss)
    if not np.issubdtype(outcomes.dtype, np.floating):
        outcomes = outcomes.astype(np.float64)
    if outcomes.ndim != 1 or outcomes.size < 2:
        raise ValueError(f"profit_and_loss must be one list of at least 2 outcomes, got shape {outcomes.shape}")
    finite = np.isfinite(outcomes)
    if not finite.all():
        raise ValueError(f"profit_and_loss must be finite, got {outcomes[~finite][0]} at index {int(finite.argmin())}")
    return outcomes


def require_confidence(confidence: float) -> None:
    """Raise ``ValueError`` unless the confidence lies strictly between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, for example 0.95, got {confidence!r}")
