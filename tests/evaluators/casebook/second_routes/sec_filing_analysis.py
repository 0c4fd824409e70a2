"""SEC Filing Analysis: its figures by another route than the family's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.evaluators.casebook.second_routes.told import Answers, number


def debt_note(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    # from the text: every sentence on a borrowing names an amount, a year and a kind of rate
    found = []
    for sentence in re.split(r"(?<=[a-z0-9%)])\. ", texts[0]):
        rate = re.search(r"at a (reference rate plus|fixed) [0-9.]+%", sentence)
        if not rate:
            continue
        size = number(re.search(r"\$[0-9,]+ (?:million|thousand)", sentence)[0])  # type: ignore[index]
        when = int(re.search(r"(?:mature in|repayable in|In) (20[0-9]{2})", sentence)[1])  # type: ignore[index]
        found.append((size, when, rate[1] != "fixed"))
    assert len(found) == len(i["bonds"])
    total = sum(row[0] for row in found)
    soon = sum(row[0] for row in found if row[1] - i["year"] <= 2)
    floating = sum(row[0] for row in found if row[2])
    debt = total + i["leases"] - i["cash"]
    return [
        {
            "due_in_two_years_percent": 100 * soon / total,
            "extra_interest_usd_million": floating * (100 - i["hedged"]) / 100 * i["rise"] / 10_000,
            "net_debt_to_ebitda": debt / i["profit"],
            "covenant": "met" if debt <= i["limit"] * i["profit"] else "broken",
        }
    ]
