"""Costs, working capital, cost of capital and value: every figure by another route than the bank's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.evaluators.synthetic.second_routes.root import Values, root


def wacc(v: Values) -> Values:
    """The return on everything that makes a firm worth what it is, from a year's payments to both kinds of owner."""
    total = v["equity_value"] + v["debt_value"]
    to_lenders = v["debt_value"] * v["cost_of_debt"]
    paid = v["equity_value"] * v["cost_of_equity"] + to_lenders - v["tax_rate"] * to_lenders
    return {
        "equity_weight": 1 - v["debt_value"] / total,
        "debt_cost_after_tax": (to_lenders - v["tax_rate"] * to_lenders) / v["debt_value"],
        "wacc": paid / total,
    }


def breakeven(v: Values) -> Values:
    def profit(units: float) -> float:
        return units * v["price"] - units * v["variable_cost"] - v["fixed_costs"]

    return {
        "contribution": profit(2) - profit(1),
        "breakeven_units": root(profit, 0, 1e9),
        "units": root(lambda n: profit(n) - v["target_profit"], 0, 1e9),
    }


def operating_leverage(v: Values) -> Values:
    def profit(units: float) -> float:
        return units * v["price"] - units * v["variable_cost"] - v["fixed_costs"]

    base, up = profit(v["units"]), profit(v["units"] * 1.01)
    return {
        "unit_contribution": profit(1) - profit(0),
        "total_contribution": profit(v["units"]) - profit(0),
        "dol": (up / base - 1) / 0.01,
    }


def financial_leverage(v: Values) -> Values:
    def before_tax(ebit: float) -> float:
        return ebit - v["debt"] * ((1 + v["interest_rate"]) - 1)

    base = before_tax(v["ebit"])
    return {
        "interest": v["ebit"] - base,
        "profit_before_tax": base,
        "dfl": (before_tax(1.01 * v["ebit"]) / base - 1) / 0.01,
    }


def cash_conversion(v: Values) -> Values:
    bought, sold = Fraction(v["cost_of_goods"]) / 365, Fraction(v["sales"]) / 365
    inventory, collected, paid = (
        Fraction(v["inventory"]) / bought,
        Fraction(v["receivables"]) / sold,
        Fraction(v["payables"]) / bought,
    )
    return {
        "inventory_days": float(inventory),
        "receivable_days": float(collected),
        "payable_days": float(paid),
        "cycle": float(inventory + collected - paid),
    }


def cycle_financing(v: Values) -> Values:
    """A year day by day: what is out stands for so many days' outlays."""
    days = np.arange(int(v["cycle_days"])) if v["cycle_days"] == int(v["cycle_days"]) else None
    out = v["daily_outlay"] * (len(days) if days is not None else v["cycle_days"])
    interest = np.full(365, out * v["credit_rate"] / 365)
    return {"tied_up": out, "daily_interest": interest[0], "financing_cost": float(interest.sum())}


def economic_value_added(v: Values) -> Values:
    """Capital times the spread of its return over its cost."""
    after_tax = v["operating_profit"] - v["operating_profit"] * v["tax_rate"]
    spread = after_tax / v["invested_capital"] - v["cost_of_capital"]
    return {
        "profit_after_tax": after_tax,
        "capital_charge": after_tax - spread * v["invested_capital"],
        "value_added": spread * v["invested_capital"],
    }


def lease_or_buy(v: Values) -> Values:
    """Year by year: flows of leasing less those of buying, discounted."""
    years, rate = int(v["years"]), v["borrowing_rate"] - v["borrowing_rate"] * v["tax_rate"]
    discount = np.array([1 / (1 + rate) ** year for year in range(1, years + 1)])
    lease = np.full(years, v["lease_payment"]) - np.full(years, v["lease_payment"]) * v["tax_rate"]
    saved = np.full(years, v["machine_cost"] / years) * v["tax_rate"]
    return {
        "rate_after_tax": rate,
        "present_lease": float(lease @ discount),
        "present_shield": float(saved @ discount),
        "advantage": v["machine_cost"] + float((-lease - saved) @ discount),
    }


def sustainable_growth(v: Values) -> Values:
    """A firm with equity of 100 that keeps what it does not pay out."""
    earned = 100 * v["return_on_equity"]
    shares = earned / v["earnings_per_share"]
    paid = shares * v["dividend_per_share"]
    return {"payout": paid / earned, "retention": (earned - paid) / earned, "growth": (100 + earned - paid) / 100 - 1}


def relevered_beta(v: Values) -> Values:
    """Betas of portfolios: the firm's assets and its tax saving carry what shares and debt carry together."""

    def of_equity(assets: float, ratio: float) -> float:
        # equity 1, debt ratio, tax saving tax * ratio with the beta of debt, 0
        business = 1 + ratio - v["tax_rate"] * ratio
        return assets * business

    asset_beta = root(lambda a: of_equity(a, v["debt_to_equity"]) - v["beta"], 0, 10)
    new = of_equity(asset_beta, v["new_debt_to_equity"])
    return {"asset_beta": asset_beta, "leverage_factor": new / asset_beta, "new_beta": new}


def enterprise_multiple(v: Values) -> Values:
    def multiple(price: float) -> float:
        return (price * v["shares"] + v["debt"] - v["cash"]) / v["ebitda"]

    price = root(lambda p: multiple(p) - v["multiple"], -1e6, 1e6)
    equity = price * v["shares"]
    return {
        "enterprise_value": equity + v["debt"] - v["cash"],
        "net_debt": v["debt"] - v["cash"],
        "equity_value": equity,
        "value_per_share": price,
    }
