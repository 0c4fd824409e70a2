"""A loan schedule with one extra payment, and whether the extra payment is worth its fee."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from evaluators.professional import briefs_risk
from evaluators.professional.assignment import Assignment, Template, any_day
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.sheet import Fact, Sheet
from evaluators.professional.table import Column, Table

COLUMNS = (
    Column("month", "key", "is the number of the payment, from 1"),
    Column("interest", "money", "is the interest of the month"),
    Column("principal", "money", "is the principal repaid in the month, the extra payment included"),
    Column("closing_balance", "money", "is the balance after the payment"),
)
CLIENTS = ("Harbour Foods", "Northwind Tools", "Alder Clinics", "Mistral Freight")


class Loan(NamedTuple):
    """Drawn terms; amounts in dollars, the rate a fraction a year."""

    client: str
    principal: Decimal
    annual_rate: Decimal
    months: int
    extra_payment: Decimal
    extra_payment_month: int


class Payment(NamedTuple):
    """One month of a loan; ``principal`` includes an extra payment."""

    interest: Decimal
    principal: Decimal
    closing: Decimal


def cents(amount: Decimal) -> Decimal:
    """Return ``amount`` rounded to cents, halves up."""
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


def level_payment(loan: Loan) -> Decimal:
    """Return the level monthly payment, rounded to cents."""
    rate = loan.annual_rate / 12
    return cents(loan.principal * rate / (1 - (1 + rate) ** -loan.months))


def schedule(loan: Loan) -> list[Payment]:
    """Return the schedule until the loan is repaid; the payment stays the same after the extra payment."""
    balance = loan.principal
    rows: list[Payment] = []
    while balance > 0:
        month = len(rows) + 1
        interest = cents(balance * loan.annual_rate / 12)
        repaid = balance if month == loan.months else min(balance, level_payment(loan) - interest)
        if month == loan.extra_payment_month:
            repaid = min(balance, repaid + loan.extra_payment)
        balance -= repaid
        rows.append(Payment(interest, repaid, balance))
    return rows


def total_interest(rows: Sequence[Payment]) -> Decimal:
    """Return the sum of the interest."""
    return sum((row.interest for row in rows), Decimal(0))


def _draw(rng: random.Random) -> Loan:
    principal = Decimal(rng.randrange(120, 900) * 1000)
    return Loan(
        client=rng.choice(CLIENTS),
        principal=principal,
        annual_rate=Decimal(rng.randrange(325, 925)) / 10_000,
        months=rng.randint(24, 36),
        extra_payment=cents(principal * rng.randint(8, 20) / 100),
        extra_payment_month=rng.randint(5, 12),
    )


def _sheet(rng: random.Random, loan: Loan, fee: Decimal) -> Sheet:
    principal = float(loan.principal)
    return Sheet(
        facts=(
            Fact(("principal", "amount of the loan", "amount borrowed"), principal, "dollars"),
            Fact(("annual rate", "nominal rate a year", "interest rate a year"), float(loan.annual_rate), "fraction"),
            Fact(("term in months", "number of monthly payments agreed"), loan.months),
            Fact(("extra payment", "extra payment of principal"), float(loan.extra_payment), "dollars"),
            Fact(("month of the extra payment", "number of the regular payment that the extra one comes with"),
                 loan.extra_payment_month),
            Fact(("prepayment fee", "fee for the prepayment"), float(fee), "dollars"),
        ),
        beside=(
            Fact(("rate of the lender for new loans", "rate that another bank offers"),
                 rng.randrange(325, 925) / 10_000, "fraction"),
            Fact(("arrangement fee paid at signing",), rng.randrange(1, 9) * 500, "dollars"),
            Fact(("value of the collateral",), rng.randrange(900, 2_000) * 1000, "dollars"),
        ),
    )  # fmt: skip


def assign(rng: random.Random) -> Assignment:
    """Draw a loan and a fee on either side of the interest saved."""
    loan, as_of = _draw(rng), any_day(rng)
    rows = schedule(loan)
    saved = total_interest(schedule(loan._replace(extra_payment=Decimal(0)))) - total_interest(rows)
    fee = cents(saved * rng.choice((rng.randint(60, 90), rng.randint(110, 150))) / 100)
    memo = Memo(
        recipient="Credit Committee",
        subject=f"{loan.client} loan prepayment",
        written_on=as_of,
        figures=(
            Figure("Level payment", float(level_payment(loan)), "currency", "a month"),
            Figure("Total interest", float(total_interest(rows)), "currency", "of the loan with the extra payment"),
            Figure("Interest saved", float(saved), "currency", "against the same loan without the extra payment"),
            Figure("Number of payments", float(len(rows)), "number", "until the balance is zero"),
        ),
        verdicts=("PREPAY", "KEEP"),
        verdict="PREPAY" if saved > fee else "KEEP",
        verdict_rule="PREPAY if the interest saved exceeds the prepayment fee, else KEEP.",
        summary="The extra payment shortens the schedule, because the level payment stays unchanged.",
        finding="This follows from comparing the interest saved with the prepayment fee.",
    )
    cells = tuple(
        (str(month), float(row.interest), float(row.principal), float(row.closing))
        for month, row in enumerate(rows, start=1)
    )
    terms = {name: float(value) if isinstance(value, Decimal) else value for name, value in loan._asdict().items()}
    inputs = {"loan": {**terms, "prepayment_fee": float(fee)}}
    table = Table("schedule.csv", COLUMNS, cells)
    return Assignment({"client": loan.client}, inputs, _sheet(rng, loan, fee), table, memo, as_of)


TEMPLATE = Template("loan-prepayment", "Credit Analysis", assign, briefs_risk.LOAN)
