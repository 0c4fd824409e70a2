"""In which terms the inputs of a task are told: quotes, units, compounding, dates, and what has to be worked out."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from evaluators.contract import Difficulty
from evaluators.options.problem import AS_OF
from lake.chains import third_friday

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
FRIDAY = 4
YEARS = (2023, 2024)
"""Of the quotes: before the date of every task."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How inputs are told.

    Attributes
    ----------
    quotes
        Of a chain: prices and volatilities, or one of the two, from which the other follows.
    contract_prices
        Whether prices are in dollars a contract.
    daily
        Whether volatilities are per trading day.
    compounding
        Of the rate.
    expiry
        Days, a date, or a rule of the exchange.
    today
        Day of the quotes, where expiries are not told in days.
    pair
        Whether dividend yield and volatility of the stock have to be worked out of a call and a put.
    noise
        Whether series of another expiry, a mistaken quote and its correction stand among the rest.
    """

    difficulty: Difficulty = "easy"
    quotes: Literal["both", "prices", "volatilities"] = "both"
    contract_prices: bool = False
    daily: bool = False
    compounding: Literal["continuous", "yearly", "monthly"] = "continuous"
    expiry: Literal["days", "date", "rule"] = "days"
    today: date = AS_OF
    pair: bool = False
    noise: bool = False


def draw_terms(rng: random.Random, difficulty: Difficulty, days: int | None) -> Terms:
    """Draw terms of a difficulty; ``days`` to the first expiry decide which day of the quotes suits a rule."""
    if difficulty == "easy":
        return Terms()
    if difficulty == "hard":
        return Terms(
            difficulty="hard",
            quotes=rng.choice(("prices", "volatilities")),
            daily=True,
            compounding="yearly",
            expiry="date",
            today=_weekday(rng, days or 0),
        )
    quotes: Literal["prices", "volatilities"] = rng.choice(("prices", "volatilities"))
    return Terms(
        difficulty="expert",
        quotes=quotes,
        contract_prices=quotes == "prices",
        daily=True,
        compounding="monthly",
        expiry="rule",
        today=_weekday(rng, 0) if days is None else _day_before_a_rule(rng, days),
        pair=True,
        noise=True,
    )


def _weekday(rng: random.Random, days: int) -> date:
    """Return a weekday after which ``days`` end on one, too; early enough for what happens in the weeks after it."""
    while True:
        day = date(rng.choice(YEARS), 1, 1) + timedelta(rng.randrange(340))
        if day.weekday() <= FRIDAY and (days % 7 == 6 or (day + timedelta(days)).weekday() <= FRIDAY):
            return day


def wednesday_before(year: int, month: int) -> date:
    """Return the Wednesday 30 days before the third Friday of the month after ``month``; 13 is the next January."""
    months = year * 12 + month
    return third_friday(months // 12, months % 12 + 1) - timedelta(30)


def _day_before_a_rule(rng: random.Random, days: int) -> date:
    """Return a weekday from which it is ``days`` to an expiry by one of the two rules."""
    year, month = rng.choice(YEARS), rng.randint(1, 12)
    for rule in rng.sample((third_friday, wednesday_before), 2):
        day = rule(year, month) - timedelta(days)
        if day.weekday() <= FRIDAY:
            return day
    raise RuntimeError(f"no weekday lies {days} days before a Friday or a Wednesday")


def written_date(day: date) -> str:
    """Return a date in words."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def written_expiry(terms: Terms, days: int) -> str:
    """Return an expiry as the terms tell it."""
    if terms.expiry == "days":
        return f"{days} days"
    day = terms.today + timedelta(days)
    if terms.expiry == "rule":
        if day == third_friday(day.year, day.month):
            return f"the third Friday of {MONTHS[day.month - 1]} {day.year}"
        after = day + timedelta(30)
        if after == third_friday(after.year, after.month):
            return f"the Wednesday 30 days before the third Friday of {MONTHS[after.month - 1]} {after.year}"
    return written_date(day)
