"""Sentiment Analysis: its figures by another route than the family's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.evaluators.casebook.second_routes.told import Answers


def weighted_tone(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    weights = np.array(i["shares"]) / np.sum(i["shares"])
    scores = np.array(i["scores"])
    return [
        {"tone_index": 100 * float(weights @ scores), "positive_share_percent": 100 * float(weights[scores > 0].sum())}
    ]


def tone_change(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    weights = np.array(i["weights"], float)
    before, after = (float(np.average(i[key], weights=weights)) * 100 for key in ("before", "after"))
    names = re.findall(r"([A-Z][a-z]+) \d+(?=[,.])", texts[0].split("with these weights: ")[1])
    fallen = np.array(i["after"]) - np.array(i["before"])
    return [{"tone_of_second": after, "tone_change": after - before, "worst": names[int(np.argmin(fallen))]}]


def words_against_figures(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    before, after, size = np.array(i["numbers"]).T
    gaps = size - 100 * (after - before) / before
    return [
        {
            "mean_overstatement_pp": gaps.mean(),
            "largest_overstatement_pp": gaps.max(),
            "contradicted": int((abs(gaps) > i["limit"]).sum()),
        }
    ]
