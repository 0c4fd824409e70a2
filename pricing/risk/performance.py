"""Return per unit of risk, and the depth of losses."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pricing.signature import checked, labelled


@checked
def sharpe_ratio(returns: ArrayLike, *, periods_per_year: float, risk_free_rate: float = 0.0) -> float:
    """Annualised mean excess return over its sample standard deviation.

    Parameters
    ----------
    returns
        Simple returns of consecutive periods, shape ``[periods]``, at least 2.
    periods_per_year
        252 for daily returns of stocks, 365 for crypto.
    risk_free_rate
        Per year, simple; the same part is earned each period.

    Returns
    -------
    NaN when the returns do not vary.
    """
    excess = _excess(returns, periods_per_year, risk_free_rate)
    deviation = float(excess.std(ddof=1))
    # Equal returns have a deviation of pure rounding.
    if deviation <= 1e-14 * float(np.abs(excess).max()):
        return math.nan
    return float(excess.mean()) / deviation * math.sqrt(periods_per_year)


@checked
def sortino_ratio(returns: ArrayLike, *, periods_per_year: float, target_rate: float = 0.0) -> float:
    """Annualised mean return above a target over the downside deviation.

    The downside deviation is the root mean square of shortfalls over **all** periods, those above the target counting
    zero (Sortino and Price 1994); dividing by the losing periods only would reward frequent losers.

    Parameters
    ----------
    returns, periods_per_year
        As in :func:`sharpe_ratio`.
    target_rate
        Per year, simple.

    Returns
    -------
    Infinity of the mean's sign when no period falls short; NaN when the mean is zero as well.
    """
    excess = _excess(returns, periods_per_year, target_rate)
    downside = math.sqrt(float(np.mean(np.minimum(excess, 0.0) ** 2)))
    mean = float(excess.mean())
    if downside == 0.0:
        return math.nan if mean == 0.0 else math.copysign(math.inf, mean)
    return mean / downside * math.sqrt(periods_per_year)


@labelled
def drawdown(equity: ArrayLike) -> NDArray[np.float64]:
    """Loss from the highest equity so far, as a fraction of it, >= 0; shape ``[periods]``."""
    values = np.asarray(equity, float)
    if values.ndim != 1 or values.size < 1 or not (values >= 0.0).all() or values[0] <= 0.0:
        raise ValueError("equity must be a list of numbers >= 0 that starts above 0")
    fallen: NDArray[np.float64] = 1.0 - values / np.maximum.accumulate(values)
    return fallen


def _excess(returns: ArrayLike, periods_per_year: float, rate: float) -> NDArray[np.float64]:
    values = np.asarray(returns, float)
    if values.ndim != 1 or values.size < 2 or not np.isfinite(values).all():
        raise ValueError(f"returns must be at least 2 finite numbers in one list, got shape {values.shape}")
    if not periods_per_year > 0.0:
        raise ValueError(f"periods_per_year must be > 0, got {periods_per_year!r}")
    excess: NDArray[np.float64] = values - rate / periods_per_year
    return excess
