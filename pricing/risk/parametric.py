"""Value at risk in closed form: normal, delta-normal, Cornish-Fisher; and whose risk it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pricing.risk.estimate import require_confidence
from pricing.signature import checked

_NORMAL = NormalDist()


@checked
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


@checked
def normal_expected_shortfall(
    *, standard_deviation: float, mean: float = 0.0, confidence: float = 0.95, horizon: float = 1.0
) -> float:
    """Mean loss beyond the value at risk of a normal profit; arguments as in :func:`normal_value_at_risk`."""
    _require_scale(standard_deviation, horizon)
    require_confidence(confidence)
    tail = _NORMAL.pdf(_NORMAL.inv_cdf(confidence)) / (1.0 - confidence)
    return standard_deviation * math.sqrt(horizon) * tail - mean * horizon


@checked
def cornish_fisher_value_at_risk(
    *,
    standard_deviation: float,
    skewness: float,
    excess_kurtosis: float,
    mean: float = 0.0,
    confidence: float = 0.95,
    horizon: float = 1.0,
) -> float:
    """Value at risk with the normal quantile corrected for skewness and fat tails (Cornish and Fisher 1938).

    Over ``horizon`` independent periods skewness shrinks with the square root and excess kurtosis with the number of
    periods.

    Parameters
    ----------
    standard_deviation, mean, confidence, horizon
        As in :func:`normal_value_at_risk`.
    skewness, excess_kurtosis
        Of the profit over one period; a normal profit has 0 and 0.

    Raises
    ------
    ValueError
        When an argument is out of range, or when the corrected quantile is not increasing in the probability between
        the median and the tail, so that it means nothing (Maillard 2012).
    """
    _require_scale(standard_deviation, horizon)
    require_confidence(confidence)
    s, k = skewness / math.sqrt(horizon), excess_kurtosis / horizon
    z = _NORMAL.inv_cdf(1.0 - confidence)
    if not _increasing_between(0.0, z, s, k):
        raise ValueError(
            f"skewness {skewness!r} and excess_kurtosis {excess_kurtosis!r} over {horizon:g} periods are outside the "
            "domain of the Cornish-Fisher expansion; use a historical or simulated estimate"
        )
    corrected = z + (z * z - 1.0) * s / 6.0 + (z**3 - 3.0 * z) * k / 24.0 - (2.0 * z**3 - 5.0 * z) * s * s / 36.0
    return -mean * horizon - standard_deviation * math.sqrt(horizon) * corrected


def _increasing_between(centre: float, z: float, skewness: float, excess_kurtosis: float) -> bool:
    """Whether the corrected quantile, a cubic in z, rises all the way between two points."""
    square = excess_kurtosis / 8.0 - skewness**2 / 6.0
    linear = skewness / 3.0
    constant = 1.0 - excess_kurtosis / 8.0 + 5.0 * skewness**2 / 36.0
    points = [centre, z]
    if square != 0.0 and min(points) < -linear / (2.0 * square) < max(points):
        points.append(-linear / (2.0 * square))
    return all(square * x * x + linear * x + constant > 0.0 for x in points)


@dataclass(frozen=True)
class DeltaNormal:
    """Delta-normal value at risk and its split over underlyings.

    Attributes
    ----------
    value
        Value at risk of the whole, in currency.
    marginal
        Change of ``value`` per 1.00 of currency added to each exposure, shape ``[underlyings]``.
    component
        Share of each underlying, in currency; the components add up to ``value``. Shape ``[underlyings]``.
    standalone
        Value at risk of each exposure alone, shape ``[underlyings]``.
    """

    value: float
    marginal: NDArray[np.float64]
    component: NDArray[np.float64]
    standalone: NDArray[np.float64]


@checked
def delta_normal_value_at_risk(
    *, exposure: ArrayLike, covariance: ArrayLike, confidence: float = 0.95, horizon: float = 1.0
) -> DeltaNormal:
    """Value at risk of linear exposures to normal returns with mean zero.

    Parameters
    ----------
    exposure
        Currency delta by underlying (shares times delta times spot), shape ``[underlyings]``, short negative.
    covariance
        Of returns over one period, shape ``[underlyings, underlyings]``.
    confidence
        Between 0 and 1, exclusive.
    horizon
        Number of periods, > 0.

    Raises
    ------
    ValueError
        When shapes do not fit or the covariance is not symmetric with a variance >= 0 in the direction of the exposure.
    """
    weights, matrix = np.asarray(exposure, float), np.asarray(covariance, float)
    if weights.ndim != 1 or matrix.shape != (weights.size, weights.size):
        raise ValueError(
            f"covariance must have shape [underlyings, underlyings], got {matrix.shape} for exposure {weights.shape}"
        )
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0):
        raise ValueError("covariance must be symmetric")
    variance = float(weights @ matrix @ weights)
    if variance < 0.0:
        raise ValueError(f"covariance must give a variance >= 0, got {variance!r}")
    scale = normal_value_at_risk(standard_deviation=1.0, confidence=confidence, horizon=horizon)
    deviation = math.sqrt(variance)
    marginal = scale * (matrix @ weights) / deviation if deviation else np.zeros_like(weights)
    alone = abs(scale) * np.abs(weights) * np.sqrt(np.diag(matrix)) * math.copysign(1.0, scale)
    return DeltaNormal(scale * deviation, marginal, weights * marginal, alone)


def _require_scale(standard_deviation: float, horizon: float) -> None:
    if not (math.isfinite(standard_deviation) and standard_deviation >= 0.0):
        raise ValueError(f"standard_deviation must be finite and >= 0, got {standard_deviation!r}")
    if not (math.isfinite(horizon) and horizon > 0.0):
        raise ValueError(f"horizon must be finite and > 0 periods, got {horizon!r}")
