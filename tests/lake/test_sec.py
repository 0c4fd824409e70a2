"""The live source of company figures, against a web server that speaks like the SEC's."""

from __future__ import annotations

import gzip
import http.server
import json
import threading
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lake import fundamentals, sample, sec
from lake.point_in_time import ProviderUnavailable, UnknownKey

TICKERS = {
    "0": {"cik_str": 320193, "ticker": "AAPL", "title": "Apple Inc."},
    "1": {"cik_str": 1318605, "ticker": "TSLA", "title": "Tesla, Inc."},
}
APPLE = {"name": "Apple Inc.", "sic": "3571", "sicDescription": "Electronic Computers", "exchanges": ["Nasdaq"]}
PERIOD = {"start": "2022-09-25", "end": "2023-09-30", "form": "10-K"}
FIGURES = [
    PERIOD | {"val": 96_995_000_000, "accn": "0000320193-23-000106", "filed": "2023-11-03"},
    PERIOD | {"val": 777, "accn": "future", "filed": "2030-01-01"},
]
SMALL = {"facts": {"us-gaap": {"NetIncomeLoss": {"units": {"USD": FIGURES}}}}}


class Sec:
    """A web server with the SEC's paths."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.requests.append((self.path, self.headers["User-Agent"]))
                body = owner.pages.get(self.path)
                self.send_response(404 if body is None else 200)
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *args: Any) -> None:
                pass

        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.web.server_port}"

    def publish(self, path: str, page: Any) -> None:
        self.pages[path] = json.dumps(page).encode()


@pytest.fixture
def site() -> Iterator[Sec]:
    site = Sec()
    site.publish("/company_tickers.json", TICKERS)
    site.publish("/submissions/CIK0000320193.json", APPLE | {"fiscalYearEnd": "0927"})
    site.publish("/api/xbrl/companyfacts/CIK0000320193.json", SMALL)
    thread = threading.Thread(target=site.web.serve_forever)
    thread.start()
    yield site
    site.web.shutdown()
    thread.join()
    site.web.server_close()


@pytest.fixture
def client(site: Sec, tmp_path: Path) -> sec.SecClient:
    return sec.SecClient(
        tmp_path / "kept", contact="me@example.com", data_url=site.url, files_url=site.url, back_off_s=0.01
    )


def test_live_figures_are_visible_from_their_filing_day(client: sec.SecClient) -> None:
    facts = sec.live(client).facts
    known = facts.known("AAPL", as_of=date(2023, 11, 3))
    assert fundamentals.value(known, "NetIncome", fiscal_year=2023) == 96_995_000_000
    with pytest.raises(UnknownKey, match="AAPL had filed no figures by 2023-11-02"):
        facts.known("AAPL", as_of=date(2023, 11, 2))
    with pytest.raises(UnknownKey, match="the SEC knows no ticker 'NOPE'"):
        facts.known("NOPE", as_of=date(2023, 11, 2))


@pytest.mark.shared_data
def test_the_real_file_of_apple_gives_the_figures_of_the_sample(
    site: Sec, client: sec.SecClient, shared_data: Path
) -> None:
    raw = gzip.decompress((shared_data / "sec" / "CIK0000320193.json.gz").read_bytes())
    site.pages["/api/xbrl/companyfacts/CIK0000320193.json"] = raw
    as_of = date(2019, 6, 3)
    live, embedded = (lake.facts.known("AAPL", as_of=as_of) for lake in (sec.live(client), sample.embedded()))
    for item in fundamentals.LINE_ITEMS:
        for year in range(2010, 2019):
            figures = [fundamentals.value(facts, item, fiscal_year=year) for facts in (live, embedded)]
            assert figures[0] == figures[1], (item, year)


def test_companies_are_found_by_ticker_and_by_part_of_a_name(client: sec.SecClient) -> None:
    companies = sec.LiveCompanies(client)
    apple = companies.find("AAPL")
    assert apple == fundamentals.COMPANIES["AAPL"]
    assert companies.search("apple", limit=5) == [apple]
    assert companies.find("NOPE") is None


def test_answers_are_kept_and_the_sec_is_told_whom_to_contact(site: Sec, client: sec.SecClient) -> None:
    for _ in range(3):
        sec.LiveFacts(client).known("AAPL", as_of=date(2024, 1, 2))
    assert len(site.requests) == 3
    assert {agent for _, agent in site.requests} == {"traderbench me@example.com"}


def test_two_requests_begin_at_least_the_pause_apart_and_what_is_kept_waits_for_nothing(
    client: sec.SecClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle is the SEC's rule of ten requests a second, on a clock that moves by what is slept alone."""
    now, waited = [100.0], []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(sec, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep, time=time.time))
    client.tickers()
    client.submissions("0000320193")
    now[0] += 0.5 * sec.PAUSE_S
    client.company_facts("0000320193")
    client.tickers()
    assert waited == pytest.approx([0.0, sec.PAUSE_S, 0.5 * sec.PAUSE_S])
    assert sec.PAUSE_S >= 0.1


def test_no_answer_is_an_error_that_names_the_address_and_nothing_is_kept(
    site: Sec, client: sec.SecClient, tmp_path: Path
) -> None:
    with pytest.raises(ProviderUnavailable, match=r"did not give http://.*/submissions/CIK0001318605.json: .*404"):
        sec.LiveCompanies(client).find("TSLA")
    site.pages["/api/xbrl/companyfacts/CIK0000320193.json"] = b"<html>busy</html>"
    with pytest.raises(ProviderUnavailable, match="companyfacts"):
        sec.LiveFacts(client).known("AAPL", as_of=date(2024, 1, 2))
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_without_a_contact_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(sec.CONTACT_VARIABLE, raising=False)
    with pytest.raises(ValueError, match="set TRADERBENCH_SEC_CONTACT"):
        sec.SecClient(tmp_path)


@pytest.mark.parametrize(("text", "month"), [("1231", 12), ("0926", 9), ("0131", 1), ("0102", 12), ("0203", 1)])
def test_a_year_that_ends_in_the_first_days_of_a_month_belongs_to_the_month_before(text: str, month: int) -> None:
    assert sec._year_end_month(text) == month
