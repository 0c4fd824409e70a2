"""Beat or Miss: its figures by another route than the family's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.evaluators.casebook.second_routes.told import Answers


def estimate_panel(i: Mapping[str, Any], level: str, texts: list[str]) -> Answers:
    report, split_day = np.datetime64(i["report"]), np.datetime64(i["split_day"])
    latest: dict[str, tuple[Any, float]] = {}
    for house, day, shown in i["rows"]:
        when, value = np.datetime64(day), float(shown.removeprefix("$"))
        value = value / i["split"] if when < split_day else value
        if house == i["withdrawn"] or (report - when).astype(int) > 90:
            continue
        latest[house] = max(latest.get(house, (when, value)), (when, value), key=lambda row: row[0])
    values = np.array([value for _, value in latest.values()])
    mean = float(values.mean())
    told: dict[str, Any] = {
        "consensus_usd": mean,
        "surprise_percent": 100 * (i["actual"] - mean) / mean,
        "result": "beat" if i["actual"] > mean else "miss",
    }
    if level != "easy":
        told["standardised_surprise"] = (i["actual"] - mean) / float(values.std(ddof=1))
    return [told]
