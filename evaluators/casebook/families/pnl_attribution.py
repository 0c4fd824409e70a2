"""P&L Attribution: a day's profit by Greek, with a smile that moves along with the spot."""

from __future__ import annotations

import random

from evaluators import names
from evaluators.casebook.answer import Asked, Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty

CATEGORY = "P&L Attribution"


def smile_day(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Split a book's profit; the volatility of its options moves with the skew, and at expert a weekend passes."""
    spot = rng.randint(40, 900)
    change = rng.choice((-1, 1)) * round(spot * rng.uniform(0.008, 0.045), 2)
    delta, gamma = rng.choice((-1, 1)) * rng.randint(200, 6000), rng.choice((-1, 1)) * rng.randint(15, 300)
    theta, vega = rng.choice((-1, 1)) * rng.randint(80, 2500), rng.choice((-1, 1)) * rng.randint(150, 4500)
    parallel = rng.choice((-1, 1)) * rng.randint(3, 40) / 10
    slope = -rng.randint(5, 60) / 100 if difficulty != "easy" else 0.0
    vanna = rng.choice((-1, 1)) * rng.randint(20, 260) if difficulty == "expert" else 0
    days = 3 if difficulty == "expert" else 1
    moved = 100 * change / spot
    volatility = parallel + slope * moved
    parts = {
        "delta": delta * change,
        "gamma": 0.5 * gamma * change**2,
        "theta": float(theta * days),
        "vega": vega * volatility,
        "vanna": vanna * change * volatility,
    }
    explained = sum(parts.values())
    actual = round(explained + rng.choice((-1, 1)) * rng.uniform(0.05, 0.4) * max(abs(part) for part in parts.values()))
    facts = (
        f"delta {delta:,} shares, gamma {gamma:,} shares a dollar, theta {theta:+,} dollars a calendar day, vega "
        f"{vega:+,} dollars a point of volatility"
    )
    if vanna:
        facts += f", vanna {vanna:+,} shares a point of volatility"
    day = "from Friday's to Monday's close" if days == 3 else "from Tuesday's to Wednesday's close"
    news = (
        f"the share goes from ${spot:,} to ${spot + change:,.2f} and at-the-money volatility changes by "
        f"{parallel:+.1f} points"
    )
    rules = "Gamma counts with half the squared move."
    if slope:
        news += " at an unchanged spot"
        rules += (
            f" Besides that, the volatility of the options held changes by {slope:+.2f} points for each per cent that "
            "the share rises, and by the opposite where it falls; vega acts on the whole change."
        )
    if vanna:
        rules += (
            " Vanna counts with the move of the share times the whole change of volatility. Theta runs on days off, "
            "too."
        )
    greatest = max((name for name in parts if parts[name]), key=lambda name: abs(parts[name]))
    asked: tuple[Asked, ...] = (
        Figure("gamma_pnl", "part due to gamma in dollars, negative for a loss", parts["gamma"], 1.0),
        Figure("vega_pnl", "part due to vega in dollars, negative for a loss", parts["vega"], 1.0),
        Figure("explained_pnl", "sum of all parts in dollars, negative for a loss", explained, 2.0),
        Figure("unexplained_pnl", "actual profit less that sum, in dollars", actual - explained, 2.0),
        Verdict(
            "largest",
            "the Greek whose part is largest in size",
            (greatest,),
            ("delta", "gamma", "theta", "vega", *(("vanna",) if vanna else ())),
        ),
    )
    return Drawn(
        {
            "stock": names.company(rng),
            "facts": facts,
            "news": f"{day}, {news}",
            "rules": rules,
            "actual": f"${actual:,}" if actual >= 0 else f"-${-actual:,}",
        },
        asked,
        inputs={
            "spot": spot,
            "change": change,
            "delta": delta,
            "gamma": gamma,
            "theta": theta,
            "vega": vega,
            "vanna": vanna,
            "parallel": parallel,
            "slope": slope,
            "days": days,
            "actual": actual,
        },
    )


TEMPLATES = (
    Template(
        "smile-day",
        CATEGORY,
        smile_day,
        (
            "A book of options on {stock} has {facts}. It happens that {news}; the book makes {actual}. Explain the "
            "profit. {rules}",
            "Explain {actual} made on {stock}. Start of the day: {facts}. Since then: {news}. {rules}",
            "{rules} Greeks on {stock}: {facts}. Event: {news}. Booked: {actual}. Attribute it.",
            "The desk reports {actual} on its {stock} options. Their Greeks were {facts}; {news}. What explains it? "
            "{rules}",
            "Daily attribution, {stock}: {news}. Exposure before: {facts}. Actual result: {actual}. {rules}",
        ),
        (
            "Why did we make {actual} on {stock}? We had {facts}; {news}. {rules}",
            "Result {actual}; underlying {stock}; sensitivities: {facts}. What took place: {news}. Break it down. "
            "{rules}",
        ),
    ),
)
