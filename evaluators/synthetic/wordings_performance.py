"""Words of the templates in ``bank_performance.py``."""

from __future__ import annotations

from evaluators.synthetic.wording import Wording

WORDINGS: dict[str, Wording] = {
    "capm": Wording(
        "The capital asset pricing model holds, and all rates are for one year.",
        (
            "Which return is required of the share?",
            "What should the share be expected to earn?",
            "Find the share's cost of equity.",
            "Which yearly return compensates for the share's risk?",
            "What does the model say that holders require?",
        ),
        ("State the CAPM return.", "What is the fair expected yield on the stock?"),
        {
            "riskless_rate": ("riskless rate", "yield of treasury bills", "safe return"),
            "market_return": ("expected return of the market", "what the market should earn", "index return outlook"),
            "beta": ("beta of the share", "the share's sensitivity to the market", "stock's slope on the index"),
        },
    ),
    "m_squared": Wording(
        "A fund and its market index are compared over one year. The fund is mixed with riskless money, or levered "
        "with it, until it is as volatile as the index (Modigliani's M squared, as an excess over the index).",
        (
            "By how much does the mixture beat the index, with its sign?",
            "What is M squared as an excess over the index?",
            "How much better than the index, at equal risk, was the fund? Keep the sign.",
            "Find the excess return at the volatility of the index.",
            "Which lead over the index, signed, is left at equal volatility?",
        ),
        ("State M2 over the benchmark.", "What was the risk-matched outperformance, sign included?"),
        {
            "portfolio_return": ("return of the fund", "what the fund made", "fund performance"),
            "portfolio_volatility": ("volatility of the fund", "standard deviation of the fund", "fund sigma"),
            "market_return": ("return of the index", "what the index made", "index performance"),
            "market_volatility": ("volatility of the index", "standard deviation of the index", "index sigma"),
            "riskless_rate": ("riskless rate", "return of riskless money", "safe yield"),
        },
    ),
    "jensen_alpha": Wording(
        "A portfolio is judged by the capital asset pricing model over one year.",
        (
            "What is Jensen's alpha, with its sign?",
            "How much did the manager earn beyond what the beta justifies? Keep the sign.",
            "Find the portfolio's alpha, signed.",
            "Which return, with its sign, is owed to skill rather than to the market?",
            "By how much did the portfolio beat its required return, negative if it fell short?",
        ),
        ("State alpha.", "What abnormal return was there, sign included?"),
        {
            "portfolio_return": ("return of the portfolio", "what the manager made", "portfolio performance"),
            "beta": ("beta of the portfolio", "the portfolio's sensitivity to the market", "portfolio slope"),
            "market_return": ("return of the market", "what the market made", "index performance"),
            "riskless_rate": ("riskless rate", "return of riskless money", "safe yield"),
        },
    ),
    "information_ratio": Wording(
        "Alpha, beta and volatilities come from a regression of the fund on its index, a year. Residual risk is "
        "uncorrelated with the index, and the information ratio is alpha over residual volatility.",
        (
            "What is the information ratio?",
            "How much alpha is there for each unit of residual risk?",
            "Find the fund's information ratio.",
            "Which ratio of alpha to residual volatility results?",
            "How good is the fund's alpha for the risk of its own?",
        ),
        ("State IR.", "What is the appraisal ratio?"),
        {
            "alpha": ("alpha of the fund", "regression intercept a year", "excess skill return"),
            "beta": ("beta of the fund", "regression slope", "index sensitivity"),
            "portfolio_volatility": ("volatility of the fund", "standard deviation of the fund", "fund sigma"),
            "market_volatility": ("volatility of the index", "standard deviation of the index", "index sigma"),
        },
    ),
}
