"""The cash flows of a ladder of annual bonds, their present value and duration."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from evaluators.professional import briefs_risk
from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet, column
from evaluators.professional.table import Column, Table

COLUMNS = (
    Column("date", "key", "is the payment date (YYYY-MM-DD)"),
    Column("coupons", "money", "is the sum of the coupons of all bonds"),
    Column("cash_flow", "money", "is coupons and principal together"),
    Column("present_value", "money", "is the present value of the cash flow"),
)
CLIENTS = ("Lindqvist Foundation", "Orchard Pension Fund", "Teal Insurance")
YIELD_SHOCK = 0.005


class Bond(NamedTuple):
    """A rung of the ladder: ``coupon`` is a fraction of ``face`` a year, ``years`` the time to maturity."""

    bond: str
    face: int
    coupon: float
    years: int


class Year(NamedTuple):
    """What one year pays, in dollars."""

    coupons: float
    cash_flow: float
    present_value: float


def years_later(day: date, years: int) -> date:
    """Return the same calendar day ``years`` later; days are drawn up to 28, so it exists."""
    return day.replace(year=day.year + years)


def cash_flows(bonds: Sequence[Bond], *, flat_yield: float) -> list[Year]:
    """Return the years in order; exactly one bond matures in each."""
    rows = []
    for year, maturing in enumerate(bonds, start=1):
        coupons = sum(bond.face * bond.coupon for bond in bonds if bond.years >= year)
        flow = coupons + maturing.face
        rows.append(Year(coupons, flow, flow / (1 + flat_yield) ** year))
    return rows


def _sheet(
    rng: random.Random, bonds: Sequence[Bond], dates: Mapping[int, str], settlement: date, rate: float, target: float
) -> Sheet:
    table = Exhibit(
        titles=("the bonds", "the rungs of the ladder", "holdings at settlement"),
        headings=(
            Heading(("bond", "rung")),
            Heading(("face value", "nominal", "face"), "dollars"),
            Heading(("coupon", "coupon rate", "annual coupon"), "fraction"),
            Heading(("maturity", "matures on", "redeemed on"), "text"),
        ),
        rows=tuple((bond.bond, bond.face, bond.coupon, dates[bond.years]) for bond in bonds),
        spare=tuple(f"B{number}" for number in range(10, 20)),
        beside=(
            column(rng, Heading(("yield at purchase", "yield when bought"), "fraction"), bonds, 0.01, 0.07, 4),
            column(rng, Heading(("price paid for 100 of face",)), bonds, 90, 110, 2),
        ),
    )
    facts = (
        Fact(("settlement", "settlement date"), settlement.isoformat(), "text"),
        Fact(("flat yield", "yield for discounting"), rate, "fraction"),
        Fact(("target duration in years", "duration wanted, years"), target),
    )
    beside = (
        Fact(("yield of the benchmark index",), rng.randrange(200, 650) / 10_000, "fraction"),
        Fact(("duration of the benchmark index in years",), round(rng.uniform(2, 7), 2)),
    )
    return Sheet(facts, (table,), beside)


def assign(rng: random.Random) -> Assignment:
    """Draw a ladder, a yield and a target duration near the ladder's own."""
    settlement, client, flat_yield = any_day(rng), rng.choice(CLIENTS), rng.randrange(200, 650) / 10_000
    bonds = [
        Bond(f"B{n}", rng.randrange(40, 260) * 1000, rng.randrange(150, 700) / 10_000, n)
        for n in range(1, rng.randint(6, 9))
    ]
    rows = cash_flows(bonds, flat_yield=flat_yield)
    value = sum(row.present_value for row in rows)
    duration = sum(year * row.present_value for year, row in enumerate(rows, start=1)) / value
    modified, target = duration / (1 + flat_yield), limit_near(rng, duration)
    memo = Memo(
        recipient="Investment Committee",
        subject=f"{client} bond ladder",
        written_on=settlement,
        figures=(
            Figure("Present value", value, "currency"),
            Figure("Macaulay duration", duration, "number", "in years", unit="years"),
            Figure("Modified duration", modified, "number", "Macaulay duration over one plus the yield", unit="years"),
            Figure("Value change", -modified * value * YIELD_SHOCK, "currency",
                   "first-order estimate for a rise of the yield by 50 basis points, negative for a loss"),
        ),
        verdicts=("LONGER", "SHORTER"),
        verdict="LONGER" if duration > target else "SHORTER",
        verdict_rule="LONGER if the Macaulay duration exceeds the target duration, else SHORTER.",
        summary="The ladder pays one principal a year, and coupons fall as its rungs mature.",
        finding="This compares the Macaulay duration of the ladder with the target of the client.",
    )  # fmt: skip
    dates = {bond.years: years_later(settlement, bond.years).isoformat() for bond in bonds}
    cells = tuple((dates[year], *row) for year, row in enumerate(rows, start=1))
    inputs = {
        "settlement": settlement.isoformat(),
        "flat_yield": flat_yield,
        "target_duration_years": target,
        "bonds": [{**bond._asdict(), "maturity": dates[bond.years]} for bond in bonds],
    }
    table = Table("cash_flows.csv", COLUMNS, cells)
    sheet = _sheet(rng, bonds, dates, settlement, flat_yield, target)
    return Assignment({"client": client}, inputs, sheet, table, memo, settlement)


TEMPLATE = Template("bond-ladder", "Fixed Income", assign, briefs_risk.BOND)
