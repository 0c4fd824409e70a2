"""Copy Trading: capital allocated anew, stretch after stretch, among traders whose skill is not told."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evaluators import names
from evaluators.casebook.family import Drawn, Template, Turn
from evaluators.casebook.repeated import SCORING
from evaluators.casebook.shares import Choice, Shares
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Copy Trading"
TRADERS, SKILLED = 10, 5
"""Half of the traders lose, and more than the others earn: whoever picks some of them blindly reaches too little."""
FIRST_DAYS, DAYS = 40, 10
ROUNDS = {"easy": 10, "hard": 12, "expert": 12}


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
    """

    skills: tuple[tuple[float, ...], ...]
    days: int
    slippage: float
    fee: float

    def gains(self, choices: Sequence[Choice]) -> list[float]:
        """Return the expected return of every stretch in basis points of capital, after all costs."""
        gains, held = [], (0.0,) * len(self.skills[0])
        for skills, shares in zip(self.skills, choices, strict=True):
            a_day = math.fsum(w * skill - self.slippage * w * w for w, skill in zip(shares, skills, strict=True))
            moved = math.fsum(abs(now - before) for now, before in zip(shares, held, strict=True))
            gains.append(self.days * a_day - self.fee * moved)
            held = shares
        return gains

    def best(self) -> list[Choice]:
        """Return the best shares of who knows all skills and when they change; as long as they add up to at most 1."""
        paths = [self._best_path(path) for path in zip(*self.skills, strict=True)]
        return list(zip(*paths, strict=True))

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
        alone = Copying(tuple((skill,) for skill in skills), self.days, self.slippage, self.fee)
        paths = [
            [max(0.0, (before if n < change else after) / (2 * self.slippage)) for n in range(len(skills))]
            for before, after in candidates
        ]
        return max(paths, key=lambda path: math.fsum(alone.gains([(share,) for share in path])))


class Record(NamedTuple):
    """How the returns of a trader scatter: exposure to the market, and deviation of chance in basis points."""

    beta: float
    deviation: float


def _skills(rng: random.Random, rounds: int, difficulty: Difficulty) -> list[list[float]]:
    """Return the skill of each trader in each stretch."""

    def good() -> float:
        return round(rng.uniform(5, 16), 1)

    def bad() -> float:
        return -round(rng.uniform(6, 20), 1)

    paths = [[good()] * rounds for _ in range(SKILLED)] + [[bad()] * rounds for _ in range(TRADERS - SKILLED)]
    if difficulty == "expert":
        for path, value in ((paths[0], bad()), (paths[-1], good())):
            change = rng.randint(3, rounds - 4)
            path[change:] = [value] * (rounds - change)
    rng.shuffle(paths)
    return paths


def _records(rng: random.Random, paths: list[list[float]], difficulty: Difficulty) -> list[Record]:
    if difficulty == "easy":
        return [Record(0.0, rng.uniform(25, 55)) for _ in paths]
    worst = sorted(range(len(paths)), key=lambda n: paths[n][0])[1:3]
    return [
        Record(rng.uniform(1.5, 2.2) if n in worst else rng.uniform(0.0, 1.6), rng.uniform(25, 55))
        for n in range(len(paths))
    ]


