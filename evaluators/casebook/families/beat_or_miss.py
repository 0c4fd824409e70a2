"""Beat or Miss: a consensus is made of single estimates, old, repeated and withdrawn ones among them."""

from __future__ import annotations

import math
import random
from datetime import date, timedelta

from evaluators import names
from evaluators.casebook.answer import Asked, Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Beat or Miss"
STALE_DAYS = 90


def estimate_panel(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Build the consensus that a report is held against; at expert the shares split while estimates came in."""
    count = {"easy": 4, "hard": 6, "expert": 7}[difficulty]
    report = date(rng.randint(2012, 2025), rng.randint(1, 12), rng.randint(1, 28))
    centre, split = rng.uniform(1.2, 9.0), rng.choice((2, 3, 4)) if difficulty == "expert" else 1
    split_day = report - timedelta(days=rng.randint(25, 60))
    # who, on which day, how much by today's shares; later ones of a house stand for earlier ones
    made: list[tuple[str, date, float]] = []
    houses = names.companies(rng, count)
    for house in houses:
        age = rng.randint(2, STALE_DAYS - 5)
        made.append((house, report - timedelta(days=age), centre * (1 + rng.uniform(-0.12, 0.12))))
    if difficulty != "easy":
        for house in rng.sample(houses, 2):
            made.append((house, report - timedelta(days=rng.randint(STALE_DAYS - 4, STALE_DAYS)), centre * 0.85))
        stale = names.companies(rng, 1)[0]
        if stale not in houses:
            made.append(
                (stale, report - timedelta(days=rng.randint(STALE_DAYS + 5, 170)), centre * rng.uniform(0.7, 1.3))
            )
    withdrawn = rng.choice(houses) if difficulty == "expert" else ""
    rows: list[list[str]] = []
    counted: dict[str, tuple[date, float]] = {}
    for house, day, value in sorted(made, key=lambda row: rng.random()):
        old = day < split_day and split > 1
        shown = round(value * split if old else value, 2)
        rows.append([house, str(day), f"${shown:.2f}"])
        fresh = (report - day).days <= STALE_DAYS and house != withdrawn
        if fresh and (house not in counted or counted[house][0] < day):
            counted[house] = (day, shown / split if old else shown)
    values = [value for _, value in counted.values()]
    consensus = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - consensus) ** 2 for value in values) / (len(values) - 1))
    actual = round(consensus * (1 + rng.choice((-1, 1)) * rng.uniform(0.02, 0.18)), 2)
    surprise = actual / consensus - 1
    rules = "The consensus is the mean of the estimates that count."
    if difficulty != "easy":
        rules += (
            f" Of each house the latest estimate counts, unless it is more than {STALE_DAYS} days older than the "
            "report."
        )
    if difficulty == "expert":
        rules += (
            f" The shares were split {split} for 1 on {split_day}; estimates are shown as they were published, and "
            f"the report is on the new shares. {withdrawn} has withdrawn its coverage, and everything it said with it."
        )
    asked: list[Asked] = [
        Figure(
            "consensus_usd", "consensus of earnings per share in dollars, on the shares of the report", consensus, 0.004
        ),
        Figure("surprise_percent", "report over consensus, less one, in percent", 100 * surprise, 0.1),
    ]
    if difficulty != "easy":
        rules += (
            " The standardised surprise is report less consensus over the sample standard deviation of those estimates."
        )
        asked.append(Figure("standardised_surprise", "standardised surprise", (actual - consensus) / deviation, 0.03))
    asked.append(Verdict("result", "what the report is", ("beat" if surprise > 0 else "miss",), ("beat", "miss")))
    return Drawn(
        {
            "company": names.company(rng),
            "table": show(rng, ["house", "date", "estimate"], rows),
            "report": f"${actual:.2f} a share on {report}",
            "rules": rules,
        },
        tuple(asked),
        inputs={
            "rows": rows,
            "report": str(report),
            "actual": actual,
            "split": split,
            "split_day": str(split_day),
            "withdrawn": withdrawn,
        },
    )


TEMPLATES = (
    Template(
        "estimate-panel",
        CATEGORY,
        estimate_panel,
        (
            "{company} reports {report}. The estimates before:\n\n{table}\n\n{rules} Beat or miss, and by how much?",
            "{table}\n\nAgainst these estimates, {company} earned {report}. {rules} Judge the result.",
            "How did {company} do against expectations? It published earnings of {report}. "
            "{rules}\n\nExpectations:\n{table}",
            "Earnings flash on {company}: {report}. Put it beside the consensus, which you have to "
            "make.\n\n{table}\n\n{rules}",
            "{rules}\n\nEstimates for {company}:\n\n{table}\n\nNow the company says {report}. What is the surprise?",
        ),
        (
            "Analysts had written the following about {company}.\n\n{table}\n\nThen came {report}. {rules} How "
            "surprised were they?",
            "{company}: {report}. Was that more than the street thought? {rules}\n\n{table}",
        ),
    ),
)
