"""Filings pulled from a server that speaks like the SEC's are served from the day on which they became public."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from lake import providers
from lake.edgar import figures, index, page_text, pull, search, sections
from lake.edgar.provider import tables
from lake.point_in_time import ProviderUnavailable, UnknownKey
from lake.sec import CONTACT_VARIABLE
from lake.settings import LakeSettings
from tests.lake.edgar import sec_site
from tests.lake.edgar.sec_site import ANNUAL, CURRENT, FACTS, FILINGS, LATE, QUARTERLY, Site

REVENUE = "RevenueFromContractWithCustomerExcludingAssessedTax"


@pytest.fixture
def site() -> Iterator[Site]:
    with sec_site.apple() as site:
        yield site


def pulled(site: Site, folder: Path, **options: Any) -> pull.Pulled:
    return pull.pull(folder / "filings", sec_site.client(site, folder / "cache"), "AAPL", **options)


def lake_of(folder: Path) -> Any:
    return providers.open_lake(LakeSettings(filings="edgar", path=str(folder)))


def revenue(folder: Path, as_of: date, **options: Any) -> list[float]:
    facts = lake_of(folder).facts.known("AAPL", as_of=as_of)
    return list(figures.select(facts, "Revenue", fiscal_year=2024, fiscal_period="FY", **options).value)


def test_the_revenue_of_2024_is_known_from_its_acceptance_and_not_a_day_earlier(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path)
    assert revenue(tmp_path, date(2024, 10, 31)) == []
    assert revenue(tmp_path, date(2024, 11, 1)) == [391_035_000_000]


def test_a_restated_figure_is_served_in_the_version_of_its_time(site: Site, tmp_path: Path) -> None:
    """The amendment was accepted on the evening of the 4th and became public on the 5th, its filing date."""
    pulled(site, tmp_path)
    assert revenue(tmp_path, date(2024, 11, 4)) == [391_035_000_000]
    assert revenue(tmp_path, date(2024, 11, 5)) == [391_000_000_000]
    assert revenue(tmp_path, date(2024, 11, 5), version="original") == [391_035_000_000]
    assert revenue(tmp_path, date(2024, 11, 5), version="all") == [391_035_000_000, 391_000_000_000]


def test_the_list_of_filings_tells_the_acceptance_in_new_york(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path)
    filings = lake_of(tmp_path).filings.known("AAPL", as_of=date(2024, 11, 4))
    assert filings.accession == (QUARTERLY, CURRENT, ANNUAL)
    assert filings.known_on == (date(2024, 8, 2), date(2024, 10, 31), date(2024, 11, 1))
    assert filings.accepted[2].isoformat() == "2024-11-01T10:01:36+00:00"
    with pytest.raises(
        UnknownKey, match=r"no data on 'AAPL' was known on 2024-08-01; known then: SIMF-.* more; what was"
    ):
        lake_of(tmp_path).filings.known("AAPL", as_of=date(2024, 8, 1))


def test_texts_are_split_into_their_sections_and_exhibits(site: Site, tmp_path: Path) -> None:
    result = pulled(site, tmp_path)
    assert (result.documents, result.new_documents, result.missing) == (4, 4, ())
    texts = tables(tmp_path / "filings").sections

    def names(accession: str) -> list[str]:
        rows = texts.select("accession = ?", [accession], as_of=date(2025, 1, 1), order="known_on, number")
        return list(rows.section)

    assert names(ANNUAL) == ["", "1", "1A", "7"]
    assert names(QUARTERLY) == ["", "I-1", "I-2", "II-1", "II-1A"]
    assert names(CURRENT) == ["2.02", "9.01", "EX-99.1"]
    risk = texts.select("accession = ? AND section = '1A'", [ANNUAL], key="AAPL", as_of=date(2024, 11, 1)).text[0]
    assert risk.startswith("Item 1A. Risk Factors\nSupply constraints may hurt.")
    assert "Item 7 of this report" in risk and "nobody sees this" not in risk
    seven = texts.select("accession = ? AND section = '7'", [ANNUAL], key="AAPL", as_of=date(2024, 11, 1)).text[0]
    assert "Net sales $ 391,035" in seven
    assert len(texts.select("accession = ?", [ANNUAL], as_of=date(2024, 10, 31))) == 0


def test_a_second_pull_asks_for_no_document_again_and_changes_nothing(site: Site, tmp_path: Path) -> None:
    assert pulled(site, tmp_path, forms=("10-Q",)).new_documents == 1
    assert pulled(site, tmp_path, since=date(2024, 10, 31)).new_documents == 3
    digest = providers.digest(LakeSettings(filings="edgar", path=str(tmp_path)))
    asked = [path for path in site.asked if "Archives" in path]
    assert len(asked) == len(set(asked)) == 6
    again = pull.pull(tmp_path / "filings", sec_site.client(site, tmp_path / "other"), "AAPL")
    assert (again.new_documents, again.documents) == (0, 4)
    assert [path for path in site.asked if "Archives" in path] == asked
    assert providers.digest(LakeSettings(filings="edgar", path=str(tmp_path))) == digest


def test_a_reordered_answer_makes_the_same_tables(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path / "a", documents=False)
    backwards: dict[str, Any] = {name: column[::-1] for name, column in FILINGS.items()}
    facts = json.loads(json.dumps(FACTS))
    units = facts["facts"]["us-gaap"][REVENUE]["units"]
    units["USD"] = units["USD"][::-1]
    filer = sec_site.FILER | {"fiscalYearEnd": "0928", "filings": {"recent": backwards, "files": []}}
    site.publish(f"/submissions/CIK{sec_site.CIK}.json", filer)
    site.publish(f"/api/xbrl/companyfacts/CIK{sec_site.CIK}.json", facts)
    pulled(site, tmp_path / "b", documents=False)
    first, second = (tables(tmp_path / name / "filings") for name in "ab")
    assert first.facts.digest() == second.facts.digest() and first.filings.digest() == second.filings.digest()


@pytest.mark.parametrize("mood", [429, 503, "cut", "garbage", "slow"])
def test_a_busy_server_is_asked_again_until_its_answer_is_whole(site: Site, tmp_path: Path, mood: int | str) -> None:
    site.plan = [mood, mood]
    client = sec_site.client(site, tmp_path, timeout_s=0.3)
    assert client.company_facts(sec_site.CIK) == FACTS
    assert len(site.asked) == 3
    assert client.company_facts(sec_site.CIK) == FACTS
    assert len(site.asked) == 3


def test_a_server_that_stays_busy_is_an_error_that_says_what_it_said(site: Site, tmp_path: Path) -> None:
    site.plan = [503] * 99
    with pytest.raises(ProviderUnavailable, match=r"companyfacts.* in 5 attempts, at last: HTTP 503"):
        sec_site.client(site, tmp_path).company_facts(sec_site.CIK)
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_is_not_asked_again_and_says_what_to_do(site: Site, tmp_path: Path) -> None:
    site.plan = [403]
    with pytest.raises(
        ProviderUnavailable, match=r"403.*refuses this User-Agent .TRADERBENCH_SEC_CONTACT.* ten minutes"
    ):
        sec_site.client(site, tmp_path).company_facts(sec_site.CIK)
    assert len(site.asked) == 1 and site.agents == {"traderbench me@example.com"}


def test_a_kept_answer_that_was_damaged_is_fetched_again(site: Site, tmp_path: Path) -> None:
    client = sec_site.client(site, tmp_path)
    client.company_facts(sec_site.CIK)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"391035", b"999999"))
    assert client.company_facts(sec_site.CIK) == FACTS and len(site.asked) == 2


def test_a_document_that_does_not_come_is_told_and_asked_for_again(site: Site, tmp_path: Path) -> None:
    lost = site.pages.pop(site.document(ANNUAL, "annual.htm"))
    result = pulled(site, tmp_path)
    assert result.documents == 3 and len(result.missing) == 1
    assert result.missing[0].startswith(f"AAPL 10-K {ANNUAL}: SEC EDGAR did not give") and "404" in result.missing[0]
    site.publish(site.document(ANNUAL, "annual.htm"), lost)
    again = pulled(site, tmp_path)
    assert (again.new_documents, again.missing) == (1, ())


def test_the_command_tells_what_is_there_and_what_is_missing(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTACT_VARIABLE, "me@example.com")
    command = ["data", "pull", "filings", "--out", str(tmp_path), "--base-url", site.url, "--forms", "10-Q,8-K"]
    assert main([*command, "--ticker", "aapl"]) == 0
    printed = capsys.readouterr().out
    assert "AAPL: 4 filings, 4 figures, 2 texts (2 new)" in printed and "sections: 1 companies, sha256 " in printed
    assert main([*command, "--ticker", "AAPL", "TSLA"]) == 66
    assert "missing: the SEC knows no ticker 'TSLA'" in capsys.readouterr().out
    assert main([*command, "--ticker", "TSLA"]) == 2
    assert main(command) == 2
    assert "no ticker is given: --ticker AAPL NVDA, or --tickers FILE" in capsys.readouterr().err
    monkeypatch.delenv(CONTACT_VARIABLE)
    assert main([*command, "--ticker", "AAPL"]) == 2


def test_the_full_text_search_finds_filings_of_all_pages_and_of_a_span(site: Site, tmp_path: Path) -> None:
    client = sec_site.client(site, tmp_path)
    span = {"since": date.min, "until": date.max}
    hits = search.search(client, '"supply constraints"', forms=("10-K", "10-Q"), **span)
    assert [(hit.ticker, hit.accession) for hit in hits] == [("AAPL", ANNUAL), ("AAPL", QUARTERLY), ("OTHR", "2-2")]
    assert "q=%22supply+constraints%22" in site.asked[0] and len(site.asked) == 2
    assert [hit.form for hit in search.search(client, "x", forms=("10-Q",), **span)] == ["10-Q"]
    first = search.search(client, "x", forms=("10-K",), since=date(2024, 11, 2), until=date.max)
    assert [hit.filed for hit in first] == [date(2024, 11, 2)]
    assert len(search.search(client, "y", forms=("10-K", "10-Q"), limit=1, **span)) == 1


def test_only_the_filings_that_a_search_finds_are_pulled(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTACT_VARIABLE, "me@example.com")
    command = ["data", "pull", "filings", "--out", str(tmp_path), "--base-url", site.url, "--search", "phones"]
    assert main([*command, "--ticker", "AAPL", "--forms", "10-K"]) == 0
    printed = capsys.readouterr().out
    assert "1 filings of 1 companies hold 'phones'" in printed and "1 texts (1 new)" in printed
    assert main(command) == 66
    assert "missing: the SEC knows no ticker 'OTHR'" in capsys.readouterr().out
    assert main([*command, "--ticker", "NVDA"]) == 2
    assert "--search: the SEC finds 'phones' in no 10-K, 10-Q, 8-K of NVDA" in capsys.readouterr().err


def test_an_offline_run_without_anything_pulled_says_so_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nothing was pulled into .*traderbench data pull filings --ticker AAPL"):
        lake_of(tmp_path)


def test_a_run_that_is_not_offline_fetches_a_company_when_it_is_asked_for(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTACT_VARIABLE, "me@example.com")
    monkeypatch.setattr("lake.sec.DATA_URL", site.url)
    client = sec_site.client(site, tmp_path / "cache")
    monkeypatch.setattr("lake.sec.SecClient", lambda folder: client)
    lake = providers.open_lake(LakeSettings(filings="edgar", path=str(tmp_path), offline=False))
    assert site.asked == []
    assert lake.companies.find("AAPL").cik == sec_site.CIK
    facts = lake.facts.known("AAPL", as_of=date(2024, 11, 1))
    assert figures.select(facts, "Revenue", fiscal_year=2024, fiscal_period="FY").value == (391_035e6,)
    with pytest.raises(UnknownKey, match="no data on 'NIX'"):
        lake.facts.known("NIX", as_of=date(2024, 11, 1))


@pytest.mark.parametrize(("text", "message"), [("2024-11-01", None), ("soon", "acceptanceDateTime must be like")])
def test_an_unreadable_time_of_acceptance_is_named(text: str, message: str | None) -> None:
    if message is None:
        assert index.accepted_at(text).hour == 0
    else:
        with pytest.raises(ValueError, match=message):
            index.accepted_at(text)


def test_a_list_whose_columns_differ_in_length_is_refused() -> None:
    with pytest.raises(ValueError, match="has columns of different lengths"):
        index.read([FILINGS | {"form": ["10-K"]}])
    with pytest.raises(ValueError, match="lacks items"):
        index.read([{name: column for name, column in FILINGS.items() if name != "items"}])


@pytest.mark.shared_data
def test_every_item_of_apples_report_of_2024_is_found_once(shared_data: Path) -> None:
    content = gzip.decompress((shared_data / "sec" / "aapl-10-k-2024-11-01.html.gz").read_bytes())
    lines = page_text.lines(content)
    parts = sections.split(lines, "10-K")
    items = "1 1A 1B 1C 2 3 4 5 6 7 7A 8 9 9A 9B 9C 10 11 12 13 14 15 16".split()
    assert [part.name for part in parts] == ["", *items]
    assert "\n".join(part.text for part in parts) == "\n".join(lines)
    by_name = {part.name: part for part in parts}
    assert "Total net sales $ 391,035 2 % $ 383,285" in by_name["7"].text
    assert by_name["1B"].text == "Item 1B. Unresolved Staff Comments\nNone."
    assert by_name["8"].title == "Financial Statements and Supplementary Data"


@pytest.mark.shared_data
def test_teslas_filings_after_the_closing_hour_are_public_on_their_filing_date(shared_data: Path) -> None:
    with gzip.open(shared_data / "sec" / "submissions_CIK0001318605_tesla.json.gz") as file:
        filings = index.read([json.load(file)["filings"]["recent"]])
    annual = filings.accession.index("0000950170-22-000796")
    assert filings.known_on[annual] == date(2022, 2, 7)
    assert filings.accepted[annual] == datetime.fromisoformat("2022-02-05T01:11:27+00:00")
    assert len(filings) == 1001


def test_the_late_amendment_is_not_the_latest_report_before_its_day(site: Site, tmp_path: Path) -> None:
    pulled(site, tmp_path)
    texts = tables(tmp_path / "filings").sections
    assert LATE not in texts.distinct("accession", key="AAPL", as_of=date(2024, 11, 4))
    assert LATE in texts.distinct("accession", key="AAPL", as_of=date(2024, 11, 5))
