"""The crypto score where it is known what could be known: exposure times conditional mean, in units of the informed.

On a market of ``backtest.simulators.simulate_knowable`` the mean ``m`` of every bar's log-return, given all that came
before, is known to the harness. An exposure ``e`` that was chosen before the bar has earned ``e r``, whose mean is
``e m``. So ``sum e m`` has the expectation of ``sum e r`` for every agent, whatever it knows or tries, and none of the
luck of the bars (Rao and Blackwell). Gaps have mean 0 and are not credited. Costs are taken as they fell, paid out of
timing by the same shares as ever (``evaluators.crypto.skill``), which look back only.

A stop or target that fills within a bar ends the exposure early. The credit is that of the exposure held at the open:
where within the bar an order fills is luck, for the direction of the bar was drawn before its path.

100 is what the informed policy nets: it knows every ``m`` and no ``r``, pays costs, and changes sides only where the
forecast pays for the change. The equivalent information coefficient of a score is that of a forecaster who would net
the same in the same windows; it is the number to compare with scores on real candles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluators.crypto.hindsight import Array
from evaluators.crypto.skill import Skill, judge, moves

COEFFICIENTS = np.linspace(0.0, 1.0, 41)
"""At which a forecaster's worth is worked out; between them it is a straight line."""
LEAST_BELIEF = 0.10
"""Every forecaster trusts its forecasts at least as if their information coefficient were this, so that all trade."""
TWO_SIDED_95 = 1.959964


class Informed(NamedTuple):
    """What the informed policy does and earns.

    Attributes
    ----------
    sides
        ``[bars, episodes]`` -1, 0 or 1, held over the bar.
    timing, cost
        ``[episodes]`` what can be expected of it before costs, and its costs, fractions of equity.
    """

    sides: Array
    timing: Array
    cost: Array


class EquivalentIC(NamedTuple):
    """Information coefficient of the forecaster who would score the same, with its 95% interval; each in [0, 1]."""

    value: float
    low: float
    high: float


def credited(exposure: Array, largest: Array, mean: Array) -> Array:
    """Return what could be expected of each bar's exposure, ``[bars, episodes]``, per unit of the largest so far.

    Parameters
    ----------
    exposure
        Signed notional over equity right after the bar's order was filled.
    largest
        Largest absolute exposure up to and including this bar's open; without any exposure yet, 0.
    mean
        Conditional mean of the bar's log-return from open to close.
    """
    return np.asarray(exposure * mean / np.where(largest > 0.0, largest, 1.0))


def banded(forecast: Array, cost: Array) -> Array:
    """Return the sides ``[bars, episodes]`` of a trader who changes sides where the forecast pays for the change.

    Forecasts that say nothing of each other make the rule the best there is: once in the market, the two sides are
    worth the same from the next bar on, so a change, which costs ``2 cost`` and gains ``2 |forecast|``, pays where the
    forecast exceeds the cost of one trade. Flat is worth less than either side by what it takes to leave it.

    Parameters
    ----------
    forecast
        ``[bars, episodes]`` expected log-return of each bar, known before it.
    cost
        ``[bars, episodes]`` cost of trading one times equity, fraction of equity.
    """
    sides = np.zeros(forecast.shape)
    held = np.zeros(forecast.shape[1])
    for bar in range(len(forecast)):
        held = np.where(np.abs(forecast[bar]) > cost[bar], np.sign(forecast[bar]), held)
        sides[bar] = held
    return sides


def informed(mean: Array, cost: Array) -> Informed:
    """Return what the informed policy does with the conditional means ``[bars, episodes]``, flat at first."""
    sides = banded(mean, cost)
    return Informed(sides, (sides * mean).sum(axis=0), spent(sides, cost).sum(axis=0))


def spent(sides: Array, cost: Array) -> Array:
    """Return the costs ``[bars, episodes]`` of holding ``sides``, flat at first."""
    return np.asarray(np.abs(np.diff(sides, axis=0, prepend=0.0)) * cost)


