"""Compounding, forwards, and bonds beside their yields: every figure by another route than the bank's."""

from __future__ import annotations

import numpy as np
import QuantLib as ql

from tests.evaluators.synthetic.second_routes.root import Values, root


def effective_rate(v: Values) -> Values:
    rate = ql.InterestRate(v["nominal_rate"], ql.SimpleDayCounter(), ql.Simple, ql.Annual)
    money, period = 1.0, rate.compoundFactor(1 / v["periods"])
    for _ in range(int(v["periods"])):
        money *= period
    return {"period_rate": period - 1, "continuous_rate": float(np.log(money)), "effective_rate": money - 1}


def forward_rate(v: Values) -> Values:
    def growth(rate: float, years: float) -> float:
        return ql.InterestRate(rate, ql.SimpleDayCounter(), ql.Compounded, ql.Annual).compoundFactor(years)

    short, long = growth(v["short_yield"], v["short_years"]), growth(v["long_yield"], v["long_years"])
    between = root(lambda f: short * growth(f, v["long_years"] - v["short_years"]) - long, -0.5, 1)
    return {"short_growth": short, "long_growth": long, "forward": between}


def fra_settlement(v: Values) -> Values:
    """A loan at the fixing beside one at the agreed rate."""
    fraction = v["days"] / 360
    paid, agreed = (v["notional"] * (1 + v[key] * fraction) for key in ("fixing", "contract_rate"))
    now = root(lambda amount: amount * (1 + v["fixing"] * fraction) - (paid - agreed), -1e9, 1e9)
    return {"difference_at_end": paid - agreed, "discounting": paid / v["notional"], "settlement": now}


def bond_convexity(v: Values) -> Values:
    """Derivatives of the price as a complex function of the yield, and by central differences of these."""

    def price(rate: complex) -> complex:
        flows = [v["face"] * v["coupon"]] * 2 + [v["face"] * (1 + v["coupon"])]
        return sum(flow / (1 + rate) ** year for year, flow in enumerate(flows, 1))

    def slope(rate: float) -> float:
        return price(complex(rate, 1e-20)).imag / 1e-20

    base, step = price(v["bond_yield"]).real, 1e-5
    second = (slope(v["bond_yield"] + step) - slope(v["bond_yield"] - step)) / (2 * step)
    return {"price": base, "modified_duration": -slope(v["bond_yield"]) / base, "convexity": second / base}


def duration_convexity(v: Values) -> Values:
    """The parabola with the price's value, slope and curvature."""
    parabola = np.polynomial.Polynomial(
        [v["price"], -v["modified_duration"] * v["price"], v["convexity"] * v["price"] / 2]
    )
    straight = np.polynomial.Polynomial(parabola.coef[:2])
    new, line = parabola(v["yield_change"]), straight(v["yield_change"])
    return {
        "duration_effect": line / v["price"] - 1,
        "convexity_effect": (new - line) / v["price"],
        "new_price": new,
    }


def forward_parity(v: Values) -> Values:
    """Borrow pounds, hold dollars: the forward at which nothing is left."""

    def growth(rate: float) -> float:
        return ql.InterestRate(rate, ql.SimpleDayCounter(), ql.Compounded, ql.Annual).compoundFactor(v["years"])

    dollars, pounds = growth(v["usd_rate"]), growth(v["gbp_rate"])
    forward = root(lambda f: v["spot_rate"] * dollars - pounds * f, 0, 50)
    return {"dollar_growth": dollars, "pound_growth": pounds, "forward_price": forward}


def futures_mispricing(v: Values) -> Values:
    """One index with its dividends put back, bought on credit."""
    credit = ql.FlatForward(0, ql.NullCalendar(), v["riskless_rate"], ql.Actual365Fixed()).discount(v["years"])
    kept = ql.FlatForward(0, ql.NullCalendar(), v["dividend_yield"], ql.Actual365Fixed()).discount(v["years"])
    fair = v["spot"] * kept / credit
    return {
        "carry": float(np.log(kept / credit)) / v["years"],
        "fair_future": fair,
        "mispricing": v["quoted_future"] - fair,
    }
