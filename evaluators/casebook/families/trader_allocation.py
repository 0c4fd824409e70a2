"""Copy Trading: capital allocated anew, stretch after stretch, among traders whose skill is not told."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluators import names
from evaluators.casebook.family import Drawn, Template, Turn
from evaluators.casebook.repeated import SCORING
from evaluators.casebook.shares import Choice, Shares
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Copy Trading"
TRADERS, SKILLED = 10, 5
"""Half of the traders lose, and more than the others earn: whoever picks some of them blindly reaches too little."""
CASTS, STAY = 2, 6
"""Sets of traders, one after the other, and the stretches that each stays: nobody is lucky with both."""
FIRST_DAYS, DAYS = 40, 10
ROUNDS = CASTS * STAY
DEVIATION = (25, 50)
"""Of chance, in basis points a day."""


@dataclass(frozen=True)
class Copying:
    """What copying is expected to bring.

    Attributes
    ----------
    skills
        Expected daily return of each trader in each stretch, in basis points.
    days
        Of a stretch.
    slippage
        Basis points of capital a day, times the square of a share.
    fee
        Basis points of what is bought or sold.
    stay
        Stretches after which other traders take their places, and capital is cash again at no cost.
    """

    skills: tuple[tuple[float, ...], ...]
    days: int
    slippage: float
    fee: float
    stay: int

    def gains(self, choices: Sequence[Choice]) -> list[float]:
        """Return the expected return of every stretch in basis points of capital, after all costs."""
        gains = []
        cash = held = (0.0,) * len(self.skills[0])
        for stretch, (skills, shares) in enumerate(zip(self.skills, choices, strict=True)):
            if stretch % self.stay == 0:
                held = cash
            a_day = math.fsum(w * skill - self.slippage * w * w for w, skill in zip(shares, skills, strict=True))
            moved = math.fsum(abs(now - before) for now, before in zip(shares, held, strict=True))
            gains.append(self.days * a_day - self.fee * moved)
            held = shares
        return gains

    def best(self) -> list[Choice]:
        """Return the best shares of who knows all skills and when they change; as long as they add up to at most 1."""
        casts = [self.skills[start : start + self.stay] for start in range(0, len(self.skills), self.stay)]
        paths = [[self._best_path(path) for path in zip(*cast, strict=True)] for cast in casts]
        return [choice for cast in paths for choice in zip(*cast, strict=True)]

    def _best_path(self, skills: tuple[float, ...]) -> list[float]:
        """Return the best shares of one trader, whose skill changes once or never.

        Each candidate is where the slope vanishes if the share rises, falls or stays at the change; the total is
        concave, so that the best of them is the best there is.
        """
        change = next((n for n, skill in enumerate(skills) if skill != skills[0]), len(skills))
        first, last = change * self.days, (len(skills) - change) * self.days
        old, new = skills[0], skills[-1]
        level = (first * old + last * new - self.fee) / (first + last)
        candidates = [(level, level)]
        if last:
            candidates += [
                (old, new - self.fee / last),
                (old - 2 * self.fee / first, new + self.fee / last),
            ]
        alone = Copying(tuple((skill,) for skill in skills), self.days, self.slippage, self.fee, self.stay)
        paths = [
            [max(0.0, (before if n < change else after) / (2 * self.slippage)) for n in range(len(skills))]
            for before, after in candidates
        ]
        return max(paths, key=lambda path: math.fsum(alone.gains([(share,) for share in path])))


class Record(NamedTuple):
    """How the returns of a trader scatter: exposure to the market, and deviation of chance in basis points."""

    beta: float
    deviation: float


def _skills(rng: random.Random, difficulty: Difficulty) -> list[list[float]]:
    """Return the skill of each trader of a cast in each stretch."""

    def good() -> float:
        return round(rng.uniform(6, 15), 1)

    def bad() -> float:
        return -round(rng.uniform(6, 20), 1)

    paths = [[good()] * STAY for _ in range(SKILLED)] + [[bad()] * STAY for _ in range(TRADERS - SKILLED)]
    if difficulty == "expert":
        changing = [(paths[0], bad()), (paths[-1], good())]
        for path, value in rng.sample(changing, rng.randint(1, 2)):
            change = rng.randint(2, STAY - 2)
            path[change:] = [value] * (STAY - change)
    rng.shuffle(paths)
    return paths


def _records(rng: random.Random, paths: list[list[float]], difficulty: Difficulty) -> list[Record]:
    if difficulty == "easy":
        return [Record(0.0, rng.uniform(*DEVIATION)) for _ in paths]
    # with skill or without: what beta somebody has tells nothing of it
    leveraged = rng.sample(range(len(paths)), 2)
    return [
        Record(rng.uniform(1.5, 2.2) if n in leveraged else rng.uniform(0.0, 1.6), rng.uniform(*DEVIATION))
        for n in range(len(paths))
    ]


_CHANCE = (
    "Chance has mean 0, is normal with a deviation of the trader's own, and is independent from day to day and from "
    "trader to trader."
)
_RETURNS = {
    "easy": f"A trader's return of a day is his skill plus chance. {_CHANCE} Skills never change.",
    "hard": "A trader's return of a day is his skill, plus his beta times the return of the market index on that day, "
    f"plus chance. {_CHANCE} Each trader has a beta of his own that is not told. The index is expected to return 0 on "
    "every day, so that what a trader has from the market is no skill. Skills and betas never change.",
    "expert": "A trader's return of a day is his skill, plus his beta times the return of the market on that day, plus "
    f"chance. {_CHANCE} Each trader has a beta of his own that is not told and never changes. The market is not shown; "
    "it is expected to return 0 on every day, so that what a trader has from it is no skill. One or two of each ten "
    "traders change their skill once, from one stretch to the next, to one of the other sign; who, when and to what is "
    "not told. The days before a trader's first stretch have the skill of that stretch.",
}


def _rules(law: Copying, difficulty: Difficulty) -> str:
    fee = (
        f"Moving capital costs {law.fee:g} bp of every share that is bought or sold from one answer to the next, the "
        "purchases from cash included; what is held at the end costs nothing more. "
        if law.fee
        else "Moving capital costs nothing. "
    )
    return (
        f"There are {ROUNDS} messages. You answer each with the shares of your capital that copy the traders on the "
        f"next {DAYS} days, a stretch; the rest is cash and earns 0. The next message shows what everybody returned on "
        f"these days, copied or not, and asks again. After stretch {STAY} all ten traders leave and their capital is "
        f"cash again, at no cost; ten others take their places, whose last {FIRST_DAYS} days that message shows "
        "instead. Returns are in basis points (bp) of the capital that copies a trader. "
        "The skill of a trader is the return of "
        "a day that is to be expected of himself; some skills are positive, others negative, and none is told. "
        f"{_RETURNS[difficulty]} On every day a share s costs slippage of {law.slippage:g} s^2 bp of your whole "
        f"capital: a share of 0.1 costs {law.slippage / 100:g} bp. Shares stay as stated during a stretch, at no other "
        f"cost. {fee}A stretch counts what was to be expected of it, and never what happened: on each of its days the "
        "sum of share times true skill over the traders, less slippage"
        f"{', and once the cost of moving' if law.fee else ''}. The total adds up all stretches. {SCORING} A reply "
        "that does not have the form asked for, or none, means all cash for its stretch"
        f"{', for which what was held is sold' if law.fee else ''}."
    )


_MORE = (
    "Stretch {done} of {rounds} is over. Days {first} to {last}:\n\n{table}\n\nYour shares for days {next} to {end}?",
    "Days {first} to {last} have passed:\n\n{table}\n\nHow is the capital allocated on days {next} to {end}?",
    "{table}\n\nThese were days {first} to {last}. Allocate anew, for days {next} to {end}.",
)
_OTHERS = (
    "Stretch {done} of {rounds} is over, and these ten leave. Ten others come. Their days {first} to {last}:\n\n{table}"
    "\n\nYour shares for days {next} to {end}?",
    "After {done} of {rounds} stretches there are ten new traders. Days {first} to {last} of theirs:\n\n{table}\n\nHow "
    "is the capital allocated on days {next} to {end}?",
)


def _returns(
    rng: random.Random, skills: Sequence[float], records: Sequence[Record], market: Sequence[int]
) -> list[list[int]]:
    """Return the returns of every trader on the days of the market's."""
    beta, deviation = np.array(records).T
    chance = deviation[:, None] * _normals(rng, len(skills) * len(market)).reshape(len(skills), len(market))
    returns: list[list[int]] = np.rint(np.array(skills)[:, None] + np.outer(beta, market) + chance).astype(int).tolist()
    return returns


