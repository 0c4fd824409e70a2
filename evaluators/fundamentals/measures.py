"""What is computed from a company's figures: each measure once, for every difficulty and choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from evaluators.answers import Tolerance
from evaluators.answers.expected import ExpectedNumber
from evaluators.fundamentals.world import Lacking, View

Unit = Literal["percent", "points", "money", "ratio"]
_TOLERANCES: Mapping[Unit, Tolerance] = {
    "percent": Tolerance(relative=0.01, absolute=0.0005),
    "points": Tolerance(relative=0.01, absolute=0.0002),
    "ratio": Tolerance(relative=0.01, absolute=0.0),
    "money": Tolerance(relative=0.005, absolute=0.0),
}
ANY = ("FY", "Q1", "Q2", "Q3", "Q4", "T1", "T2", "T3")
YEAR = ("FY",)


def expected(gold: float, unit: Unit) -> ExpectedNumber:
    """Return the gold number with the kind and tolerance of its unit."""
    kind: Literal["percent", "currency", "number"] = "percent"
    if unit in ("money", "ratio"):
        kind = "currency" if unit == "money" else "number"
    return ExpectedNumber(gold, kind, _TOLERANCES[unit])


class Measure(NamedTuple):
    """A figure of a company and a period.

    Attributes
    ----------
    history
        Years before the period's own that it needs.
    periods
        Of which it can be taken.
    """

    of: Callable[[View], float]
    unit: Unit
    history: int = 0
    periods: tuple[str, ...] = ANY


LINES: Mapping[str, str] = {
    "Revenue": "revenue",
    "GrossProfit": "gross profit",
    "OperatingIncome": "operating income",
    "NetIncome": "net income",
    "OperatingCashFlow": "net cash from operating activities",
    "CapitalExpenditure": "cash paid for property, plant and equipment",
    "DepreciationAndAmortization": "depreciation and amortization",
}
"""Flows that a company has every quarter."""
MARGINS: Mapping[str, tuple[str, str]] = {
    "gross margin": ("GrossProfit", "gross profit"),
    "operating margin": ("OperatingIncome", "operating income"),
    "net margin": ("NetIncome", "net income"),
}


def margin(item: str) -> Measure:
    """Return a profit over revenue."""
    return Measure(lambda view: view.flow(item) / view.base("Revenue"), "percent")


def margin_change(item: str) -> Measure:
    """Return the change of a margin against the same period of the year before."""
    share = margin(item).of
    return Measure(lambda view: share(view) - share(view.back()), "points", 2)


def growth(item: str, years: int = 1) -> Measure:
    """Return the compound annual growth of a flow."""
    return Measure(
        lambda view: (view.base(item) / view.back(years).base(item)) ** (1 / years) - 1, "percent", years + 1
    )


def cumulative(item: str, years: int) -> Measure:
    """Return a flow summed over fiscal years."""
    return Measure(lambda view: sum(view.back(back).flow(item) for back in range(years)), "money", years - 1, YEAR)


def line(item: str) -> Measure:
    """Return a flow as it is."""
    return Measure(lambda view: view.flow(item), "money", 1)


def _cash_conversion(view: View) -> float:
    ratio = view.flow("OperatingCashFlow") / view.base("NetIncome")
    if abs(ratio - 1) < 0.02:
        raise Lacking("one is what a guess would say")
    return ratio


def _effective_tax_rate(view: View) -> float:
    tax, income = view.flow("IncomeTax"), view.flow("NetIncome")
    if income + tax <= 0:
        raise Lacking("no taxable income")
    return tax / (income + tax)


def _return_on_equity(view: View) -> float:
    mean = (view.base_stock("Equity") + view.back().base_stock("Equity")) / 2
    return view.flow("NetIncome") / mean


def _sustainable_growth(view: View) -> float:
    income = view.base("NetIncome")
    return income / view.back().base_stock("Equity") * (1 - view.flow("Dividends") / income)


def _incremental_margin(view: View) -> float:
    added = view.flow("Revenue") - view.back().flow("Revenue")
    if abs(added) < 0.03 * view.flow("Revenue"):
        raise Lacking("revenue hardly changed")
    return (view.flow("OperatingIncome") - view.back().flow("OperatingIncome")) / added


FREE_CASH_FLOW = Measure(lambda view: view.flow("OperatingCashFlow") - view.flow("CapitalExpenditure"), "money", 1)
CURRENT_RATIO = Measure(
    lambda view: view.stock("CurrentAssets") / view.base_stock("CurrentLiabilities"),
    "ratio",
    0,
    ("FY", "Q1", "Q2", "Q3"),
)
CASH_CONVERSION = Measure(_cash_conversion, "ratio", 1)
EFFECTIVE_TAX_RATE = Measure(_effective_tax_rate, "percent", 1)
RETURN_ON_EQUITY = Measure(_return_on_equity, "percent", 1, YEAR)
SUSTAINABLE_GROWTH = Measure(_sustainable_growth, "percent", 1, YEAR)
INCREMENTAL_MARGIN = Measure(_incremental_margin, "percent", 2)

CRITERIA: Mapping[str, Measure] = {
    "net margin (net income over revenue)": margin("NetIncome"),
    "operating margin (operating income over revenue)": margin("OperatingIncome"),
    "growth of revenue over the fiscal year before": growth("Revenue"),
    "current ratio (current assets over current liabilities, at the end of the year)": CURRENT_RATIO,
    "share of revenue spent on property, plant and equipment": Measure(
        lambda view: view.flow("CapitalExpenditure") / view.base("Revenue"), "percent"
    ),
    "ratio of total liabilities to total assets at the end of the year": Measure(
        lambda view: view.stock("Liabilities") / view.base_stock("Assets"), "ratio"
    ),
}
"""By which a company or a year is chosen at expert level."""
