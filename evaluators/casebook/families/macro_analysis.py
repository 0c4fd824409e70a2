"""Macro Analysis: a thesis on curve, inflation or volatility as claims with direction, magnitude and consequence."""

from __future__ import annotations

import functools
import math
import random
from datetime import date, timedelta
from typing import NamedTuple

from evaluators.casebook.answer import Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from evaluators.exhibit import show
from lake import sample

CATEGORY = "Macro Analysis"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TENORS = (2, 3, 5, 7, 10, 20, 30)
MOVES = ("bull steepener", "bear steepener", "bull flattener", "bear flattener")


class Bond(NamedTuple):
    """A holding: market value in millions of dollars, modified duration and convexity in years."""

    tenor: int
    millions: float
    duration: float
    convexity: float


def curve_move(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Move a curve under a book of bonds; at expert a tenor was not quoted and the day asked is no trading day."""
    level, slope = rng.uniform(1.5, 5.0), rng.uniform(-0.2, 0.6)
    before = {t: round(level + slope * math.log(t / 2) + rng.uniform(-0.05, 0.05), 2) for t in TENORS}
    shift, twist = rng.choice((-1, 1)) * rng.uniform(15, 70), rng.choice((-1, 1)) * rng.uniform(8, 22)
    moves = {t: round(shift + twist * math.log(t / 5) + rng.uniform(-3, 3)) for t in TENORS}
    after = {t: round(before[t] + moves[t] / 100, 2) for t in TENORS}
    missing = rng.choice((5, 7, 20)) if difficulty == "expert" else None
    held = {"easy": [10], "hard": rng.sample((3, 5, 7, 10, 30), 2), "expert": [missing or 5, 10, rng.choice((2, 30))]}
    bonds = [
        Bond(
            tenor=t,
            millions=rng.randint(40, 900) / 10,
            duration=round(min(0.93 * t, 4 + 0.5 * t) * rng.uniform(0.9, 1.0), 2),
            convexity=round((0.8 * t) ** 2 * rng.uniform(0.8, 1.2), 1) if difficulty != "easy" else 0.0,
        )
        for t in held[difficulty]
    ]
    known = {t: y for t, y in after.items() if t != missing}
    if missing:
        low, high = max(t for t in known if t < missing), min(t for t in known if t > missing)
        known[missing] = known[low] + (known[high] - known[low]) * (missing - low) / (high - low)
    profit = 0.0
    for bond in bonds:
        change = (known[bond.tenor] - before[bond.tenor]) / 100
        profit += bond.millions * 1e6 * (-bond.duration * change + 0.5 * bond.convexity * change**2)
    widening = 100 * ((after[10] - after[2]) - (before[10] - before[2]))
    first = date(rng.randint(2015, 2025), rng.randint(1, 12), rng.randint(1, 20))
    first += timedelta(days=(4 - first.weekday()) % 7)
    second = first + timedelta(days=28)
    shown = list(TENORS) if difficulty != "easy" else sorted({2, 10, *rng.sample((3, 5, 30), 2)})
    columns = ["tenor", f"yield {first}", f"yield {second}"]
    rows = [[f"{t}-year", f"{before[t]:.2f}%", "not quoted" if t == missing else f"{after[t]:.2f}%"] for t in shown]
    if difficulty == "expert":
        later = second + timedelta(days=3)
        columns.append(f"yield {later}")
        for row, t in zip(rows, shown, strict=True):
            row.append(f"{after[t] + rng.randint(-30, 30) / 100:.2f}%")
    lines = [
        f"${bond.millions:.1f} million of {bond.tenor}-year notes with a modified duration of {bond.duration}"
        + (f" and a convexity of {bond.convexity}" if bond.convexity else "")
        for bond in bonds
    ]
    end = second + timedelta(days=rng.choice((1, 2))) if difficulty == "expert" else second
    asked_day = f"{end:%A}, {end}" if difficulty == "expert" else str(second)
    rules = (
        "A move is bull when the 10-year yield falls and bear when it rises; it is a steepener when the 10-year yield "
        "less the 2-year yield grows, else a flattener. Each holding follows the yield of its own tenor, by its "
        "modified duration"
        + ("" if difficulty == "easy" else " and half its convexity times the squared change of the yield")
        + ". Amounts are market values on the first day; carry is left out."
    )
    if difficulty == "expert":
        rules += (
            " On a day without trading the last close before it stands; a tenor that was not quoted lies on the "
            "straight line between its quoted neighbours."
        )
    name = f"{'bear' if after[10] > before[10] else 'bull'} {'steepener' if widening > 0 else 'flattener'}"
    return Drawn(
        {
            "table": show(rng, columns, rows),
            "book": "; ".join(lines),
            "rules": rules,
            "first": str(first),
            "day": asked_day,
        },
        (
            Figure(
                "slope_change_bp",
                "change of the 10-year less the 2-year yield, in basis points, positive for a wider one",
                widening,
                0.6,
            ),
            Figure("book_profit_usd", "change of the book's value in dollars, negative for a loss", profit, 50.0),
            Verdict("move", "what kind of move it was", (name,), MOVES),
        ),
        inputs={"before": before, "after": after, "missing": missing, "bonds": [list(bond) for bond in bonds]},
    )


def inflation_rule(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Read inflation off an index and hold the policy rate against a rule; at expert the index changes its base."""
    year, month = rng.randint(2014, 2024), rng.randint(0, 11)
    labels = [f"{MONTHS[(month + n) % 12]} {year + (month + n) // 12}" for n in range(16)]
    trend, season = rng.uniform(0.0008, 0.0075), [rng.uniform(-0.006, 0.006) for _ in range(12)]
    adjusted, raw = [rng.uniform(104, 270)], []
    for _ in range(15):
        adjusted.append(adjusted[-1] * (1 + trend + rng.uniform(-0.0015, 0.0025)))
    raw = [value * (1 + season[n % 12]) for n, value in enumerate(adjusted)]
    adjusted, raw = [round(v, 2) for v in adjusted], [round(v, 2) for v in raw]
    hidden = rng.randint(4, 11) if difficulty == "expert" else None
    factor = rng.uniform(0.55, 0.85)
    break_at = rng.randint(6, 11)
    columns, rows = (
        ["month", "price index"],
        [[label, f"{value:.2f}"] for label, value in zip(labels, raw, strict=True)],
    )
    linked = list(raw)
    if difficulty == "hard":
        columns = ["month", "index, unadjusted", "index, seasonally adjusted"]
        rows = [[a, f"{b:.2f}", f"{c:.2f}"] for a, b, c in zip(labels, raw, adjusted, strict=True)]
    if difficulty == "expert":
        new = [round(v * factor, 2) for v in raw]
        while hidden in (break_at, 3, 15):
            hidden = rng.randint(4, 11)
        # what is published: old base to the month of the break, new base from it on; a month was never collected
        rows = []
        for n, label in enumerate(labels):
            cells = ["-" if n > break_at else f"{raw[n]:.2f}", "-" if n < break_at else f"{new[n]:.2f}"]
            rows.append([label, *(["not collected"] * 2 if n == hidden else cells)])
        columns = ["month", "index, old base", "index, new base"]
        linked = [raw[n] if n <= break_at else new[n] * raw[break_at] / new[break_at] for n in range(16)]
    annual = linked[15] / linked[3] - 1
    pace = (adjusted[15] / adjusted[12]) ** 4 - 1
    used = pace if difficulty == "hard" else annual
    target, neutral = rng.choice((0.02, 0.025, 0.03)), rng.randrange(0, 200, 25) / 1e4
    gap, policy = rng.randrange(-300, 301, 10) / 1e4, rng.randrange(25, 700, 25) / 1e4
    rule = neutral + used + 0.5 * (used - target) + 0.5 * gap
    real = (1 + policy) / (1 + used) - 1
    how = {
        "easy": "Inflation is the change of the index over the last twelve months.",
        "hard": "Inflation is the pace of the last three months, compounded to a year; for a pace within a year the "
        "seasonally adjusted index is the right one.",
        "expert": "Inflation is the change of the index over the last twelve months; the two bases are linked in the "
        "month that has both.",
    }[difficulty]
    facts = (
        f"The policy rate is {100 * policy:.2f}%, the neutral real rate is put at {100 * neutral:.2f}%, the inflation "
        f"target is {100 * target:.1f}%, and output stands {abs(100 * gap):.1f}% {'above' if gap >= 0 else 'below'} "
        "its potential."
    )
    rules = (
        f"{how} The rule rate is the neutral real rate plus inflation plus half of inflation's excess over the target "
        "plus half of the output gap (negative below potential). The real policy rate is exact, (1 + policy rate) / "
        "(1 + inflation) - 1. Policy is tight when it stands above the rule rate, else loose."
    )
    return Drawn(
        {"table": show(rng, columns, rows), "facts": facts, "rules": rules},
        (
            Figure("inflation_percent", "inflation in percent a year", 100 * used, 0.02),
            Figure("gap_to_rule_bp", "policy rate less rule rate in basis points", 1e4 * (policy - rule), 3.0),
            Figure("real_policy_rate_percent", "real policy rate in percent", 100 * real, 0.02),
            Verdict("policy", "how policy stands", ("tight" if policy > rule else "loose",), ("tight", "loose")),
        ),
        inputs={
            "rows": rows,
            "difficulty": difficulty,
            "policy": policy,
            "neutral": neutral,
            "target": target,
            "gap": gap,
        },
    )


@functools.cache
def _vix() -> tuple[tuple[date, ...], tuple[float, ...]]:
    known = sample.embedded().rates.known("VIX", as_of=date(2026, 6, 30))
    return tuple(known.day), tuple(known.value)


def volatility_regime(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Judge implied volatility against its past by the series behind the tool; nothing of it stands in the text."""
    days, values = _vix()
    window, skip = rng.randint(9, 60), rng.randint(1, 6) if difficulty == "expert" else 0
    last = rng.randint(72, len(days) - 1)
    as_of = days[last] + timedelta(days=rng.randint(1, 20))
    place = last - skip
    past, now = values[place - window : place], values[place]
    mean = math.fsum(past) / window
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in past) / (window - 1))
    score = (now - mean) / deviation
    position, beta, horizon = rng.randint(11, 950) * 100_000, rng.randint(40, 190) / 100, rng.randint(3, 40)
    loss = position * beta * now / 100 * math.sqrt(horizon / 252)
    threshold = rng.choice((0.5, 0.75, 1.0, 1.25))
    regime = "stressed" if score > threshold else "calm" if score < -threshold else "ordinary"
    when = f"{days[place]:%B %Y}"
    asked: list[Figure | Verdict] = [
        Figure("average_before", f"mean of the {window} month-end values before it, in index points", mean, 0.02),
        Figure("one_deviation_loss_usd", "loss of the position at one standard deviation, in dollars", loss, 1.0),
    ]
    rules = f"The position's beta to the index is {beta:.2f}, and a year has 252 trading days."
    if difficulty != "easy":
        asked += [
            Figure(
                "z_score",
                "value of the month less that mean, over the sample standard deviation of the same values",
                score,
                0.01,
            ),
            Verdict("regime", "the regime", (regime,), ("stressed", "ordinary", "calm")),
        ]
        rules += (
            f" Call the regime stressed where the z-score exceeds {threshold:g}, calm where it is below "
            f"{-threshold:g}, else ordinary; the sample deviation divides by one less than the number of values."
        )
    return Drawn(
        {"month": when, "window": str(window), "position": f"${position:,}", "horizon": str(horizon), "rules": rules},
        tuple(asked),
        inputs={"past": list(past), "now": now, "position": position, "beta": beta, "horizon": horizon},
        servers=("yfinance",),
        as_of=as_of,
    )


TEMPLATES = (
    Template(
        "curve-move",
        CATEGORY,
        curve_move,
        (
            "The treasurer wants your reading of government bonds between {first} and {day}. The "
            "closes:\n\n{table}\n\nThe book: {book}. {rules}",
            "{table}\n\nThese are the curve's closes. We own {book}. Between {first} and {day}, what did the curve "
            "do, and what did that do to us? {rules}",
            "Write the rates paragraph of the weekly note: how the curve moved from {first} to {day}, and what the "
            "move was worth on a portfolio of {book}.\n\n{table}\n\n{rules}",
            "A client holds {book}. He read that yields had changed since {first}. Tell him where the curve stood on "
            "{day} against that day and what his holding gained or lost.\n\nQuotes:\n{table}\n\n{rules}",
            "{rules}\n\nWith these conventions, describe the move of the curve from {first} to {day} and its effect "
            "on {book}. Data follow.\n\n{table}",
        ),
        (
            "Desk handover. Position: {book}. Reference close: {first}; compare it with {day}. Name the move and mark "
            "the position.\n\n{rules}\n\n{table}",
            "Yields were collected as below.\n\n{table}\n\nSomebody bought {book} on {first} and asks on {day} what "
            "became of it and which kind of curve move was behind it. {rules}",
        ),
    ),
    Template(
        "inflation-rule",
        CATEGORY,
        inflation_rule,
        (
            "Is the central bank behind the curve? {facts}\n\nPrices:\n{table}\n\n{rules}",
            "{table}\n\n{facts} {rules} How does policy stand after the last month shown?",
            "A committee member asks for the stance of policy in one line of figures. {facts} {rules} The price data "
            "are these:\n\n{table}",
            "Judge monetary policy from the consumer prices below.\n\n{rules}\n\n{table}\n\n{facts}",
            "For the macro section of a pension fund's letter we need inflation and the distance of the policy rate "
            "from a rule. {facts}\n\n{table}\n\nConventions: {rules}",
        ),
        (
            "{facts} Given the index readings that follow, would you say that money is tight?\n\n{table}\n\n{rules}",
            "{rules}\n\nApply this to an economy of which we know: {facts} Its price statistics were published "
            "so:\n\n{table}",
        ),
    ),
    Template(
        "volatility-regime",
        CATEGORY,
        volatility_regime,
        (
            "Take the month-end values of the VIX from the macro series of the market data server. How does {month} "
            "compare with the {window} months before it, and what would one standard deviation over {horizon} trading "
            "days at that implied volatility cost a long position of {position}? {rules}",
            "A position of {position} is long the market. Using the VIX at the end of {month} (the data server has "
            "the series, month ends), size its one-deviation loss over {horizon} trading days, and set the level "
            "against the {window} month ends that precede it. {rules}",
            "Look up the VIX series. Against the {window} month-end observations before {month}, was the end of "
            "{month} unusual? Translate that reading into the one-deviation loss, in dollars, of {position} of stock "
            "held {horizon} trading days. {rules}",
            "Risk memo for {month}: implied volatility from the VIX month-end series, its average over the {window} "
            "months before, and the move of one standard deviation on {position} over {horizon} trading days. {rules}",
            "{rules} With that, and with month-end VIX values fetched from the tools, evaluate {month} against the "
            "{window} months before it and state what {position} held long would lose in a fall of one standard "
            "deviation, at that month's VIX, over {horizon} trading days.",
        ),
        (
            "What did the options market charge for protection at the end of {month}? Compare the VIX then with its "
            "{window} preceding month ends and convert it to a one-sigma loss on {position} for {horizon} trading "
            "days. {rules}",
            "Our {position} position is reviewed as of {month}. Fetch the VIX, month ends; put that month beside the "
            "{window} before it; give the one-deviation loss for {horizon} trading days. {rules}",
        ),
    ),
)
