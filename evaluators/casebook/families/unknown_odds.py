"""Race to 10M: wealth staked again and again on strategies whose odds are not told."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluators.casebook.family import Drawn, Template, Turn
from evaluators.casebook.repeated import SCORING
from evaluators.casebook.shares import Choice, Shares
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Race to 10M"
STRATEGIES, FAVOURABLE = 8, 4
MOST = 0.9
"""Of wealth may be staked together: what is lost at worst leaves something to go on with."""
SETS, STAY = 2, 6
"""Sets of strategies, one after the other, and the stretches that each stays: nobody is lucky with both."""
FIRST_PLAYS, PLAYS = 60, 30
ROUNDS = SETS * STAY
NAMES = (
    "Anchor", "Beacon", "Cobalt", "Delta", "Ember", "Falcon", "Glacier", "Harbor", "Indigo", "Jasper", "Kite", "Maple",
    "Lantern", "Nimbus", "Onyx", "Prairie", "Quartz", "Raven", "Sage", "Timber", "Ultra", "Violet", "Willow", "Zephyr",
)  # fmt: skip
STEPS, HALVINGS = 100, 60
FLAT = 1e-11
"""Slope below which a stake is best: the growth lost by it is beyond all digits."""

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Odds:
    """The joint law of one play of all strategies.

    Attributes
    ----------
    chances
        Of a win, a strategy each.
    wins, losses
        What a stake of 1 brings, and what it loses.
    pair
        Two strategies that hang together, if any.
    together
        How often, of all plays, the two are decided by one and the same draw.
    """

    chances: tuple[float, ...]
    wins: tuple[float, ...]
    losses: tuple[float, ...]
    pair: tuple[int, int] | None = None
    together: float = 0.0

    @cached_property
    def payoffs(self) -> Array:
        """What a stake of 1 brings, a row for each way that all strategies can end."""
        return np.where(self._won, np.array(self.wins), -np.array(self.losses))

    @cached_property
    def probabilities(self) -> Array:
        """How likely each row is."""
        chances = np.array(self.chances)
        each = np.where(self._won, chances, 1 - chances)
        independent: Array = each.prod(axis=1)
        if self.pair is None:
            return independent
        one, other = self.pair
        rest: Array = np.delete(each, self.pair, axis=1).prod(axis=1)
        low, high = sorted((self.chances[one], self.chances[other]))
        likelier = one if self.chances[one] > self.chances[other] else other
        both, neither = self._won[:, one] & self._won[:, other], ~(self._won[:, one] | self._won[:, other])
        common = np.where(both, low, np.where(neither, 1 - high, np.where(self._won[:, likelier], high - low, 0.0)))
        return (1 - self.together) * independent + self.together * common * rest

    @property
    def _won(self) -> NDArray[np.bool_]:
        return _ways(len(self.chances))

    def growth(self, stakes: Choice | Array) -> float:
        """Return the expected logarithm of what a play multiplies wealth by."""
        return float(self.probabilities @ np.log1p(self.payoffs @ np.asarray(stakes)))

    def best(self) -> Array:
        """Return the stakes of the highest growth, by Newton's method on those that are not held at 0."""
        stakes = np.zeros(len(self.chances))
        for _ in range(STEPS):
            wealth = 1 + self.payoffs @ stakes
            slope = self.payoffs.T @ (self.probabilities / wealth)
            free = (stakes > 0) | (slope > 0)
            if np.abs(slope[free]).max(initial=0.0) < FLAT:
                return stakes
            rows = self.payoffs[:, free]
            bend = (rows.T * (self.probabilities / wealth**2)) @ rows
            step: Array = np.linalg.solve(bend, slope[free]).astype(np.float64)
            stakes = self._climb(stakes, free, step)
        raise RuntimeError(f"no best stakes in {STEPS} steps: {self}")

    def _climb(self, stakes: Array, free: NDArray[np.bool_], step: Array) -> Array:
        """Return the stakes after as much of the step as leaves no ruin in sight and loses no growth."""
        now, size = self.growth(stakes), 1.0
        for _ in range(HALVINGS):
            tried = stakes.copy()
            tried[free] = np.maximum(0.0, stakes[free] + size * step)
            if (self.payoffs @ tried).min() > -1.0 and self.growth(tried) >= now - 1e-15:
                return tried
            size /= 2
        raise RuntimeError(f"no step of Newton's gains: {self}")


@cache
def _ways(count: int) -> NDArray[np.bool_]:
    """Return every way in which so many strategies can end, a row each: which of them win."""
    won: NDArray[np.bool_] = (np.arange(2**count)[:, None] >> np.arange(count)) % 2 == 1
    return won


@dataclass(frozen=True)
class Staking:
    """What staking is expected to bring: the odds of each stretch, and the plays in one."""

    odds: tuple[Odds, ...]
    plays: int

    def gains(self, choices: Sequence[Choice]) -> list[float]:
        """Return the expected log growth of every stretch."""
        return [self.plays * odds.growth(stakes) for odds, stakes in zip(self.odds, choices, strict=True)]


