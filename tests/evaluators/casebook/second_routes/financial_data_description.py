"""Financial Data Description: its figures by another route than the family's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.evaluators.casebook.second_routes.told import Answers


def claims_check(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    firms = {row[0]: row for row in i["firms"]}
    total = sum(row[2] for row in i["firms"])
    errors, right, named = {}, {}, set()
    for sentence in i["text"]:
        letter, name = sentence[1], next(name for name in firms if name in sentence)
        _, before, sales, costs, staff = firms[name]
        named.add(name)
        stated = float(re.findall(r"-?[0-9,]+\.[0-9]", sentence)[0].replace(",", ""))
        if "changed by" in sentence:
            value = 100 * (sales - before) / before
        elif "operating profit" in sentence:
            value = 100 * (sales - costs) / sales
        elif "employee" in sentence:
            value = sales / staff * 1e3
        else:
            value = sales / total * 100
        right[letter], errors[letter] = value, 100 * (stated - value) / value
    worst = max(errors, key=lambda letter: abs(errors[letter]))
    return [
        {
            "right_number": right[worst],
            "its_error_percent": errors[worst],
            "false": {letter for letter, error in errors.items() if abs(error) > 5},
            "left_out": set(firms) - named,
        }
    ]


def messy_table(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    now, before = np.array(i["now"]), np.array(i["before"])
    both = np.ones(len(now), bool)
    both[i["holes"]] = False
    grown = both & (now > before)
    return [
        {
            "total_usd_million": now.sum(),
            "comparable_growth_percent": 100 * (now[both].sum() - before[both].sum()) / before[both].sum(),
            "growing_share_percent": 100 * now[grown].sum() / now.sum(),
        }
    ]


def segment_notes(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    before, now = np.array(i["before"]), np.array(i["now"])
    last, total = before.sum() - i["between"][0], now.sum() - i["between"][1]
    constant = now.copy()
    constant[0] -= i["bought"]
    if level != "easy":
        constant[i["abroad"]] *= 100 / (100 + i["rate"])
    organic = (constant.sum() - i["between"][1]) / (last * (52 / 53 if level == "expert" else 1)) - 1
    return [
        {
            "consolidated_usd_million": total,
            "reported_growth_percent": 100 * (total - last) / last,
            "organic_growth_percent": 100 * organic,
        }
    ]
