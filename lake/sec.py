"""SEC EDGAR: its client, and live company figures for servers that run alone (runs read what was pulled)."""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from lake import company_facts, patient, sample, whole_file
from lake.fundamentals import Company
from lake.point_in_time import UnknownKey, known_rows
from lake.records import Facts
from lake.sample import Lake

DATA_URL = "https://data.sec.gov"
FILES_URL = "https://www.sec.gov/files"
ARCHIVES_URL = "https://www.sec.gov/Archives/edgar/data"
SEARCH_URL = "https://efts.sec.gov/LATEST/search-index"
CONTACT_VARIABLE = "TRADERBENCH_SEC_CONTACT"
FRESH_S = 24 * 3600.0
PAUSE_S = 0.12
"""The SEC asks for at most ten requests a second."""


class SecClient:
    """Reads from EDGAR, politely, and keeps what it reads: data for a day, documents, which never change, for ever.

    What is kept begins with a line of its address, time and sha256; a file that does not fit its sum is fetched again.

    Parameters
    ----------
    folder
        Where answers are kept.
    contact
        E-mail address or URL that the SEC wants in the ``User-Agent``; by default from ``TRADERBENCH_SEC_CONTACT``.
    data_url, files_url, archives_url, search_url
        The SEC's own by default.
    timeout_s, back_off_s
        Of one request; before the second attempt, doubled before each further one.

    Raises
    ------
    ValueError
        No contact is given.
    """

    def __init__(
        self,
        folder: Path,
        *,
        contact: str | None = None,
        data_url: str = DATA_URL,
        files_url: str = FILES_URL,
        archives_url: str = ARCHIVES_URL,
        search_url: str = SEARCH_URL,
        timeout_s: float = patient.TIMEOUT_S,
        back_off_s: float = patient.BACK_OFF_S,
    ) -> None:
        contact = contact or os.environ.get(CONTACT_VARIABLE)
        if not contact:
            raise ValueError(f"the SEC wants to know whom to contact: set {CONTACT_VARIABLE} to an e-mail address")
        self._folder = folder
        self._agent = f"traderbench {contact}"
        self._data_url = data_url
        self._files_url = files_url
        self._archives_url = archives_url
        self._search_url = search_url
        self._timeout_s = timeout_s
        self._back_off_s = back_off_s
        self._lock = threading.Lock()
        self._next_request = 0.0

    def tickers(self) -> Any:
        """Return the ticker map: rows of ``cik_str``, ``ticker``, ``title``."""
        return self._json(f"{self._files_url}/company_tickers.json")

    def submissions(self, cik: str) -> Any:
        """Return what the SEC knows of the filer."""
        return self._json(f"{self._data_url}/submissions/CIK{cik}.json")

    def older_submissions(self, name: str) -> Any:
        """Return a further page of a filer's list of filings, as ``submissions`` names it."""
        return self._json(f"{self._data_url}/submissions/{name}")

    def company_facts(self, cik: str) -> Any:
        """Return every XBRL figure of the filer."""
        return self._json(f"{self._data_url}/api/xbrl/companyfacts/CIK{cik}.json")

    def search(self, query: str, *, forms: str, since: str, until: str, start: int = 0) -> Any:
        """Return a page of the full-text search over filings of a span of days, both included."""
        asked = {"q": query, "forms": forms, "dateRange": "custom", "startdt": since, "enddt": until, "from": start}
        return self._json(f"{self._search_url}?{urlencode(asked)}")

    def files_of(self, cik: str, accession: str) -> Any:
        """Return the names of the files of one filing."""
        return self._json(f"{self._archives_url}/{int(cik)}/{accession.replace('-', '')}/index.json")

    def document(self, cik: str, accession: str, name: str) -> bytes:
        """Return one file of a filing."""
        address = f"{self._archives_url}/{int(cik)}/{accession.replace('-', '')}/{quote(name)}"
        return self._kept(address, math.inf, check=None)

    def _json(self, url: str) -> Any:
        return json.loads(self._kept(url, FRESH_S, check=json.loads))

    def _kept(self, url: str, fresh_s: float, check: Callable[[bytes], Any] | None) -> bytes:
        path = self._folder / hashlib.sha256(url.encode()).hexdigest()[:32]
        with self._lock:
            kept = _read_kept(path, fresh_s)
            if kept is not None:
                return kept
            content = self._fetch(url, check)
            head = {"url": url, "fetched": time.time(), "sha256": hashlib.sha256(content).hexdigest()}
            whole_file.replace(path, json.dumps(head).encode() + b"\n" + content)
            return content

    def _fetch(self, url: str, check: Callable[[bytes], Any] | None) -> bytes:
        time.sleep(max(0.0, self._next_request - time.monotonic()))
        self._next_request = time.monotonic() + PAUSE_S
        return patient.get(
            url,
            whose="SEC EDGAR",
            headers={"User-Agent": self._agent},
            refused=f"it refuses this User-Agent ({CONTACT_VARIABLE}) or too many requests: wait ten minutes",
            check=check,
            timeout_s=self._timeout_s,
            back_off_s=self._back_off_s,
        )


