"""Whose loss it is: value at risk of a sample split over the parts of a book."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pricing.risk.estimate import value_at_risk
from pricing.signature import checked


@checked
def component_value_at_risk(
    profit_by_part: ArrayLike, *, confidence: float = 0.95, bandwidth: float = 0.005
) -> NDArray[np.float64]:
    """Split the value at risk of the total over its parts; the components add up to it.

    A component is the mean loss of its part in the scenarios whose total loss is near the value at risk (Hallerbach
    2003), which is also the derivative of the value at risk in the size of the part times that size.

    Parameters
    ----------
    profit_by_part
        Profits, shape ``[parts, scenarios]``.
    confidence
        Between 0 and 1, exclusive.
    bandwidth
        Half width of the neighbourhood, as a fraction of the scenarios: wider is smoother and more biased.

    Returns
    -------
    Components in currency, shape ``[parts]``.
    """
    parts = np.asarray(profit_by_part, float)
    if parts.ndim != 2:
        raise ValueError(f"profit_by_part must have shape [parts, scenarios], got {parts.shape}")
    total = parts.sum(axis=0)
    value = value_at_risk(total, confidence=confidence).value
    last = total.size - 1
    reach = max(math.ceil(bandwidth * total.size), 1)
    centre = round(confidence * last)
    low, high = max(centre - reach, 0), min(centre + reach, last)
    near = np.argpartition(-total, [low, high])[low : high + 1]
    components = -parts[:, near].mean(axis=1)
    # The neighbourhood's mean total differs from the quantile by noise: spread the rest by size.
    weights = np.abs(components)
    rest = value - float(components.sum())
    spread = weights / weights.sum() if weights.sum() > 0.0 else np.full(weights.size, 1.0 / weights.size)
    shared: NDArray[np.float64] = components + rest * spread
    return shared