def _chances(rng: random.Random, wins: list[float], losses: list[float]) -> list[float]:
    """Return chances of which the first have an edge and the others lose more than those gain."""
    edges = [rng.uniform(0.13, 0.24) for _ in range(FAVOURABLE)]
    edges += [-rng.uniform(0.10, 0.30) for _ in range(STRATEGIES - FAVOURABLE)]
    # by the root of the odds, so that no strategy alone has most of the growth
    return [
        (edge * math.sqrt(win / loss) + 1) * loss / (win + loss)
        for edge, win, loss in zip(edges, wins, losses, strict=True)
    ]


def _odds(rng: random.Random, difficulty: Difficulty) -> tuple[Odds, ...]:
    """Return the odds of each stretch that a set of strategies stays."""
    widest = 14 if difficulty == "easy" else 30
    wins = [rng.randint(7, widest) / 10 for _ in range(STRATEGIES)]
    losses = [1.0 if difficulty == "easy" else rng.randint(5, 10) / 10 for _ in range(STRATEGIES)]
    starts = _chances(rng, wins, losses)
    order = rng.sample(range(STRATEGIES), STRATEGIES)
    pair, together, ends = None, 0.0, list(starts)
    if difficulty == "expert":
        # of all, so that hanging together tells nothing of an edge
        one, other = rng.sample(range(STRATEGIES), 2)
        pair, together = (one, other), rng.uniform(0.5, 0.8)
        # one loses the edge that it has, another gains one
        for place in (FAVOURABLE - 1, FAVOURABLE):
            fair = losses[place] / (wins[place] + losses[place])
            ends[place] = fair + (fair - starts[place]) * rng.uniform(0.8, 1.1)
    told: list[Odds] = []
    for stretch in range(STAY):
        part = stretch / (STAY - 1)
        chances = [a + part * (b - a) for a, b in zip(starts, ends, strict=True)]
        told.append(
            Odds(
                tuple(chances[n] for n in order),
                tuple(wins[n] for n in order),
                tuple(losses[n] for n in order),
                pair,
                together,
            )
        )
    return tuple(told)


def _outcomes(rng: random.Random, odds: Odds, plays: int) -> list[list[bool]]:
    """Return, a strategy each, which of its plays were won."""
    draws = [[rng.random() for _ in range(plays)] for _ in odds.chances]
    if odds.pair:
        one, other = odds.pair
        together = [rng.random() < odds.together for _ in range(plays)]
        draws[other] = [
            of_one if same else own for of_one, own, same in zip(draws[one], draws[other], together, strict=True)
        ]
    return [[draw < chance for draw in row] for row, chance in zip(draws, odds.chances, strict=True)]


def _written(won: list[bool], difficulty: Difficulty) -> str:
    if difficulty == "easy":
        return f"{sum(won)} of {len(won)}"
    digits = "".join("1" if each else "0" for each in won)
    return " ".join(digits[start : start + 10] for start in range(0, len(digits), 10))


_FIXED = "Plays are independent, also of each other strategy, and no chance ever changes."
_HIDDEN = {
    "easy": _FIXED,
    "hard": _FIXED,
    "expert": "Plays are independent of earlier ones. Two of each eight strategies hang together: they win or lose in "
    "the same play more often than by chance; the others are independent of each other and of these. The chances of "
    "some strategies drift: they are the same on all plays of a stretch and move by the same amount from each stretch "
    "to the next; the plays before a strategy's first stretch have the chances of that stretch. Which strategies hang "
    "together or drift, and how much, is not told.",
}


def _rules(difficulty: Difficulty) -> str:
    shown = (
        "how many plays each strategy has won"
        if difficulty == "easy"
        else "how every play of each strategy ended, in order, 1 for a win and 0 for a loss (the same place is the "
        "same play everywhere)"
    )
    return (
        f"There are {ROUNDS} messages. You answer each with stakes for the next {PLAYS} plays, a stretch: for every "
        "strategy the fraction of your wealth that is staked on it. All strategies are played at once in every play, "
        "and each stake is its fraction of the wealth right before the play. What is not staked stays as it is. The "
        f"messages show {shown}, staked on or not. After stretch {STAY} the eight strategies end; eight others take "
        f"their places, whose terms and last {FIRST_PLAYS} plays that message shows instead. What a win pays, besides "
        "the stake itself, and what a loss costs is told as a multiple of the stake. "
        "The chance of a win is not told: some "
        f"strategies have an edge, others lose in the long run. {_HIDDEN[difficulty]} A stretch counts {PLAYS} times "
        "the expected natural logarithm of the factor by which one play multiplies wealth, under the true chances and "
        "over all ways in which the strategies can end together; what happened does not count. Staking nothing counts "
        f"0, and staking too much less than 0. The total adds up all stretches. {SCORING} A reply that does not have "
        "the form asked for, or none, means no stake in its stretch."
    )


