"""Volatility Trading: where implied volatility stands in its own history, and what that says of a trade."""

from __future__ import annotations

import math
import random

from evaluators import names
from evaluators.casebook.answer import Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Volatility Trading"


def rank_and_percentile(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Rank an implied volatility within a year; at expert against the realised one, with days that have no quote."""
    count = {"easy": 19, "hard": 27, "expert": 36}[difficulty]
    level, history = rng.uniform(14, 45), []
    value = math.log(level)
    for _ in range(count):
        value += 0.35 * (math.log(level) - value) + rng.gauss(0, 0.14)
        history.append(round(math.exp(value), 1))
    spike = rng.randrange(count)
    history[spike] = round(level * rng.uniform(1.7, 2.6), 1)
    holes = set(rng.sample([n for n in range(count) if n != spike], 3)) if difficulty == "expert" else set()
    known = [v for n, v in enumerate(history) if n not in holes]
    now = round(min(known) + rng.uniform(0.1, 0.9) * (sorted(known)[-2] - min(known)), 1)
    rank = 100 * (now - min(known)) / (max(known) - min(known))
    percentile = 100 * sum(v < now for v in known) / len(known)
    days, spot, vega = rng.randint(10, 60), rng.randint(20, 600), rng.randint(40, 900)
    move = spot * now / 100 * math.sqrt(days / 365)
    realised = round(now * rng.uniform(0.6, 1.4), 1)
    high, low = rng.choice(((60, 40), (70, 30), (50, 30)))
    sell = percentile > high and (difficulty != "expert" or realised < now)
    buy = percentile < low and (difficulty != "expert" or realised > now)
    choice = "sell" if sell else "buy" if buy else "wait"
    rules = (
        "The rank is the place of today's volatility between the lowest (0) and the highest (100) of the history, "
        "the percentile the share of the history that lies strictly below it. Sell volatility where the percentile "
        f"exceeds {high}, buy it where it is below {low}, else wait."
    )
    asked = [
        Figure("iv_rank", "rank of implied volatility, 0 to 100", rank, 0.15),
        Figure("iv_percentile", "percentile of implied volatility, 0 to 100", percentile, 0.15),
        Figure(
            "expected_move_usd", f"move of one standard deviation until expiry in {days} days, in dollars", move, 0.02
        ),
    ]
    facts = f"the share stands at ${spot}, and its implied volatility is {now:.1f}% today"
    if difficulty == "expert":
        facts += f"; realised volatility has been {realised:.1f}%, and {vega} dollars a point of vega are to be traded"
        rules += (
            " Besides, volatility is only sold above the realised one and only bought below it. Weeks without a quote "
            "are no part of the history."
        )
        asked.append(
            Figure(
                "gain_at_realised_usd",
                "gain in dollars of being long that vega if implied volatility goes to the realised one, negative for "
                "a loss",
                vega * (realised - now),
                1.0,
            )
        )
    rows = [[f"week {n + 1}", "no quote" if n in holes else f"{v:.1f}%"] for n, v in enumerate(history)]
    return Drawn(
        {
            "stock": names.company(rng),
            "table": show(rng, ["week", "implied volatility"], rows),
            "facts": facts,
            "days": str(days),
            "rules": rules + " A year has 365 days.",
        },
        (*asked, Verdict("trade", "what to do with volatility", (choice,), ("sell", "buy", "wait"))),
        inputs={"known": known, "now": now, "spot": spot, "days": days, "realised": realised, "vega": vega},
    )


TEMPLATES = (
    Template(
        "rank-and-percentile",
        CATEGORY,
        rank_and_percentile,
        (
            "Options on {stock} run {days} days; {facts}. The past:\n\n{table}\n\n{rules} Is volatility dear?",
            "{table}\n\nThat was the implied volatility of {stock}; {facts}. {rules} Give rank, percentile and the "
            "expected move over {days} days.",
            "Screen {stock} for a volatility trade of {days} days: {facts}. {rules}\n\nHistory:\n{table}",
            "{rules}\n\nFor {stock}, {facts}, with {days} days to expiry. Earlier readings:\n\n{table}",
            "Is it time to sell straddles on {stock} ({days} days)? Know that {facts}.\n\n{table}\n\n{rules}",
        ),
        (
            "Set today's price of volatility in {stock} against the record; {facts}; expiry in {days} "
            "days.\n\n{table}\n\n{rules}",
            "{stock}: {facts}. Tenor {days} days. {rules} Weekly record:\n\n{table}",
        ),
    ),
)
