"""Every embedded figure stands in the filing that it names."""

from __future__ import annotations

import csv
import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lake import fundamentals, sample

EMBEDDED = Path(fundamentals.__file__).parent / "embedded"
FACTS = sample.embedded().facts
TODAY = date(2026, 11, 1)


def _rows() -> list[dict[str, str]]:
    with (EMBEDDED / "fundamentals.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _filed(shared_data: Path, cik: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    with gzip.open(shared_data / "sec" / f"CIK{cik}.json.gz") as file:
        tags = json.load(file)["facts"]["us-gaap"]
    return {(tag, unit): facts for tag, body in tags.items() for unit, facts in body["units"].items()}


@pytest.mark.shared_data
def test_every_figure_equals_the_filed_one_and_none_was_filed_earlier(shared_data: Path) -> None:
    raw = {company.cik: _filed(shared_data, company.cik) for company in fundamentals.COMPANIES.values()}
    seen: dict[tuple[str, ...], str] = {}
    for row in _rows():
        filings = [
            fact
            for fact in raw[row["cik"]][row["concept"], row["unit"]]
            if fact["end"] == row["period_end"] and fact.get("start", "") == row["period_start"]
        ]
        same = [fact for fact in filings if fact["accn"] == row["accession"] and fact["val"] == float(row["value"])]
        assert same and same[0]["filed"] == row["filed"] and same[0]["form"] == row["form"], row
        period = (row["cik"], row["concept"], row["period_start"], row["period_end"])
        if period not in seen:
            assert row["filed"] == min(fact["filed"] for fact in filings), f"not the first filing: {row}"
        assert seen.get(period) != row["value"], f"repeats the value before it: {row}"
        seen[period] = row["value"]


@pytest.mark.shared_data
def test_month_end_rates_equal_the_published_series(shared_data: Path) -> None:
    published: dict[tuple[str, str], float] = {}
    with (shared_data / "rates" / "vix-daily.csv").open(encoding="utf-8") as file:
        published |= {("VIX", row["DATE"]): float(row["CLOSE"]) for row in csv.DictReader(file)}
    with (shared_data / "rates" / "DTB3_2023_2026.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["DTB3"]:
                published["DTB3", row["observation_date"]] = float(row["DTB3"])
    with (EMBEDDED / "rates.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 300
    assert all(published[row["series"], row["date"]] == float(row["value"]) for row in rows)


@pytest.mark.parametrize(
    ("ticker", "fiscal_year", "revenue"),
    # Apple 10-K 2018 and 2024, Nvidia 10-K 2018, 2022 and 2025: years before and after each change of the tag.
    [
        ("AAPL", 2017, 229_234_000_000),
        ("AAPL", 2018, 265_595_000_000),
        ("AAPL", 2024, 391_035_000_000),
        ("NVDA", 2018, 9_714_000_000),
        ("NVDA", 2022, 26_914_000_000),
        ("NVDA", 2025, 130_497_000_000),
    ],
)
def test_revenue_is_found_under_whatever_tag_it_was_filed(ticker: str, fiscal_year: int, revenue: float) -> None:
    facts = FACTS.known(ticker, as_of=TODAY)
    assert fundamentals.value(facts, "Revenue", fiscal_year=fiscal_year) == revenue


def test_apple_eps_of_2013_is_restated_after_the_seven_for_one_split() -> None:
    before = FACTS.known("AAPL", as_of=date(2014, 10, 26))
    after = FACTS.known("AAPL", as_of=date(2014, 10, 27))
    assert fundamentals.value(before, "EPSDiluted", fiscal_year=2013) == 39.75
    assert fundamentals.value(after, "EPSDiluted", fiscal_year=2013) == 5.68
    assert fundamentals.value(after, "EPSDiluted", fiscal_year=2013, version="original") == 39.75
    both = fundamentals.select(after, "EPSDiluted", fiscal_year=2013, fiscal_period="FY", version="all")
    assert both.value == (39.75, 5.68)


# Nvidia filed no total of liabilities before fiscal 2015; its convertible notes of fiscal 2016 and 2017 left an
# obligation (87 and 31 million) that its balance sheet shows between liabilities and equity.
BALANCES = [("AAPL", year, 0.0) for year in range(2010, 2026)] + [
    ("NVDA", year, {2016: 87e6, 2017: 31e6}.get(year, 0.0)) for year in range(2015, 2026)
]


@pytest.mark.parametrize(("ticker", "year", "between"), BALANCES)
def test_assets_equal_liabilities_plus_equity(ticker: str, year: int, between: float) -> None:
    facts = FACTS.known(ticker, as_of=TODAY)
    sides = {item: fundamentals.value(facts, item, fiscal_year=year) for item in ("Liabilities", "Equity", "Assets")}
    assert None not in sides.values()
    assert sides["Liabilities"] + sides["Equity"] + between == sides["Assets"]


def test_an_unknown_line_item_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown line item 'Turnover'; known: Revenue, CostOfRevenue"):
        fundamentals.select(FACTS.known("AAPL", as_of=TODAY), "Turnover")
