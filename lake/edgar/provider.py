"""Pulled filings as sources of the lake."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lake.fundamentals import Company
from lake.layers import Layered, LayeredCompanies, LayeredTexts
from lake.point_in_time import ProviderUnavailable
from lake.records import Facts, FilingIndex, Sections
from lake.sample import Lake
from lake.settings import LakeSettings
from lake.tables import Table

ORIGIN = "SEC EDGAR (US public domain), as pulled"
COMPANIES = "companies.json"
HINT = "; what was pulled is served: traderbench data pull filings --ticker TICKER"


class Tables(NamedTuple):
    """The tables of the folder ``filings``."""

    facts: Table[Facts]
    filings: Table[FilingIndex]
    sections: Table[Sections]


def tables(folder: Path, fetch: Callable[[str], None] | None = None) -> Tables:
    """Return the tables; with ``fetch`` list and figures of a ticker that is not there are pulled when asked for."""
    return Tables(
        Table(folder / "facts", Facts, origin=ORIGIN, hint=HINT, fetch=fetch),
        Table(folder / "index", FilingIndex, origin=ORIGIN, hint=HINT, fetch=fetch),
        Table(folder / "sections", Sections, origin=ORIGIN, hint=HINT),
    )


class PulledCompanies:
    """The companies whose filings were pulled."""

    def __init__(self, folder: Path, fetch: Callable[[str], None] | None) -> None:
        self._path = folder / COMPANIES
        self._held = tables(folder, fetch)

    def _companies(self) -> dict[str, Company]:
        if not self._path.exists():
            return {}
        try:
            return {ticker: Company(**about) for ticker, about in json.loads(self._path.read_bytes()).items()}
        except (ValueError, TypeError) as error:
            raise ProviderUnavailable(f"{self._path} is no list of companies; pull the filings again") from error

    def find(self, ticker: str) -> Company | None:
        """Return the company with this ticker, or None."""
        self._held.filings.ensure(ticker)
        return self._companies().get(ticker)

    def search(self, text: str, *, limit: int) -> list[Company]:
        """Return up to ``limit`` companies whose ticker, CIK, name or industry holds ``text``."""
        needle = text.strip().lower()
        rows = self._companies().values()
        return [row for row in rows if needle in f"{row.ticker} {row.name} {row.cik} {row.industry}".lower()][:limit]


def into(lake: Lake, settings: LakeSettings) -> Lake:
    """Put the pulled filings before the embedded figures."""
    folder = Path(settings.path) / "filings"
    fetch = None if settings.offline else _fetcher(folder, settings)
    held = tables(folder, fetch)
    if settings.offline and not held.filings.entries():
        raise ValueError(
            f"filings: edgar: nothing was pulled into {folder}; traderbench data pull filings --ticker AAPL "
            f"--out {settings.path} does, or set offline: false"
        )
    return replace(
        lake,
        facts=Layered(held.facts, lake.facts, hint=HINT),
        companies=LayeredCompanies(PulledCompanies(folder, fetch), lake.companies),
        filings=Layered(held.filings, lake.filings, hint=HINT),
        sections=LayeredTexts(held.sections, lake.sections),
    )


def _fetcher(folder: Path, settings: LakeSettings) -> Callable[[str], None]:
    from lake.edgar import pull
    from lake.sec import SecClient

    client = SecClient(Path(settings.cache) if settings.cache else folder / "cache")

    def fetch(ticker: str) -> None:
        try:
            # texts would be hundreds of documents within one call of a tool
            pull.pull(folder, client, ticker, documents=False)
        except ValueError:
            # the SEC has no such ticker: the table's own error says that nothing is known
            return

    return fetch
