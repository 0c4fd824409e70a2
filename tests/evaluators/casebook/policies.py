"""Who plays a decision that is taken again and again: some know nothing, some follow the last winner, one learns.

Each policy is given the messages alone, as an agent would be, and a source of random numbers.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluators.casebook.families.unknown_odds import Odds
from evaluators.contract import Case
from evaluators.validity import converse

Array = NDArray[np.float64]
Message = Mapping[str, Any]


class Told(NamedTuple):
    """What the messages have told so far: outcomes (time x name), and the index beside them where it is shown."""

    names: tuple[str, ...]
    returns: Array
    index: Array
    last: int


Rule = Callable[["Player", Told], Array]


def numbers_of(name: str, text: str) -> list[float]:
    """Return the series in the row of a name: returns, wins and losses as 1 and 0, or those in ``12 of 30``."""
    found = re.search(rf"\b{name}\b[^\d\n]*?(-?\d+(?:, -?\d+){{5,}})", text)
    if found:
        return [float(each) for each in found[1].split(", ")]
    found = re.search(rf"\b{name}\b[^\d\n]*?([01]{{10}}(?: [01]{{10}})*)", text)
    if found:
        return [float(each) for each in found[1].replace(" ", "")]
    found = re.search(rf"\b{name}\b[^\d\n]*?(\d+) of (\d+)", text)
    return [1.0] * int(found[1]) + [0.0] * (int(found[2]) - int(found[1])) if found else []


class Player:
    """Keeps what it was shown and answers every message by its rule."""

    def __init__(self, rule: Rule, seed: str) -> None:
        self.rule, self.rng = rule, random.Random(seed)
        self.first, self.terms_in, self.key, self.turns, self.turn = "", "", "", 1, 0
        self.names: tuple[str, ...] = ()
        self.held: Array = np.zeros(0)
        self.returns: list[Array] = []
        self.index: list[Array] = []
        self.memory: dict[str, Array] = {}

    def __call__(self, body: Message) -> str:
        text = body["question"]
        ((key, inner),) = body["answer_schema"]["properties"].items()
        names = tuple(inner["properties"])
        self.first, self.turns, self.turn = self.first or text, body["turns"], body["turn"]
        self.key = key
        if names != self.names:
            # other names: nothing is known of them, and nothing is held
            self.names, self.terms_in, self.held = names, text, np.zeros(len(names))
            self.returns, self.index, self.memory = [], [], {}
        self.returns.append(np.array([numbers_of(name, text) for name in names]).T)
        self.index.append(np.array(numbers_of("market index", text)))
        told = Told(names, np.concatenate(self.returns), np.concatenate(self.index), len(self.returns[-1]))
        shares = np.maximum(0.0, self.rule(self, told))
        most = 1.0 if key == "shares" else 0.9
        self.held = shares * min(1.0, most / shares.sum()) if shares.sum() > 0 else shares
        return json.dumps({key: dict(zip(names, map(float, self.held), strict=True))})

    def number(self, pattern: str, otherwise: float = 0.0) -> float:
        """Return a number that the first message tells."""
        found = re.search(pattern, self.first)
        return float(found[1]) if found else otherwise

    def terms(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        """Return what a win pays and a loss costs."""
        found = [re.search(rf"\b{name}\b[^\d\n]*?(\d[\d.]*)[^\d\n]+?(\d(?:\.\d)?)\b", self.terms_in) for name in names]
        rows = np.array([[float(each[1]), float(each[2])] for each in found if each])
        return rows[:, 0], rows[:, 1]


def all_alike(total: float) -> Rule:
    return lambda player, told: np.full(len(told.names), total / len(told.names))


def some(count: int, share: float, *, for_good: bool = True) -> Rule:
    """Return who gives the same share to some at random, for good or anew in each round."""

    def rule(player: Player, told: Told) -> Array:
        if "picked" not in player.memory or not for_good:
            picked = np.zeros(len(told.names))
            picked[player.rng.sample(range(len(told.names)), count)] = share
            player.memory["picked"] = picked
        return player.memory["picked"]

    return rule


def at_random(total: float) -> Rule:
    """Return who divides a part of the capital at random in every round."""

    def rule(player: Player, told: Told) -> Array:
        parts = np.array([player.rng.expovariate(1.0) for _ in told.names])
        return total * parts / parts.sum()

    return rule


def last_winner(share: float) -> Rule:
    """Return who is with whoever earned most in the latest message."""

    def rule(player: Player, told: Told) -> Array:
        shares = np.zeros(len(told.names))
        shares[told.returns[-told.last :].sum(axis=0).argmax()] = share
        return shares

    return rule


KNOW_NOTHING: dict[str, Rule] = {
    "everything on all": all_alike(0.9),
    "a little on all": all_alike(0.2),
    "everything on one": some(1, 0.9),
    "everything on another one each time": some(1, 0.9, for_good=False),
    "a quarter on one": some(1, 0.25),
    "two for good": some(2, 0.2),
    "three for good": some(3, 0.18),
    "four for good": some(4, 0.15),
    "half of them for good": some(5, 0.12),
    "four others each time": some(4, 0.15, for_good=False),
    "at random each time": at_random(0.5),
    "everything on the last winner": last_winner(0.9),
    "a quarter on the last winner": last_winner(0.25),
}


def best_record(player: Player, told: Told) -> Array:
    """Be with whoever has earned most so far."""
    shares = np.zeros(len(told.names))
    shares[told.returns.sum(axis=0).argmax()] = 0.9
    return shares


def record_as_it_is(player: Player, told: Told) -> Array:
    """Take every record for the truth: means without the market and without doubt, or shares of wins."""
    if player.key == "shares":
        return told.returns.mean(axis=0) / (2 * slippage(player))
    return stakes_of(player, told, told.returns.mean(axis=0))


def slippage(player: Player) -> float:
    return player.number(r"costs slippage of ([\d.]+) s\^2")


PRIOR_SKILL, PRIOR_DEVIATION = -2.0, 12.0
PRIOR_PLAYS = 25.0


def learner(memory_plays: float = 1e9, change: float = 0.0) -> Rule:
    """Return a Bayesian learner: normal skills, or Beta chances with Kelly stakes.

    Older plays fade with ``memory_plays``; a skill may have changed with the probability ``change``.
    """

    def rule(player: Player, told: Told) -> Array:
        if player.key == "stakes":
            weights = np.exp(-np.arange(len(told.returns))[::-1] / memory_plays)
            wins, losses = player.terms(told.names)
            before = PRIOR_PLAYS * 0.97 * losses / (wins + losses)
            chances = (before + weights @ told.returns) / (PRIOR_PLAYS + weights.sum())
            return stakes_of(player, told, chances)
        skills = np.array([skill_of(own, change) for own in without_market(told).T])
        # a fee is worth paying only beyond a band around what is held
        band = player.number(r"Moving capital costs ([\d.]+) bp") / (2 * slippage(player) * 30.0)
        target = np.maximum(0.0, skills / (2 * slippage(player)))
        return np.clip(player.held, target - band, target + band)

    return rule


def without_market(told: Told) -> Array:
    """Return the returns less what comes from the index, or from the strongest common factor where it is clear."""
    returns = told.returns
    centred = returns - returns.mean(axis=0)
    if told.index.size:
        index = told.index - told.index.mean()
        return np.asarray(returns - np.outer(told.index, index @ returns / (index @ index)))
    sizes, directions = np.linalg.eigh(np.cov(centred.T))
    if sizes[-1] < 3 * sizes[-2]:
        return returns
    beta = directions[:, -1]
    for _ in range(3):
        chance = (centred - np.outer(centred @ beta / (beta @ beta), beta)).var(axis=0) + 1.0
        factor = returns @ (beta / chance) / (beta @ (beta / chance))
        beta = (factor - factor.mean()) @ centred / ((factor - factor.mean()) ** 2).sum()
    return np.asarray(returns - np.outer(factor, beta))


def skill_of(own: Array, change: float) -> float:
    """Return the posterior mean of today's skill, over all days on which it may have changed."""
    noise, prior = own.var(), PRIOR_DEVIATION**2

    def posterior(days: Array) -> tuple[float, float]:
        """Return the mean, and the logarithm of how likely the days are, up to what is the same for all divisions."""
        variance = 1 / (1 / prior + len(days) / noise)
        mean = variance * (PRIOR_SKILL / prior + days.sum() / noise)
        return mean, 0.5 * (np.log(variance / prior) + mean**2 / variance - PRIOR_SKILL**2 / prior)

    always, likely = posterior(own)
    found = [(always, np.log(1 - change) + likely)]
    starts = range(60, len(own), 10)
    for start in starts if change else ():
        (_, before), (mean, after) = posterior(own[:start]), posterior(own[start:])
        found.append((mean, np.log(change / len(starts)) + before + after))
    weights = np.exp([chance - max(each for _, each in found) for _, chance in found])
    return float(weights @ [mean for mean, _ in found] / weights.sum())


