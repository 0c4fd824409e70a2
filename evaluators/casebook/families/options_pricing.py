"""Options Pricing: the right to exercise early, on a tree, with a dividend on the way."""

from __future__ import annotations

import math
import random

from evaluators import names
from evaluators.casebook.answer import Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty

CATEGORY = "Options Pricing"


def tree_value(
    *,
    spot: float,
    strike: float,
    rate: float,
    volatility: float,
    step: float,
    steps: int,
    call: bool,
    american: bool,
    dividend: float = 0.0,
    paid_after: int = 0,
) -> float:
    """Return the value on a Cox-Ross-Rubinstein tree of the share without the present value of its one dividend.

    ``step`` in years; the dividend is paid just before the holder may exercise at node ``paid_after``.
    """
    up = math.exp(volatility * math.sqrt(step))
    grow, discount = math.exp(rate * step), math.exp(-rate * step)
    weight = (grow - 1 / up) / (up - 1 / up)
    bare = spot - dividend * math.exp(-rate * step * paid_after)

    def payoff(level: int, ups: int) -> float:
        share = bare * up ** (2 * ups - level)
        if level < paid_after:
            share += dividend * math.exp(-rate * step * (paid_after - level))
        return max(share - strike if call else strike - share, 0.0)

    values = [payoff(steps, ups) for ups in range(steps + 1)]
    for level in range(steps - 1, -1, -1):
        values = [discount * (weight * values[n + 1] + (1 - weight) * values[n]) for n in range(level + 1)]
        if american:
            values = [max(value, payoff(level, ups)) for ups, value in enumerate(values)]
    return values[0]


def early_exercise(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Value an American option beside the European one; at hard and expert a dividend makes the difference."""
    steps = {"easy": 2, "hard": 3, "expert": 5}[difficulty]
    months = rng.choice((1, 2, 3)) if difficulty != "easy" else rng.choice((3, 4, 6))
    spot = rng.randint(20, 300)
    rate, volatility = rng.randint(20, 90) / 1000, rng.randint(18, 55) / 100
    call = difficulty != "easy" and rng.random() < 0.6
    strike = round(spot * rng.uniform(0.85, 1.02) if call else spot * rng.uniform(0.98, 1.45))
    dividend = round(spot * rng.uniform(0.02, 0.07), 2) if difficulty != "easy" else 0.0
    paid_after = rng.randint(1, steps - 1) if dividend else 0
    given = {
        "spot": float(spot),
        "strike": float(strike),
        "rate": rate,
        "volatility": volatility,
        "step": months / 12,
        "dividend": dividend,
    }
    european, american = (
        tree_value(
            spot=float(spot),
            strike=float(strike),
            rate=rate,
            volatility=volatility,
            step=months / 12,
            steps=steps,
            call=call,
            american=early,
            dividend=dividend,
            paid_after=paid_after,
        )
        for early in (False, True)
    )
    intrinsic = max(spot - strike if call else strike - spot, 0.0)
    premium = american - european
    if premium < 0.06 or european < 0.3:
        return early_exercise(rng, difficulty)
    kind = "call" if call else "put"
    rules = (
        f"Use a Cox-Ross-Rubinstein tree of {steps} steps of {months} month{'s' if months > 1 else ''} (a twelfth of "
        "a year each); up moves multiply by exp(volatility x root of the step), down moves by its inverse, and rates "
        "are continuously compounded."
    )
    if dividend:
        rules += (
            f" The share pays ${dividend:.2f} after {paid_after * months} months. The tree is that of the price less "
            "the present value of the dividend, to which that present value is added back at every node before the "
            "payment; at the node of the payment the share is already without it."
        )
    now = "yes" if american <= intrinsic + 1e-9 else "no"
    asked = (
        Figure("american_value", "value of the American option a share, in dollars", american, 0.006),
        Figure("european_value", "value of the European option a share, in dollars", european, 0.006),
        Figure(
            "early_exercise_premium", "what the right to exercise early is worth a share, in dollars", premium, 0.006
        ),
        Verdict("exercise_now", "whether exercising at once is best", (now,), ("yes", "no")),
    )
    return Drawn(
        {
            "stock": names.company(rng),
            "option": f"{kind} struck at ${strike}",
            "market": f"the share costs ${spot}, its volatility is {100 * volatility:.0f}% and the rate "
            f"{100 * rate:.1f}% a year",
            "life": f"{steps * months} months",
            "rules": rules,
        },
        asked,
        inputs=given | {"steps": steps, "call": call, "paid_after": paid_after},
    )


TEMPLATES = (
    Template(
        "early-exercise",
        CATEGORY,
        early_exercise,
        (
            "What is a {option} on {stock} worth that runs {life} and may be exercised at any node, and what if it "
            "may not? For {stock}, {market}. {rules}",
            "{rules} With it, value a {option} on {stock} ({life}); {market}.",
            "A client owns a {option} on {stock} with {life} to go; {market}. He may exercise early. What is that "
            "right worth? {rules}",
            "On {stock}, {market}. Price the {option} of {life}, American and European. {rules}",
            "Should the holder of a {option} on {stock} wait? It lives {life}; {market}. {rules}",
        ),
        (
            "The right to exercise a {option} before its {life} are over is to be priced. {stock}: {market}. {rules}",
            "Compare two contracts on {stock}, alike (a {option}, {life}) but for early exercise. Here {market}. "
            "{rules}",
        ),
    ),
)
