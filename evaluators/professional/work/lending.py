"""Lending and bonds: a loan schedule with a prepayment, the cash flows of a bond ladder."""

from __future__ import annotations

import random
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from evaluators.professional.assignment import Assignment, Template
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.table import Column, Table

CENT = Decimal("0.01")


def cents(amount: Decimal) -> Decimal:
    """Return ``amount`` rounded to cents, halves up."""
    return amount.quantize(CENT, ROUND_HALF_UP)


class Payment(NamedTuple):
    """One month of a loan; ``principal`` includes an extra payment."""

    interest: Decimal
    principal: Decimal
    closing: Decimal


def level_payment(principal: Decimal, monthly_rate: Decimal, months: int) -> Decimal:
    """Return the level monthly payment, rounded to cents."""
    return cents(principal * monthly_rate / (1 - (1 + monthly_rate) ** -months))


def schedule(
    principal: Decimal, monthly_rate: Decimal, months: int, *, extra: Decimal, extra_month: int
) -> list[Payment]:
    """Return the schedule until the loan is repaid; the payment stays the same after the extra payment."""
    payment = level_payment(principal, monthly_rate, months)
    balance = principal
    rows: list[Payment] = []
    while balance > 0:
        interest = cents(balance * monthly_rate)
        month = len(rows) + 1
        repaid = balance if month == months else min(balance, payment - interest)
        if month == extra_month:
            repaid = min(balance, repaid + extra)
        balance -= repaid
        rows.append(Payment(interest, repaid, balance))
    return rows


def loan_prepayment(rng: random.Random) -> Assignment:
    """Ask for an amortisation schedule with one extra payment, and whether the extra payment is worth its fee."""
    principal = Decimal(rng.randrange(120, 900) * 1000)
    annual_rate = Decimal(rng.randrange(325, 925)) / 10_000
    months, extra_month = rng.randint(24, 36), rng.randint(5, 12)
    extra = cents(principal * rng.randint(8, 20) / 100)
    monthly_rate = annual_rate / 12
    rows = schedule(principal, monthly_rate, months, extra=extra, extra_month=extra_month)
    plain = schedule(principal, monthly_rate, months, extra=Decimal(0), extra_month=0)
    interest, plain_interest = (sum((row.interest for row in table), Decimal(0)) for table in (rows, plain))
    saved = plain_interest - interest
    fee = cents(saved * rng.choice((rng.randint(60, 90), rng.randint(110, 150))) / 100)
    as_of = date(rng.randint(2015, 2026), rng.randint(1, 12), rng.randint(1, 28))
    client = rng.choice(("Harbour Foods", "Northwind Tools", "Alder Clinics", "Mistral Freight"))
    worth = saved > fee
    columns = (
        Column("month", "key", "is the number of the payment, from 1"),
        Column("interest", "money", "is the interest of the month"),
        Column("principal", "money", "is the principal repaid in the month, the extra payment included"),
        Column("closing_balance", "money", "is the balance after the payment"),
    )
    cells = tuple(
        (str(month), float(row.interest), float(row.principal), float(row.closing))
        for month, row in enumerate(rows, start=1)
    )
    figures = (
        Figure("Level payment", float(level_payment(principal, monthly_rate, months)), "currency", "a month"),
        Figure("Total interest", float(interest), "currency", "over the life of the loan, with the extra payment"),
        Figure("Interest saved", float(saved), "currency", "against the same loan without the extra payment"),
        Figure("Number of payments", float(len(rows)), "number", "until the balance is zero"),
    )
    memo = Memo(
        name="memo.md",
        recipient="Credit Committee",
        subject=f"{client} loan prepayment",
        written_on=as_of,
        figures=figures,
        verdicts=("PREPAY", "KEEP"),
        verdict="PREPAY" if worth else "KEEP",
        verdict_rule="PREPAY if the interest saved exceeds the prepayment fee, else KEEP.",
        summary="The extra payment shortens the schedule, because the level payment stays unchanged.",
        finding="This follows from comparing the interest saved with the prepayment fee.",
    )
    brief = (
        f"{client} has a loan with level monthly payments and considers one extra payment of principal, for which "
        "the lender charges a prepayment fee. Prepare the loan schedule with the extra payment, until the balance "
        "is zero, and a memo that recommends whether to prepay.\nConventions: the monthly rate is the annual rate "
        "divided by 12. The level payment and each month's interest are rounded to cents, halves up. The extra "
        "payment is made together with the regular payment of its month and reduces the balance; the level payment "
        "stays the same, so that the loan ends early. The last payment is the remaining balance and its interest. "
        "The fee is paid separately."
    )
    inputs = {
        "loan": {
            "client": client,
            "principal": float(principal),
            "annual_rate": float(annual_rate),
            "months": months,
            "extra_payment": float(extra),
            "extra_payment_month": extra_month,
            "prepayment_fee": float(fee),
        }
    }
    return Assignment(brief, inputs, Table("schedule.csv", columns, cells), memo, as_of)


