"""Questions on annual and quarterly figures: margins, returns, growth, cash, liquidity."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from evaluators.contract import Difficulty, Json
from evaluators.fundamentals import measures
from evaluators.fundamentals.levels import drawn, placed
from evaluators.fundamentals.measures import LINES, MARGINS, Measure
from evaluators.fundamentals.question import Drawn, Template
from evaluators.fundamentals.world import World

FUNDAMENTAL, TREND, QUANTITATIVE = "Fundamental Analysis", "Trend Analysis", "Quantitative Reasoning"
Variant = tuple[Measure, Mapping[str, str], Mapping[str, Json]]
"""A measure, the words that tell it from others of its family, and the same for a second computation."""


def _asked(variant: Callable[[random.Random], Variant]) -> Callable[[random.Random, World, Difficulty], Drawn]:
    def draw(rng: random.Random, world: World, level: Difficulty) -> Drawn:
        measure, words, inputs = variant(rng)
        return replace(drawn(placed(rng, world, level, measure), measure, **inputs), words=words)

    return draw


def _one(measure: Measure) -> Callable[[random.Random, World, Difficulty], Drawn]:
    return _asked(lambda rng: (measure, {}, {}))


def _margin(rng: random.Random) -> Variant:
    name = rng.choice(sorted(MARGINS))
    item, words = MARGINS[name]
    return measures.margin(item), {"name": name, "top": words}, {"item": item}


def _margin_change(rng: random.Random) -> Variant:
    _, words, inputs = _margin(rng)
    return measures.margin_change(str(inputs["item"])), words, inputs


def _revenue_growth(rng: random.Random) -> Variant:
    item = rng.choice(("Revenue", "GrossProfit"))
    return measures.growth(item), {"line": LINES[item]}, {"item": item}


def _compound_growth(rng: random.Random) -> Variant:
    item, years = rng.choice(("Revenue", "GrossProfit", "OperatingIncome")), rng.randint(2, 4)
    measure = measures.growth(item, years)._replace(periods=measures.YEAR)
    return measure, {"line": LINES[item], "years": str(years)}, {"item": item, "span": years}


def _cumulative_flow(rng: random.Random) -> Variant:
    item, years = rng.choice(sorted(LINES)), rng.randint(2, 4)
    words = {"line": LINES[item], "years": str(years)}
    return measures.cumulative(item, years), words, {"item": item, "span": years}


def fourth_quarter(rng: random.Random, world: World, level: Difficulty) -> Drawn:
    """Ask for the quarter that no one files: the year less what was reported before."""
    flows = ("OperatingCashFlow", "CapitalExpenditure", "DepreciationAndAmortization")
    item = rng.choice(("Revenue", "NetIncome", "OperatingIncome") if level == "easy" else flows)
    measure = measures.line(item)
    at = placed(rng, world, level, measure._replace(periods=("FY", "Q4")))
    end = at.view.book.year_end(at.view.year)
    at = at._replace(view=replace(at.view, period="Q4"))
    if level == "easy":
        at = at._replace(period=f"in the fourth quarter of fiscal {at.view.year} (ended {end:%-d %B %Y})")
    elif level == "expert":
        at = at._replace(period=f"in the last quarter of {at.period.removeprefix('in ')}")
    found = drawn(at, measure, item=item)
    rules = f"Fourth quarters are not reported as such: take the year less the first three. {found.rules}"
    return replace(found, words={"line": LINES[item]}, rules=rules if level == "easy" else found.rules)


TEMPLATES = (
    Template(
        "margin", FUNDAMENTAL, _asked(_margin),
        ("the {name} ({top} divided by revenue)", "{top} as a percentage of revenue"),
        ("the part of revenue that was left as {top}",),
    ),
    Template(
        "margin-change", FUNDAMENTAL, _asked(_margin_change),
        ("the change of the {name} ({top} over revenue) against the same period of the year before, in percentage "
         "points, positive for a rise,",
         "the difference between the {name} and that of the same period a year earlier ({top} over revenue; percentage "
         "points, positive when it rose)"),
        ("the number of percentage points that {top} as a share of revenue gained (negative: lost) on the same period "
         "of the year before",),
    ),
    Template(
        "return-on-equity", FUNDAMENTAL, _one(measures.RETURN_ON_EQUITY),
        ("the return on equity (net income over the mean of stockholders' equity at the end of the year and at the end "
         "of the year before)",
         "net income as a percentage of average stockholders' equity, the mean of its opening and closing balances,"),
        ("what stockholders' equity, averaged over the beginning and the end of the year, returned as net income",),
    ),
    Template(
        "free-cash-flow", FUNDAMENTAL, _one(measures.FREE_CASH_FLOW),
        ("the free cash flow (net cash from operating activities less cash paid for property, plant and equipment)",
         "the cash from operating activities that remained after purchases of property, plant and equipment"),
        ("what operations brought in as cash beyond the spending on property, plant and equipment",),
    ),
    Template(
        "current-ratio", FUNDAMENTAL, _one(measures.CURRENT_RATIO),
        ("the current ratio (total current assets over total current liabilities, at the end of the period)",
         "the ratio of current assets to current liabilities on the last day"),
        ("the multiple of current liabilities that current assets were on the closing day",),
    ),
    Template(
        "cash-conversion", FUNDAMENTAL, _one(measures.CASH_CONVERSION),
        ("the ratio of net cash from operating activities to net income",
         "the cash conversion (net cash from operating activities over net income)"),
        ("the multiple of net income that operations brought in as cash",),
    ),
    Template(
        "revenue-growth", TREND, _asked(_revenue_growth),
        ("the percentage growth of {line} over the same period of the year before",
         "the change of {line} against the same period a year earlier, in percent,"),
        ("the rate at which {line} outgrew (negative: fell short of) the same period of the year before",),
    ),
    Template(
        "compound-growth", TREND, _asked(_compound_growth),
        ("the {years}-year compound annual growth rate (from {years} fiscal years before) of {line}",
         "the mean annual growth of {line} in percent, compounded since {years} fiscal years before,"),
        ("the constant yearly rate at which {line} grew from {years} fiscal years before to what it came to",),
    ),
    Template(
        "cumulative-flow", TREND, _asked(_cumulative_flow),
        ("the {years}-year total of {line} (of that fiscal year and those before it)",
         "{line} summed over {years} fiscal years (that one and those before it)"),
        ("the sum of {years} consecutive annual figures of {line}, the last one being that",),
    ),
    Template(
        "fourth-quarter", QUANTITATIVE, fourth_quarter,
        ("the {line}", "the figure of {line}"),
        ("the amount of {line}",),
    ),
    Template(
        "effective-tax-rate", QUANTITATIVE, _one(measures.EFFECTIVE_TAX_RATE),
        ("the effective tax rate in percent (income tax expense over the sum of net income and income tax expense)",
         "income tax expense as a percentage of net income before that expense"),
        ("the part of net income before income tax expense that this expense took",),
    ),
    Template(
        "sustainable-growth", QUANTITATIVE, _one(measures.SUSTAINABLE_GROWTH),
        ("the sustainable growth rate (net income over opening stockholders' equity, times one minus dividends paid "
         "over net income)",
         "the return on opening stockholders' equity times the share of net income that was not paid as dividends"),
        ("the growth that retained profit allows: net income less dividends paid, over stockholders' equity at the end "
         "of the year before,",),
    ),
    Template(
        "incremental-margin", QUANTITATIVE, _one(measures.INCREMENTAL_MARGIN),
        ("the incremental operating margin (change of operating income over change of revenue, both against the same "
         "period of the year before)",
         "the added operating income per dollar of added revenue, each against the same period a year earlier,"),
        ("the share of the change of revenue on the same period of the year before that arrived as operating income",),
    ),
)  # fmt: skip
