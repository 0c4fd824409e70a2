"""Templates of required returns and of the measures by which managers are judged."""

from __future__ import annotations

from evaluators.synthetic.template import Figure, Input, Template

CAPM = Template(
    name="capm",
    number=0,
    topic="Portfolio Theory",
    wording=(
        "Riskless money earns {riskless_rate}, and the market is expected to return {market_return}. A share has a "
        "beta of {beta}. Which return does the capital asset pricing model require of it?"
    ),
    inputs=(
        Input("riskless_rate", "riskless rate", "percent", "0.03", "0.01", "0.05", "0.0025"),
        Input("market_return", "expected return of the market", "percent", "0.08", "0.06", "0.12", "0.0025"),
        Input("beta", "beta of the share", "number", "1.3", "0.5", "2.2", "0.05"),
    ),
    definitions={
        "market_premium": "market_return - riskless_rate",
        "share_premium": "beta * market_premium",
        "required_return": "riskless_rate + share_premium",
    },
    steps=(
        Figure("market_premium", "risk premium of the market", "percent"),
        Figure("share_premium", "risk premium of the share", "percent"),
    ),
    answer=Figure("required_return", "return required of the share", "percent"),
    positive=("market_premium - 0.03", "abs(beta - 1) - 0.08"),
    pitfalls={
        "the market's return taken for its premium": "riskless_rate + beta * market_return",
        "riskless rate left out": "share_premium",
        "beta on the riskless rate": "market_return + beta * riskless_rate",
    },
)

M_SQUARED = Template(
    name="m_squared",
    number=0,
    topic="Portfolio Theory",
    wording=(
        "Over a year a fund returned {portfolio_return} with a volatility of {portfolio_volatility}. Its market index "
        "returned {market_return} with a volatility of {market_volatility}, riskless money {riskless_rate}. If the "
        "fund is mixed with riskless money, or levered with it, until it is as volatile as the index, by how much does "
        "the mixture beat the index (Modigliani's M squared, as an excess over the index, with its sign)?"
    ),
    inputs=(
        Input("portfolio_return", "return of the fund", "percent", "0.14", "0.05", "0.24", "0.005"),
        Input("portfolio_volatility", "volatility of the fund", "percent", "0.22", "0.08", "0.45", "0.005"),
        Input("market_return", "return of the index", "percent", "0.10", "0.05", "0.14", "0.005"),
        Input("market_volatility", "volatility of the index", "percent", "0.16", "0.10", "0.24", "0.005"),
        Input("riskless_rate", "riskless rate", "percent", "0.03", "0.01", "0.05", "0.0025"),
    ),
    definitions={
        "sharpe": "(portfolio_return - riskless_rate) / portfolio_volatility",
        "adjusted_return": "riskless_rate + sharpe * market_volatility",
        "m_squared": "adjusted_return - market_return",
    },
    steps=(
        Figure("sharpe", "Sharpe ratio of the fund", "number"),
        Figure("adjusted_return", "return of the fund at the volatility of the index", "percent"),
    ),
    answer=Figure("m_squared", "M squared as an excess over the index, with its sign", "percent"),
    positive=("sharpe - 0.12", "abs(m_squared) - 0.006"),
    pitfalls={
        "returns compared as they are": "portfolio_return - market_return",
        "riskless rate left out": "portfolio_return / portfolio_volatility * market_volatility - market_return",
        "sign turned": "-m_squared",
    },
)

JENSEN_ALPHA = Template(
    name="jensen_alpha",
    number=0,
    topic="Portfolio Theory",
    wording=(
        "A manager made {portfolio_return} with a portfolio whose beta is {beta}. The market made {market_return}, "
        "riskless money {riskless_rate}. What is Jensen's alpha, with its sign?"
    ),
    inputs=(
        Input("portfolio_return", "return of the portfolio", "percent", "0.12", "0.04", "0.22", "0.0025"),
        Input("beta", "beta of the portfolio", "number", "1.2", "0.4", "2.0", "0.05"),
        Input("market_return", "return of the market", "percent", "0.09", "0.05", "0.14", "0.0025"),
        Input("riskless_rate", "riskless rate", "percent", "0.03", "0.01", "0.05", "0.0025"),
    ),
    definitions={
        "treynor": "(portfolio_return - riskless_rate) / beta",
        "fair_return": "riskless_rate + beta * (market_return - riskless_rate)",
        "alpha": "portfolio_return - fair_return",
    },
    steps=(
        Figure("treynor", "Treynor ratio: return above the riskless one a unit of beta", "percent"),
        Figure("fair_return", "return that the beta justifies", "percent"),
    ),
    answer=Figure("alpha", "Jensen's alpha, with its sign", "percent"),
    positive=("abs(alpha) - 0.006", "0.09 - abs(alpha)", "treynor - 0.01", "market_return - riskless_rate - 0.02"),
    pitfalls={
        "beta ignored": "portfolio_return - market_return",
        "riskless rate left out": "portfolio_return - beta * market_return",
        "sign turned": "-alpha",
    },
)

INFORMATION_RATIO = Template(
    name="information_ratio",
    number=0,
    topic="Portfolio Theory",
    wording=(
        "In a regression on its index a fund has an alpha of {alpha} a year and a beta of {beta}. The fund's "
        "volatility is {portfolio_volatility}, that of the index {market_volatility}. What is its information ratio, "
        "alpha over residual volatility?"
    ),
    inputs=(
        Input("alpha", "alpha of the fund a year", "percent", "0.02", "0.005", "0.08", "0.0025"),
        Input("beta", "beta of the fund", "number", "1.1", "0.4", "1.6", "0.05"),
        Input("portfolio_volatility", "volatility of the fund", "percent", "0.22", "0.10", "0.40", "0.005"),
        Input("market_volatility", "volatility of the index", "percent", "0.16", "0.10", "0.24", "0.005"),
    ),
    definitions={
        "systematic_volatility": "beta * market_volatility",
        "residual_volatility": "sqrt(portfolio_volatility ^ 2 - systematic_volatility ^ 2)",
        "information_ratio": "alpha / residual_volatility",
    },
    steps=(
        Figure("systematic_volatility", "volatility that comes from the index", "percent"),
        Figure("residual_volatility", "residual volatility", "percent"),
    ),
    answer=Figure("information_ratio", "information ratio", "number"),
    positive=("residual_volatility - 0.04", "systematic_volatility - 0.05"),
    pitfalls={
        "over the whole volatility": "alpha / portfolio_volatility",
        "volatilities subtracted": "alpha / (portfolio_volatility - systematic_volatility)",
        "over the volatility of the index": "alpha / market_volatility",
    },
)

TEMPLATES: tuple[Template, ...] = (CAPM, M_SQUARED, JENSEN_ALPHA, INFORMATION_RATIO)
