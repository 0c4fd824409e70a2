"""A web server on this machine that speaks like the SEC's, with its moods, and a small company that files with it."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lake.sec import SecClient

CIK = "0000320193"
TICKERS = {"0": {"cik_str": 320193, "ticker": "AAPL", "title": "Apple Inc."}}
FILER = {"name": "Apple Inc.", "sic": "3571", "sicDescription": "Electronic Computers", "exchanges": ["Nasdaq"]}
ANNUAL, QUARTERLY, CURRENT, LATE = "0000320193-24-000123", "0000320193-24-000081", "0000320193-24-000120", "late-1"
FILINGS = {
    # accession numbers, days and times of Apple's filings of 2024 as EDGAR shows them; the last one is made up
    "accessionNumber": [ANNUAL, CURRENT, QUARTERLY, LATE],
    "filingDate": ["2024-11-01", "2024-10-31", "2024-08-02", "2024-11-05"],
    "reportDate": ["2024-09-28", "2024-10-31", "2024-06-29", "2024-09-28"],
    "acceptanceDateTime": [
        "2024-11-01T06:01:36.000Z",
        "2024-10-31T16:30:28.000Z",
        "2024-08-01T18:03:35.000Z",
        "2024-11-04T21:59:00.000Z",
    ],
    "form": ["10-K", "8-K", "10-Q", "10-K/A"],
    "items": ["", "2.02,9.01", "", ""],
    "primaryDocument": ["annual.htm", "current.htm", "quarterly.htm", "late.htm"],
    "primaryDocDescription": ["10-K", "8-K", "10-Q", "10-K/A"],
}
WORDS = "The Company sells phones. " * 60


def page(*paragraphs: str) -> bytes:
    hidden = '<div style="display:none">nobody sees this</div><style>p {}</style>'
    return ("<html><body>" + hidden + "".join(f"<p>{text}</p>" for text in paragraphs) + "</body></html>").encode()


ANNUAL_PAGE = page(
    "Form 10-K", "Item 1.", "Business", "1", "Item 1A.", "Risk Factors", "5", "Item 7.", "Discussion", "20", "PART I",
    "Item 1. Business", WORDS, "Item 1A. Risk Factors", "Supply&nbsp;constraints may hurt. " + WORDS,
    "Item 7 of this report tells more.", "PART II", "Item 7. Discussion",
    "<table><tr><td>Net sales</td><td>$</td><td>391,035</td></tr></table>", WORDS,
)  # fmt: skip
QUARTERLY_PAGE = page(
    "PART I", "Item 1. Financial Statements", WORDS, "Item 2. Discussion", WORDS, "PART II",
    "Item 1. Legal Proceedings", "None of note.", "Item 1A. Risk Factors", WORDS,
)  # fmt: skip
CURRENT_PAGE = page("Item 2.02 Results of Operations", "A press release is furnished.", "Item 9.01 Exhibits", "99.1")


def figure(start: str | None, end: str, value: float, accession: str, filed: str, form: str = "10-K") -> dict[str, Any]:
    return ({"start": start} if start else {}) | {
        "end": end, "val": value, "accn": accession, "filed": filed, "form": form
    }  # fmt: skip


FACTS = {
    "facts": {
        "us-gaap": {
            "RevenueFromContractWithCustomerExcludingAssessedTax": {
                "units": {
                    "USD": [
                        figure("2022-09-25", "2023-09-30", 383_285e6, "a-23", "2023-11-03"),
                        figure("2023-10-01", "2024-06-29", 296_105e6, QUARTERLY, "2024-08-02", "10-Q"),
                        figure("2023-10-01", "2024-09-28", 391_035e6, ANNUAL, "2024-11-01"),
                        figure("2023-10-01", "2024-09-28", 391_000e6, LATE, "2024-11-04", "10-K/A"),
                    ]
                }
            },
        }
    }
}


def hit(accession: str, name: str, form: str, day: str) -> dict[str, Any]:
    return {"_id": f"{accession}:a.htm", "_source": {"display_names": [name], "form": form, "file_date": day}}


HITS = [
    hit(ANNUAL, "Apple Inc.  (AAPL)  (CIK 0000320193)", "10-K", "2024-11-01"),
    hit("1-1", "A fund without a ticker  (CIK 0000000001)", "10-K", "2024-11-01"),
    hit(QUARTERLY, "Apple Inc.  (AAPL, AAPL-W)  (CIK 0000320193)", "10-Q", "2024-08-02"),
    hit("2-2", "Other Corp  (OTHR)  (CIK 0000000002)", "10-K", "2024-11-02"),
]
"""What the full-text search finds, two a page."""


class Site:
    """What the server has, and what befalls the next requests.

    ``plan`` holds statuses, or ``cut`` (an answer that breaks off), ``slow`` and ``garbage``.
    """

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.agents: set[str] = set()
        self.plan: list[int | str] = []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.asked.append(self.path)
                owner.agents.add(self.headers["User-Agent"])
                mood = owner.plan.pop(0) if owner.plan else 200
                if mood == "slow":
                    time.sleep(0.6)
                body = b"<html>busy" if mood == "garbage" else owner.page(self.path)
                status = mood if isinstance(mood, int) else 200
                self.send_response(404 if body is None else status)
                if status == 429:
                    self.send_header("Retry-After", "0")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                try:
                    self.wfile.write((body or b"")[: 10 if mood == "cut" else None])
                except (BrokenPipeError, ConnectionResetError):
                    return

            def log_message(self, *args: Any) -> None:
                pass

        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.web.server_port}"

    def page(self, path: str) -> bytes | None:
        if not path.startswith("/search-index?"):
            return self.pages.get(path)
        asked = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
        hits = [hit for hit in HITS if asked["startdt"] <= hit["_source"]["file_date"] <= asked["enddt"]]
        rows = [hit for hit in hits if hit["_source"]["form"] in asked["forms"].split(",")]
        start = int(asked["from"])
        return json.dumps({"hits": {"total": {"value": len(rows)}, "hits": rows[start : start + 2]}}).encode()

    def publish(self, path: str, content: Any) -> None:
        self.pages[path] = content if isinstance(content, bytes) else json.dumps(content).encode()

    def document(self, accession: str, name: str) -> str:
        return f"/Archives/edgar/data/320193/{accession.replace('-', '')}/{name}"


@contextmanager
def apple() -> Iterator[Site]:
    site = Site()
    site.publish("/company_tickers.json", TICKERS)
    filings = {"recent": FILINGS, "files": []}
    site.publish(f"/submissions/CIK{CIK}.json", FILER | {"fiscalYearEnd": "0928", "filings": filings})
    site.publish(f"/api/xbrl/companyfacts/CIK{CIK}.json", FACTS)
    for accession, name, content in (
        (ANNUAL, "annual.htm", ANNUAL_PAGE),
        (QUARTERLY, "quarterly.htm", QUARTERLY_PAGE),
        (CURRENT, "current.htm", CURRENT_PAGE),
        (LATE, "late.htm", ANNUAL_PAGE.replace(b"391,035", b"391,000")),
        (CURRENT, "a8-kex991q4.htm", page("Apple reports fourth quarter results", "Revenue of $94.9 billion")),
    ):
        site.publish(site.document(accession, name), content)
    items = [{"name": name} for name in ("current.htm", "a8-kex991q4.htm", "R1.htm", "logo.jpg")]
    site.publish(site.document(CURRENT, "index.json"), {"directory": {"item": items}})
    thread = threading.Thread(target=site.web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.web.shutdown()
        thread.join()
        site.web.server_close()


def client(site: Site, folder: Path, **options: Any) -> SecClient:
    return SecClient(
        folder,
        contact="me@example.com",
        data_url=site.url,
        files_url=site.url,
        archives_url=f"{site.url}/Archives/edgar/data",
        search_url=f"{site.url}/search-index",
        back_off_s=0.01,
        **options,
    )
