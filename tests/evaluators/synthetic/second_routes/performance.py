"""Required returns and measures of managers: every figure by another route than the bank's."""

from __future__ import annotations

import numpy as np

from tests.evaluators.synthetic.second_routes.root import Values, root


def capm(v: Values) -> Values:
    """The line through riskless money (beta 0) and the market (beta 1)."""
    at, slope = np.linalg.solve([[1, 0], [1, 1]], [v["riskless_rate"], v["market_return"]])
    return {
        "market_premium": slope,
        "share_premium": np.interp(v["beta"], [0, 4], [0, 4 * slope]),
        "required_return": at + slope * v["beta"],
    }


def m_squared(v: Values) -> Values:
    weight = root(lambda w: w * v["portfolio_volatility"] - v["market_volatility"], 0, 50)
    mixed = weight * v["portfolio_return"] + (1 - weight) * v["riskless_rate"]
    return {
        "sharpe": (mixed - v["riskless_rate"]) / v["market_volatility"],
        "adjusted_return": mixed,
        "m_squared": mixed - v["market_return"],
    }


def jensen_alpha(v: Values) -> Values:
    """What is left of the portfolio after the mixture of market and riskless money of its beta is sold against it."""
    mixture = float(np.dot([v["beta"], 1 - v["beta"]], [v["market_return"], v["riskless_rate"]]))
    treynor = root(lambda t: v["riskless_rate"] + v["beta"] * t - v["portfolio_return"], -5, 5)
    return {"treynor": treynor, "fair_return": mixture, "alpha": v["portfolio_return"] - mixture}


def information_ratio(v: Values) -> Values:
    """Two independent sources of four equally likely states make the fund's volatility."""
    residual = root(
        lambda s: (
            np.std([v["beta"] * v["market_volatility"] * a + s * b for a in (-1, 1) for b in (-1, 1)])
            - v["portfolio_volatility"]
        ),
        0,
        2,
    )
    market = np.std([v["beta"] * v["market_volatility"] * a for a in (-1, 1)])
    return {
        "systematic_volatility": market,
        "residual_volatility": residual,
        "information_ratio": v["alpha"] / residual,
    }