def _normals(rng: random.Random, count: int) -> NDArray[np.float64]:
    """Return independent standard normal numbers, by Box and Muller's transform of two uniform ones a pair."""
    first, second = np.array([rng.random() for _ in range(2 * ((count + 1) // 2))]).reshape(2, -1)
    size, angle = np.sqrt(-2.0 * np.log1p(-first)), 2.0 * math.pi * second
    return np.concatenate([size * np.cos(angle), size * np.sin(angle)])[:count]


def trader_allocation(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Allocate capital, see what everybody returned, and allocate again."""
    people = names.people(rng, CASTS * TRADERS)
    casts = [tuple(people[start : start + TRADERS]) for start in range(0, len(people), TRADERS)]
    paths = [_skills(rng, difficulty) for _ in casts]
    records = [_records(rng, each, difficulty) for each in paths]
    skills = tuple(each for cast in paths for each in zip(*cast, strict=True))
    most = max(math.fsum(max(0.0, skill) for skill in each) for each in skills)
    slippage = math.ceil(10 * most / 2 / rng.uniform(0.75, 0.97)) / 10
    law = Copying(skills, DAYS, slippage, float(rng.randint(4, 12)) if difficulty == "expert" else 0.0, STAY)
    best = law.best()
    if max(math.fsum(choice) for choice in best) > 1.0:
        # the best shares of one trader would depend on the others
        return trader_allocation(rng, difficulty)
    market_deviation = rng.uniform(70, 120)
    market = [round(rng.gauss(0.0, market_deviation)) for _ in range(FIRST_DAYS + ROUNDS * DAYS)]
    asked = [
        Shares("shares", "the share of your capital that copies this trader", casts[n // STAY], 1.0, choice)
        for n, choice in enumerate(best)
    ]
    texts = []
    for stretch in range(ROUNDS):
        cast, new = stretch // STAY, stretch % STAY == 0
        last = FIRST_DAYS + stretch * DAYS
        first = last - (FIRST_DAYS if new else DAYS)
        series = _returns(rng, skills[stretch if new else stretch - 1], records[cast], market[first:last])
        series += [market[first:last]] if difficulty == "hard" else []
        rows = [
            [name, ", ".join(map(str, each))]
            for name, each in zip((*casts[cast], "market index"), series, strict=False)
        ]
        table = show(rng, ["trader", "record in bp"], rows)
        frame = rng.choice(_OTHERS if new else _MORE) if stretch else "{table}"
        texts.append(
            frame.format(
                done=stretch,
                rounds=ROUNDS,
                first=first + 1,
                last=last,
                next=last + 1,
                end=last + DAYS,
                table=table,
            )
        )
    return Drawn(
        {"rules": _rules(law, difficulty), "table": texts[0], "days": str(FIRST_DAYS)},
        (),
        tuple(Turn(text, (), shares) for text, shares in zip(texts[1:], asked[1:], strict=True)),
        {
            "skills": [list(each) for each in skills],
            "records": [[list(record) for record in cast] for cast in records],
            "market_deviation": 0.0 if difficulty == "easy" else market_deviation,
            "slippage": law.slippage,
            "fee": law.fee,
            "days": DAYS,
            "stay": STAY,
        },
        shares=asked[0],
        law=law,
    )


TEMPLATES = (
    Template(
        "trader-allocation",
        CATEGORY,
        trader_allocation,
        (
            "You run a portfolio that copies other traders. {rules}\n\nThe returns of days 1 to {days}, in "
            "order:\n\n{table}\n\nYour first shares?",
            "{table}\n\nThis is what ten traders returned on days 1 to {days}, one number a day. Capital is now "
            "allocated among them, again and again. {rules} Give the first allocation.",
            "{rules} Days 1 to {days} of all traders, in the order of the days:\n\n{table}\n\nAllocate.",
            "Whom would you let trade with your money, and with how much of it? {rules} So far, days 1 to {days} are "
            "known:\n\n{table}",
            "A copy-trading platform opens its books of days 1 to {days}:\n\n{table}\n\nFrom now on you allocate "
            "capital. {rules} Begin.",
        ),
        (
            "An allocation committee meets after every stretch, and you vote for all of it. {rules} Before the first "
            "meeting you have the returns of days 1 to {days}:\n\n{table}",
            "Tell luck from skill while it costs money. Daily returns, days 1 to {days}:\n\n{table}\n\n{rules} State "
            "your opening allocation.",
        ),
    ),
)
