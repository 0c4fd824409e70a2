"""Live company figures from SEC EDGAR, kept in a local folder. For servers that run alone, not for benchmark runs."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from lake import company_facts, sample
from lake.fundamentals import Company
from lake.point_in_time import ProviderUnavailable, UnknownKey, known_rows
from lake.records import Facts
from lake.sample import Lake

DATA_URL = "https://data.sec.gov"
FILES_URL = "https://www.sec.gov/files"
CONTACT_VARIABLE = "TRADERBENCH_SEC_CONTACT"
TIMEOUT_S = 20.0
FRESH_S = 24 * 3600.0
PAUSE_S = 0.12
"""The SEC asks for at most ten requests a second."""


class SecClient:
    """Reads JSON from EDGAR, politely, and keeps it for a day.

    Parameters
    ----------
    folder
        Where answers are kept.
    contact
        E-mail address or URL that the SEC wants in the ``User-Agent``; by default from ``TRADERBENCH_SEC_CONTACT``.

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
    ) -> None:
        contact = contact or os.environ.get(CONTACT_VARIABLE)
        if not contact:
            raise ValueError(f"the SEC wants to know whom to contact: set {CONTACT_VARIABLE} to an e-mail address")
        self._folder = folder
        self._agent = f"traderbench {contact}"
        self._data_url = data_url
        self._files_url = files_url
        self._lock = threading.Lock()
        self._next_request = 0.0

    def tickers(self) -> Any:
        """Return the ticker map: rows of ``cik_str``, ``ticker``, ``title``."""
        return self._json(f"{self._files_url}/company_tickers.json")

    def submissions(self, cik: str) -> Any:
        """Return what the SEC knows of the filer."""
        return self._json(f"{self._data_url}/submissions/CIK{cik}.json")

    def company_facts(self, cik: str) -> Any:
        """Return every XBRL figure of the filer."""
        return self._json(f"{self._data_url}/api/xbrl/companyfacts/CIK{cik}.json")

    def _json(self, url: str) -> Any:
        kept = self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"
        with self._lock:
            if not kept.exists() or time.time() - kept.stat().st_mtime > FRESH_S:
                self._fetch(url, kept)
            return json.loads(kept.read_bytes())

    def _fetch(self, url: str, kept: Path) -> None:
        import httpx

        time.sleep(max(0.0, self._next_request - time.monotonic()))
        self._next_request = time.monotonic() + PAUSE_S
        try:
            reply = httpx.get(url, headers={"User-Agent": self._agent}, timeout=TIMEOUT_S)
            reply.raise_for_status()
            json.loads(reply.content)
        except (httpx.HTTPError, ValueError) as error:
            raise ProviderUnavailable(f"SEC EDGAR did not give {url}: {error}") from error
        self._folder.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(".part")
        part.write_bytes(reply.content)
        part.replace(kept)


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
