"""EDGAR's tools serve what was filed by the simulation date."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lake import sec
from lake.fundamentals import COMPANIES
from mcp_servers import caller, edgar
from mcp_servers.access import Grant
from mcp_servers.edgar import server as edgar_server

SERVER = edgar.build_server()
Ask = Callable[..., Any]


def test_apple_revenue_of_2024_is_served_from_its_filing_day_on(ask: Ask) -> None:
    question = {"ticker": "AAPL", "concept": "Revenue", "fiscal_year": 2024, "fiscal_period": "FY"}
    early = ask(SERVER, "get_company_facts", as_of=date(2024, 10, 31), **question)
    assert "AAPL had filed no Revenue for FY 2024 by 2024-10-31" in early
    answer = ask(SERVER, "get_company_facts", as_of=date(2024, 11, 1), **question)
    assert answer["value"] == [391_035_000_000]
    assert answer["accession"] == ["0000320193-24-000123"]
    assert answer["unit"] == ["USD"]


def test_filed_values_alone_have_no_fourth_quarter_and_the_refusal_says_where_it_is(ask: Ask) -> None:
    question = {"ticker": "AAPL", "concept": "NetIncome", "fiscal_year": 2024, "fiscal_period": "Q4"}
    day = date(2025, 1, 2)
    assert ask(SERVER, "get_company_facts", as_of=day, **question)["form"] == ["derived"]
    told = ask(SERVER, "get_company_facts", as_of=day, version="all", **question)
    assert "version 'all' tells no derived quarters, latest and original do" in told


def test_a_fiscal_year_that_has_not_ended_is_a_look_ahead(ask: Ask) -> None:
    grant = Grant("run", "task", date(2022, 1, 3), 0)
    with caller.acting_as(grant) as call:
        with pytest.raises(caller.LookAhead, match="after the simulation date 2022-01-03"):
            edgar_server._require_begun_to_be_known(COMPANIES["AAPL"], 2022, "FY")
        assert call.looked_ahead
    text = ask(SERVER, "get_company_facts", as_of=date(2022, 1, 3), ticker="AAPL", concept="Revenue", fiscal_year=2023)
    assert "nothing later is known" in text


def test_a_year_that_has_ended_but_is_not_filed_yet_is_no_look_ahead() -> None:
    with caller.acting_as(Grant("run", "task", date(2024, 10, 15), 0)) as call:
        edgar_server._require_begun_to_be_known(COMPANIES["AAPL"], 2024, "FY")
        assert not call.looked_ahead


@pytest.mark.parametrize(
    ("ticker", "year", "period", "end"),
    # Ends of fiscal periods from the 10-K and 10-Q covers; 52-week calendars differ from month ends by days.
    [
        ("AAPL", 2024, "FY", date(2024, 9, 28)),
        ("AAPL", 2024, "Q1", date(2023, 12, 30)),
        ("NVDA", 2025, "FY", date(2025, 1, 26)),
        ("NVDA", 2025, "Q1", date(2024, 4, 28)),
        ("NVDA", 2025, "Q3", date(2024, 10, 27)),
    ],
)
def test_the_calendar_of_a_company_is_right_to_within_days(ticker: str, year: int, period: str, end: date) -> None:
    estimate = edgar_server.period_end(COMPANIES[ticker], year, period)
    assert abs((estimate - end).days) < edgar_server.FILING_CALENDAR_SLACK.days


def test_restated_figures_are_told_from_original_ones(ask: Ask) -> None:
    question = {"ticker": "AAPL", "concept": "EPSDiluted", "fiscal_year": 2019, "fiscal_period": "FY"}
    as_of = date(2021, 1, 4)  # after the four-for-one split of August 2020
    assert ask(SERVER, "get_company_facts", as_of=as_of, **question)["value"] == [2.97]
    assert ask(SERVER, "get_company_facts", as_of=as_of, version="original", **question)["value"] == [11.89]
    assert ask(SERVER, "get_company_facts", as_of=as_of, version="all", **question)["value"] == [11.89, 2.97]


def test_an_income_statement_adds_up(ask: Ask) -> None:
    answer = ask(
        SERVER,
        "get_financial_statement",
        as_of=date(2025, 6, 2),
        ticker="nvda",
        statement="income",
        fiscal_year=2025,
    )
    lines = dict(zip(answer["line_item"], answer["value"], strict=True))
    assert lines["Revenue"] == 130_497_000_000
    assert lines["Revenue"] - lines["CostOfRevenue"] == lines["GrossProfit"]
    assert answer["period_end"] == "2025-01-26"


def test_filings_are_listed_latest_first_and_none_from_the_future(ask: Ask) -> None:
    answer = ask(SERVER, "list_filings", as_of=date(2020, 1, 2), ticker="AAPL", limit=50)
    assert answer["filed"][0] == "2019-10-31" and answer["form"][0] == "10-K"
    assert answer["filed"] == sorted(answer["filed"], reverse=True)
    only = ask(SERVER, "list_filings", as_of=date(2020, 1, 2), ticker="AAPL", form="10-K")
    assert set(only["form"]) == {"10-K"}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("get_company_facts", {"ticker": "TSLA", "concept": "Revenue"}, "available: AAPL, NVDA"),
        ("get_company_facts", {"ticker": "AAPL", "concept": "Sales"}, "unknown line item 'Sales'; known: Revenue"),
        ("search_companies", {"query": "bank"}, "no company matches 'bank'; available: AAPL, NVDA"),
    ],
)
def test_errors_say_what_would_be_right(ask: Ask, tool: str, arguments: dict[str, Any], message: str) -> None:
    assert message in ask(SERVER, tool, **arguments)


def test_a_source_that_does_not_answer_is_a_message_and_not_a_crash(ask: Ask, tmp_path: Path) -> None:
    client = sec.SecClient(
        tmp_path,
        contact="me@example.com",
        files_url="http://127.0.0.1:1",
        data_url="http://127.0.0.1:1",
        back_off_s=0.01,
    )
    text = ask(edgar.build_server(lake=sec.live(client)), "search_companies", query="apple")
    assert "SEC EDGAR did not give http://127.0.0.1:1/company_tickers.json" in text