def judge_known(
    timing: Array,
    cost: Array,
    best: Informed,
    *,
    usual: Array,
    window: npt.NDArray[np.int64],
    families: Sequence[str],
) -> Skill:
    """Return the skill shown, 100 for the informed policy.

    Parameters
    ----------
    timing
        ``[bars, episodes]`` as :func:`credited` returns it.
    cost
        ``[bars, episodes]`` fees and slippage, per unit of the largest exposure so far.
    best
        The informed policy in the same episodes.
    usual
        ``[episodes]`` usual move of a bar before it was played (``evaluators.crypto.hindsight.usual_move``).
    window
        ``[episodes]`` which window each episode comes from; a window and its mirror share one.
    families
        One label a window.
    """
    return judge(moves(timing, cost, usual, window), informed_moves(best, usual, window), families)


def informed_moves(best: Informed, usual: Array, window: npt.NDArray[np.int64]) -> Array:
    """Return what the informed policy nets in each window, usual moves ``[windows]``."""
    net = moves(best.timing[None], best.cost[None], usual, window)[0]
    return np.asarray(net[:, 0] - net[:, 1])


def forecaster_worth(
    returns: Array, deviation: Array, cost: Array, *, usual: Array, coefficients: Array, repeats: int, seed: int
) -> Array:
    """Return what forecasters net in some windows, usual moves an episode, one for each information coefficient.

    A forecast is ``rho z + sqrt(1 - rho^2) noise`` with ``z`` the coming return over its deviation (Grinold and Kahn,
    Active Portfolio Management); its owner expects ``rho`` deviations of it and trades as :func:`banded`. Returns as
    they happened: so it can be worked out on candles, where nobody knows a conditional mean. The curve is made to rise.

    Parameters
    ----------
    returns, deviation, cost
        ``[bars, episodes]``: log-return of the bar, its standard deviation, cost of trading one times equity.
    usual
        ``[episodes]``.
    coefficients
        Rising, in [0, 1].
    repeats
        Draws of noise a coefficient.
    seed
        Of the noise, which is the same for all coefficients.
    """
    known = deviation > 0.0
    z = np.where(known, returns / np.where(known, deviation, 1.0), 0.0)
    unit = np.where(usual > 0.0, 1.0 / np.where(usual > 0.0, usual, 1.0), 0.0)
    worth = np.zeros(coefficients.size)
    for noise in np.random.default_rng(seed).standard_normal((repeats, *returns.shape)):
        for place, rho in enumerate(coefficients):
            forecast = max(float(rho), LEAST_BELIEF) * deviation * (rho * z + np.sqrt(1.0 - rho**2) * noise)
            sides = banded(forecast, cost)
            net = (sides * returns - spent(sides, cost)).sum(axis=0)
            worth[place] += float((net * unit).mean()) / repeats
    return np.maximum.accumulate(worth)


def equivalent_ic(score: float, se: float, worth: Array, *, coefficients: Array, unit: float) -> EquivalentIC:
    """Return the information coefficient of the forecaster who would score the same.

    Parameters
    ----------
    score, se
        Points and their standard error.
    worth
        As :func:`forecaster_worth` returns it for ``coefficients``.
    unit
        What 100 points are, usual moves an episode.

    Raises
    ------
    ValueError
        When ``unit`` is not above 0: where nothing could be known, no score says anything.
    """
    if not unit > 0.0:
        raise ValueError(f"unit must be above 0 (what 100 points are, in usual moves), got {unit!r}")
    points = 100.0 * np.maximum(worth, 0.0) / unit
    # Up to where forecasts begin to pay for their costs all score 0: a score of 0 is no forecast at all.
    first = max(int(np.searchsorted(points, 0.0, side="right")) - 1, 0)
    rising = np.concatenate([[0.0], points[first + 1 :]])
    at = np.concatenate([coefficients[first : first + 1], coefficients[first + 1 :]])

    def coefficient(value: float) -> float:
        return float(np.interp(value, rising, at)) if value > 0.0 else 0.0

    spread = TWO_SIDED_95 * se
    return EquivalentIC(coefficient(score), coefficient(score - spread), coefficient(score + spread))
