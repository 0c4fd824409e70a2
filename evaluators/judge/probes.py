"""Criteria whose truth code knows: about one call in twenty, and at least one a reply, asks one of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from evaluators.judge.text import clean, collapsed

ONE_IN = 20
_SYLLABLES = (
    "bar",
    "dor",
    "fen",
    "gal",
    "hul",
    "kem",
    "lor",
    "mir",
    "nev",
    "ost",
    "pel",
    "quin",
    "rav",
    "sel",
    "tov",
    "vur",
)
_FALSE_FORMS = (
    "The response names {name} as the counterparty and puts the exposure at ${amount:,}.",
    "The response cites the {name} ruling of {year} and applies it to the case.",
    "The response states that {name} reported {amount:,} contracts outstanding.",
)
_TRUE_FORM = "The response contains this passage: {passage}"
NEUTRAL_REPLY = (
    "The bond trades at a discount because its coupon is below the market yield. Its duration is 4.2 years, so a rise "
    "of one percentage point in the yield lowers the price by about 4.2 percent."
)
NEUTRAL_TASK = "Explain why the bond trades at a discount and what a rise in yields does to its price."


class Probe(NamedTuple):
    """A criterion with its known verdict."""

    criterion: str
    truth: bool


def count(criteria: int) -> int:
    """Return how many probes go with so many judged criteria."""
    return -(-criteria // ONE_IN)


def false_probe(reply: str, rng: random.Random) -> Probe:
    """Return a criterion that ``reply`` cannot meet: it names something that does not exist and is not in the reply."""
    spoken = clean(reply).casefold()
    while True:
        name = "".join(rng.sample(_SYLLABLES, 3)).capitalize()
        if name.casefold() not in spoken:
            break
    form = rng.choice(_FALSE_FORMS)
    return Probe(form.format(name=name, amount=rng.randint(10**6, 10**8), year=rng.randint(1960, 1999)), False)


def true_probe(reply: str, rng: random.Random) -> Probe:
    """Return a criterion that ``reply`` meets: a passage of it."""
    spoken = collapsed(reply).split(" ")
    start = rng.randrange(max(1, len(spoken) - 11))
    return Probe(_TRUE_FORM.format(passage=" ".join(spoken[start : start + 12])[:200]), True)


def choose(reply: str, *, criteria: int, faults: bool, rng: random.Random) -> Sequence[Probe]:
    """Return the probes of one reply: a false one first, a true one when the rubric has faults to overlook."""
    kinds = [False] + ([True] if faults else [])
    while len(kinds) < count(criteria):
        kinds.append(not kinds[-1])
    return [true_probe(reply, rng) if kind else false_probe(reply, rng) for kind in kinds]
