"""Second routes of the tasks in which a position is built within limits on its payoff."""

from __future__ import annotations

from tests.evaluators.options.second_routes.market import (
    Market,
    both_ways,
    change,
    daily_value_at_risk,
    payoff,
    probability_of_profit,
)


def iron_condor(context, legs):
    _, outcome, roots = payoff(context, legs)
    return {
        **outcome,
        "breakeven_low": roots[0],
        "breakeven_high": roots[1],
        "probability_of_profit": probability_of_profit(context, legs, legs[0]["days_to_expiry"]),
        **Market(context).book_greeks(legs),
        **both_ways(context, legs, context["move"]),
        "return_on_risk": outcome["max_profit"] / outcome["max_loss"],
    }


def debit_spread(context, legs):
    _, outcome, roots = payoff(context, legs)
    return {
        **outcome,
        "breakeven": roots[0],
        "probability_of_profit": probability_of_profit(context, legs, legs[0]["days_to_expiry"]),
        **Market(context).book_greeks(legs),
        **both_ways(context, legs, context["move"]),
        "reward_to_risk": outcome["max_profit"] / outcome["max_loss"],
    }


def spread_sizing(context, legs):
    low, high = context["chain"]
    one = [{**high, "quantity": -1}, {**low, "quantity": 1}]
    _, outcome, roots = payoff(context, one)
    spreads = 0
    while (spreads + 1) * outcome["max_loss"] <= context["account"] * context["risk_fraction"]:
        spreads += 1
    return {
        "credit_per_spread": -outcome["cost"],
        "breakeven": roots[0],
        "total_credit": -Market(context).cost(legs),
        **Market(context).book_greeks(legs),
        "max_loss_per_spread": outcome["max_loss"],
        "spreads": spreads,
        "buying_power": spreads * outcome["max_loss"],
        "profit_after_crash": change(context, legs, move=-context["fall"], volatility_change=0.05),
    }


def collar(context, legs):
    stock = {"option_type": "stock", "quantity": context["shares_held"]}
    whole = [stock, *legs]
    _, outcome, roots = payoff(context, whole)
    greeks = Market(context).book_greeks(whole)
    return {
        "collar_cost": Market(context).cost(legs),
        "max_profit": outcome["max_profit"],
        "breakeven": roots[0],
        **greeks,
        "max_loss": outcome["max_loss"],
        "value_at_risk_unhedged": daily_value_at_risk(context, stock["quantity"]),
        "value_at_risk": daily_value_at_risk(context, greeks["delta"]),
        "profit_after_fall": change(context, whole, move=-context["fall"]),
    }
