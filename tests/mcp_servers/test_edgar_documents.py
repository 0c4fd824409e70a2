"""The texts of filings are served by section and found by words, none before its day."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from lake import providers
from lake.edgar import pull
from lake.settings import LakeSettings
from mcp_servers import edgar
from tests.lake.edgar import sec_site
from tests.lake.edgar.sec_site import ANNUAL, CURRENT, LATE, QUARTERLY, WORDS

Ask = Callable[..., Any]
TODAY = date(2024, 11, 1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("lake")
    with sec_site.apple() as site:
        pull.pull(folder / "filings", sec_site.client(site, folder / "cache"), "AAPL")
    yield edgar.build_server(lake=providers.open_lake(LakeSettings(filings="edgar", path=str(folder))))


def test_filings_of_every_form_are_listed_with_their_items_and_texts(server: Any, ask: Ask) -> None:
    answer = ask(server, "list_filings", as_of=TODAY, ticker="AAPL")
    assert answer["accession"] == [ANNUAL, CURRENT, QUARTERLY]
    assert answer["items"] == ["", "2.02,9.01", ""] and answer["has_text"] == [True, True, True]
    assert answer["filed"] == ["2024-11-01", "2024-10-31", "2024-08-02"] and answer["facts"] == [1, 0, 1]
    assert ask(server, "list_filings", as_of=TODAY, ticker="AAPL", form="8-K")["accession"] == [CURRENT]


def test_the_latest_report_is_the_one_that_was_public(server: Any, ask: Ask) -> None:
    assert ask(server, "get_filing", as_of=TODAY, ticker="aapl")["accession"] == ANNUAL
    assert ask(server, "get_filing", as_of=date(2025, 1, 2), ticker="AAPL")["section"] == ["", "1", "1A", "7"]
    text = ask(server, "get_filing", as_of=date(2024, 10, 31), ticker="AAPL")
    assert f"no text of AAPL 10-K was public on 2024-10-31; the latest here: {CURRENT}, {QUARTERLY}" in text


def test_a_filing_of_the_future_and_one_that_is_not_there_give_the_same_error(server: Any, ask: Ask) -> None:
    said = [ask(server, "get_filing", as_of=TODAY, ticker="AAPL", accession=name) for name in (LATE, "0-0")]
    assert said[0].replace(LATE, "X") == said[1].replace("0-0", "X") and "no text of AAPL X was public" in said[
        1
    ].replace("0-0", "X")
    sections = {"ticker": "AAPL", "section": "7", "accession": LATE}
    assert "no text of AAPL" in ask(server, "get_filing_section", as_of=TODAY, **sections)
    assert "391,000" in ask(server, "get_filing_section", as_of=date(2024, 11, 5), **sections)["text"]


def test_a_section_is_read_in_parts_that_make_up_the_whole(server: Any, ask: Ask) -> None:
    parts, start = [], 0
    while start is not None:
        answer = ask(
            server, "get_filing_section", as_of=TODAY, ticker="AAPL", section="Item 1a", start=start, length=500
        )
        parts.append(answer["text"])
        start = answer["next_start"]
    assert len(parts) > 2 and len("".join(parts)) == answer["characters"]
    assert "".join(parts).count("The Company sells phones.") == WORDS.count("The Company sells phones.")
    end = answer["characters"]
    text = ask(server, "get_filing_section", as_of=TODAY, ticker="AAPL", section="1A", start=end)
    assert f"start={end} is behind the end of section 1A, of {end} characters" in text


@pytest.mark.parametrize(
    ("section", "form", "begins"),
    [
        ("I-2", "10-Q", "Item 2. Discussion"),
        ("2", "10-Q", "Item 2. Discussion"),
        ("1A", "10-Q", "Item 1A. Risk Factors"),
        ("2.02", "8-K", "Item 2.02 Results"),
        ("EX-99.1", "8-K", "Apple reports fourth quarter results\nRevenue of $94.9 billion"),
    ],
)
def test_sections_are_named_by_part_item_or_exhibit(
    server: Any, ask: Ask, section: str, form: str, begins: str
) -> None:
    answer = ask(server, "get_filing_section", as_of=TODAY, ticker="AAPL", section=section, form=form)
    assert answer["text"].startswith(begins)


def test_a_number_that_stands_in_two_parts_is_asked_back(server: Any, ask: Ask) -> None:
    text = ask(server, "get_filing_section", as_of=TODAY, ticker="AAPL", section="1", form="10-Q")
    assert f"section '1' stands in two parts in 10-Q {QUARTERLY}; it has I-1, I-2, II-1, II-1A" in text
    text = ask(server, "get_filing_section", as_of=TODAY, ticker="AAPL", section="99")
    assert f"section '99' is not in 10-K {ANNUAL}; it has 1, 1A, 7" in text


def test_the_cover_has_no_name_and_is_one_part(server: Any, ask: Ask) -> None:
    listed = ask(server, "get_filing", as_of=TODAY, ticker="AAPL", form="10-K")
    answer = ask(server, "get_filing_section", as_of=TODAY, ticker="AAPL", section="", form="10-K")
    assert listed["section"][0] == "" and len(listed["section"]) > 1
    assert answer["section"] == "" and answer["characters"] == listed["characters"][0]


def test_words_are_found_in_any_case_the_latest_filing_first_and_none_of_the_future(server: Any, ask: Ask) -> None:
    found = ask(server, "search_filings", as_of=TODAY, query="  SUPPLY  constraints ")
    assert (found["ticker"], found["accession"], found["section"]) == (["AAPL"], [ANNUAL], ["1A"])
    assert found["excerpt"][0].startswith("Item 1A. Risk Factors\nSupply constraints may hurt.")
    later = ask(server, "search_filings", as_of=date(2024, 11, 5), query="supply constraints", ticker="AAPL")
    assert later["accession"] == [LATE, ANNUAL]
    assert ask(server, "search_filings", as_of=date(2024, 11, 5), query="supply constraints", limit=1)["accession"] == [
        LATE
    ]
    assert ask(server, "search_filings", as_of=TODAY, query="sells phones", form="10-Q")["section"] == [
        "II-1A",
        "I-2",
        "I-1",
    ]
    assert ask(server, "search_filings", as_of=TODAY, query="100% _certain")["section"] == []
    assert "query must have 3 to 200 characters, got 2" in ask(server, "search_filings", as_of=TODAY, query="ab")


def test_the_fourth_quarter_is_derived_and_says_so(server: Any, ask: Ask) -> None:
    question = {"ticker": "AAPL", "concept": "Revenue", "fiscal_year": 2024, "fiscal_period": "Q4"}
    answer = ask(server, "get_company_facts", as_of=TODAY, **question)
    assert answer["value"] == [391_035e6 - 296_105e6] and answer["form"] == ["derived"]
    assert (answer["period_start"], answer["period_end"]) == (["2024-06-30"], ["2024-09-28"])
    assert "had filed no Revenue" in ask(server, "get_company_facts", as_of=date(2024, 10, 31), **question)


def test_a_company_without_pulled_texts_says_what_to_do(ask: Ask) -> None:
    text = ask(edgar.build_server(), "get_filing", as_of=TODAY, ticker="AAPL")
    assert "no text of AAPL 10-K was public on 2024-11-01; no data on 'AAPL' was known" in text
    assert "traderbench data pull filings --ticker TICKER, and lake: {filings: edgar} in its config" in text


def test_a_company_is_not_found_before_its_first_filing(server: Any, ask: Ask) -> None:
    assert ask(server, "search_companies", as_of=TODAY, query="apple")["ticker"] == ["AAPL"]
    assert "no company matches 'apple'" in ask(server, "search_companies", as_of=date(2001, 1, 2), query="apple")


def test_ratios_of_a_year_name_their_filings(ask: Ask) -> None:
    answer = ask(edgar.build_server(), "get_ratios", as_of=TODAY, ticker="AAPL", fiscal_year=2024)
    at = answer["ratio"].index("net_margin")
    assert answer["value"][at] == pytest.approx(93_736 / 391_035)
    assert answer["accessions"][at] == ["0000320193-24-000123"]
    text = ask(edgar.build_server(), "get_ratios", as_of=date(2024, 10, 31), ticker="AAPL", fiscal_year=2024)
    assert "AAPL had filed no figures for FY 2024 by 2024-10-31" in text


def test_companies_are_compared_by_what_they_had_filed(ask: Ask) -> None:
    question = {"concept": "Revenue", "fiscal_year": 2024}
    answer = ask(edgar.build_server(), "compare_companies", as_of=TODAY, **question)
    found = dict(zip(answer["ticker"], zip(answer["value"], answer["filed"], strict=True), strict=True))
    assert answer["ticker"][0] == "AAPL" and found["AAPL"] == (391_035e6, "2024-11-01")
    assert found["NVDA"] == (60_922e6, "2024-02-21")
    assert answer["companies"] > 200 and answer["value"] == sorted(answer["value"], reverse=True)
    second = ask(edgar.build_server(), "compare_companies", as_of=TODAY, limit=1, offset=1, **question)
    assert (second["ticker"], second["companies"]) == (answer["ticker"][1:2], answer["companies"])
    early = ask(edgar.build_server(), "compare_companies", as_of=date(2024, 10, 31), **question)
    assert "AAPL" not in early["ticker"] and "NVDA" in early["ticker"]
    text = ask(edgar.build_server(), "compare_companies", as_of=TODAY, concept="Sales", fiscal_year=2024)
    assert "no company had filed Sales for FY 2024 by 2024-11-01" in text
