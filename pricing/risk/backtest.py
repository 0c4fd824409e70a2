"""Whether a value-at-risk forecast was right, from the days on which it was exceeded."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pricing.risk.estimate import require_confidence
from pricing.signature import checked, labelled


class CoverageTest(NamedTuple):
    """Outcome of a likelihood-ratio test.

    Attributes
    ----------
    statistic
        Likelihood ratio, chi-squared under the hypothesis that the forecast is right.
    p_value
        Probability of a statistic this large or larger if it is.
    """

    statistic: float
    p_value: float


@labelled
def exceedances(profit_and_loss: ArrayLike, value_at_risk: ArrayLike) -> NDArray[np.bool_]:
    """Days whose loss was larger than the forecast, both shape ``[days]``; NaN is ``ValueError``."""
    for name, values in (("profit_and_loss", profit_and_loss), ("value_at_risk", value_at_risk)):
        if np.isnan(np.asarray(values, float)).any():
            raise ValueError(f"{name} must not be NaN: whether an unknown loss was larger is not known")
    found: NDArray[np.bool_] = -np.asarray(profit_and_loss, float) > np.asarray(value_at_risk, float)
    return found


@checked
def kupiec(exceeded: ArrayLike, *, confidence: float) -> CoverageTest:
    """Test unconditional coverage, that exceedances are as frequent as they should be (Kupiec 1995).

    Parameters
    ----------
    exceeded
        One flag a day, shape ``[days]``.
    confidence
        Of the value at risk.

    Returns
    -------
    Statistic with one degree of freedom.
    """
    require_confidence(confidence)
    flags = _flags(exceeded)
    hits, days = int(flags.sum()), flags.size
    statistic = -2.0 * (
        _log_likelihood(1.0 - confidence, days - hits, hits) - _log_likelihood(hits / days, days - hits, hits)
    )
    return CoverageTest(statistic, _chi_squared_tail(statistic, 1))


@checked
def christoffersen_independence(exceeded: ArrayLike) -> CoverageTest:
    """Test independence, that an exceedance today says nothing about tomorrow (Christoffersen 1998).

    The alternative is a first-order Markov chain. One degree of freedom.
    """
    flags = _flags(exceeded)
    before, after = flags[:-1], flags[1:]
    counts = [[int(((before == i) & (after == j)).sum()) for j in (0, 1)] for i in (0, 1)]
    (n00, n01), (n10, n11) = counts
    pooled = _log_likelihood((n01 + n11) / (flags.size - 1), n00 + n10, n01 + n11)
    apart = sum(_log_likelihood(hit / max(miss + hit, 1), miss, hit) for miss, hit in counts)
    statistic = max(-2.0 * (pooled - apart), 0.0)
    return CoverageTest(statistic, _chi_squared_tail(statistic, 1))


@checked
def christoffersen(exceeded: ArrayLike, *, confidence: float) -> CoverageTest:
    """Test conditional coverage, right frequency and independence together; two degrees of freedom."""
    statistic = kupiec(exceeded, confidence=confidence).statistic + christoffersen_independence(exceeded).statistic
    return CoverageTest(statistic, _chi_squared_tail(statistic, 2))


def _flags(exceeded: ArrayLike) -> NDArray[np.bool_]:
    flags = np.asarray(exceeded)
    if flags.dtype != bool or flags.ndim != 1 or flags.size < 2:
        raise ValueError(f"exceeded must be at least 2 booleans, got {flags.dtype} of shape {flags.shape}")
    return flags


def _log_likelihood(probability: float, misses: int, hits: int) -> float:
    return (misses * math.log1p(-probability) if misses else 0.0) + (hits * math.log(probability) if hits else 0.0)


def _chi_squared_tail(statistic: float, degrees: int) -> float:
    return math.erfc(math.sqrt(max(statistic, 0.0) / 2.0)) if degrees == 1 else math.exp(-statistic / 2.0)