def _read_kept(path: Path, fresh_s: float) -> bytes | None:
    try:
        head, _, content = path.read_bytes().partition(b"\n")
        about = json.loads(head)
        whole = about["sha256"] == hashlib.sha256(content).hexdigest()
        return content if whole and time.time() - about["fetched"] <= fresh_s else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def live(client: SecClient) -> Lake:
    """Return the embedded sample with every company that files with the SEC in place of its two."""
    return replace(sample.embedded(), facts=LiveFacts(client), companies=LiveCompanies(client))


class LiveCompanies:
    """Every company that files with the SEC."""

    def __init__(self, client: SecClient) -> None:
        self._client = client

    def _titles(self) -> dict[str, tuple[str, str]]:
        return {row["ticker"]: (f"{row['cik_str']:010d}", row["title"]) for row in self._client.tickers().values()}

    def find(self, ticker: str) -> Company | None:
        """Return the company with this ticker, or None."""
        cik, title = self._titles().get(ticker, (None, ""))
        return None if cik is None else _company(ticker, cik, title, self._client.submissions(cik))

    def search(self, text: str, *, limit: int) -> list[Company]:
        """Return up to ``limit`` companies whose ticker, CIK or name holds ``text``."""
        needle = text.strip().lower()
        hits = [ticker for ticker, about in self._titles().items() if needle in f"{ticker} {' '.join(about)}".lower()]
        return [company for ticker in hits[:limit] if (company := self.find(ticker)) is not None]


def _company(ticker: str, cik: str, title: str, filer: Mapping[str, Any]) -> Company:
    return Company(
        ticker=ticker,
        name=filer.get("name") or title,
        cik=cik,
        exchange=", ".join(name for name in filer.get("exchanges", ()) if name),
        sic=filer.get("sic", ""),
        industry=filer.get("sicDescription", ""),
        fiscal_year_end_month=_year_end_month(filer.get("fiscalYearEnd") or "1231"),
    )


def _year_end_month(month_and_day: str) -> int:
    """Return the month of ``MMDD``; the first days of a month belong to the year end before them."""
    month, day = int(month_and_day[:2]), int(month_and_day[2:])
    return month if day > company_facts.DRIFT_DAYS else (month - 2) % 12 + 1


class LiveFacts:
    """The facts of every company that files with the SEC."""

    origin = "SEC EDGAR XBRL company facts (US public domain), fetched live"

    def __init__(self, client: SecClient) -> None:
        self._client = client
        self._companies = LiveCompanies(client)

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        """Return every ticker of the SEC's map; some had filed nothing by ``as_of``."""
        return tuple(sorted(row["ticker"] for row in self._client.tickers().values()))

    def known(self, key: str, *, as_of: date) -> Facts:
        """Return the facts of ``key`` that were filed by ``as_of``."""
        company = self._companies.find(key)
        if company is None:
            raise UnknownKey(f"the SEC knows no ticker {key!r}")
        document = self._client.company_facts(company.cik)
        facts = company_facts.read(document, fiscal_year_end_month=company.fiscal_year_end_month)
        known = known_rows(facts, as_of=as_of)
        if not len(known):
            raise UnknownKey(f"{key} had filed no figures by {as_of}")
        return known
