"""A valuation by discounted cash flow with a terminal value and one sensitivity."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from evaluators.professional import briefs_companies
from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.assignments.names import COMPANIES
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet, column
from evaluators.professional.table import Column, Table

COLUMNS = (
    Column("year", "key", "is the forecast year"),
    Column("revenue", "number", "is the revenue in millions of dollars"),
    Column("free_cash_flow", "number", "is the free cash flow in millions of dollars"),
    Column("present_value", "number", "is its present value in millions of dollars"),
)
MILLION = 1e6


class Company(NamedTuple):
    """Drawn inputs: amounts in millions of dollars, shares in millions, rates as fractions."""

    company: str
    base_year_revenue: float
    first_forecast_year: int
    revenue_growth: list[float]
    ebit_margin: float
    tax_rate: float
    depreciation_rate: float
    capital_expenditure_rate: float
    working_capital_rate: float
    cost_of_capital: float
    terminal_growth: float
    net_debt: float
    shares: float


class Year(NamedTuple):
    """A forecast year, in millions of dollars."""

    revenue: float
    free_cash_flow: float
    present_value: float


class Value(NamedTuple):
    """Enterprise value and the present value of the terminal value in millions; value per share in dollars."""

    enterprise: float
    terminal: float
    per_share: float


def forecast(company: Company) -> list[Year]:
    """Return the forecast years."""
    before, rows = company.base_year_revenue, list[Year]()
    operating = company.ebit_margin * (1 - company.tax_rate)
    cash_rate = operating + company.depreciation_rate - company.capital_expenditure_rate
    for year, growth in enumerate(company.revenue_growth, start=1):
        revenue = before * (1 + growth)
        flow = revenue * cash_rate - company.working_capital_rate * (revenue - before)
        rows.append(Year(revenue, flow, flow / (1 + company.cost_of_capital) ** year))
        before = revenue
    return rows


def value(company: Company, rows: Sequence[Year]) -> Value:
    """Return the value by Gordon growth after the last forecast year."""
    spread = company.cost_of_capital - company.terminal_growth
    terminal = rows[-1].present_value * (1 + company.terminal_growth) / spread
    enterprise = sum(row.present_value for row in rows) + terminal
    return Value(enterprise, terminal, (enterprise - company.net_debt) / company.shares)


def _draw(rng: random.Random) -> Company:
    revenue = round(rng.uniform(200, 3000), 1)
    return Company(
        company=rng.choice(COMPANIES),
        base_year_revenue=revenue,
        first_forecast_year=rng.randint(2016, 2026),
        revenue_growth=[round(rng.uniform(0.02, 0.16), 3) for _ in range(rng.randint(5, 7))],
        ebit_margin=round(rng.uniform(0.11, 0.26), 3),
        tax_rate=round(rng.uniform(0.19, 0.28), 3),
        depreciation_rate=round(rng.uniform(0.025, 0.05), 3),
        capital_expenditure_rate=round(rng.uniform(0.035, 0.07), 3),
        working_capital_rate=round(rng.uniform(0.05, 0.2), 3),
        cost_of_capital=round(rng.uniform(0.075, 0.115), 4),
        terminal_growth=round(rng.uniform(0.01, 0.03), 4),
        net_debt=round(rng.uniform(0.05, 0.4) * revenue, 1),
        shares=round(rng.uniform(20, 200), 1),
    )


def _sheet(rng: random.Random, company: Company, price: float) -> Sheet:
    first, growth = company.first_forecast_year, company.revenue_growth
    table = Exhibit(
        titles=("growth of revenue", "the forecast of revenue growth", "how revenue grows"),
        headings=(Heading(("year", "forecast year")), Heading(("growth", "revenue growth"), "fraction")),
        rows=tuple((str(first + place), rate) for place, rate in enumerate(growth)),
        beside=(
            column(rng, Heading(("growth of the industry",), "fraction"), growth, 0.01, 0.12, 3),
            column(rng, Heading(("inflation",), "fraction"), growth, 0.01, 0.05, 3),
        ),
    )
    facts = (
        Fact(("first forecast year",), str(first), "text"),
        Fact(("revenue of the base year", "base-year revenue"), company.base_year_revenue, "millions"),
        Fact(("EBIT margin",), company.ebit_margin, "fraction"),
        Fact(("tax rate",), company.tax_rate, "fraction"),
        Fact(("depreciation over revenue", "depreciation rate, of revenue"), company.depreciation_rate, "fraction"),
        Fact(("capital expenditure over revenue", "capital expenditure rate, of revenue"),
             company.capital_expenditure_rate, "fraction"),
        Fact(("working capital over the increase of revenue", "working capital rate"),
             company.working_capital_rate, "fraction"),
        Fact(("cost of capital", "weighted average cost of capital"), company.cost_of_capital, "fraction"),
        Fact(("terminal growth", "growth after the forecast"), company.terminal_growth, "fraction"),
        Fact(("net debt",), company.net_debt, "millions"),
        Fact(("shares in millions", "number of shares in millions"), company.shares),
        Fact(("share price", "price of the share today"), price, "price"),
    )  # fmt: skip
    beside = (
        Fact(("EBITDA margin of the industry",), round(rng.uniform(0.15, 0.3), 3), "fraction"),
        Fact(("cost of debt before tax",), round(rng.uniform(0.03, 0.07), 4), "fraction"),
        Fact(("revenue two years before the base year",), round(rng.uniform(200, 3000), 1), "millions"),
    )
    return Sheet(facts, (table,), beside)


def assign(rng: random.Random) -> Assignment:
    """Draw a company and a share price near its value."""
    company = _draw(rng)
    as_of = any_day(rng).replace(year=company.first_forecast_year - 1)
    rows = forecast(company)
    found = value(company, rows)
    dearer = company._replace(cost_of_capital=company.cost_of_capital + 0.01)
    price = limit_near(rng, found.per_share)
    memo = Memo(
        recipient="Valuation Committee",
        subject=f"{company.company} valuation",
        written_on=as_of,
        figures=(
            Figure("Enterprise value", MILLION * found.enterprise, "currency"),
            Figure("Equity value", MILLION * (found.enterprise - company.net_debt), "currency"),
            Figure("Value per share", found.per_share, "currency"),
            Figure("Terminal value share", found.terminal / found.enterprise, "percent",
                   "present value of the terminal value over enterprise value"),
            Figure("Value per share at higher cost of capital", value(dearer, forecast(dearer)).per_share, "currency",
                   "cost of capital one percentage point higher"),
        ),
        verdicts=("UNDERVALUED", "OVERVALUED"),
        verdict="UNDERVALUED" if found.per_share > price else "OVERVALUED",
        verdict_rule="UNDERVALUED if the value per share exceeds the share price, else OVERVALUED.",
        summary="The valuation discounts the forecast free cash flows and a growing perpetuity after them.",
        finding="This compares the value per share with the current share price.",
    )  # fmt: skip
    cells = tuple((str(company.first_forecast_year + index), *row) for index, row in enumerate(rows))
    inputs = {**company._asdict(), "share_price": price}
    table = Table("forecast.csv", COLUMNS, cells)
    return Assignment({"company": company.company}, inputs, _sheet(rng, company, price), table, memo, as_of)


TEMPLATE = Template("discounted-cash-flow", "Valuation", assign, briefs_companies.CASH_FLOW)
