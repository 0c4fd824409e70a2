"""Textbook formulas, found by the words that describe what is asked and what is given.

An entry says what it yields (words that the description of the asked figure contains) and from what (for each variable,
words that the description of an input contains). Alternatives are separated by ``|``; words of one alternative by
spaces, all of which have to occur; a word with ``-`` in front must not occur.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Formula:
    """One entry of the book."""

    yields: str
    inputs: Mapping[str, str]
    expression: str


@dataclass(frozen=True)
class Given:
    """A quantity that the question states."""

    name: str
    meaning: str
    value: float


BOOK: tuple[Formula, ...] = (
    # Income statement
    Formula(
        "ebitda",
        {
            "net": "net income -non-operating",
            "tax": "income tax",
            "other": "non-operating|other income",
            "da": "depreciation",
        },
        "net + tax - other + da",
    ),
    Formula("ebitda", {"ebit": "ebit -ebitda|operating income|before interest", "da": "depreciation"}, "ebit + da"),
    Formula("before tax", {"net": "net income -non-operating", "tax": "income tax"}, "net + tax"),
    Formula(
        "operating income|ebit -ebitda",
        {"net": "net income -non-operating", "tax": "income tax", "other": "non-operating|other income"},
        "net + tax - other",
    ),
    Formula(
        "free cash flow",
        {
            "ebit": "before interest|operating profit -after",
            "da": "depreciation",
            "capex": "capital expenditure|capex",
            "wc": "working capital",
            "tax": "tax rate",
        },
        "ebit * (1 - tax) + da - capex - wc",
    ),
    Formula(
        "operating profit after tax|after tax operating|nopat",
        {"ebit": "before interest|operating profit -after", "tax": "tax rate"},
        "ebit * (1 - tax)",
    ),
    # Leverage
    Formula(
        "combined leverage|total leverage",
        {"dol": "operating leverage", "dfl": "financial leverage"},
        "dol * dfl",
    ),
    Formula(
        "earnings per share|eps",
        {"dol": "operating leverage", "dfl": "financial leverage", "sales": "sales"},
        "dol * dfl * sales",
    ),
    Formula(
        "operating income|operating profit|ebit",
        {"dol": "operating leverage", "sales": "sales"},
        "dol * sales",
    ),
    Formula(
        "return on equity",
        {
            "roa": "return on assets",
            "de": "debt divided by equity|debt to equity",
            "rate": "interest rate",
            "tax": "tax rate",
        },
        "(roa + de * (roa - rate)) * (1 - tax)",
    ),
    Formula("equity -return", {"assets": "total assets", "de": "debt divided by equity"}, "assets / (1 + de)"),
    Formula("debt -equity", {"assets": "total assets", "de": "debt divided by equity"}, "assets * de / (1 + de)"),
    # Shares
    Formula(
        "price new share|price split|new price",
        {"price": "price", "new": "new shares", "old": "old shares"},
        "price * old / new",
    ),
    Formula(
        "market capitalisation|market value", {"shares": "shares -price -new -old", "price": "price"}, "shares * price"
    ),
    Formula(
        "number shares|shares after",
        {"shares": "shares before", "new": "new shares -price", "old": "old shares -price"},
        "shares * new / old",
    ),
    Formula(
        "theoretical|ex-right|ex rights|without right",
        {
            "price": "price right attached|price cum",
            "issue": "price new share offer|subscription",
            "old": "old shares|shares held",
        },
        "(old * price + issue) / (old + 1)",
    ),
    Formula(
        "dividend in one year|next dividend",
        {"dividend": "dividend just paid|last dividend", "growth": "growth"},
        "dividend * (1 + growth)",
    ),
    Formula(
        "share worth|value of the share|price of the share|value share",
        {"dividend": "dividend just paid|last dividend", "growth": "growth", "required": "required return"},
        "dividend * (1 + growth) / (required - growth)",
    ),
    # Time value
    Formula(
        "present value -net|worth today",
        {"amount": "later|future", "years": "years", "rate": "rate"},
        "amount / (1 + rate) ^ years",
    ),
    Formula(
        "worth more|advantage|difference|first offer",
        {"now": "today|now", "amount": "later|future", "years": "years", "rate": "rate"},
        "now - amount / (1 + rate) ^ years",
    ),
    Formula(
        "instalment|monthly payment",
        {"loan": "borrowed|principal|loan amount", "years": "years", "rate": "nominal|yearly rate|annual rate"},
        "loan * (rate / 12) / (1 - (1 + rate / 12) ^ (-12 * years))",
    ),
    Formula("monthly rate|rate of a month|periodic rate", {"rate": "nominal|yearly rate|annual rate"}, "rate / 12"),
    Formula("number of instalments|number of payments", {"years": "years"}, "12 * years"),
    Formula(
        "price change|change price|change of the price|relative change",
        {"old": "rate before|old rate", "new": "rate after|new rate"},
        "old / new - 1",
    ),
    Formula("price before|old price", {"payment": "payment", "rate": "rate before|old rate"}, "payment / rate"),
    Formula("price after|new price", {"payment": "payment", "rate": "rate after|new rate"}, "payment / rate"),
    # Portfolios
    Formula(
        "standard deviation|volatility",
        {
            "mean": "expected return -target",
            "sd": "standard deviation",
            "riskless": "riskless|risk-free",
            "target": "target",
        },
        "(target - riskless) / (mean - riskless) * sd",
    ),
    Formula(
        "weight stock|share of the stock|fraction stock",
        {"mean": "expected return -target", "riskless": "riskless|risk-free", "target": "target"},
        "(target - riskless) / (mean - riskless)",
    ),
    Formula(
        "sharpe",
        {"mean": "expected return -target", "sd": "standard deviation", "riskless": "riskless|risk-free"},
        "(mean - riskless) / sd",
    ),
    Formula(
        "longer bond",
        {"target": "duration liabilities", "low": "duration shorter", "high": "duration longer"},
        "(target - low) / (high - low)",
    ),
    Formula(
        "shorter bond",
        {"target": "duration liabilities", "low": "duration shorter", "high": "duration longer"},
        "(high - target) / (high - low)",
    ),
    # Options
    Formula(
        "breaks even|break even|breakeven|break-even",
        {"strike": "strike call bought", "paid": "premium paid", "received": "premium received"},
        "strike + paid - received",
    ),
    Formula(
        "net premium|net cost|net debit", {"paid": "premium paid", "received": "premium received"}, "paid - received"
    ),
    Formula(
        "probability",
        {"up": "rise|up", "down": "fall|down", "rate": "riskless|risk-free"},
        "(rate + down) / (up + down)",
    ),
    Formula("upper state price|price upper|price up", {"spot": "stock price|spot", "up": "rise|up"}, "spot * (1 + up)"),
    Formula(
        "lower state price|price lower|price down",
        {"spot": "stock price|spot", "down": "fall|down"},
        "spot * (1 - down)",
    ),
    Formula(
        "present value strike|discounted strike",
        {"strike": "strike", "years": "years", "rate": "riskless|risk-free"},
        "strike * exp(-rate * years)",
    ),
    Formula(
        "put",
        {
            "call": "price call",
            "spot": "stock price|spot",
            "strike": "strike",
            "years": "years",
            "rate": "riskless|risk-free",
        },
        "call - spot + strike * exp(-rate * years)",
    ),
)


def matches(phrase: str, text: str) -> bool:
    """Return whether ``text`` contains every word of one alternative of ``phrase``."""
    lowered = text.lower()
    return any(_all_words(alternative.split(), lowered) for alternative in phrase.split("|"))


def _all_words(words: list[str], lowered: str) -> bool:
    return all(
        re.search(rf"\b{re.escape(word.lstrip('-'))}", lowered) is None
        if word.startswith("-")
        else re.search(rf"\b{re.escape(word)}", lowered) is not None
        for word in words
    )


def find(asked: str, given: list[Given]) -> str | None:
    """Return a formula for the figure that ``asked`` describes, written in the names of ``given``; None if unknown.

    Where several entries fit, the one that uses most of what is given wins.
    """
    best: tuple[int, str] | None = None
    for entry in BOOK:
        if not matches(entry.yields, asked):
            continue
        bound = _bind(entry, given)
        if bound is not None and (best is None or len(entry.inputs) > best[0]):
            best = (len(entry.inputs), _rename(entry.expression, bound))
    return best[1] if best else None


def _bind(entry: Formula, given: list[Given]) -> dict[str, str] | None:
    """Return the given quantity of each variable; None unless every variable finds one of its own."""
    bound: dict[str, str] = {}
    for variable, phrase in entry.inputs.items():
        fitting = [item.name for item in given if item.name not in bound.values() and matches(phrase, item.meaning)]
        if not fitting:
            return None
        bound[variable] = fitting[0]
    return bound


def _rename(expression: str, names: Mapping[str, str]) -> str:
    return re.sub(r"[a-z_]+", lambda match: names.get(match.group(), match.group()), expression)
