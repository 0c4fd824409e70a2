"""Corporate finance: discounted cash flow, comparable companies, variance of a budget."""

from __future__ import annotations

import random
import statistics
from typing import NamedTuple

from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.table import Cell, Column, Table

COMPANIES = (
    "Aldermoor",
    "Brightwater",
    "Corvane",
    "Delphane",
    "Estermont",
    "Fenwick",
    "Galloway",
    "Harrowgate",
    "Inver",
)


def _enterprise_value(flows: list[float], *, cost_of_capital: float, growth: float) -> tuple[float, float]:
    """Return enterprise value and the present value of the terminal value, both in millions."""
    present = sum(flow / (1 + cost_of_capital) ** year for year, flow in enumerate(flows, start=1))
    terminal = flows[-1] * (1 + growth) / (cost_of_capital - growth) / (1 + cost_of_capital) ** len(flows)
    return present + terminal, terminal


def discounted_cash_flow(rng: random.Random) -> Assignment:
    """Ask for a five- to seven-year valuation with a terminal value and one sensitivity."""
    years = rng.randint(5, 7)
    first_year = rng.randint(2016, 2026)
    revenue0 = round(rng.uniform(200, 3000), 1)
    growth = [round(rng.uniform(0.02, 0.16), 3) for _ in range(years)]
    margin, tax = round(rng.uniform(0.11, 0.26), 3), round(rng.uniform(0.19, 0.28), 3)
    depreciation, capex = round(rng.uniform(0.025, 0.05), 3), round(rng.uniform(0.035, 0.07), 3)
    working_capital = round(rng.uniform(0.05, 0.2), 3)
    cost_of_capital, terminal_growth = round(rng.uniform(0.075, 0.115), 4), round(rng.uniform(0.01, 0.03), 4)
    net_debt, shares = round(rng.uniform(0.05, 0.4) * revenue0, 1), round(rng.uniform(20, 200), 1)
    revenues, flows = [revenue0], []
    for rate in growth:
        revenues.append(revenues[-1] * (1 + rate))
        operating = revenues[-1] * (margin * (1 - tax) + depreciation - capex)
        flows.append(operating - working_capital * (revenues[-1] - revenues[-2]))
    enterprise, terminal = _enterprise_value(flows, cost_of_capital=cost_of_capital, growth=terminal_growth)
    stressed, _ = _enterprise_value(flows, cost_of_capital=cost_of_capital + 0.01, growth=terminal_growth)
    per_share = (enterprise - net_debt) / shares
    price = limit_near(rng, per_share)
    as_of = any_day(rng).replace(year=first_year - 1)
    company = rng.choice(COMPANIES)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (str(first_year + index), revenues[index + 1], flow, flow / (1 + cost_of_capital) ** (index + 1))
        for index, flow in enumerate(flows)
    )
    columns = (
        Column("year", "key", "is the forecast year"),
        Column("revenue", "number", "is the revenue in millions of dollars"),
        Column("free_cash_flow", "number", "is the free cash flow in millions of dollars"),
        Column("present_value", "number", "is its present value in millions of dollars"),
    )
    memo = Memo(
        name="memo.md",
        recipient="Valuation Committee",
        subject=f"{company} valuation",
        written_on=as_of,
        figures=(
            Figure("Enterprise value", 1e6 * enterprise, "currency"),
            Figure("Equity value", 1e6 * (enterprise - net_debt), "currency"),
            Figure("Value per share", per_share, "currency"),
            Figure("Terminal value share", terminal / enterprise, "percent",
                   "present value of the terminal value over enterprise value"),
            Figure("Value per share at higher cost of capital", (stressed - net_debt) / shares, "currency",
                   "cost of capital one percentage point higher"),
        ),
        verdicts=("UNDERVALUED", "OVERVALUED"),
        verdict="UNDERVALUED" if per_share > price else "OVERVALUED",
        verdict_rule="UNDERVALUED if the value per share exceeds the share price, else OVERVALUED.",
        summary="The valuation discounts the forecast free cash flows and a growing perpetuity after them.",
        finding="This compares the value per share with the current share price.",
    )  # fmt: skip
    brief = (
        f"Value {company} by discounted cash flow and report to the committee. Amounts of the inputs are in millions "
        "of dollars, shares in millions.\nConventions: revenue grows from the base year by the growth rates. Free "
        "cash flow is revenue times EBIT margin times one minus the tax rate, plus depreciation, less capital "
        "expenditure (both fractions of the year's revenue), less the working capital rate times the increase of "
        "revenue. Flows come at the end of each year; the first is one year from now. The terminal value at the end "
        "of the last year is that year's free cash flow times one plus the terminal growth, divided by cost of "
        "capital less terminal growth. Do not round intermediate results."
    )
    inputs = {
        "company": company,
        "base_year_revenue": revenue0,
        "first_forecast_year": first_year,
        "revenue_growth": growth,
        "ebit_margin": margin,
        "tax_rate": tax,
        "depreciation_rate": depreciation,
        "capital_expenditure_rate": capex,
        "working_capital_rate": working_capital,
        "cost_of_capital": cost_of_capital,
        "terminal_growth": terminal_growth,
        "net_debt": net_debt,
        "shares": shares,
        "share_price": price,
    }
    return Assignment(brief, inputs, Table("forecast.csv", columns, rows), memo, as_of)


