"""Strategy Defense: its figures by another route than the family's."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

from tests.evaluators.casebook.second_routes.told import Answers, claimed


def costs_and_trials(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    root = math.sqrt(i["periods"])
    gross = i["mean"] / i["deviation"] * root
    net = gross - i["turnover"] * i["sides"] * i["cost"] * 1e-4 / i["deviation"] * root
    bar = claimed(texts[1], "Sharpe ratio is below", r"\.")
    told: Answers = [{"sharpe": gross}, {"net_sharpe": net, "objection": "stands" if net < bar else "fails"}]
    if level != "easy":
        n, g = i["trials"], float(np.euler_gamma)
        z = stats.norm.isf([1 / n, 1 / (n * math.e)])
        lucky = ((1 - g) * z[0] + g * z[1]) / math.sqrt(i["count"]) * root
        told.append({"lucky_sharpe": lucky, "objection": "stands" if lucky > gross else "fails"})
    if level == "expert":
        rest = (i["mean"] * i["count"] - np.sum(i["dropped"])) / (i["count"] - len(i["dropped"])) * i["periods"] * 100
        bar = claimed(texts[3], "mean excess return is below", "%")
        told.append({"mean_of_the_others_percent": rest, "objection": "stands" if rest < bar else "fails"})
    return told


def publication_lag(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    # from the text: the dates of the table, whatever its form
    days = [np.datetime64(day) for day in re.findall(r"\d{4}-\d{2}-\d{2}", texts[0])]
    results = [int(value) for value in re.findall(r"([+-][0-9]+) bp", texts[0])]
    late = re.findall(r"(after the close|before the open)", texts[0])[: len(results) if level == "expert" else 0]
    if level == "expert":
        rows = re.findall(r"\d{4}-\d{2}-\d{2}\D+\d{4}-\d{2}-\d{2} (after the close|before the open)", texts[0])
        late = rows
    clean = []
    for n, result in enumerate(results):
        published, entered = days[3 * n + 1], days[3 * n + 2]
        usable = published + (1 if level == "expert" and late[n] == "after the close" else 0)
        if entered >= np.busday_offset(usable, 0, roll="forward"):
            clean.append(result)
    said = int(claimed(texts[1], "", " of the"))
    mean = float(np.mean(clean))
    told: Answers = [
        {"average_bp": float(np.mean(results))},
        {"clean_average_bp": mean, "objection": "stands" if said == len(results) - len(clean) else "fails"},
    ]
    if level != "easy":
        rest = float(np.mean(sorted(clean)[:-1]))
        bar = claimed(texts[2], "average is below", " bp")
        told.append({"average_without_best_bp": rest, "objection": "stands" if rest < bar else "fails"})
    if level == "expert":
        whole = 1e4 * math.expm1(sum(math.log1p(value / 1e4) for value in clean))
        bar = claimed(texts[3], "bring less than", " bp")
        told.append({"compounded_bp": whole, "objection": "stands" if whole < bar else "fails"})
    return told


def benchmark_and_halves(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    excess, market = i["total"] - i["rate"], i["market"] - i["rate"]
    alpha = 100 * (excess - i["beta"] * market)
    # at equal volatility the difference is that of the Sharpe ratios times the volatility
    square = 100 * (excess / i["own_sd"] - market / i["market_sd"]) * i["market_sd"]
    told: Answers = [
        {"alpha_percent": alpha},
        {"m_squared_excess_percent": square, "objection": "stands" if square < 0 else "fails"},
    ]
    if level != "easy":
        second = 2 * i["total"] - i["first"] - i["rate"]
        t = second / i["own_sd"] * math.sqrt(i["years"] / 2)
        bar = claimed(texts[2], "t-statistic below", r"\.")
        told.append({"t_of_second_half": t, "objection": "stands" if t < bar else "fails"})
    if level == "expert":
        fee = claimed(texts[3], "Investors pay", " bp") / 1e4
        share = claimed(texts[3], "and", "% of what") / 100
        left = excess - fee
        left = 100 * (left - max(left, 0) * share - i["beta"] * market)
        told.append({"alpha_after_fees_percent": left, "objection": "stands" if left <= 0 else "fails"})
    return told
