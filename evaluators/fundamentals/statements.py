"""Questions on annual and quarterly figures: margins, returns, growth, cash, liquidity."""

from __future__ import annotations

import random

from evaluators.answers import Tolerance
from evaluators.answers.expected import ExpectedNumber
from evaluators.fundamentals.question import Book, NotDrawable, Question, Template, any_annual_book
from lake.sample import Lake

PERCENT_TOLERANCE = Tolerance(relative=0.01, absolute=0.0005)
POINTS_TOLERANCE = Tolerance(relative=0.01, absolute=0.0002)
RATIO_TOLERANCE = Tolerance(relative=0.01, absolute=0.0)
MONEY_TOLERANCE = Tolerance(relative=0.005, absolute=0.0)

MARGINS = {
    "gross margin": ("GrossProfit", "gross profit"),
    "operating margin": ("OperatingIncome", "operating income"),
    "net margin": ("NetIncome", "net income"),
    "research and development intensity": ("ResearchAndDevelopment", "research and development expense"),
}
FLOWS = {
    "ResearchAndDevelopment": "research and development expense",
    "NetIncome": "net income",
    "OperatingCashFlow": "net cash from operating activities",
    "ShareRepurchases": "cash paid for repurchases of common stock",
    "CapitalExpenditure": "cash paid for property, plant and equipment",
}


def _asked(book: Book, text: str, expected: ExpectedNumber, fiscal_year: int) -> Question:
    return Question(f"{text} {book.as_known}", expected, book.as_of, book.company.ticker, fiscal_year)


def _percent(gold: float) -> ExpectedNumber:
    return ExpectedNumber(gold, "percent", PERCENT_TOLERANCE)


def margin(rng: random.Random, lake: Lake) -> Question:
    """Ask for a profit or cost line over revenue."""
    book, year = any_annual_book(rng, lake)
    name = rng.choice(sorted(MARGINS))
    item, words = MARGINS[name]
    gold = book.figure(item, year) / book.positive("Revenue", year)
    text = f"What was the {name} of {book.label} in {book.year_named(year)}, that is {words} divided by revenue?"
    return _asked(book, text, _percent(gold), year)


def margin_change(rng: random.Random, lake: Lake) -> Question:
    """Ask for the change of a margin against the year before, in percentage points."""
    book, year = any_annual_book(rng, lake, first_year=2011)
    name = rng.choice(("gross margin", "operating margin", "net margin"))
    item, words = MARGINS[name]
    now, before = (book.figure(item, y) / book.positive("Revenue", y) for y in (year, year - 1))
    text = (
        f"By how many percentage points did the {name} ({words} divided by revenue) of {book.label} change from fiscal "
        f"{year - 1} to {book.year_named(year)}? Give the difference of the two margins, positive for a rise."
    )
    return _asked(book, text, ExpectedNumber(now - before, "percent", POINTS_TOLERANCE), year)


def return_on_equity(rng: random.Random, lake: Lake) -> Question:
    """Ask for net income over average equity."""
    book, year = any_annual_book(rng, lake, first_year=2011)
    equity = (book.positive("Equity", year) + book.positive("Equity", year - 1)) / 2
    text = (
        f"What was the return on equity of {book.label} in {book.year_named(year)}: net income divided by the mean of "
        f"stockholders' equity at the end of fiscal {year - 1} and at the end of fiscal {year}?"
    )
    return _asked(book, text, _percent(book.figure("NetIncome", year) / equity), year)


def free_cash_flow(rng: random.Random, lake: Lake) -> Question:
    """Ask for operating cash flow less capital expenditure."""
    book, year = any_annual_book(rng, lake)
    gold = book.figure("OperatingCashFlow", year) - book.figure("CapitalExpenditure", year)
    text = (
        f"What was the free cash flow of {book.label} in {book.year_named(year)}: net cash from operating activities "
        "less cash paid for property, plant and equipment?"
    )
    return _asked(book, text, ExpectedNumber(gold, "currency", MONEY_TOLERANCE), year)


def current_ratio(rng: random.Random, lake: Lake) -> Question:
    """Ask for current assets over current liabilities."""
    book, year = any_annual_book(rng, lake)
    gold = book.figure("CurrentAssets", year) / book.positive("CurrentLiabilities", year)
    text = (
        f"What was the current ratio of {book.label} at the end of {book.year_named(year)}: total current assets "
        "divided by total current liabilities?"
    )
    return _asked(book, text, ExpectedNumber(gold, "number", RATIO_TOLERANCE), year)


def cash_conversion(rng: random.Random, lake: Lake) -> Question:
    """Ask for operating cash flow over net income."""
    book, year = any_annual_book(rng, lake)
    gold = book.figure("OperatingCashFlow", year) / book.positive("NetIncome", year)
    if abs(gold - 1) < 0.02:
        raise NotDrawable("one is what a guess would say")
    text = (
        f"What was the ratio of net cash from operating activities to net income of {book.label} in "
        f"{book.year_named(year)}?"
    )
    return _asked(book, text, ExpectedNumber(gold, "number", RATIO_TOLERANCE), year)


def revenue_growth(rng: random.Random, lake: Lake) -> Question:
    """Ask for revenue against the year before."""
    book, year = any_annual_book(rng, lake, first_year=2011)
    gold = book.positive("Revenue", year) / book.positive("Revenue", year - 1) - 1
    text = f"By what percentage did the revenue of {book.label} grow from fiscal {year - 1} to {book.year_named(year)}?"
    return _asked(book, text, _percent(gold), year)


