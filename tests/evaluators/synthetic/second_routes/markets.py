"""Portfolios, bonds, derivatives, time value and foreign exchange: every figure by another route than the bank's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import QuantLib as ql

from tests.evaluators.synthetic.second_routes.root import Values, root


def beta_adjustment(v: Values) -> Values:
    weight_y = 1 - v["weight_x"]
    weight = root(lambda w: np.dot([w, weight_y], [v["beta_x"], v["beta_y"]]) - v["target_beta"], 0, 3)
    return {
        "present_beta": float(np.dot([v["weight_x"], weight_y], [v["beta_x"], v["beta_y"]])),
        "beta_from_y": float(np.dot([0, weight_y], [v["beta_x"], v["beta_y"]])),
        "new_weight_x": weight,
        "riskless_weight": 1 - weight - weight_y,
    }


def levered_volatility(v: Values) -> Values:
    weight = root(lambda w: w * v["expected_return"] + (1 - w) * v["riskless_rate"] - v["target_return"], 0, 50)
    outcomes = v["riskless_rate"] + weight * (
        v["expected_return"] + v["volatility"] * np.array([-1.0, 1.0]) - v["riskless_rate"]
    )
    return {"stock_weight": weight, "borrowed_fraction": weight - 1, "standard_deviation": float(outcomes.std())}


def bond_replication(v: Values) -> Values:
    years = int(v["years"])
    zero = np.append(np.zeros(years - 1), v["face"])
    coupons = np.full(years, v["face"])
    last = np.append(np.zeros(years - 1), v["face"])
    flows = np.column_stack([coupons * v["par_coupon"] + last, zero])
    target = coupons * v["coupon"] + last
    holding, residual, *_ = np.linalg.lstsq(flows, target)
    assert np.all(residual < 1e-12) and flows @ holding == pytest.approx(target)
    annuity, *_ = np.linalg.lstsq(flows, np.ones(years))
    return {
        "coupon_bonds": holding[0],
        "zero_bonds": holding[1],
        "annuity_factor": float(annuity @ [v["face"], v["zero_price"]]),
        "price": float(holding @ [v["face"], v["zero_price"]]),
    }


def duration_match(v: Values) -> Values:
    a, b = np.linalg.solve([[v["duration_a"], v["duration_b"]], [1, 1]], [v["liability_duration"], 1])
    return {"weight_a": a, "weight_b": b, "contribution_b": v["liability_duration"] - a * v["duration_a"]}


def perpetuity_repricing(v: Values) -> Values:
    years = np.arange(1, 4000)
    old, new = (float((v["payment"] * (1 + v[k]) ** -years.astype(float)).sum()) for k in ("old_rate", "new_rate"))
    return {"old_price": old, "new_price": new, "price_change": (new - old) / old}


def bull_call_spread(v: Values) -> Values:
    def profit(price: float) -> float:
        bought = max(price - v["strike_low"], 0) - v["premium_bought"]
        sold = v["premium_sold"] - max(price - v["strike_high"], 0)
        return bought + sold

    grid = [profit(price) for price in np.linspace(0, 3 * v["strike_high"], 3001)]
    return {
        "max_loss": -min(grid),
        "max_profit": max(*grid, profit(v["strike_high"])),
        "breakeven": root(profit, v["strike_low"], v["strike_high"]),
    }


def risk_neutral_probability(v: Values) -> Values:
    up, down = v["spot"] * (1 + v["up_move"]), v["spot"] * (1 - v["down_move"])
    growth = 1 + v["riskless_rate"]
    probability = root(lambda p: (p * up + (1 - p) * down) / growth - v["spot"], 0, 1)
    stock, cash = np.linalg.solve([[up, growth], [down, growth]], [up - v["spot"], 0])
    return {
        "upper_price": up,
        "lower_price": down,
        "probability": probability,
        "call_value": stock * v["spot"] + cash,
    }


def put_call_parity(v: Values) -> Values:
    discount = ql.FlatForward(0, ql.NullCalendar(), v["riskless_rate"], ql.Actual365Fixed()).discount(v["years"])
    forward = v["spot"] / discount
    put, call = (
        ql.blackFormula(kind, v["strike"], forward, 0.37 * v["years"] ** 0.5, discount)
        for kind in (ql.Option.Put, ql.Option.Call)
    )
    bound = ql.blackFormula(ql.Option.Call, v["strike"], forward, 1e-9, discount)
    return {
        "present_strike": v["strike"] * discount,
        "call_lower_bound": bound,
        "put_price": v["call_price"] + put - call,
    }


def rate_swap(v: Values) -> Values:
    def costs(swap_rate: float) -> tuple[float, float]:
        return v["fixed_x"] - swap_rate, v["spread_y"] + swap_rate

    def saving_gap(swap_rate: float) -> float:
        floating_x, fixed_y = costs(swap_rate)
        return (v["spread_x"] - floating_x) - (v["fixed_y"] - fixed_y)

    swap_rate = root(saving_gap, -1, 1)
    floating_x, fixed_y = costs(swap_rate)
    saving = v["spread_x"] - floating_x + v["fixed_y"] - fixed_y
    return {"floating_spread_x": floating_x, "fixed_rate_y": fixed_y, "total_saving": saving}


def present_value(v: Values) -> Values:
    one = Fraction(1)
    for _ in range(int(v["years"])):
        one *= 1 + Fraction(str(v["rate"]))
    later = Fraction(v["amount_later"]) / one
    return {
        "growth_factor": float(one),
        "present_value_later": float(later),
        "advantage": float(Fraction(v["amount_now"]) - later),
    }


def loan_payment(v: Values) -> Values:
    months = int(v["years"]) * 12

    def schedule(instalment: float) -> tuple[float, float]:
        balance, interest_paid = v["principal"], 0.0
        for _ in range(months):
            interest = balance * v["nominal_rate"] / 12
            balance, interest_paid = balance + interest - instalment, interest_paid + interest
        return balance, interest_paid

    instalment = root(lambda amount: schedule(amount)[0], 0, v["principal"])
    first = v["principal"] * ((1 + v["nominal_rate"] / 12) - 1)
    return {"instalment": instalment, "total_interest": schedule(instalment)[1], "first_interest": first}


def covered_interest(v: Values) -> Values:
    euros = v["notional"] / v["spot_rate"]
    dollars_owned, euros_owned = v["notional"] * (1 + v["usd_rate"]), euros * (1 + v["eur_rate"])
    borrow_euros = dollars_owned - euros_owned * v["forward_rate"]
    borrow_dollars = euros_owned * v["forward_rate"] - dollars_owned
    return {
        "fair_forward": dollars_owned / euros_owned,
        "dollar_leg": dollars_owned,
        "euro_leg": euros_owned * v["forward_rate"],
        "profit": max(borrow_euros, borrow_dollars),
    }
