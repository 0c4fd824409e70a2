"""Risk Management: what each position adds to the value at risk of the whole, and how large it may be."""

from __future__ import annotations

import math
import random

from evaluators.casebook.answer import Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Risk Management"
ASSETS = (
    "Bunds",
    "Copper",
    "Gilts",
    "Gold",
    "Nikkei",
    "Oil",
    "Silver",
    "Treasuries",
    "Wheat",
    "Yen",
    "Zinc",
    "Soybeans",
)
QUANTILES = {95: 1.645, 99: 2.326}


def component_risk(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Split value at risk by position; at expert over several days, with yearly and daily deviations side by side."""
    count = {"easy": 2, "hard": 3, "expert": 4}[difficulty]
    assets = rng.sample(ASSETS, count)
    held = [rng.choice((-1, 1)) * rng.randint(8, 400) / 10 if n else rng.randint(60, 400) / 10 for n in range(count)]
    daily = [rng.randint(40, 320) / 100 for _ in range(count)]
    yearly = {1, 3} if difficulty == "expert" else set()
    daily = [round(d * math.sqrt(252), 1) / math.sqrt(252) if n in yearly else d for n, d in enumerate(daily)]
    # correlations of one common cause: always those of some world
    loads = [rng.uniform(-0.85, 0.95) for _ in range(count)]
    rho = [[1.0 if a == b else round(loads[a] * loads[b], 2) for b in range(count)] for a in range(count)]
    level = rng.choice((95, 99))
    days = rng.randint(2, 10) if difficulty == "expert" else 1
    amount = [value * each / 100 for value, each in zip(held, daily, strict=True)]
    with_all = [math.fsum(rho[a][b] * amount[b] for b in range(count)) for a in range(count)]
    variance = math.fsum(amount[a] * with_all[a] for a in range(count))
    if variance <= 0.02:
        return component_risk(rng, difficulty)
    sigma = math.sqrt(variance)
    factor = QUANTILES[level] * math.sqrt(days)
    total = 1e6 * factor * sigma
    parts = [1e6 * factor * amount[a] * with_all[a] / sigma for a in range(count)]
    alone = math.fsum(1e6 * factor * abs(each) for each in amount)
    asked_of = rng.randrange(count)
    most = max(range(count), key=lambda n: parts[n])
    rows = []
    for n, name in enumerate(assets):
        size = f"{'long' if held[n] > 0 else 'short'} ${abs(held[n]):.1f} million"
        spread = f"{daily[n] * math.sqrt(252):.1f}% a year" if n in yearly else f"{daily[n]:.2f}% a day"
        rows.append([name, size, spread])
    pairs = "; ".join(
        f"{assets[a]} and {assets[b]} {rho[a][b]:+.2f}" for a in range(count) for b in range(a + 1, count)
    )
    over = "one day" if days == 1 else f"{days} days"
    rules = (
        f"Value at risk is delta-normal, at {level}% over {over}, with a quantile of {QUANTILES[level]} and means of "
        "zero; its component of a position is the position times the slope of the whole in it, so that components "
        "add up to the whole." + (" Days are independent, 252 a year." if difficulty == "expert" else "")
    )
    return Drawn(
        {
            "table": show(rng, ["position", "size", "standard deviation"], rows),
            "pairs": pairs,
            "rules": rules,
            "asset": assets[asked_of],
        },
        (
            Figure("value_at_risk_usd", "value at risk of the whole in dollars, positive", total, 50.0),
            Figure(
                "component_usd",
                f"component of {assets[asked_of]} in dollars, negative where it lowers the whole",
                parts[asked_of],
                100.0,
            ),
            Figure(
                "diversification_usd",
                "sum of the values at risk of the single positions less that of the whole, in dollars",
                alone - total,
                100.0,
            ),
            Verdict(
                "largest_component", "the position with the largest component", (assets[most],), tuple(sorted(assets))
            ),
        ),
        inputs={
            "held": held,
            "daily": daily,
            "rho": rho,
            "level": level,
            "days": days,
            "asked_of": asked_of,
            "assets": assets,
        },
    )


TEMPLATES = (
    Template(
        "component-risk",
        CATEGORY,
        component_risk,
        (
            "A portfolio:\n\n{table}\n\nCorrelations: {pairs}. {rules} How much risk is there, and how much of it "
            "comes from {asset}?",
            "{table}\n\nCorrelations of these positions: {pairs}. {rules} Split the risk; {asset} is of special "
            "interest.",
            "Where does the risk of this book sit, and what does {asset} do to it? {rules} Correlations are "
            "{pairs}.\n\n{table}",
            "{rules}\n\nPositions:\n{table}\n\nCorrelations: {pairs}. Report the whole and the component of {asset}.",
            "The risk officer wants to cut one position and looks at {asset}.\n\n{table}\n\nThe correlations are "
            "{pairs}. {rules}",
        ),
        (
            "Decompose the danger in these holdings, {asset} first.\n\n{table}\n\n{pairs} are the correlations. "
            "{rules}",
            "Correlations {pairs}; holdings below. {rules} What share of it is due to {asset}?\n\n{table}",
        ),
    ),
)