_MORE = (
    "Stretch {done} of {rounds} is over. Plays {first} to {last}:\n\n{table}\n\nYour stakes for the next {plays} "
    "plays?",
    "Plays {first} to {last} ended so:\n\n{table}\n\nWhat do you stake on the next {plays}?",
    "{table}\n\nThese were plays {first} to {last}. State your stakes for the {plays} to come.",
)


_OTHERS = (
    "Stretch {done} of {rounds} is over, and with it these strategies. Eight others are offered:\n\n{table}\n\nYour "
    "stakes for the next {plays} plays?",
    "After {done} of {rounds} stretches there are eight new strategies.\n\n{table}\n\nWhat do you stake on the next "
    "{plays} plays?",
)


def _terms(rng: random.Random, among: Sequence[str], odds: Odds) -> str:
    rows = [[name, f"{win:g}", f"{loss:g}"] for name, win, loss in zip(among, odds.wins, odds.losses, strict=True)]
    return show(rng, ["strategy", "pay of a win", "cost of a loss"], rows)


def unknown_odds(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Stake parts of wealth, see what won, and stake again."""
    names = rng.sample(NAMES, SETS * STRATEGIES)
    sets = [tuple(names[start : start + STRATEGIES]) for start in range(0, len(names), STRATEGIES)]
    odds = tuple(each for _ in sets for each in _odds(rng, difficulty))
    law = Staking(odds, PLAYS)
    best: list[Choice] = []
    for number, each in enumerate(odds):
        same = number > 0 and each == odds[number - 1]
        best.append(best[-1] if same else tuple(map(float, each.best())))
    if max(math.fsum(choice) for choice in best) > MOST:
        # the limit of all stakes would bind
        return unknown_odds(rng, difficulty)
    asked = [
        Shares(
            "stakes", "the fraction of your wealth that is staked on it in every play", sets[n // STAY], MOST, choice
        )
        for n, choice in enumerate(best)
    ]
    outcomes = "number of wins" if difficulty == "easy" else "record of plays"
    texts = []
    for stretch in range(ROUNDS):
        new, among = stretch % STAY == 0, sets[stretch // STAY]
        plays, shown = (FIRST_PLAYS, odds[stretch]) if new else (PLAYS, odds[stretch - 1])
        won = [_written(each, difficulty) for each in _outcomes(rng, shown, plays)]
        table = show(rng, ["strategy", outcomes], [[name, each] for name, each in zip(among, won, strict=True)])
        last = FIRST_PLAYS + stretch * PLAYS
        if new:
            table = f"{_terms(rng, among, shown)}\n\nPlays {last - plays + 1} to {last}:\n\n{table}"
        frame = rng.choice(_OTHERS if new else _MORE) if stretch else "{table}"
        texts.append(
            frame.format(done=stretch, rounds=ROUNDS, first=last - plays + 1, last=last, plays=PLAYS, table=table)
        )
    start = rng.randint(2, 90) * 10_000
    return Drawn(
        {"rules": _rules(difficulty), "table": texts[0], "start": f"${start:,}"},
        (),
        tuple(Turn(text, (), shares) for text, shares in zip(texts[1:], asked[1:], strict=True)),
        {
            "chances": [list(each.chances) for each in odds],
            "wins": [list(each.wins) for each in odds],
            "losses": [list(each.losses) for each in odds],
            "pairs": [list(each.pair) if each.pair else None for each in odds],
            "together": [each.together for each in odds],
            "plays": PLAYS,
        },
        shares=asked[0],
        law=law,
    )


TEMPLATES = (
    Template(
        "unknown-odds",
        CATEGORY,
        unknown_odds,
        (
            "With {start} the race to $10,000,000 begins, on strategies of which nobody knows how good they are. "
            "{rules}\n\n{table}\n\nYour first stakes?",
            "{rules} Your wealth is {start}, your goal $10,000,000. Terms, and what is known so far:\n\n{table}\n\n"
            "Stake.",
            "Eight strategies are offered:\n\n{table}\n\nThe faster {start} grows, the sooner it is $10,000,000. "
            "{rules} State the first stakes.",
            "How fast can {start} grow towards $10,000,000 when the odds have to be found out on the way? {rules}\n\n"
            "{table}",
            "{table}\n\nThese are the terms and first results of eight strategies. Your account holds {start} and is "
            "meant to reach $10,000,000. {rules} Begin.",
        ),
        (
            "A desk starts with {start} and is asked for $10,000,000. It may use eight strategies; here are their "
            "terms and results:\n\n{table}\n\n{rules} Decide on the stakes.",
            "Edges exist, but not everywhere. {rules} The start is {start}, the target $10,000,000.\n\n{table}",
        ),
    ),
)
