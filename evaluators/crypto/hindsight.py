"""What could have been earned: the best path of positions for somebody who knows the market's future."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from backtest.costs import one_way
from backtest.market import Market
from backtest.rules import Rules

Array: TypeAlias = npt.NDArray[np.float64]

SIDES = np.array([-1.0, 0.0, 1.0])


class Available(NamedTuple):
    """What the market of each episode offered to a position of one times equity.

    Attributes
    ----------
    returns
        ``[decisions, episodes]`` log-return from the open of one decision's bar to the open of the next's (the last:
        to the last close).
    sides
        ``[decisions, episodes]`` the path of -1, 0 and 1 that earns most after costs.
    timing, cost
        ``[episodes]`` what that path earns before costs, and what it costs.
    """

    returns: Array
    sides: Array
    timing: Array
    cost: Array


def available(traded: Market, *, decision_every: int, rules: Rules, equity: float) -> Available:
    """Return what a market offered; fields of ``traded`` are ``[episodes, bars]`` and hold the traded bars only."""
    opens = np.asarray(traded.open)[:, ::decision_every]
    ends = np.concatenate([opens[:, 1:], np.asarray(traded.close)[:, -1:]], axis=1)
    returns = np.log(ends / opens).T
    volume = np.asarray(traded.volume)[:, ::decision_every]
    best, sides = best_path(returns, trade_costs((equity / opens).T, volume.T, rules))
    timing = (sides * returns).sum(axis=0)
    return Available(returns, sides, timing, timing - best)


def usual_move(before: Market) -> Array:
    """Return the mean absolute log-return of a bar in each episode before it is played, ``[episodes]``.

    At least half of the median over the episodes, so that a market that stood still before it is played does not
    outweigh all others. It knows nothing of the bars that are played: ``before`` holds the bars shown first.
    """
    moves = np.abs(np.diff(np.log(np.asarray(before.close)), axis=1)).mean(axis=1)
    return np.asarray(np.maximum(moves, 0.5 * np.median(moves)))


def trade_costs(unit: Array, volume: Array, rules: Rules) -> Array:
    """Return the cost of trading by 0, 1 and 2 times equity, ``[3, decisions, episodes]``, fractions of equity.

    Parameters
    ----------
    unit, volume
        ``[decisions, episodes]`` what equity buys, and what is traded in the bar, base currency.
    """
    change = np.arange(3.0)[:, None, None]
    return np.asarray(
        change * one_way(quantity=jnp.asarray(change * unit), volume=jnp.asarray(volume[None]), rules=rules)
    )


def best_path(returns: Array, costs: Array) -> tuple[Array, Array]:
    """Return the largest sum of ``side * return - cost of changing sides`` and the sides that reach it.

    Backward induction over three sides; starts flat and may end in any.
    """
    decisions, episodes = returns.shape
    steps = np.abs(SIDES[:, None] - SIDES[None, :]).astype(int)
    ahead = np.zeros((3, episodes))
    choice = np.zeros((decisions, 3, episodes), dtype=int)
    for t in range(decisions - 1, -1, -1):
        earned = SIDES[:, None] * returns[t] + ahead
        options = earned[None] - costs[steps, t]
        choice[t] = options.argmax(axis=1)
        ahead = options.max(axis=1)
    sides = np.zeros((decisions, episodes))
    held = np.full(episodes, 1)
    for t in range(decisions):
        held = choice[t, held, np.arange(episodes)]
        sides[t] = SIDES[held]
    return ahead[1], sides