def stakes_of(player: Player, told: Told, chances: Array) -> Array:
    """Return Kelly stakes on chances, the two outcomes that agree most often taken for a pair where they clearly do."""
    wins, losses = player.terms(told.names)
    pair, together = None, 0.0
    if "hang together" in player.first:
        with np.errstate(invalid="ignore", divide="ignore"):
            # a strategy that has only lost so far goes with nothing
            correlation = np.nan_to_num(np.corrcoef(told.returns.T)) - np.eye(len(told.names))
        one, other = divmod(int(correlation.argmax()), len(told.names))
        if correlation[one, other] > 4 / np.sqrt(len(told.returns)):
            pair, together = (one, other), float(min(0.9, correlation[one, other]))
    sure = np.clip(chances, 0.02, 0.98)
    return Odds(tuple(map(float, sure)), tuple(map(float, wins)), tuple(map(float, losses)), pair, together).best()


LEARNER = learner()
WARY = learner(memory_plays=250.0, change=0.2)
"""Who expects changes."""


def earned(case: Case, rule: Rule, seed: str = "") -> float:
    """Return what a rule is worth on a case."""
    score, replies = converse(case, Player(rule, f"{seed}/{case.task.task_id}"))
    assert all("note" not in each for each in score.details["rounds"]), (score.reason, replies[0])
    return score.value
