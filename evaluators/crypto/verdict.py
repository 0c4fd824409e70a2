"""By what a task is judged: what could be known of simulated markets, what hindsight would have done on candles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol, TypeAlias

import numpy as np

from backtest.market import Market
from backtest.rules import Rules
from evaluators.contract import Json
from evaluators.crypto import hindsight, knowledge
from evaluators.crypto.equivalent import COEFFICIENTS, EquivalentIC, equivalent_ic, forecaster_worth
from evaluators.crypto.hindsight import Array, usual_move
from evaluators.crypto.play import Measured
from evaluators.crypto.skill import Skill, best_moves, judge, moves
from evaluators.crypto.windows import Episodes, of

SHARE_OF_HINDSIGHT = 0.25
"""100 points on candles, as a share of what hindsight nets: nobody comes near it, and an information coefficient of
about 0.25 then earns 50."""
REPEATS, ENOUGH = 4, 100
"""Draws of the noise of forecasters, of whom each plays every episode; one draw where episodes have as many bars."""


Said: TypeAlias = Callable[[Market, knowledge.Truth], knowledge.Traded]
"""What the strategy that says the structure nets, of a market ``[episodes, bars]`` that it reads."""


class Verdict(Protocol):
    """What a session asks of its markets."""

    @property
    def sides(self) -> Array:
        """``[decisions, episodes]`` -1, 0 and 1: what has 100."""
        ...

    def skill(self, measured: Measured) -> Skill:
        """Return the skill that fields ``[bars, episodes]`` show."""
        ...

    def equivalent(self, score: float, se: float) -> EquivalentIC | None:
        """Return the information coefficient of who would score the same; None where nothing was to be had."""
        ...

    def details(self, shown: Skill) -> dict[str, Json]:
        """Return what stands beside it."""
        ...


def verdict(
    episodes: Episodes, *, families: Sequence[str], every: int, rules: Rules, equity: float, said: Said | None = None
) -> Verdict:
    """Return what judges a task: by the conditional mean where it is known, by realised returns elsewhere.

    Where a strategy is declared once, 100 is what can be ``said``: nobody tells it the hidden variance.
    """
    if episodes.known is None:
        return Realised.of(episodes, families=families, every=every, rules=rules, equity=equity)
    known = knowledge.truth(episodes, rules=rules, equity=equity)
    if said is None:
        best = knowledge.informed(known, every=every)
        return Conditional(
            episodes, tuple(families), every, known, best, partial(knowledge.reader, episodes, known, every=every)
        )
    best = said(episodes.traded, known)
    return Conditional(episodes, tuple(families), every, known, best, partial(said, episodes.observed, known))


@dataclass(frozen=True)
class Conditional:
    """By conditional mean, in units of the informed policy."""

    episodes: Episodes
    families: tuple[str, ...]
    every: int
    known: knowledge.Truth
    best: knowledge.Traded
    reached: Callable[[], knowledge.Traded]

    @property
    def sides(self) -> Array:
        """What the informed policy holds."""
        return self.best.sides[:: self.every]

    def skill(self, measured: Measured) -> Skill:
        """Return the share that was found of what the informed policy nets."""
        timing, cost = knowledge.credited(measured, self.known)
        return knowledge.judge_known(timing, cost, self.best, window=self.episodes.window, families=self.families)

    @cached_property
    def unit(self) -> float:
        """What 100 points are, deviations a window."""
        return float(knowledge.net(self.best, self.episodes.window).mean())

    def details(self, shown: Skill) -> dict[str, Json]:
        """Return points by structure, and what was in reach of who reads the structure from the observed bars."""
        reached = knowledge.net(self.reached(), self.episodes.window)
        return {
            "credit": "conditional mean",
            "structures": self._structures(shown),
            "reachable": 100.0 * float(reached.mean()) / self.unit if self.unit > 0.0 else 0.0,
        }

    def _structures(self, shown: Skill) -> list[dict[str, Json]]:
        """Return for each structure what was netted in its windows before costs were collected, and by the informed."""
        if self.episodes.known is None:
            return []
        first = [int(np.flatnonzero(self.episodes.window == window)[0]) for window in range(len(self.families))]
        names = np.array([self.episodes.known.structure[index] for index in first])
        offered = knowledge.net(self.best, self.episodes.window)
        offered = offered * knowledge.in_all(offered)
        found = shown.points[:, 0] - shown.points[:, 1]
        return [
            {
                "structure": str(name),
                "windows": int((names == name).sum()),
                "points": float(found[names == name].mean()),
                "offered": float(offered[names == name].mean()),
            }
            for name in np.unique(names)
        ]

    def equivalent(self, score: float, se: float) -> EquivalentIC | None:
        """Return the information coefficient of who would score the same."""
        return equivalent_ic(score, se, self._worth, unit=self.unit) if self.unit > 0.0 else None

    @cached_property
    def _worth(self) -> Array:
        if self.episodes.known is None:
            return np.zeros_like(COEFFICIENTS)
        played = slice(self.episodes.warmup, None)
        drawn, deviation = (field[:, played].T for field in (self.episodes.known.drawn, self.episodes.known.deviation))
        return forecaster_worth(
            drawn, deviation, self.known.cost, unit=self.known.unit, repeats=_repeats(drawn), seed=0
        )


@dataclass(frozen=True)
class Realised:
    """By what happened, in units of a share of what perfect hindsight nets."""

    episodes: Episodes
    families: tuple[str, ...]
    available: hindsight.Available
    usual: Array
    cost: Array

    @classmethod
    def of(cls, episodes: Episodes, *, families: Sequence[str], every: int, rules: Rules, equity: float) -> Realised:
        """Return the verdict on episodes whose decisions lie ``every`` bars apart."""
        before, traded = (
            of(np.asarray(field)[:, part] for field in episodes.traded)
            for part in (slice(episodes.warmup), slice(episodes.warmup, None))
        )
        opens, volume = (np.asarray(field)[:, ::every].T for field in (traded.open, traded.volume))
        return cls(
            episodes,
            tuple(families),
            hindsight.available(traded, decision_every=every, rules=rules, equity=equity),
            usual_move(before),
            hindsight.trade_costs(equity / opens, volume, rules),
        )

    @property
    def sides(self) -> Array:
        """The best path."""
        return self.available.sides

    def skill(self, measured: Measured) -> Skill:
        """Return timing after costs, 100 for :data:`SHARE_OF_HINDSIGHT`."""
        timing, largest = np.asarray(measured.timing), np.asarray(measured.largest)
        cost = np.asarray(measured.cost) / np.where(largest > 0.0, largest, 1.0)
        window = self.episodes.window
        best = best_moves(self.available, self.usual, window)
        return judge(moves(timing, cost, self.usual, window), SHARE_OF_HINDSIGHT * best, self.families)

    def details(self, shown: Skill) -> dict[str, Json]:
        """Return that nobody knew what could be known."""
        return {"credit": "realised"}

    def equivalent(self, score: float, se: float) -> EquivalentIC | None:
        """Return the information coefficient, at the horizon of one decision, of who would score the same."""
        unit = SHARE_OF_HINDSIGHT * float(best_moves(self.available, self.usual, self.episodes.window).mean())
        return equivalent_ic(score, se, self._worth, unit=unit) if unit > 0.0 else None

    @cached_property
    def _worth(self) -> Array:
        returns = self.available.returns
        spread = np.broadcast_to(np.sqrt(np.mean(returns**2, axis=0)), returns.shape)
        unit = np.where(self.usual > 0.0, 1.0 / np.where(self.usual > 0.0, self.usual, 1.0), 0.0)
        return forecaster_worth(returns, spread, self.cost, unit=unit, repeats=_repeats(returns), seed=0)


def _repeats(returns: Array) -> int:
    return REPEATS if len(returns) < ENOUGH else 1
