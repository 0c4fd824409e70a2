"""Loans and bonds: schedules of payments, present value and duration."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from mcp_toolbox import Toolbox

from assignments.deliverables import Work

CENT = Decimal("0.01")


def _cents(value: Decimal) -> Decimal:
    return value.quantize(CENT, rounding=ROUND_HALF_UP)


def level_payment(principal: Decimal, monthly_rate: Decimal, months: int) -> Decimal:
    """Return the equal monthly payment that repays the principal, in cents."""
    if monthly_rate == 0:
        return _cents(principal / months)
    return _cents(principal * monthly_rate / (1 - (1 + monthly_rate) ** -months))


def amortise(
    principal: Decimal, monthly_rate: Decimal, months: int, extra: Decimal, extra_month: int
) -> list[tuple[Decimal, Decimal, Decimal]]:
    """Return interest, principal and closing balance of each month; the last payment clears the balance."""
    payment, balance, rows = level_payment(principal, monthly_rate, months), principal, []
    while balance > 0 and len(rows) < 2 * months:
        interest = _cents(balance * monthly_rate)
        repaid = payment - interest + (extra if len(rows) + 1 == extra_month else 0)
        if repaid >= balance or len(rows) + 1 == months:
            repaid = balance
        balance -= repaid
        rows.append((interest, repaid, balance))
    return rows


async def loan_schedule(context: Mapping[str, Any], toolbox: Toolbox) -> Work | None:
    """Return the schedule of a loan with level payments, with and without its extra payment."""
    loan = context.get("loan")
    if not isinstance(loan, dict) or not {"principal", "annual_rate", "months"} <= set(loan):
        return None
    principal, rate = Decimal(str(loan["principal"])), Decimal(str(loan["annual_rate"])) / 12
    months, extra = int(loan["months"]), Decimal(str(loan.get("extra_payment", 0)))
    rows = amortise(principal, rate, months, extra, int(loan.get("extra_payment_month", 0)))
    plain = amortise(principal, rate, months, Decimal(0), 0)
    interest, plain_interest = (sum((row[0] for row in table), Decimal(0)) for table in (rows, plain))
    return Work(
        columns={
            "month": [*range(1, len(rows) + 1)],
            "interest": [float(row[0]) for row in rows],
            "principal": [float(row[1]) for row in rows],
            "payment": [float(row[0] + row[1]) for row in rows],
            "closing_balance": [float(row[2]) for row in rows],
        },
        figures={
            "Level payment": float(level_payment(principal, rate, months)),
            "Total interest": float(interest),
            "Interest saved": float(plain_interest - interest),
            "Number of payments": float(len(rows)),
        },
    )


async def bond_ladder(context: Mapping[str, Any], toolbox: Toolbox) -> Work | None:
    """Return the yearly cash flows of annual bonds at one flat yield, their value and duration."""
    bonds, rate = context.get("bonds"), context.get("flat_yield")
    if not isinstance(bonds, list) or not isinstance(rate, int | float):
        return None
    years = sorted({int(bond["years"]) for bond in bonds})
    dates = {int(bond["years"]): str(bond["maturity"]) for bond in bonds}
    coupons = {year: sum(b["face"] * b["coupon"] for b in bonds if b["years"] >= year) for year in years}
    flows = {year: coupons[year] + sum(b["face"] for b in bonds if b["years"] == year) for year in years}
    values = {year: flows[year] / (1 + rate) ** year for year in years}
    total = sum(values.values())
    duration = sum(year * value for year, value in values.items()) / total
    return Work(
        columns={
            "year": years,
            "date": [dates[year] for year in years],
            "coupons": [coupons[year] for year in years],
            "cash_flow": [flows[year] for year in years],
            "present_value": [values[year] for year in years],
        },
        figures={
            "Present value": total,
            "Macaulay duration": duration,
            "Modified duration": duration / (1 + rate),
            "Value change": -duration / (1 + rate) * total * 0.005,
        },
    )
