"""What of an answer can be challenged, and the check: a price or a Greek of an option that the task does not name."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from evaluators.answers import Tolerance
from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import Check, Claim, Dispute
from evaluators.options import scoring
from evaluators.options.chain import Series, Underlying, draw_days, draw_spot, draw_strike, draw_volatility
from evaluators.options.problem import DIMENSIONS, Problem
from evaluators.options.valuation import model_price, per_share_greeks
from evaluators.options.wording import percent

ASKED = {
    "value": ("what is its value per share in dollars", 0.05),
    "delta": ("what is its delta per share, with its sign", 0.01),
    "vega_per_point": ("what is its vega per share and percentage point of volatility", 0.01),
}
"""Name -> how it is asked for, and the least size at which it is worth asking."""
TOLERANCE = Tolerance(relative=0.01)
MAX_ATTEMPTS = 200


def of_problem(problem: Problem) -> Dispute:
    """Return what can be argued about a problem's answer."""
    return Dispute(lambda text: claims(problem, text), check)


def claims(problem: Problem, text: str) -> Sequence[Claim]:
    """Return the figures that a reply states; of the position only where its legs are of the kind asked for."""
    details = scoring.judge(problem, text, printed={}).details
    found = []
    for dimension in DIMENSIONS:
        for figure in problem.figures()[dimension]:
            note = details.get(dimension, {}).get(figure.name, {})
            if "given" in note and "expected" in note:
                meaning = f"{dimension}.{figure.name} ({figure.meaning})"
                value = note["given"]
                found.append(Claim(f"{dimension}.{figure.name}", meaning, value, f"{value:,.10g}", bool(note["right"])))
    return found


def check(rng: Random) -> Check:
    """Draw an option and ask for its value, delta or vega under the conventions of the tasks."""
    for _ in range(MAX_ATTEMPTS):
        name = rng.choice(sorted(ASKED))
        words, least = ASKED[name]
        spot, volatility = draw_spot(rng), draw_volatility(rng)
        days = draw_days(rng, volatility)
        market = Underlying(
            spot=spot, rate=rng.randint(4, 22) / 400, dividend_yield=rng.randint(0, 12) / 400, volatility=volatility
        )
        strike = draw_strike(rng, spot, volatility, days)
        series = Series(kind=rng.choice(("call", "put")), strike=strike, days=days, price=0.0, volatility=volatility)
        gold = model_price(market, series) if name == "value" else per_share_greeks(market, series)[name]
        if abs(gold) < least:
            continue
        question = (
            f"By Black-Scholes-Merton with years of 365 days and continuous rates: a European {series.kind} struck at "
            f"${strike:g} expires in {days} days, on a stock at ${spot:g}, with a rate of {percent(market.rate)}, a "
            f"dividend yield of {percent(market.dividend_yield)} and a volatility of {percent(volatility)}; {words}?"
        )
        return Check(question, ExpectedNumber(gold, "number", TOLERANCE))
    raise RuntimeError(f"no option worth asking about in {MAX_ATTEMPTS} draws")
