"""Second routes of the tasks in which a profit is split into its parts, on paper."""

from __future__ import annotations

from tests.evaluators.options.second_routes.market import Market, change

Z95 = 1.6448536269514722


def profit_attribution(context, legs):
    shares, greeks = 100 * context["contracts"], context["greeks_per_share"]
    before, after = context["before"], context["after"]
    move = after["spot"] - before["spot"]
    parts = {
        "delta_pnl": shares * greeks["delta"] * move,
        "gamma_pnl": shares * greeks["gamma"] * move * move / 2,
        "theta_pnl": shares * greeks["theta_per_day"] * context["days_passed"],
        "vega_pnl": shares * greeks["vega_per_point"] * context["volatility_change_points"],
    }
    total = shares * (after["price"] - before["price"])
    return {
        **parts,
        "total": total,
        "unexplained": total - sum(parts.values()),
        **{f"position_{name}": shares * value for name, value in greeks.items()},
        "delta_after": shares * (greeks["delta"] + greeks["gamma"] * move),
        "max_loss": shares * before["price"],
        "value_at_risk": Z95 * shares * greeks["delta"] * before["spot"] * context["daily_volatility"],
        "hedged_total": total + legs[0]["quantity"] * move,
    }


def straddle_attribution(context, legs):
    count, chain = context["straddles"], context["chain"]
    straddle = [{**row, "quantity": count} for row in chain[:2]]
    shock = {
        "move": context["spot_change"],
        "volatility_change": context["volatility_change"],
        "days": context["days_passed"],
    }
    greeks, jump = Market(context).book_greeks(straddle), context["underlying"]["spot"] * context["spot_change"]
    return {
        "total": change(context, straddle, **shock),
        "delta_pnl": greeks["delta"] * jump,
        "gamma_pnl": greeks["gamma"] * jump**2 / 2,
        "theta_pnl": greeks["theta_per_day"] * context["days_passed"],
        "vega_pnl": greeks["vega_per_point"] * 100 * context["volatility_change"],
        **greeks,
        "profit_at_higher_volatility": change(context, straddle, volatility_change=0.05),
        "profit_after_crash": change(context, straddle, move=-0.2, volatility_change=0.1),
        "hedge_total": change(context, legs, **shock),
    }
