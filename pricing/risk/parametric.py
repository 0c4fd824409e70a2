"""Value at risk in closed form."""

from __future__ import annotations

import math
from statistics import NormalDist

from pricing.risk.estimate import require_confidence

_NORMAL = NormalDist()


def normal_value_at_risk(
    *, standard_deviation: float, mean: float = 0.0, confidence: float = 0.95, horizon: float = 1.0
) -> float:
    """Value at risk of a normal profit.

    >>> round(normal_value_at_risk(standard_deviation=0.018 * 89_300, confidence=0.95))
    2644

    Parameters
    ----------
    standard_deviation, mean
        Of the profit over one period, in currency.
    confidence
        Between 0 and 1, exclusive.
    horizon
        Number of periods, > 0: the mean grows with it, the deviation with its square root.
    """
    _require_scale(standard_deviation, horizon)
    require_confidence(confidence)
    return standard_deviation * math.sqrt(horizon) * _NORMAL.inv_cdf(confidence) - mean * horizon


def normal_expected_shortfall(
    *, standard_deviation: float, mean: float = 0.0, confidence: float = 0.95, horizon: float = 1.0
) -> float:
    """Mean loss beyond the value at risk of a normal profit; arguments as in :func:`normal_value_at_risk`."""
    _require_scale(standard_deviation, horizon)
    require_confidence(confidence)
    tail = _NORMAL.pdf(_NORMAL.inv_cdf(confidence)) / (1.0 - confidence)
    return standard_deviation * math.sqrt(horizon) * tail - mean * horizon


def _require_scale(standard_deviation: float, horizon: float) -> None:
    if not (math.isfinite(standard_deviation) and standard_deviation >= 0.0):
        raise ValueError(f"standard_deviation must be finite and >= 0, got {standard_deviation!r}")
    if not (math.isfinite(horizon) and horizon > 0.0):
        raise ValueError(f"horizon must be finite and > 0 periods, got {horizon!r}")
