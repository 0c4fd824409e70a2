"""Strategy Construction: exits that are fixed before a spread is sold, and what they lead to."""

from __future__ import annotations

import random

from evaluators import names
from evaluators.casebook.answer import Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Strategy Construction"
EXITS = ("target", "stop", "time", "expiry")
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def exit_rules(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Apply target, stop and time exit to a credit spread, day by day; at expert fills are worse than the marks."""
    width, contracts = rng.choice((5, 10, 20, 25)), rng.randint(2, 40)
    credit = round(width * rng.uniform(0.18, 0.42), 2)
    life = {"easy": 7, "hard": 11, "expert": 15}[difficulty]
    take, stop = rng.randint(35, 75), rng.randint(150, 280) / 100
    out = rng.randint(2, 4) if difficulty != "easy" else 0
    slip = rng.randint(1, 9) / 100 if difficulty == "expert" else 0.0
    fee = rng.randint(40, 130) / 100
    mark, marks = credit, []
    drift = rng.choice((-1, 1)) * rng.uniform(0.0, 0.09)
    for _ in range(life):
        mark = min(max(mark * (1 + drift + rng.gauss(0, 0.16)), 0.02 * width), 0.97 * width)
        marks.append(round(mark, 2))
    target, limit = credit * (1 - take / 100), credit * stop
    day, reason = life - 1, "expiry"
    for n, value in enumerate(marks):
        hit = (
            "target" if value <= target else "stop" if value >= limit else "time" if out and life - 1 - n <= out else ""
        )
        if hit:
            day, reason = n, hit
            break
    if any(min(abs(value - target), abs(value - limit)) < 0.015 for value in marks):
        return exit_rules(rng, difficulty)
    paid = marks[day] + (slip if reason != "expiry" else 0.0)
    sides = 1 if reason == "expiry" else 2
    profit = 100 * contracts * (credit - slip - paid) - sides * fee * contracts * 2
    at_risk = 100 * contracts * (width - credit + slip) + fee * contracts * 2
    start = rng.randrange(5)
    rows = []
    for n, value in enumerate(marks):
        row = [f"day {n + 1} ({WEEK[(start + n) % 5]})", f"${value:.2f}"]
        if difficulty != "easy":
            # highs within the day, which no rule looks at
            row.append(f"${value * rng.uniform(1.02, 1.5):.2f}")
        rows.append(row)
    columns = ["day", "mark at the close", "high of the day"][: len(rows[0])]
    rules = (
        f"Take profit when the close is at or below {100 - take}% of the credit; stop when it is at or above "
        f"{stop:.2f} times the credit. "
    )
    if out:
        rules += f"Close in any case at the close with {out} trading days left. "
    rules += (
        "Otherwise hold to the last day, whose mark is the value at expiry, settled without a trade. Only closes "
        "count. "
    )
    if slip:
        rules += f"Each trade of the spread fills ${slip:.2f} a share worse than the mark or the credit. "
    rules += f"Fees are ${fee:.2f} for each of the two legs, a contract and trade; a contract is on 100 shares."
    best = min(marks)
    return Drawn(
        {
            "stock": names.company(rng),
            "spread": f"{contracts} credit spreads, ${width} wide, for a credit of ${credit:.2f} a share",
            "table": show(rng, columns, rows),
            "rules": rules,
        },
        (
            Figure("profit_usd", "profit of the whole trade in dollars after fees, negative for a loss", profit, 1.0),
            Figure(
                "return_on_risk_percent",
                "that profit over the largest possible loss (opening costs included, none for closing), in percent",
                100 * profit / at_risk,
                0.06,
            ),
            Figure(
                "given_up_usd",
                "by how much more than this trade a close at the lowest mark of all days shown, at the same costs as "
                "any trade, would have earned, in dollars",
                100 * contracts * (credit - slip - best - slip) - 4 * fee * contracts - profit,
                1.0,
            ),
            Verdict("exit", "what ended the trade", (reason,), EXITS),
        ),
        inputs={
            "width": width,
            "contracts": contracts,
            "credit": credit,
            "take": take,
            "stop": stop,
            "out": out,
            "slip": slip,
            "fee": fee,
            "marks": marks,
        },
    )


TEMPLATES = (
    Template(
        "exit-rules",
        CATEGORY,
        exit_rules,
        (
            "On {stock} you sold {spread}. Exits were fixed beforehand. {rules} The marks since:\n\n{table}\n\nHow "
            "does it end?",
            "{rules}\n\nThe position: {spread}, on {stock}. What its closing would have cost:\n\n{table}\n\nPlay it "
            "through.",
            "{table}\n\nThese are the prices a share of a spread on {stock}, sold as {spread}. {rules} Where does the "
            "plan get out, and with what?",
            "A trader opens {spread} on {stock} with a plan. {rules} Evaluate the plan on these days:\n\n{table}",
            "Exit criteria for {spread} on {stock}: {rules} Marks day by day:\n\n{table}\n\nState the outcome.",
        ),
        (
            "Did discipline pay on {stock}? Sold: {spread}. {rules}\n\n{table}",
            "Follow the rules to the letter for {spread} on {stock}.\n\n{table}\n\n{rules}",
        ),
    ),
)