class Peer(NamedTuple):
    """A listed company; amounts in millions of dollars, shares in millions."""

    peer: str
    share_price: float
    shares: float
    debt: float
    cash: float
    ebitda: float
    net_income: float

    @property
    def enterprise_value(self) -> float:
        """Market value of the shares plus debt less cash, in millions."""
        return self.share_price * self.shares + self.debt - self.cash


def _any_peer(rng: random.Random, name: str) -> Peer:
    ebitda = round(rng.uniform(40, 400), 1)
    income = round(ebitda * rng.uniform(0.35, 0.55), 1)
    shares = round(rng.uniform(10, 120), 1)
    price = round(income * rng.uniform(11, 24) / shares, 2)
    debt, cash = round(ebitda * rng.uniform(0.5, 3), 1), round(ebitda * rng.uniform(0.1, 0.8), 1)
    return Peer(name, price, shares, debt, cash, ebitda, income)


def comparable_companies(rng: random.Random) -> Assignment:
    """Ask for the multiples of a peer group and the price they imply for a target."""
    names = rng.sample(COMPANIES, rng.randint(6, 8))
    peers = [_any_peer(rng, name) for name in sorted(names[1:])]
    target = _any_peer(rng, names[0])
    multiples = [(p.enterprise_value / p.ebitda, p.share_price * p.shares / p.net_income) for p in peers]
    by_ebitda, by_income = (statistics.median(column) for column in zip(*multiples, strict=True))
    price_by_ebitda = (by_ebitda * target.ebitda - target.debt + target.cash) / target.shares
    price_by_income = by_income * target.net_income / target.shares
    middle = (price_by_ebitda + price_by_income) / 2
    price = limit_near(rng, middle)
    as_of = any_day(rng)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (peer.peer, peer.enterprise_value, *pair) for peer, pair in zip(peers, multiples, strict=True)
    )
    columns = (
        Column("peer", "key", "is the company, in alphabetical order"),
        Column("enterprise_value", "number", "is the enterprise value in millions of dollars"),
        Column("ev_to_ebitda", "number", "is enterprise value over EBITDA", decimals=3),
        Column("price_to_earnings", "number", "is market value of the shares over net income", decimals=3),
    )
    memo = Memo(
        name="memo.md",
        recipient="Deal Team",
        subject=f"{target.peer} comparable companies",
        written_on=as_of,
        figures=(
            Figure("Median EV/EBITDA", by_ebitda, "number"),
            Figure("Median P/E", by_income, "number"),
            Figure("Price by EV/EBITDA", price_by_ebitda, "currency", "per share of the target"),
            Figure("Price by P/E", price_by_income, "currency", "per share of the target"),
            Figure("Midpoint", middle, "currency", "mean of the two prices"),
        ),
        verdicts=("CHEAP", "DEAR"),
        verdict="CHEAP" if middle > price else "DEAR",
        verdict_rule="CHEAP if the midpoint exceeds the share price of the target, else DEAR.",
        summary="The target is priced at the medians of its peers, once on enterprise value and once on earnings.",
        finding="This compares the midpoint of the two prices with the share price of the target.",
    )
    brief = (
        f"Value {target.peer} by comparable companies and report to the deal team. Amounts are in millions of "
        "dollars, shares in millions, share prices in dollars.\nConventions: enterprise value is market value of "
        "the shares plus debt less cash. The price by EV/EBITDA is the target's EBITDA times the median multiple, "
        "less its debt, plus its cash, over its shares. Do not round intermediate results."
    )
    inputs = {
        "peers": [peer._asdict() for peer in peers],
        "target": {**target._asdict(), "share_price": price},
    }
    return Assignment(brief, inputs, Table("peers.csv", columns, rows), memo, as_of)


