"""Where implied volatility stands in its own history."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pricing.signature import checked


@checked
def iv_rank(current: float, history: ArrayLike) -> float:
    """Position of ``current`` between the lowest (0) and the highest (100) of ``history``, beyond for new extremes.

    NaN in the history is left out. NaN when all values are equal. ``ValueError`` when there are none.
    """
    values = _known(history)
    low, high = float(values.min()), float(values.max())
    return 100.0 * (current - low) / (high - low) if high > low else float("nan")


@checked
def iv_percentile(current: float, history: ArrayLike) -> float:
    """Per cent of ``history`` strictly below ``current``; NaN and errors as in :func:`iv_rank`."""
    return 100.0 * float(np.mean(_known(history) < current))


def _known(history: ArrayLike) -> NDArray[np.float64]:
    values: NDArray[np.float64] = np.asarray(history, float).ravel()
    values = values[~np.isnan(values)]
    if values.size == 0:
        raise ValueError("history must hold at least one volatility, got none")
    return values
