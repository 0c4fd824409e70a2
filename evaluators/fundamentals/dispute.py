"""What of an answer can be challenged, and the check: another figure from the source that the answer rests on."""

from __future__ import annotations

from datetime import timedelta
from random import Random

from evaluators.answers import Tolerance, numbers_match
from evaluators.answers.dispute import sole_figure
from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import Check, Dispute
from evaluators.fundamentals.levels import as_known, label
from evaluators.fundamentals.question import Drawn, NotDrawable
from evaluators.fundamentals.world import Lacking, World

LINES = {
    "Revenue": "revenue",
    "NetIncome": "net income",
    "OperatingIncome": "operating income",
    "GrossProfit": "gross profit",
    "Assets": "total assets",
    "Equity": "stockholders' equity",
    "OperatingCashFlow": "net cash from operating activities",
}
TOLERANCE = Tolerance(relative=0.005)
LAST_DAYS = 120
"""A close is asked for out of so many calendar days before the simulation date."""
MAX_ATTEMPTS = 200


def of_question(drawn: Drawn, world: World) -> Dispute | None:
    """Return what can be argued about a question's answer; None where it is no number."""
    expected = drawn.expected
    if not isinstance(expected, ExpectedNumber):
        return None
    return sole_figure(expected, lambda rng: _check(drawn, expected, world, rng))


def _check(drawn: Drawn, expected: ExpectedNumber, world: World, rng: Random) -> Check:
    for _ in range(MAX_ATTEMPTS):
        try:
            check = _close(drawn, world, rng) if drawn.fiscal_year is None else _line(drawn, world, rng)
        except (NotDrawable, Lacking):
            continue
        if not numbers_match(abs(check.expected.gold), abs(expected.gold), relative=0.02):
            return check
    raise RuntimeError(f"{drawn.ticker}: no other figure to ask about in {MAX_ATTEMPTS} draws")


def _line(drawn: Drawn, world: World, rng: Random) -> Check:
    company = world.lake.companies.find(drawn.ticker)
    if company is None:
        raise Lacking(f"no company {drawn.ticker}")
    book = world.book(company, drawn.as_of)
    item, year = rng.choice(sorted(LINES)), rng.choice(book.years(first=0))
    gold = book.figure(item, year)
    if gold <= 0:
        raise Lacking(f"{item} is {gold}")
    end = book.year_end(year)
    named = f"fiscal {year} (ended {end.day} {end:%B %Y})"
    text = f"What was the {LINES[item]} of {label(company)} for {named}? {as_known(drawn.as_of)}"
    return Check(text, ExpectedNumber(gold, "currency", TOLERANCE))


def _close(drawn: Drawn, world: World, rng: Random) -> Check:
    bars = world.lake.bars_of(drawn.ticker, as_of=drawn.as_of)[0]
    first = drawn.as_of - timedelta(days=LAST_DAYS)
    rows = [row for row, day in enumerate(bars.known_on) if first <= day <= drawn.as_of]
    if not rows:
        raise NotDrawable(f"{drawn.ticker} from {first} to {drawn.as_of}")
    row = rng.choice(rows)
    text = f"What was the unadjusted closing price of {drawn.ticker} on {bars.known_on[row]}, in dollars?"
    return Check(text, ExpectedNumber(float(bars.close[row]), "currency", TOLERANCE))