class Line(NamedTuple):
    """Volume in units, price and unit cost in dollars."""

    volume: int
    price: float
    unit_cost: float

    @property
    def margin(self) -> float:
        """Contribution in dollars."""
        return self.volume * (self.price - self.unit_cost)


def budget_variance(rng: random.Random) -> Assignment:
    """Ask for price, volume and cost variances of a product range."""
    products = [f"P{number}" for number in sorted(rng.sample(range(10, 99), rng.randint(5, 8)))]
    budget = {p: Line(rng.randrange(800, 9000, 50), round(rng.uniform(20, 160), 2), 0.0) for p in products}
    budget = {p: b._replace(unit_cost=round(b.price * rng.uniform(0.45, 0.75), 2)) for p, b in budget.items()}
    actual = {
        p: Line(
            round(b.volume * rng.uniform(0.85, 1.15)),
            round(b.price * rng.uniform(0.93, 1.06), 2),
            round(b.unit_cost * rng.uniform(0.92, 1.1), 2),
        )
        for p, b in budget.items()
    }
    variances = {
        p: (
            (a.price - b.price) * a.volume,
            (a.volume - b.volume) * (b.price - b.unit_cost),
            (b.unit_cost - a.unit_cost) * a.volume,
        )
        for p, a, b in ((p, actual[p], budget[p]) for p in products)
    }
    price, volume, cost = (sum(column) for column in zip(*variances.values(), strict=True))
    planned, reached = (sum(line.margin for line in lines.values()) for lines in (budget, actual))
    as_of = any_day(rng)
    division = rng.choice(("Fasteners", "Coatings", "Sensors", "Packaging"))
    rows: tuple[tuple[Cell, ...], ...] = tuple((product, *variances[product]) for product in products)
    columns = (
        Column("product", "key", "is the product, in ascending order"),
        Column("price_variance", "money", "is actual price less budget price, times actual volume"),
        Column("volume_variance", "money", "is actual volume less budget volume, times budget contribution a unit"),
        Column("cost_variance", "money", "is budget unit cost less actual unit cost, times actual volume"),
    )
    largest = max((("PRICE", price), ("VOLUME", volume), ("COST", cost)), key=lambda pair: abs(pair[1]))[0]
    memo = Memo(
        name="memo.md",
        recipient="Finance Director",
        subject=f"{division} budget variance",
        written_on=as_of,
        figures=(
            Figure("Budget contribution", planned, "currency"),
            Figure("Actual contribution", reached, "currency"),
            Figure("Price variance", price, "currency", "all products, negative when unfavourable"),
            Figure("Volume variance", volume, "currency", "all products, negative when unfavourable"),
            Figure("Cost variance", cost, "currency", "all products, negative when unfavourable"),
        ),
        verdicts=("PRICE", "VOLUME", "COST"),
        verdict=largest,
        verdict_rule="the driver whose total variance is the largest in absolute amount.",
        summary="The change of contribution against budget is split into three parts that add up to it.",
        finding="This is the driver with the largest total.",
    )
    brief = (
        f"Explain the contribution of the {division} division against its budget. Contribution is volume times price "
        "less unit cost. A variance that raises contribution is positive."
    )
    inputs = {
        "products": [{"product": p, "budget": budget[p]._asdict(), "actual": actual[p]._asdict()} for p in products]
    }
    return Assignment(brief, inputs, Table("variance.csv", columns, rows), memo, as_of)


TEMPLATES = (
    Template("discounted-cash-flow", "Valuation", discounted_cash_flow),
    Template("comparable-companies", "Valuation", comparable_companies),
    Template("budget-variance", "Management Accounting", budget_variance),
)
