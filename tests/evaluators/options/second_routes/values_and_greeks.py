"""Second routes of the tasks on the value and the Greeks of an option or of a book."""

from __future__ import annotations

import math

import QuantLib as ql
from scipy.stats import norm

from tests.evaluators.options.second_routes.market import Market, both_ways, change, daily_value_at_risk, per_share


def fair_value(context, legs):
    volatility, held = context["underlying"]["volatility"], context["contracts_held"]
    call, put = context["options"]
    prices = [
        Market(context).value(o["option_type"], o["strike"], o["days_to_expiry"], volatility) for o in (call, put)
    ]
    owned = [{**call, "quantity": held, "volatility": volatility}]
    return {
        "call_price": prices[0],
        "put_price": prices[1],
        "breakeven": call["strike"] + prices[0],
        "profit_at_end_price": 100 * held * (max(context["end_price"] - call["strike"], 0) - prices[0]),
        **per_share(context, call, volatility),
        "max_loss": 100 * held * prices[0],
        "profit_after_fall": change(context, owned, move=-context["fall"]),
        "value_at_risk": daily_value_at_risk(context, Market(context).book_greeks(owned)["delta"]),
    }


def quoted_option(context, legs):
    volatility, option, contracts = context["underlying"]["volatility"], context["option"], context["contracts"]
    market, time = Market(context), option["days_to_expiry"] / 365
    value = market.value("call", option["strike"], option["days_to_expiry"], volatility)
    discount = math.exp(-market.rate * time)
    forward = market.spot * math.exp((market.rate - market.dividend_yield) * time)
    deviation = ql.blackFormulaImpliedStdDev(
        ql.Option.Call, option["strike"], forward, option["quote"], discount, 0.0, 0.3, 1e-12, 1000
    )
    implied = deviation / math.sqrt(time)
    legs = [{**leg, "volatility": volatility} for leg in legs]
    return {
        "model_value": value,
        "value_gap": 100 * contracts * (value - option["quote"]),
        "implied_volatility": implied,
        **per_share(context, option, volatility),
        **both_ways(context, legs, context["move"]),
        "profit_at_implied": change(context, legs, volatility_change=implied - volatility),
    }


def single_option(context, legs):
    option, volatility = context["option"], context["underlying"]["volatility"]
    move, days = context["move"], context["days_passed"]
    one = [{**option, "quantity": 1, "volatility": volatility}]
    sold = [{**option, "quantity": -context["contracts_sold"], "volatility": volatility}]
    greeks, jump = per_share(context, option, volatility), context["underlying"]["spot"] * move
    taylor = greeks["delta"] * jump + greeks["gamma"] * jump**2 / 2 + greeks["theta_per_day"] * days
    return {
        "value": Market(context).book_value(one) / 100,
        "exact_change": change(context, one, move=move, days=days) / 100,
        "predicted_change": taylor,
        **greeks,
        "value_at_risk": daily_value_at_risk(context, Market(context).book_greeks(sold)["delta"]),
        **both_ways(context, sold + legs, 0.1),
    }


def net_delta(context, legs):
    rows, spot = context["options"], context["spot"]
    bought = sum(100 * r["contracts"] * r["delta_per_share"] for r in rows if r["contracts"] > 0)
    sold = sum(100 * r["contracts"] * r["delta_per_share"] for r in rows if r["contracts"] < 0)
    delta = context["shares"] + bought + sold
    deviation = math.sqrt(delta**2 * spot**2 * context["daily_volatility"] ** 2)
    return {
        "change": delta * spot * context["move"],
        "change_of_bought": bought * spot * context["move"],
        "hedge_change": legs[0]["quantity"] * spot * context["move"],
        "net_delta": delta,
        "delta_of_bought": bought,
        "delta_of_sold": sold,
        "dollar_delta": delta * spot,
        "daily_deviation": deviation,
        "value_at_risk_95": norm.ppf(0.95) * deviation,
        "value_at_risk_99": norm.ppf(0.99) * deviation,
    }


def book_hedge(context, legs):
    book = context["book"]
    ways = both_ways(context, book, context["move"])
    greeks = Market(context).book_greeks(book)
    return {
        "book_profit_after_fall": ways["profit_after_fall"],
        "book_profit_after_rise": ways["profit_after_rise"],
        **both_ways(context, book + legs, context["move"]),
        **greeks,
        "value_at_risk": daily_value_at_risk(context, greeks["delta"]),
        "book_profit_at_higher_volatility": change(context, book, volatility_change=0.05),
        "hedge_cost": Market(context).cost(legs),
    }
