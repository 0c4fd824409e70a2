"""SEC Filing Analysis: its figures by another route than the family's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.evaluators.casebook.second_routes.told import Answers, found, number


def debt_note(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    # from the text: every sentence on a borrowing names an amount, a year and a kind of rate
    borrowings = []
    for sentence in re.split(r"(?<=[a-z0-9%)])\. ", texts[0]):
        rate = re.search(r"at a (reference rate plus|fixed) [0-9.]+%", sentence)
        if not rate:
            continue
        size = number(found(r"\$[0-9,]+ (?:million|thousand)", sentence)[0])
        when = int(found(r"(?:mature in|repayable in|In) (20[0-9]{2})", sentence)[1])
        borrowings.append((size, when, rate[1] != "fixed"))
    assert len(borrowings) == len(i["bonds"])
    total = sum(row[0] for row in borrowings)
    soon = sum(row[0] for row in borrowings if row[1] - i["year"] <= 2)
    floating = sum(row[0] for row in borrowings if row[2])
    debt = total + i["leases"] - i["cash"]
    return [
        {
            "due_in_two_years_percent": 100 * soon / total,
            "extra_interest_usd_million": floating * (100 - i["hedged"]) / 100 * i["rise"] / 10_000,
            "net_debt_to_ebitda": debt / i["profit"],
            "covenant": "met" if debt <= i["limit"] * i["profit"] else "broken",
        }
    ]
