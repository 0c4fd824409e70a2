"""What of an answer can be challenged, and the check: another figure from the source that the answer rests on."""

from __future__ import annotations

from datetime import timedelta
from random import Random

from evaluators.answers import Tolerance, numbers_match
from evaluators.answers.dispute import sole_figure
from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import Check, Dispute
from evaluators.fundamentals.question import Book, NotDrawable, Question
from lake.fundamentals import COMPANIES
from lake.sample import Lake

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


def of_question(question: Question, lake: Lake) -> Dispute | None:
    """Return what can be argued about a question's answer; None where it is no number."""
    expected = question.expected
    if not isinstance(expected, ExpectedNumber):
        return None
    return sole_figure(expected, lambda rng: _check(question, expected, lake, rng))


def _check(question: Question, expected: ExpectedNumber, lake: Lake, rng: Random) -> Check:
    for _ in range(MAX_ATTEMPTS):
        try:
            check = _close(question, lake, rng) if question.fiscal_year is None else _line(question, lake, rng)
        except NotDrawable:
            continue
        if not numbers_match(abs(check.expected.gold), abs(expected.gold), relative=0.02):
            return check
    raise RuntimeError(f"{question.ticker}: no other figure to ask about in {MAX_ATTEMPTS} draws")


def _line(question: Question, lake: Lake, rng: Random) -> Check:
    book = Book(COMPANIES[question.ticker], question.as_of, lake)
    item, year = rng.choice(sorted(LINES)), (question.fiscal_year or 0) - rng.randint(0, 2)
    gold = book.positive(item, year)
    text = f"What was the {LINES[item]} of {book.label} for {book.year_named(year)}? {book.as_known}"
    return Check(text, ExpectedNumber(gold, "currency", TOLERANCE))


def _close(question: Question, lake: Lake, rng: Random) -> Check:
    bars = lake.bars_of(question.ticker, as_of=question.as_of)[0]
    first = question.as_of - timedelta(days=LAST_DAYS)
    rows = [row for row, day in enumerate(bars.known_on) if first <= day <= question.as_of]
    if not rows:
        raise NotDrawable(f"{question.ticker} from {first} to {question.as_of}")
    row = rng.choice(rows)
    text = f"What was the unadjusted closing price of {question.ticker} on {bars.known_on[row]}, in dollars?"
    return Check(text, ExpectedNumber(float(bars.close[row]), "currency", TOLERANCE))