def compound_growth(rng: random.Random, lake: Lake) -> Question:
    """Ask for compound annual growth over several years."""
    book, year = any_annual_book(rng, lake, first_year=2013)
    item, words = rng.choice((("Revenue", "revenue"), ("OperatingIncome", "operating income")))
    years = rng.randint(3, min(6, year - 2010))
    gold = (book.positive(item, year) / book.positive(item, year - years)) ** (1 / years) - 1
    text = (
        f"What was the compound annual growth rate of the {words} of {book.label} over the {years} years from fiscal "
        f"{year - years} to {book.year_named(year)}?"
    )
    return _asked(book, text, _percent(gold), year)


def cumulative_flow(rng: random.Random, lake: Lake) -> Question:
    """Ask for the sum of a flow over several years."""
    book, year = any_annual_book(rng, lake, first_year=2013)
    item = rng.choice(sorted(FLOWS))
    first = year - rng.randint(2, 4)
    gold = sum(book.figure(item, y) for y in range(first, year + 1))
    text = (
        f"What was the total {FLOWS[item]} of {book.label} over the fiscal years {first} to {year}, both included? "
        f"Fiscal {year} {book.year_named(year).partition(' (')[2].rstrip(')')}."
    )
    return _asked(book, text, ExpectedNumber(gold, "currency", MONEY_TOLERANCE), year)


def fourth_quarter(rng: random.Random, lake: Lake) -> Question:
    """Ask for the quarter that no one files: the year less the first three quarters."""
    book, year = any_annual_book(rng, lake, first_year=2018)
    item, words = rng.choice(
        (("Revenue", "revenue"), ("NetIncome", "net income"), ("OperatingIncome", "operating income"))
    )
    gold = book.figure(item, year) - sum(book.figure(item, year, quarter) for quarter in ("Q1", "Q2", "Q3"))
    text = (
        f"What was the {words} of {book.label} in the fourth quarter of {book.year_named(year)}? Fourth quarters are "
        "not reported as such: take the year less the first three quarters."
    )
    return _asked(book, text, ExpectedNumber(gold, "currency", MONEY_TOLERANCE), year)


def effective_tax_rate(rng: random.Random, lake: Lake) -> Question:
    """Ask for income tax over income before tax."""
    book, year = any_annual_book(rng, lake)
    tax = book.figure("IncomeTax", year)
    before_tax = book.figure("NetIncome", year) + tax
    if before_tax <= 0:
        raise NotDrawable("no taxable income")
    text = (
        f"What was the effective tax rate of {book.label} in {book.year_named(year)}: income tax expense divided by "
        "the sum of net income and income tax expense?"
    )
    return _asked(book, text, _percent(tax / before_tax), year)


def sustainable_growth(rng: random.Random, lake: Lake) -> Question:
    """Ask for return on opening equity times the share of profit that is kept."""
    book, year = any_annual_book(rng, lake, first_year=2013)
    income = book.positive("NetIncome", year)
    retained = 1 - book.figure("Dividends", year) / income
    gold = income / book.positive("Equity", year - 1) * retained
    text = (
        f"What was the sustainable growth rate of {book.label} in {book.year_named(year)}: net income divided by "
        f"stockholders' equity at the end of fiscal {year - 1}, times one minus the payout ratio (dividends paid "
        "divided by net income)?"
    )
    return _asked(book, text, _percent(gold), year)


def incremental_margin(rng: random.Random, lake: Lake) -> Question:
    """Ask for added operating income per dollar of added revenue."""
    book, year = any_annual_book(rng, lake, first_year=2011)
    added_revenue = book.figure("Revenue", year) - book.figure("Revenue", year - 1)
    if abs(added_revenue) < 0.03 * book.figure("Revenue", year):
        raise NotDrawable("revenue hardly changed")
    gold = (book.figure("OperatingIncome", year) - book.figure("OperatingIncome", year - 1)) / added_revenue
    text = (
        f"What was the incremental operating margin of {book.label} in {book.year_named(year)}: the change of "
        f"operating income against fiscal {year - 1} divided by the change of revenue?"
    )
    return _asked(book, text, _percent(gold), year)


TEMPLATES = (
    Template("margin", "Fundamental Analysis", margin),
    Template("margin-change", "Fundamental Analysis", margin_change),
    Template("return-on-equity", "Fundamental Analysis", return_on_equity),
    Template("free-cash-flow", "Fundamental Analysis", free_cash_flow),
    Template("current-ratio", "Fundamental Analysis", current_ratio),
    Template("cash-conversion", "Fundamental Analysis", cash_conversion),
    Template("revenue-growth", "Trend Analysis", revenue_growth),
    Template("compound-growth", "Trend Analysis", compound_growth),
    Template("cumulative-flow", "Trend Analysis", cumulative_flow),
    Template("fourth-quarter", "Quantitative Reasoning", fourth_quarter),
    Template("effective-tax-rate", "Quantitative Reasoning", effective_tax_rate),
    Template("sustainable-growth", "Quantitative Reasoning", sustainable_growth),
    Template("incremental-margin", "Quantitative Reasoning", incremental_margin),
)
