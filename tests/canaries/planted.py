"""The embedded sample with records of the future in every source: none of them may ever be served."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from lake import sample
from lake.point_in_time import PointInTime
from lake.records import Bars, Facts, Observations

AS_OF = date(2020, 6, 15)
TOMORROW = date(2020, 6, 16)
CANARY = 777_123.0
DIGITS = "777123"


def planted() -> sample.Lake:
    """Return the embedded sample with a row of tomorrow in every table."""
    lake = sample.embedded()
    facts = list(_rows(lake.facts.known("AAPL", as_of=AS_OF)))
    facts.append(
        (TOMORROW, "Revenues", 2019, "FY", date(2018, 9, 30), date(2019, 9, 28), CANARY, "USD", "10-K/A", DIGITS)
    )
    bars = list(_rows(lake.simulated_bars.known("SIM-TECH", as_of=AS_OF)))
    bars.append((TOMORROW, CANARY, CANARY + 1, CANARY - 1, CANARY, CANARY))
    rates = [(date(2020, 6, 1), date(2020, 6, 1), 0.15), (TOMORROW, TOMORROW, 77.0)]
    return replace(
        lake,
        facts=PointInTime("fixture", lambda: {"AAPL": Facts.of(facts)}),
        simulated_bars=PointInTime("fixture", lambda: {"SIM-TECH": Bars.of(bars)}),
        rates=PointInTime("fixture", lambda: {"DTB3": Observations.of(rates)}),
    )


def _rows(table: Any) -> Any:
    return zip(*(column for _, column in table.columns()), strict=True)
