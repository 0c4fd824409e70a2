"""The equivalent information coefficient: how good a forecaster would have to be to net the same in these windows.

It can be told of simulated markets and of real candles alike, and so they can be compared. A forecaster's information
coefficient is the correlation of his forecast of a bar's return, in its deviations, with what came (Grinold and Kahn,
Active Portfolio Management).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaluators.crypto.hindsight import Array
from evaluators.crypto.knowledge import banded
from evaluators.crypto.skill import shares

COEFFICIENTS = np.linspace(0.0, 1.0, 41)
"""At which a forecaster's worth is worked out; between them it is a straight line."""
LEAST_BELIEF = 0.10
"""Every forecaster trusts its forecasts at least as if their information coefficient were this, so that all trade."""
TWO_SIDED_95 = 1.959964


class EquivalentIC(NamedTuple):
    """Information coefficient of the forecaster who would score the same, with its 95% interval; each in [0, 1]."""

    value: float
    low: float
    high: float


def forecaster_worth(
    returns: Array,
    deviation: Array,
    cost: Array,
    *,
    unit: Array,
    coefficients: Array = COEFFICIENTS,
    repeats: int,
    seed: int,
) -> Array:
    """Return what forecasters score in some windows, an episode, one number for each information coefficient.

    A forecast is ``rho z + sqrt(1 - rho^2) noise`` with ``z`` the coming return over its deviation; its owner expects
    ``rho`` deviations of it and trades as :func:`banded`. Returns as they happened: so it can be worked out on candles,
    where nobody knows a conditional mean. Costs are paid out of timing as in every score. The curve is made to rise.

    Parameters
    ----------
    returns, deviation
        ``[bars, episodes]``: log-return of the bar, and its standard deviation.
    cost
        ``[3, bars, episodes]`` of trading 0, 1 and 2 times equity.
    unit
        ``[bars, episodes]`` or ``[episodes]``: what a log-return and a cost are multiplied by.
    coefficients
        Rising, in [0, 1].
    repeats
        Draws of noise a coefficient.
    seed
        Of the noise, which is the same for all coefficients.
    """
    known = deviation > 0.0
    z = np.where(known, returns / np.where(known, deviation, 1.0), 0.0)
    worth = np.zeros(coefficients.size)
    rho = coefficients[:, None]
    belief, skilled, luck = np.maximum(rho, LEAST_BELIEF), rho * z[:, None], np.sqrt(1.0 - rho**2)
    spread, trades = deviation[:, None], cost[:, :, None] * np.broadcast_to(unit, returns.shape)[None, :, None]
    for noise in np.random.default_rng(seed).standard_normal((repeats, *returns.shape)):
        sides = banded(belief * spread * (skilled + luck * noise[:, None]), cost[1][:, None])
        changes = np.abs(np.diff(sides, axis=0, prepend=0.0))
        timing = (sides * (returns * unit)[:, None]).mean(axis=2)
        paid = np.where(changes > 1.0, trades[2], np.where(changes > 0.0, trades[1], 0.0)).mean(axis=2)
        worth += np.einsum("bc,bc->c", shares(timing, paid), timing) / repeats
    return np.maximum.accumulate(np.maximum(worth, 0.0))


def equivalent_ic(
    score: float, se: float, worth: Array, *, unit: float, coefficients: Array = COEFFICIENTS
) -> EquivalentIC:
    """Return the information coefficient of the forecaster who would score the same.

    Parameters
    ----------
    score, se
        Points and their standard error.
    worth
        As :func:`forecaster_worth` returns it for ``coefficients``.
    unit
        What 100 points are, as ``worth`` tells it.

    Raises
    ------
    ValueError
        When ``unit`` is not above 0: where nothing could be known, no score says anything.
    """
    if not unit > 0.0:
        raise ValueError(f"unit must be above 0 (what 100 points are, as worth tells it), got {unit!r}")
    points = 100.0 * worth / unit
    # Forecasts that do not pay for their costs score about 0: of several coefficients the smallest is told.
    rising, first = np.unique(np.concatenate([[0.0], points]), return_index=True)
    at = np.concatenate([[0.0], coefficients])[first]

    def coefficient(value: float) -> float:
        return float(np.interp(value, rising, at)) if value > 0.0 else 0.0

    spread = TWO_SIDED_95 * se
    return EquivalentIC(coefficient(score), coefficient(score - spread), coefficient(score + spread))