def _rules(law: Copying, difficulty: Difficulty) -> str:
    rounds = len(law.skills)
    chance = (
        "Chance has mean 0, is normal with a deviation of the trader's own, and is independent from day to day and "
        "from trader to trader."
    )
    returns = {
        "easy": f"A trader's return of a day is his skill plus chance. {chance} ",
        "hard": "A trader's return of a day is his skill, plus his beta times the return of the market index on that "
        f"day, plus chance. {chance} Each trader has a beta of his own that never changes. The index is expected to "
        "return 0 on every day, so that what a trader has from the market is no skill. ",
        "expert": "A trader's return of a day is his skill, plus his beta times the return of the market on that day, "
        f"plus chance. {chance} Each trader has a beta of his own that never changes. The market is not shown; it is "
        "expected to return 0 on every day, so that what a trader has from it is no skill. ",
    }[difficulty]
    changes = (
        "Some traders change their skill once, from one stretch to the next; who, when and to what is not told. "
        if difficulty == "expert"
        else "Skills never change. "
    )
    fee = (
        f"Moving capital costs {law.fee:g} bp of every share that is bought or sold, from one answer to the next, the "
        "first purchase from cash included; nothing is sold after the last stretch. "
        if law.fee
        else "Moving capital costs nothing. "
    )
    cash = ", so that what was held is sold" if law.fee else ""
    return (
        f"There are {rounds} messages. You answer each of them with the shares of your capital that copy the traders "
        f"on the next {law.days} days, a stretch; the rest is cash and earns 0. The next message shows what everybody "
        "returned on these days, copied or not, and asks again. Returns are in basis points (bp) of the capital that "
        "copies a trader. The skill of a trader is the daily return that is to be expected of himself; some skills "
        f"are positive, others negative, and none is told. {returns}{changes}Every day, a share s costs slippage of "
        f"{law.slippage:g} s^2 bp of your whole capital: a share of 0.1 costs {law.slippage / 100:g} bp. Shares stay "
        f"as stated during a stretch, at no other cost. {fee}A stretch counts what was to be expected of it, and "
        "never what happened: on each of its days the sum of share times true skill, less slippage"
        f"{', and once the cost of moving' if law.fee else ''}. The total adds up all stretches. {SCORING} A reply "
        f"that does not have the form asked for, or none, means all cash for its stretch{cash}."
    )


_MORE = (
    "Stretch {done} of {rounds} is over. Days {first} to {last}:\n\n{table}\n\nYour shares for days {next} to {end}?",
    "Days {first} to {last} have passed:\n\n{table}\n\nHow is the capital allocated on days {next} to {end}?",
    "{table}\n\nThese were days {first} to {last}. Allocate anew, for days {next} to {end}.",
)


def trader_allocation(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Allocate capital, see what everybody returned, and allocate again."""
    people, rounds = tuple(names.people(rng, TRADERS)), ROUNDS[difficulty]
    paths = _skills(rng, rounds, difficulty)
    records = _records(rng, paths, difficulty)
    skills = tuple(zip(*paths, strict=True))
    most = max(math.fsum(max(0.0, skill) for skill in each) for each in skills)
    slippage = math.ceil(10 * most / 2 / rng.uniform(0.75, 0.97)) / 10
    law = Copying(skills, DAYS, slippage, float(rng.randint(4, 12)) if difficulty == "expert" else 0.0)
    best = law.best()
    if max(math.fsum(choice) for choice in best) > 1.0:
        # the best shares of one trader would depend on the others
        return trader_allocation(rng, difficulty)
    market_deviation = rng.uniform(70, 120)

    def table(stretch: int, days: int) -> str:
        market = [round(rng.gauss(0.0, market_deviation)) for _ in range(days)]
        rows = []
        for person, skill, (beta, deviation) in zip(people, skills[stretch], records, strict=True):
            returns = [f"{round(skill + beta * each + rng.gauss(0.0, deviation))}" for each in market]
            rows.append([person, ", ".join(returns)])
        if difficulty == "hard":
            rows.append(["market index", ", ".join(map(str, market))])
        return show(rng, ["trader", "daily returns in bp"], rows)

    asked = [
        Shares("shares", "the share of your capital that copies this trader", people, 1.0, choice) for choice in best
    ]
    later = []
    opening = table(0, FIRST_DAYS)
    for stretch in range(1, rounds):
        end = FIRST_DAYS + stretch * DAYS
        text = rng.choice(_MORE).format(
            done=stretch, rounds=rounds, first=end - DAYS + 1, last=end, next=end + 1, end=end + DAYS,
            table=table(stretch - 1, DAYS),
        )  # fmt: skip
        later.append(Turn(text, (), asked[stretch]))
    return Drawn(
        {"rules": _rules(law, difficulty), "table": opening, "days": str(FIRST_DAYS)},
        (),
        tuple(later),
        {
            "skills": [list(each) for each in skills],
            "records": [list(record) for record in records],
            "market_deviation": market_deviation if difficulty != "easy" else 0.0,
            "slippage": law.slippage,
            "fee": law.fee,
            "days": DAYS,
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
