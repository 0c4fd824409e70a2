"""Trend Analysis: a forecast with its uncertainty, scored by a proper rule against the law that made the series."""

from __future__ import annotations

import math
import random

from evaluators import names
from evaluators.casebook.answer import Forecast
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Trend Analysis"
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def forecast(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Forecast a series that returns to its trend; at expert it has a season, and its last months are not out yet."""
    count = {"easy": 8, "hard": 14, "expert": 24}[difficulty]
    # the size of the series is drawn widely, so that a forecast of another series is near by no chance
    unit = 10 ** rng.uniform(0, 3)
    start = round(unit * rng.uniform(4_000, 19_900), 1)
    drift = round(unit * rng.choice((-1, 1)) * rng.uniform(0.8, 6.0), 2)
    keep = 1.0 if difficulty == "easy" else rng.randint(40, 85) / 100
    noise = round(unit * rng.uniform(2, 9), 1)
    season = [round(unit * rng.uniform(-20, 20), 1) if difficulty == "expert" else 0.0 for _ in range(12)]
    gap, shown = [rng.gauss(0, noise) * (1 if keep == 1 else 2)], []
    for _ in range(count - 1):
        gap.append(keep * gap[-1] + rng.gauss(0, noise))
    shown = [round(start + drift * n + gap[n] + season[n % 12], 1) for n in range(count)]
    silent = rng.randint(1, 2) if difficulty == "expert" else 0
    last, steps = count - 1 - silent, rng.randint(2, 9) + silent
    ahead = last + steps
    left = shown[last] - start - drift * last - season[last % 12]
    mean = start + drift * ahead + season[ahead % 12] + keep**steps * left
    variance = noise**2 * sum(keep ** (2 * n) for n in range(steps))
    year = rng.randint(2010, 2024)
    labels = [f"{MONTHS[n % 12]} {year + n // 12}" for n in range(count + 12)]
    rows = [[labels[n], f"{shown[n]:.1f}" if n <= last else "not out yet"] for n in range(count)]
    law = f"On a straight line it would be {start:.1f} in {labels[0]} and change by {drift:+.2f} a month."
    if difficulty == "easy":
        law = f"Each month it changes by {drift:+.2f} on average"
        law += (
            f", and by a normal error with a standard deviation of {noise:.1f} besides, independent from month to "
            "month."
        )
    else:
        law += (
            f" Of its distance from there {100 * keep:.0f}% are left after a month, plus a normal error with a "
            f"standard deviation of {noise:.1f}, independent from month to month."
        )
    if difficulty == "expert":
        law += " On top of this comes a season: " + ", ".join(
            f"{value:+.1f} in {month}" for month, value in zip(MONTHS, season, strict=True)
        )
        law += ". The distance is measured without the season."
    naive = shown[last]
    return Drawn(
        {
            "table": show(rng, ["month", "value"], rows),
            "law": law,
            "target": labels[ahead],
            "company": names.company(rng),
        },
        (Forecast("forecast", f"of the value in {labels[ahead]}", mean, math.sqrt(variance), naive),),
        inputs={
            "start": start,
            "drift": drift,
            "keep": keep,
            "noise": noise,
            "season": season,
            "value": shown[last],
            "last": last,
            "steps": steps,
        },
    )


TEMPLATES = (
    Template(
        "forecast",
        CATEGORY,
        forecast,
        (
            "Orders of {company} by month:\n\n{table}\n\n{law} Forecast {target}.",
            "{table}\n\nThis series belongs to {company}. {law} What do you expect of {target}, and how sure are you?",
            "Give a normal distribution for {target}. The history, from {company}:\n\n{table}\n\nIts law is known. "
            "{law}",
            "{law}\n\nSo behaves an indicator of {company}. Its values:\n\n{table}\n\nA forecast for {target} is "
            "wanted.",
            "The planning department of {company} needs a value and its standard deviation for "
            "{target}.\n\n{table}\n\n{law}",
        ),
        (
            "Where will this index of {company} stand in {target}? State centre and spread.\n\n{table}\n\n{law}",
            "{company} publishes:\n{table}\n\n{law} Extrapolate it to {target} with an honest error.",
        ),
    ),
)
