"""Corporate finance, capital budgeting, valuation and leverage: every figure by another route than the bank's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import QuantLib as ql

from tests.evaluators.synthetic.second_routes.root import Values, root


def ebitda(v: Values) -> Values:
    net, tax, other, depreciation = (
        Fraction(v[k]) for k in ("net_income", "income_tax", "other_income", "depreciation")
    )
    operating = root(lambda x: x + float(other) - float(tax) - float(net), -1e13, 1e13)
    return {
        "pretax_income": float(net + tax),
        "operating_income": operating,
        "ebitda": operating + float(depreciation),
    }


def npv_crossover(v: Values) -> Values:
    def npv(rate: float, cash: float, years: float) -> float:
        return (
            float(
                ql.FlatForward(0, ql.NullCalendar(), rate, ql.Actual365Fixed(), ql.Compounded, ql.Annual).discount(
                    years
                )
            )
            * cash
            - v["outlay"]
        )

    rate = root(lambda r: npv(r, v["cash_a"], 1) - npv(r, v["cash_b"], v["years_b"]), -0.5, 3.0)
    return {
        "crossover_rate": rate,
        "cash_ratio": v["cash_b"] / v["cash_a"],
        "common_npv": npv(rate, v["cash_b"], v["years_b"]),
    }


def free_cash_flow(v: Values) -> Values:
    cash_sales_less_cash_costs = Fraction(v["ebit"]) + Fraction(v["depreciation"])
    tax = Fraction(v["ebit"]) * Fraction(v["tax_rate"])
    operating = cash_sales_less_cash_costs - tax
    return {
        "operating_profit_after_tax": float(operating - Fraction(v["depreciation"])),
        "operating_cash_flow": float(operating),
        "free_cash_flow": float(operating - Fraction(v["capex"]) - Fraction(v["working_capital_increase"])),
    }


def combined_leverage(v: Values) -> Values:
    contribution = 1000.0
    ebit = contribution / v["operating_leverage"]
    fixed_cost, interest = contribution - ebit, ebit - ebit / v["financial_leverage"]
    new_ebit = contribution * (1 + v["sales_change"]) - fixed_cost
    eps_change = (new_ebit - interest) / (ebit - interest) - 1
    return {
        "total_leverage": eps_change / v["sales_change"],
        "ebit_change": new_ebit / ebit - 1,
        "eps_change": eps_change,
    }


def gordon_growth(v: Values) -> Values:
    years = np.arange(1, 6000)
    dividends = v["dividend"] * (1 + v["growth_rate"]) ** years
    discount = (1 + v["required_return"]) ** -years.astype(float)
    return {
        "next_dividend": dividends[0],
        "value": float(dividends @ discount),
        "value_next_year": float(dividends[1:] @ discount[:-1]),
    }


def levered_roe(v: Values) -> Values:
    debt = root(lambda d: d - v["debt_to_equity"] * (v["assets"] - d), 0, v["assets"])
    equity = v["assets"] - debt
    before_tax = v["return_on_assets"] * v["assets"] - v["interest_rate"] * debt
    net = before_tax - v["tax_rate"] * before_tax
    return {"debt": debt, "equity": equity, "net_income": net, "roe": net / equity}


def homemade_leverage(v: Values) -> Values:
    firm_value = v["shares"] * v["share_price"]
    states = np.array([0.02, 0.2]) * firm_value
    wanted = v["fraction"] * (states - v["interest_rate"] * v["debt"])
    stake_share, loan_interest = np.linalg.solve(np.column_stack([states, -np.ones(2)]), wanted)
    loan = loan_interest / v["interest_rate"]
    assert stake_share * firm_value - loan == pytest.approx(v["fraction"] * (firm_value - v["debt"]))
    return {
        "personal_loan": loan,
        "stake": stake_share * firm_value,
        "interest_paid": loan_interest,
        "net_investment": stake_share * firm_value - loan,
    }


def stock_split(v: Values) -> Values:
    holdings = int(v["shares"]) // int(v["old_shares"]) * int(v["new_shares"])
    wealth = sum(Fraction(v["share_price"]) for _ in range(int(v["old_shares"]))) * (
        int(v["shares"]) // int(v["old_shares"])
    )
    return {"shares_after": holdings, "market_value": float(wealth), "price_after": float(wealth / holdings)}


def rights_issue(v: Values) -> Values:
    old = int(v["old_shares"])
    wealth = sum(Fraction(v["share_price"]) for _ in range(old)) + Fraction(v["subscription_price"])
    price = wealth / (old + 1)
    return {
        "ex_rights_price": float(price),
        "value_of_right": float((price - Fraction(v["subscription_price"])) / old),
        "discount": float(
            (Fraction(v["share_price"]) - Fraction(v["subscription_price"])) / Fraction(v["share_price"])
        ),
    }


def two_stage_value(v: Values) -> Values:
    cash, values, years = v["cash_flow"], [], int(v["years"])
    for year in range(1, 5000):
        cash *= 1 + (v["fast_growth"] if year <= years else v["slow_growth"])
        values.append(cash / (1 + v["discount_rate"]) ** year)
    fast, slow = sum(values[:years]), sum(values[years:])
    return {
        "present_fast_years": fast,
        "present_terminal_value": slow,
        "terminal_value": slow * (1 + v["discount_rate"]) ** years,
        "enterprise_value": fast + slow,
    }
