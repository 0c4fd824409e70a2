"""Figures within facts that are already cut at a date: any tag, and quarters that were never filed as such."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from lake import fundamentals
from lake.fundamentals import LINE_ITEMS, Version
from lake.records import Facts

DERIVED = "derived"
"""``form`` of a figure that was computed from filed ones."""
ADDITIVE = ("USD",)
"""Units whose figures of parts of a year add up; figures a share and average share counts do not."""
DERIVATIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Q2": (("6M", "Q1"),),
    "Q3": (("9M", "6M"),),
    "Q4": (("FY", "9M"), ("FY", "Q1", "Q2", "Q3")),
}
"""Quarter -> the ways to get it: the first less the others, in the order of preference."""


def select(
    facts: Facts,
    item: str,
    *,
    fiscal_year: int | None = None,
    fiscal_period: str | None = None,
    version: Version = "latest",
) -> Facts:
    """Return the rows of a line item or of any tag that the facts hold; else like :func:`fundamentals.select`.

    A quarter that was not filed is derived where both of its year-to-date figures were: cash flows are filed from the
    beginning of the fiscal year only, and fourth quarters not at all. Its ``form`` is ``derived``; it is known from the
    day of the later of its parts and stands in that filing.

    Raises
    ------
    ValueError
        No line item and no tag of these facts is called so.
    """
    filed = _filed(facts, item, fiscal_year, fiscal_period, version)
    if len(filed) or fiscal_year is None or fiscal_period not in DERIVATIONS or version == "all":
        return filed
    for parts in DERIVATIONS[fiscal_period]:
        found = [_filed(facts, item, fiscal_year, part, version) for part in parts]
        if all(len(part) == 1 for part in found) and (derived := _difference(found, fiscal_period)) is not None:
            return derived
    return filed


def _filed(facts: Facts, item: str, fiscal_year: int | None, fiscal_period: str | None, version: Version) -> Facts:
    try:
        return fundamentals.select(facts, item, fiscal_year=fiscal_year, fiscal_period=fiscal_period, version=version)
    except ValueError:
        if item not in facts.concept:
            known = f"known: {', '.join(LINE_ITEMS)}, or a us-gaap tag of this company's filings"
            raise ValueError(f"unknown line item {item!r}; {known}") from None
    rows = [
        row
        for row, concept in enumerate(facts.concept)
        if concept == item
        and fiscal_year in (None, facts.fiscal_year[row])
        and fiscal_period in (None, facts.fiscal_period[row])
    ]
    if version != "all":
        ordered = rows if version == "latest" else rows[::-1]
        one = {(facts.fiscal_year[row], facts.fiscal_period[row], facts.unit[row]): row for row in ordered}
        rows = list(one.values())
    return facts.take(rows)


def _difference(parts: list[Facts], fiscal_period: str) -> Facts | None:
    """Return the first part less the others; None where they do not make up one stretch of time in one unit."""
    whole, *others = parts
    if whole.unit[0] not in ADDITIVE or any(part.unit != whole.unit for part in others):
        return None
    day = whole.period_start[0]
    for part in others:
        if day is None or part.period_start[0] != day:
            return None
        day = part.period_end[0] + timedelta(days=1)
    latest = max(parts, key=lambda part: part.known_on[0])
    return replace(
        whole,
        known_on=latest.known_on,
        fiscal_period=(fiscal_period,),
        period_start=(day,),
        value=(whole.value[0] - sum(part.value[0] for part in others),),
        form=(DERIVED,),
        accession=latest.accession,
    )
