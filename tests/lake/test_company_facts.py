"""The reader of the SEC's files finds what the embedded sample holds."""

from __future__ import annotations

import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lake import company_facts, fundamentals, sample
from lake.records import Facts

FACTS = sample.embedded().facts
TODAY = date(2026, 11, 1)


def rows(facts: Facts) -> set[tuple[Any, ...]]:
    return set(zip(*(column for _, column in facts.columns()), strict=True))


@pytest.mark.shared_data
@pytest.mark.parametrize("ticker", fundamentals.COMPANIES)
def test_the_embedded_sample_is_what_the_reader_finds(shared_data: Path, ticker: str) -> None:
    company = fundamentals.COMPANIES[ticker]
    with gzip.open(shared_data / "sec" / f"CIK{company.cik}.json.gz") as file:
        found = company_facts.read(json.load(file), fiscal_year_end_month=company.fiscal_year_end_month)
    embedded = FACTS.known(ticker, as_of=TODAY)
    assert rows(embedded) <= rows(found)
    annual = {row for row in rows(found) if row[3] == "FY" and row[2] >= 2010}
    assert annual == {row for row in rows(embedded) if row[3] == "FY" and row[2] >= 2010}


@pytest.mark.parametrize(
    ("start", "end", "year_end_month", "label"),
    [
        (date(2023, 10, 1), date(2024, 9, 28), 9, (2024, "FY")),
        (date(2023, 10, 1), date(2023, 12, 30), 9, (2024, "Q1")),
        (None, date(2024, 9, 28), 9, (2024, "FY")),
        (date(2010, 2, 1), date(2010, 5, 2), 1, (2011, "Q1")),  # Nvidia: first quarter ends on 2 May
        (date(2024, 1, 29), date(2025, 1, 26), 1, (2025, "FY")),
        (date(2024, 1, 1), date(2024, 12, 31), 12, (2024, "FY")),
        (date(2024, 4, 1), date(2024, 6, 30), 12, (2024, "Q2")),
        (date(2023, 10, 1), date(2024, 3, 30), 9, None),  # half a year
        (date(2024, 6, 30), date(2024, 9, 28), 9, None),  # a fourth quarter is not filed as such
        (None, date(2024, 8, 31), 9, None),
    ],
)
def test_periods_are_named_by_the_calendar_of_the_company(
    start: date | None, end: date, year_end_month: int, label: tuple[int, str] | None
) -> None:
    assert company_facts.fiscal_label(start, end, year_end_month) == label


def test_a_figure_appears_when_first_filed_and_again_only_when_it_changes() -> None:
    period = {"start": "2019-01-01", "end": "2019-12-31", "form": "10-K"}
    filings = [("2020-02-01", "a", 5), ("2021-02-01", "b", 5), ("2022-02-01", "c", 6), ("2019-06-01", "d", 9)]
    figures = [period | {"filed": filed, "accn": accession, "val": value} for filed, accession, value in filings]
    figures[3]["form"] = "S-1"
    document = {"facts": {"us-gaap": {"Assets": {"units": {"USD": []}}, "NetIncomeLoss": {"units": {"USD": figures}}}}}
    facts = company_facts.read(document, fiscal_year_end_month=12)
    assert facts.accession == ("a", "c") and facts.value == (5.0, 6.0)
