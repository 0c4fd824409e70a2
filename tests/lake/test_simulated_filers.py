"""Simulated filers: statements tie out in what is served, dates are in order, texts say what the figures say."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from datetime import date, timedelta

import pytest

from lake import sample
from lake.edgar import across
from lake.point_in_time import UnknownKey
from lake.records import Facts
from lake.simulated_filers.books import books
from lake.simulated_filers.directory import CIK, COUNT, TICKER, filers
from lake.simulated_filers.disclosures import disclosures
from lake.simulated_filers.schedule import schedule, year_of
from lake.simulated_filers.statements import facts, facts_of_year, tag_of

LAKE = sample.embedded()
SOME = sorted(filers())[::24]
TODAY = date(2026, 6, 30)
LATER = date(2100, 1, 1)


def by_version(table: Facts, ticker: str, *, first: bool) -> dict[tuple[str, int, str], float]:
    """Return item, year and period -> value, of the first or the last filing that states it."""
    found: dict[tuple[str, int, str], float] = {}
    names = {tag_of(filers()[ticker], item, year): item for item in ITEMS for year in (2010, 2025)}
    for tag, year, period, value in zip(
        table.concept, table.fiscal_year, table.fiscal_period, table.value, strict=True
    ):
        key = (names[tag], year, period)
        if not first or key not in found:
            found[key] = value
    return found


ITEMS = (
    *("Revenue", "CostOfRevenue", "GrossProfit", "ResearchAndDevelopment", "SellingGeneralAndAdministrative"),
    *("OperatingIncome", "InterestExpense", "IncomeTax", "NetIncome", "OperatingCashFlow", "CapitalExpenditure"),
    *("DepreciationAndAmortization", "ShareBasedCompensation", "NetBorrowing", "Dividends", "ShareRepurchases"),
    *("Cash", "Receivables", "Inventory", "CurrentAssets", "PropertyPlantAndEquipment", "Goodwill", "Assets"),
    *("Payables", "AccruedLiabilities", "CurrentLiabilities", "LongTermDebt", "Liabilities", "Equity"),
    *("SharesBasic", "SharesDiluted", "EPSBasic", "EPSDiluted"),
)


@pytest.mark.parametrize("ticker", SOME)
@pytest.mark.parametrize("first", [True, False], ids=["as first filed", "as last filed"])
def test_every_balance_and_income_statement_ties_out(ticker: str, first: bool) -> None:
    known = by_version(LAKE.facts.known(ticker, as_of=LATER), ticker, first=first)
    periods = {(year, period) for item, year, period in known if item == "Assets"}
    assert len(periods) > 60
    for year, period in periods:

        def get(item: str, year: int = year, period: str = period) -> float:
            return known.get((item, year, period), 0.0)

        assert get("Assets") == get("Liabilities") + get("Equity")
        assert get("Assets") == get("CurrentAssets") + get("PropertyPlantAndEquipment") + get("Goodwill")
        assert get("CurrentAssets") == get("Cash") + get("Receivables") + get("Inventory")
        assert get("CurrentLiabilities") == get("Payables") + get("AccruedLiabilities")
        assert get("Liabilities") == get("CurrentLiabilities") + get("LongTermDebt")
        assert get("GrossProfit") == get("Revenue") - get("CostOfRevenue")
        spent = get("ResearchAndDevelopment") + get("SellingGeneralAndAdministrative")
        assert get("OperatingIncome") == get("GrossProfit") - spent
        assert get("NetIncome") == get("OperatingIncome") - get("InterestExpense") - get("IncomeTax")


@pytest.mark.parametrize("ticker", SOME)
def test_cash_equity_debt_and_plant_roll_from_year_to_year(ticker: str) -> None:
    known = by_version(LAKE.facts.known(ticker, as_of=LATER), ticker, first=False)
    first_year = filers()[ticker].first_year
    for year in range(first_year + 1, 2026):

        def get(item: str, when: int = year) -> float:
            return known.get((item, when, "FY"), 0.0)

        paid = get("Dividends") + get("ShareRepurchases")
        change = get("OperatingCashFlow") - get("CapitalExpenditure") + get("NetBorrowing") - paid
        assert get("Cash") == get("Cash", year - 1) + change
        assert get("Equity") == get("Equity", year - 1) + get("NetIncome") + get("ShareBasedCompensation") - paid
        assert get("LongTermDebt") == get("LongTermDebt", year - 1) + get("NetBorrowing")
        plant = get("PropertyPlantAndEquipment", year - 1) + get("CapitalExpenditure")
        assert get("PropertyPlantAndEquipment") == plant - get("DepreciationAndAmortization")
        earned = get("NetIncome") + get("DepreciationAndAmortization") + get("ShareBasedCompensation")
        tied = sum(get(item) - get(item, year - 1) for item in ("Receivables", "Inventory"))
        tied -= sum(get(item) - get(item, year - 1) for item in ("Payables", "AccruedLiabilities"))
        assert get("OperatingCashFlow") == earned - tied


@pytest.mark.parametrize("ticker", SOME)
def test_quarters_add_up_to_years_and_cash_flows_run_from_the_beginning_of_the_year(ticker: str) -> None:
    filer = filers()[ticker]
    known = by_version(LAKE.facts.known(ticker, as_of=LATER), ticker, first=False)
    column = books(ticker)["Revenue"]
    for year in range(filer.first_year, 2026):
        at = 4 * (year - filer.first_year)
        quarters = [known["Revenue", year, period] for period in ("Q1", "Q2", "Q3")]
        assert quarters == list(column[at : at + 3])
        assert known["Revenue", year, "FY"] - sum(quarters) == column[at + 3]
        flows = books(ticker)["OperatingCashFlow"][at : at + 4]
        told = [known["OperatingCashFlow", year, period] for period in ("Q1", "6M", "9M", "FY")]
        assert told == [sum(flows[: place + 1]) for place in range(4)]


def test_fiscal_calendars_differ_and_some_years_have_53_weeks() -> None:
    lengths: dict[int, int] = defaultdict(int)
    for filer in filers().values():
        for year in range(2010, 2027):
            days = (filer.calendar.year_end(year) - filer.calendar.year_end(year - 1)).days
            lengths[days] += 1
            firsts = [filer.calendar.quarter(year, number)[0] for number in (1, 2, 3, 4)]
            lasts = [filer.calendar.quarter(year, number)[1] for number in (1, 2, 3, 4)]
            assert firsts[1:] == [last + timedelta(days=1) for last in lasts[:3]]
    assert set(lengths) == {364, 365, 366, 371}
    assert len({filer.calendar.month for filer in filers().values()}) >= 8


def test_reports_amendments_and_splits_come_in_the_order_of_time() -> None:
    errors = splits = 0
    for ticker in filers():
        dates = schedule(ticker)
        for report in dates.reports:
            assert report.end < report.announced.date() < report.accepted.date() <= report.filed
            assert report.filed.weekday() < 5
        filed = [report.filed for report in dates.reports]
        assert filed == sorted(filed)
        errors, splits = errors + len(dates.errors), splits + len(dates.splits)
    assert errors > 1000 and splits > 300


def test_names_tickers_and_numbers_are_marked_as_simulated_and_differ() -> None:
    rows = [filer.company for filer in filers().values()]
    assert len(rows) == COUNT == len({row.name for row in rows}) == len({row.cik for row in rows})
    assert all(row.ticker.startswith(TICKER) and row.name.endswith("(Sim)") and int(row.cik) > CIK for row in rows)


def test_a_later_end_of_the_simulation_changes_nothing_before_it() -> None:
    for ticker in SOME[:8]:
        long, short = books(ticker), books(ticker, 2020)
        assert all(list(long[name][: len(short[name])]) == list(short[name]) for name in short)


@pytest.mark.parametrize("ticker", SOME[:6])
def test_what_was_known_on_a_day_is_what_a_later_day_calls_known_by_then(ticker: str) -> None:
    for day in (date(2012, 3, 1), date(2016, 8, 15), date(2021, 2, 2)):
        for name in ("facts", "filings", "sections", "actions", "earnings", "estimates"):
            source = getattr(LAKE, name)
            try:
                then = source.known(ticker, as_of=day)
            except UnknownKey:
                assert ticker not in source.keys(as_of=day)
                continue
            assert all(known <= day for known in then.known_on[-1:])
            assert source.known(ticker, as_of=LATER).head(len(then)) == then


def test_a_restated_figure_is_the_first_until_its_amendment_and_the_other_from_then_on() -> None:
    seen = 0
    for ticker in SOME:
        for error in schedule(ticker).errors:
            values = []
            for day in (error.filed - timedelta(days=1), error.filed):
                known = facts(ticker)
                rows = [
                    row
                    for row, tag in enumerate(known.concept)
                    if known.known_on[row] <= day
                    and tag == tag_of(filers()[ticker], "Revenue", error.year)
                    and (known.fiscal_year[row], known.fiscal_period[row]) == (error.year, error.period)
                ]
                values.append(known.value[rows[-1]])
            assert values[0] / values[1] - 1 == pytest.approx(error.share, abs=0.001)
            seen += 1
    assert seen > 30


def test_one_figure_of_all_companies_is_that_of_each_and_quick() -> None:
    began = time.process_time()
    found = across.figure(LAKE.facts, "NetIncome", fiscal_year=2019, fiscal_period="FY", as_of=TODAY)
    assert time.process_time() - began < 10.0
    assert len(found) == COUNT + 2
    for ticker in SOME[:5]:
        known = LAKE.facts.known(ticker, as_of=TODAY)
        rows = [
            row
            for row, tag in enumerate(known.concept)
            if (tag, known.fiscal_year[row], known.fiscal_period[row]) == ("NetIncomeLoss", 2019, "FY")
        ]
        assert found[ticker].value == (known.value[rows[-1]],)
    a_share = facts_of_year(SOME[0], ["EarningsPerShareDiluted"], 2019)
    whole = facts(SOME[0])
    keep = [
        row
        for row, tag in enumerate(whole.concept)
        if (tag, whole.fiscal_year[row]) == ("EarningsPerShareDiluted", 2019)
    ]
    assert a_share == whole.take(keep)


def test_segments_add_up_and_the_note_states_them_in_its_unit() -> None:
    for ticker in SOME:
        for year in (2014, 2019, 2024):
            report = year_of(ticker, year).reports[3]
            rows = LAKE.sections.select(
                "accession = ? AND section = ?", [report.accession, "8"], key=ticker, as_of=report.filed
            )
            text = rows.text[0]
            unit = 1000.0 if "(in thousands)" in text else 1_000_000.0
            table = text.split("Note 2.")[1].split("Note 3.")[0]
            stated = {}
            for line in table.splitlines()[2:]:
                cells = [cell.strip() for cell in line.split("|")]
                stated[cells[0]] = [
                    0.0 if cell == "-" else unit * float(re.sub(r"[(,)]", "", cell)) * (-1 if "(" in cell else 1)
                    for cell in cells[1:]
                ]
            original = LAKE.facts.known(ticker, as_of=report.filed)
            known = by_version(original, ticker, first=False)
            assert sum(row[0] for row in stated.values()) == known["Revenue", year, "FY"]
            assert sum(row[2] for row in stated.values()) == known["OperatingIncome", year, "FY"]
            assert len(stated) == len(disclosures(ticker, year).segments) + 1


def test_a_consensus_is_known_before_the_announcement_and_stands_beside_it() -> None:
    for ticker in SOME:
        told = LAKE.earnings.known(ticker, as_of=TODAY)
        readings = LAKE.estimates.known(ticker, as_of=TODAY)
        for row in range(len(told) - 8, len(told)):
            before = [
                place
                for place, day in enumerate(readings.known_on)
                if day < told.known_on[row] and readings.measure[place] == "eps"
            ]
            assert readings.average[before[-1]] == told.eps_estimate[row]
            assert (told.known_on[row] - readings.known_on[before[-1]]).days <= 6
            assert told.eps_estimate[row] != told.eps_reported[row]
