"""Values, payoffs and risks by QuantLib, grids and integration: what the second routes are made of."""

from __future__ import annotations

import itertools
import math

import numpy as np
import QuantLib as ql
from scipy.integrate import quad
from scipy.stats import lognorm, norm


class Market:
    """Values by QuantLib's Black calculator under a shocked market."""

    def __init__(self, context, *, move=0.0, volatility_change=0.0, days=0.0):
        underlying = context["underlying"]
        self.spot = underlying["spot"] * (1 + move)
        self.rate, self.dividend_yield = underlying["rate"], underlying["dividend_yield"]
        self.volatility_change, self.days = volatility_change, days
        self.quotes = {
            (row["option_type"], row["strike"], row["days_to_expiry"]): (row.get("price"), row.get("volatility"))
            for row in context.get("chain", [])
        }

    def calculator(self, kind, strike, days, volatility):
        time = (days - self.days) / 365
        option = ql.Option.Call if kind == "call" else ql.Option.Put
        forward = self.spot * math.exp((self.rate - self.dividend_yield) * time)
        deviation = (volatility + self.volatility_change) * math.sqrt(time)
        return ql.BlackCalculator(
            ql.PlainVanillaPayoff(option, strike), forward, deviation, math.exp(-self.rate * time)
        )

    def value(self, kind, strike, days, volatility):
        if days - self.days <= 0:
            return max(self.spot - strike, 0.0) if kind == "call" else max(strike - self.spot, 0.0)
        return self.calculator(kind, strike, days, volatility).value()

    def greeks(self, kind, strike, days, volatility):
        calculator, time = self.calculator(kind, strike, days, volatility), days / 365
        return np.array(
            [
                calculator.delta(self.spot),
                calculator.gamma(self.spot),
                calculator.theta(self.spot, time) / 365,
                calculator.vega(time) / 100,
                calculator.rho(time) / 100,
            ]
        )

    def book_value(self, legs):
        total = 0.0
        for leg in legs:
            if leg["option_type"] == "stock":
                total += leg["quantity"] * self.spot
            else:
                key = (leg["option_type"], leg["strike"], leg["days_to_expiry"])
                total += 100 * leg["quantity"] * self.value(*key, leg.get("volatility") or self.quotes[key][1])
        return total

    def book_greeks(self, legs):
        total = np.zeros(5)
        for leg in legs:
            if leg["option_type"] == "stock":
                total[0] += leg["quantity"]
            else:
                key = (leg["option_type"], leg["strike"], leg["days_to_expiry"])
                volatility = leg.get("volatility") or self.quotes[key][1]
                total += 100 * leg["quantity"] * self.greeks(*key, volatility)
        names = ("delta", "gamma", "theta_per_day", "vega_per_point", "rho_per_point")
        return dict(zip(names, total.tolist(), strict=True))

    def cost(self, legs):
        return sum(
            leg["quantity"] * self.spot
            if leg["option_type"] == "stock"
            else 100 * leg["quantity"] * self.quotes[leg["option_type"], leg["strike"], leg["days_to_expiry"]][0]
            for leg in legs
        )


def change(context, legs, **shock):
    return Market(context, **shock).book_value(legs) - Market(context).book_value(legs)


def payoff(context, legs):
    """Profit at expiry as a function of the price, extremes on a grid with the kinks, breakevens by bisection."""
    market = Market(context)
    cost = market.cost(legs)
    strikes = sorted({leg["strike"] for leg in legs if leg["option_type"] != "stock"})

    def profit(price):
        total = -cost
        for leg in legs:
            if leg["option_type"] == "stock":
                total += leg["quantity"] * price
            else:
                gap = price - leg["strike"] if leg["option_type"] == "call" else leg["strike"] - price
                total += 100 * leg["quantity"] * max(gap, 0.0)
        return total

    grid = sorted({0.0, *strikes, *np.linspace(0, 5 * strikes[-1], 2001).tolist()})
    values = [profit(price) for price in grid]
    roots = []
    for (low, at_low), (high, at_high) in itertools.pairwise(zip(grid, values, strict=True)):
        if at_low * at_high < 0:
            for _ in range(200):
                middle = (low + high) / 2
                low, high = (middle, high) if profit(middle) * at_low > 0 else (low, middle)
            roots.append(low)
        elif at_high == 0:
            roots.append(high)
    return profit, {"cost": cost, "max_profit": max(values), "max_loss": -min(values)}, roots


def probability_of_profit(context, legs, days):
    profit, _, roots = payoff(context, legs)
    underlying, time = context["underlying"], days / 365
    deviation = underlying["volatility"] * math.sqrt(time)
    forward = underlying["spot"] * math.exp((underlying["rate"] - underlying["dividend_yield"]) * time)
    law = lognorm(deviation, scale=forward * math.exp(-(deviation**2) / 2))
    edges = [max(1e-9, forward * math.exp(-9 * deviation)), *roots, forward * math.exp(9 * deviation)]
    return sum(
        quad(law.pdf, low, high, limit=200)[0]
        for low, high in itertools.pairwise(edges)
        if profit((low + high) / 2) > 0
    )


def daily_value_at_risk(context, delta):
    underlying = context["underlying"]
    return norm.ppf(0.95) * abs(delta) * underlying["spot"] * underlying["volatility"] / math.sqrt(252)


def per_share(context, option, volatility):
    greeks = Market(context).greeks(option["option_type"], option["strike"], option["days_to_expiry"], volatility)
    return dict(zip(("delta", "gamma", "theta_per_day", "vega_per_point", "rho_per_point"), greeks, strict=True))


def both_ways(context, legs, move):
    return {
        "profit_after_fall": change(context, legs, move=-move),
        "profit_after_rise": change(context, legs, move=move),
    }
