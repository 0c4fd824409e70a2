"""Second routes of the tasks in which a view on volatility is traded."""

from __future__ import annotations

import itertools
import math

import QuantLib as ql

from tests.evaluators.options.second_routes.market import Market, both_ways, change, payoff


def volatility_view(context, legs):
    closes = context["closes"]
    returns = [math.log(b / a) for a, b in itertools.pairwise(closes)]
    mean = sum(returns) / len(returns)
    realised = math.sqrt(252 * sum((r - mean) ** 2 for r in returns) / (len(returns) - 1))
    gap = realised - context["underlying"]["volatility"]
    _, outcome, roots = payoff(context, legs)
    return {
        "realised_volatility": realised,
        "volatility_gap_points": 100 * gap,
        "profit_at_realised": change(context, legs, volatility_change=gap),
        "breakeven_low": roots[0],
        "breakeven_high": roots[1],
        **Market(context).book_greeks(legs),
        "max_loss": outcome["max_loss"],
        **both_ways(context, legs, context["move"]),
    }


def forward_volatility(context, legs):
    front, back = context["chain"]
    near, far = (
        ql.BlackConstantVol(0, ql.NullCalendar(), row["volatility"], ql.Actual365Fixed()) for row in (front, back)
    )
    start, end = front["days_to_expiry"] / 365, back["days_to_expiry"] / 365
    variance = far.blackVariance(end, front["strike"]) - near.blackVariance(start, front["strike"])
    forward, believed = math.sqrt(variance / (end - start)), context["believed_forward_volatility"]
    later = [{**leg, "volatility": believed} for leg in legs]
    at_expiry = Market(context, days=front["days_to_expiry"]).book_value(later)
    return {
        "forward_volatility": forward,
        "forward_gap_points": 100 * (believed - forward),
        "cost": Market(context).cost(legs),
        "profit_at_front_expiry": at_expiry - Market(context).book_value(legs),
        **Market(context).book_greeks(legs),
        **both_ways(context, legs, context["move"]),
    }