class Bond(NamedTuple):
    """A rung of the ladder: ``coupon`` is a fraction of ``face`` a year, ``years`` the time to maturity."""

    bond: str
    face: int
    coupon: float
    years: int


def years_later(day: date, years: int) -> date:
    """Return the same calendar day ``years`` later; days are drawn up to 28, so it exists."""
    return day.replace(year=day.year + years)


def bond_ladder(rng: random.Random) -> Assignment:
    """Ask for the yearly cash flows of a ladder of annual bonds, with its present value and duration."""
    count = rng.randint(5, 8)
    settlement = date(rng.randint(2015, 2026), rng.randint(1, 12), rng.randint(1, 28))
    bonds = [
        Bond(f"B{n}", rng.randrange(40, 260) * 1000, rng.randrange(150, 700) / 10_000, n) for n in range(1, count + 1)
    ]
    rate = rng.randrange(200, 650) / 10_000
    rows = []
    value = weighted = 0.0
    for year in range(1, count + 1):
        coupons = sum(bond.face * bond.coupon for bond in bonds if bond.years >= year)
        principal = float(bonds[year - 1].face)
        present = (coupons + principal) / (1 + rate) ** year
        value, weighted = value + present, weighted + year * present
        rows.append((years_later(settlement, year).isoformat(), coupons, principal + coupons, present))
    duration = weighted / value
    target = round(duration * rng.choice((rng.uniform(0.85, 0.97), rng.uniform(1.03, 1.15))), 2)
    modified = duration / (1 + rate)
    as_of = settlement
    client = rng.choice(("Lindqvist Foundation", "Orchard Pension Fund", "Teal Insurance"))
    columns = (
        Column("date", "key", "is the payment date (YYYY-MM-DD)"),
        Column("coupons", "money", "is the sum of the coupons of all bonds"),
        Column("cash_flow", "money", "is coupons and principal together"),
        Column("present_value", "money", "is the present value of the cash flow"),
    )
    figures = (
        Figure("Present value", value, "currency"),
        Figure("Macaulay duration", duration, "number", "in years", unit="years"),
        Figure("Modified duration", modified, "number", "Macaulay duration over one plus the yield", unit="years"),
        Figure("Value change", -modified * value * 0.005, "currency",
               "first-order estimate for a rise of the yield by 50 basis points, negative for a loss"),
    )  # fmt: skip
    memo = Memo(
        name="memo.md",
        recipient="Investment Committee",
        subject=f"{client} bond ladder",
        written_on=as_of,
        figures=figures,
        verdicts=("LONGER", "SHORTER"),
        verdict="LONGER" if duration > target else "SHORTER",
        verdict_rule="LONGER if the Macaulay duration exceeds the target duration, else SHORTER.",
        summary="The ladder pays one principal a year, and coupons fall as its rungs mature.",
        finding="This compares the Macaulay duration of the ladder with the target of the client.",
    )
    brief = (
        f"{client} holds a ladder of bonds with annual coupons, the first of them due one year after settlement. "
        "Prepare the table of yearly cash flows and a memo on value and duration.\nConventions: each bond pays its "
        "coupon rate on its face value once a year on the anniversary of settlement, and its face value at "
        "maturity; all cash flows are discounted at one flat yield with annual compounding; no accrued interest. Do "
        "not round intermediate results."
    )
    inputs = {
        "settlement": settlement.isoformat(),
        "flat_yield": rate,
        "target_duration_years": target,
        "bonds": [{**bond._asdict(), "maturity": years_later(settlement, bond.years).isoformat()} for bond in bonds],
    }
    return Assignment(brief, inputs, Table("cash_flows.csv", columns, tuple(rows)), memo, as_of)


TEMPLATES = (
    Template("loan-prepayment", "Credit Analysis", loan_prepayment),
    Template("bond-ladder", "Fixed Income", bond_ladder),
)
