"""Quarters derived from year-to-date figures, any tag, 53-week years, and ratios."""

from __future__ import annotations

import gzip
import json
from datetime import date
from pathlib import Path

import pytest

from lake import company_facts, sample
from lake.edgar import across, figures, ratios
from lake.layers import Layered
from lake.records import Facts
from lake.tables import Table

FILED = [date(2022, 1, 28), date(2022, 4, 29), date(2022, 7, 29), date(2022, 10, 28)]


def real(shared_data: Path, cik: str, month: int) -> Facts:
    with gzip.open(shared_data / "sec" / f"CIK{cik}.json.gz") as file:
        return company_facts.read_all(json.load(file), fiscal_year_end_month=month)


@pytest.fixture(scope="module")
def apple(request: pytest.FixtureRequest) -> Facts:
    return real(request.getfixturevalue("shared_data"), "0000320193", 9)


def known(facts: Facts, as_of: date) -> Facts:
    return facts.take(row for row, day in enumerate(facts.known_on) if day <= as_of)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("item", "period", "value"),
    # Apple's reports of fiscal 2022, millions: cash from operations to date 46,966 / 75,132 / 98,024, year 122,151;
    # net sales 123,945 / 97,278 / 82,959, year 394,328
    [
        ("OperatingCashFlow", "Q1", 46_966e6),
        ("OperatingCashFlow", "Q2", 28_166e6),
        ("OperatingCashFlow", "Q3", 22_892e6),
        ("OperatingCashFlow", "Q4", 24_127e6),
        ("OperatingCashFlow", "9M", 98_024e6),
        ("Revenue", "Q2", 97_278e6),
        ("Revenue", "Q4", 90_146e6),
    ],
)
def test_quarters_are_derived_from_year_to_date_figures(apple: Facts, item: str, period: str, value: float) -> None:
    found = figures.select(apple, item, fiscal_year=2022, fiscal_period=period, version="original")
    assert found.value == (value,)
    assert found.fiscal_period == (period,) and found.period_end[0].year in (2021, 2022)


@pytest.mark.shared_data
def test_a_derived_quarter_is_known_from_the_day_of_its_last_part(apple: Facts) -> None:
    before, after = (known(apple, day) for day in (date(2022, 10, 27), date(2022, 10, 28)))
    asked = {"fiscal_year": 2022, "fiscal_period": "Q4"}
    assert len(figures.select(before, "Revenue", **asked)) == 0
    derived = figures.select(after, "Revenue", **asked)
    assert derived.known_on == (date(2022, 10, 28),) and derived.form == ("derived",)
    assert (derived.period_start, derived.period_end) == ((date(2022, 6, 26),), (date(2022, 9, 24),))


@pytest.mark.shared_data
def test_earnings_a_share_are_never_subtracted(apple: Facts) -> None:
    asked = {"fiscal_year": 2022, "fiscal_period": "Q4"}
    assert len(figures.select(apple, "EPSDiluted", **asked)) == 0
    assert figures.select(apple, "NetIncome", **asked).value == (20_721e6,)


@pytest.mark.shared_data
def test_years_of_53_weeks_and_tags_that_change_are_one_series(apple: Facts, shared_data: Path) -> None:
    revenue = {
        year: figures.select(apple, "Revenue", fiscal_year=year, fiscal_period="FY", version="original")
        for year in range(2009, 2025)
    }
    assert {len(rows) for rows in revenue.values()} == {1}
    assert revenue[2017].period_end[0] - revenue[2017].period_start[0] == date(2017, 9, 30) - date(2016, 9, 25)
    assert len({rows.concept[0] for rows in revenue.values()}) >= 2
    assert revenue[2024].value == (391_035_000_000,) and revenue[2024].known_on == (date(2024, 11, 1),)
    nvidia = real(shared_data, "0001045810", 1)
    latest = figures.select(nvidia, "Revenue", fiscal_year=2025, fiscal_period="FY")
    assert latest.value == (130_497_000_000,) and latest.period_end == (date(2025, 1, 26),)


@pytest.mark.shared_data
def test_any_tag_of_the_filings_can_be_asked_for_by_its_name(apple: Facts) -> None:
    tag = "EntityCommonStockSharesOutstanding"
    assert tag in apple.concept and len(figures.select(apple, tag, version="all")) > 50
    with pytest.raises(ValueError, match="unknown line item 'EntityShares'; known: Revenue, CostOfRevenue"):
        figures.select(apple, "EntityShares")


def test_one_figure_of_all_companies_is_that_of_the_date(tmp_path: Path) -> None:
    def real(found: dict[str, Facts]) -> dict[str, tuple[float, ...]]:
        return {ticker: row.value for ticker, row in found.items() if not ticker.startswith("SIMF-")}

    embedded = sample.embedded().facts
    table = Table(tmp_path, Facts, origin="fixture")
    for ticker in ("AAPL", "NVDA"):
        table.write(ticker, embedded.known(ticker, as_of=date(2026, 1, 1)), source="fixture")
    for source in (table, embedded, Layered(table, embedded)):
        asked = {"fiscal_year": 2024, "fiscal_period": "FY"}
        early = across.figure(source, "Revenue", as_of=date(2024, 10, 31), **asked)
        assert real(early) == {"NVDA": (60_922e6,)}
        late = across.figure(source, "Revenue", as_of=date(2024, 11, 1), **asked)
        assert real(late) == {"NVDA": (60_922e6,), "AAPL": (391_035e6,)}
        assert across.figure(source, "NoSuchTag", as_of=date(2024, 11, 1), **asked) == {}


def test_ratios_are_those_of_the_filed_figures() -> None:
    facts = sample.embedded().facts.known("AAPL", as_of=date(2024, 11, 1))
    found = {row.name: row for row in ratios.compute(facts, fiscal_year=2024)}
    # Form 10-K of fiscal 2024, millions: sales 391,035, gross margin 180,683, net income 93,736, equity 56,950
    assert found["gross_margin"].value == pytest.approx(180_683 / 391_035, rel=1e-12)
    assert found["return_on_equity"].value == pytest.approx(93_736 / 56_950, rel=1e-12)
    assert found["free_cash_flow_margin"].value == pytest.approx((118_254 - 9_447) / 391_035, rel=1e-12)
    assert found["gross_margin"].accessions == ("0000320193-24-000123",)
    assert ratios.compute(facts.head(0), fiscal_year=2024) == []


@pytest.mark.parametrize(
    ("start", "end", "label"),
    [
        (date(2022, 9, 25), date(2023, 4, 1), (2023, "6M")),  # 27 weeks: the quarter before has 14
        (date(2023, 10, 1), date(2024, 3, 30), (2024, "6M")),
        (date(2023, 10, 1), date(2024, 6, 29), (2024, "9M")),
        (date(2024, 6, 30), date(2024, 9, 28), (2024, "Q4")),
        (date(2023, 6, 25), date(2023, 9, 30), (2023, "Q4")),  # 14 weeks
        (date(2023, 12, 31), date(2024, 9, 28), None),  # nine months that end a year are no period of it
        (date(2023, 7, 1), date(2024, 6, 29), None),  # a year that ends in a third quarter
        (date(2024, 9, 28), date(2024, 9, 28), None),
    ],
)
def test_periods_of_part_of_a_year_are_told_apart_by_their_days(
    start: date, end: date, label: tuple[int, str] | None
) -> None:
    assert company_facts.any_label(start, end, 9) == label
