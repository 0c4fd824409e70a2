"""The crypto score where it is known what could be known: exposure times conditional mean, in units of the informed.

On a market of ``backtest.simulators.simulate_knowable`` the harness knows the mean ``m`` of every bar's log-return
given all that came before. An exposure ``e`` that was chosen before the bar has earned ``e r``, whose mean is ``e m``.
So ``sum e m`` has the expectation of ``sum e r`` for every agent, whatever it knows or tries, and none of the luck of
the bars (Rao and Blackwell). Gaps have mean 0 and are not credited. What a transform added to the return counts as it
fell, because only ``r - m`` of the market as it was drawn is known to be luck.

Costs are taken as they fell, paid out of timing by the same shares as ever (``evaluators.crypto.skill``), which look
back only. Both are told in deviations of the bar, known before it and at least half the usual one, so that every bar
says as much as any other however wild its window is.

A stop or target that fills within a bar ends the exposure early. The credit is that of the exposure held at the open:
where within the bar an order fills is luck, for the direction of the bar was drawn before its path.

100 is what the informed policy nets in the same windows: it knows every ``m`` and no ``r``, pays costs, and changes
sides only where the forecast pays for the change. A score is the share of that which was found. Unlike hindsight's, the
informed policy's gain says nothing of where prices went: with the market's sign turned, ``e m`` changes its sign and
the unit does not, so that who does not know the sign has a mean of 0 in any unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
import numpy.typing as npt

from backtest.market import Market
from backtest.rules import Rules
from backtest.simulators import MENU, Channels, Traits, public
from backtest.simulators.draws import MEAN_SIZE
from evaluators.crypto.hindsight import Array, trade_costs, usual_move
from evaluators.crypto.play import Measured
from evaluators.crypto.skill import Skill, by_window, judge
from evaluators.crypto.windows import Episodes, of

BAR_SECONDS = 3600.0
LEAST_DEVIATION = 0.5
"""Of the usual one, by which a bar is divided at least."""


class Truth(NamedTuple):
    """What could be known of the played bars, ``[bars, episodes]``.

    Attributes
    ----------
    mean
        Conditional mean of the bar's log-return from open to close.
    beyond
        The traded return less the one that was drawn: what a transform added.
    unit
        One over the deviation by which the bar is divided.
    cost
        ``[3, bars, episodes]`` cost of trading 0, 1 and 2 times equity, fractions of equity.
    """

    mean: Array
    beyond: Array
    unit: Array
    cost: Array


class Traded(NamedTuple):
    """What a policy does that holds a side over each bar, ``[bars, episodes]``: sides, and gain and cost expected."""

    sides: Array
    timing: Array
    cost: Array


def truth(episodes: Episodes, *, rules: Rules, equity: float) -> Truth:
    """Return what could be known of episodes on knowable markets."""
    known = episodes.known
    if known is None:
        raise ValueError("episodes must be on simulated markets in which something can be known")
    played = slice(episodes.warmup, None)
    mean, drawn, deviation = (field[:, played].T for field in (known.mean, known.drawn, known.deviation))
    opens, closes, volume = (
        np.asarray(getattr(episodes.traded, name))[:, played].T for name in ("open", "close", "volume")
    )
    before = usual_move(of(np.asarray(field)[:, : episodes.warmup] for field in episodes.traded))
    return Truth(
        mean,
        np.log(closes / opens) - drawn,
        1.0 / np.maximum(deviation, LEAST_DEVIATION / MEAN_SIZE * before),
        trade_costs(equity / opens, volume, rules),
    )


def banded(forecast: Array, cost: Array, *, every: int = 1) -> Array:
    """Return the sides ``[bars, ..., episodes]`` of a trader who changes sides where the forecast pays for the change.

    Forecasts that say nothing of each other make the rule the best there is: once in the market, the two sides are
    worth the same from the next bar on, so a change, which costs ``2 cost`` and gains ``2 |forecast|``, pays where the
    forecast exceeds the cost of one trade. Flat is worth less than either side by what it takes to leave it.

    Parameters
    ----------
    forecast
        ``[bars, ..., episodes]`` expected log-return of each bar, known before it.
    cost
        ``[bars, ..., episodes]`` cost of trading one times equity, fraction of equity.
    every
        Bars from one decision to the next.
    """
    sides = np.zeros(forecast.shape)
    held = np.zeros(forecast.shape[1:])
    for bar in range(len(forecast)):
        if bar % every == 0:
            held = np.where(np.abs(forecast[bar]) > cost[bar], np.sign(forecast[bar]), held)
        sides[bar] = held
    return sides


def traded(sides: Array, known: Truth) -> Traded:
    """Return what can be expected of holding ``sides``, flat at first, in deviations."""
    changes = np.abs(np.diff(sides, axis=0, prepend=0.0)).astype(int)
    cost = np.take_along_axis(known.cost, changes[None], axis=0)[0]
    return Traded(sides, sides * known.mean * known.unit, cost * known.unit)


def informed(known: Truth, *, every: int = 1) -> Traded:
    """Return what the informed policy does."""
    return traded(banded(known.mean, known.cost[1], every=every), known)


def reader(episodes: Episodes, known: Truth, *, every: int = 1) -> Traded:
    """Return what somebody does who knows the structures and reads them from the **observed** bars and the channels.

    On a clean feed it is the informed policy, for what a transform hides less: the most that can be had there without
    knowing what was hidden.
    """
    if episodes.known is None:
        raise ValueError("episodes must be on simulated markets in which something can be known")
    observed, seen = episodes.observed, episodes.known
    lean = np.asarray(_read(observed, seen.channels, seen.traits))
    forecast = MEAN_SIZE * (seen.deviation * lean)[:, episodes.warmup :].T
    return traded(banded(forecast, known.cost[1], every=every), known)


@jax.jit
def _read(observed: Market, channels: Channels, traits: Traits) -> jax.Array:
    def one(seen: Market, channels: Channels, traits: Traits) -> jax.Array:
        return public.read(seen.open, seen.close, seen.time, channels, traits, menu=MENU, bar_seconds=BAR_SECONDS)

    leans: jax.Array = jax.vmap(one)(observed, channels, traits)
    return leans


def credited(measured: Measured, known: Truth) -> tuple[Array, Array]:
    """Return timing and cost of each bar, ``[bars, episodes]``, in deviations, per unit of the largest exposure."""
    exposure, largest = np.asarray(measured.exposure), np.asarray(measured.largest)
    own = np.where(largest > 0.0, largest, 1.0)
    return exposure / own * (known.mean + known.beyond) * known.unit, np.asarray(measured.cost) / own * known.unit


def judge_known(
    timing: Array, cost: Array, best: Traded, *, window: npt.NDArray[np.int64], families: Sequence[str]
) -> Skill:
    """Return the skill shown, 100 for the informed policy.

    Parameters
    ----------
    timing, cost
        As :func:`credited` returns them.
    best
        The informed policy in the same episodes.
    window
        ``[episodes]`` which window each episode comes from; a window and its mirror share one.
    families
        One label a window.
    """
    shown = by_window(np.stack([timing, cost], axis=-1), window)
    return judge(shown, net(best, window), families, unit=in_all)


def net(policy: Traded, window: npt.NDArray[np.int64]) -> Array:
    """Return what a policy nets in each window, deviations ``[windows]``."""
    return np.asarray(by_window(policy.timing - policy.cost, window).sum(axis=0))


def in_all(best: Array) -> Array:
    """Return the points of a deviation, one number for all windows: 100 is what the informed net in them on average."""
    return np.full(best.size, 100.0 / best.mean() if best.mean() > 0.0 else 0.0)
