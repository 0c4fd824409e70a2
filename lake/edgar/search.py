"""The SEC's full-text search: which filings hold some words, to pull those and no others."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any, NamedTuple

from lake.point_in_time import ProviderUnavailable
from lake.sec import SecClient

FIRST_DAY = date(2001, 1, 1)
"""The search covers filings from 2001 on."""
_FILER = re.compile(r"\(([A-Z0-9.,\s-]+)\)\s+\(CIK (\d{10})\)")


class Hit(NamedTuple):
    """A filing that holds the words; a filer without a ticker is left out."""

    ticker: str
    accession: str
    form: str
    filed: date


def search(
    client: SecClient, words: str, *, forms: Collection[str], since: date, until: date, limit: int = 100
) -> list[Hit]:
    """Return up to ``limit`` filings of a span of days that hold the words, the SEC's best first.

    Parameters
    ----------
    words
        As the SEC's search takes them; words in quotation marks stand in this order.
    forms
        ``10-K``, ``8-K``, ...
    since, until
        First and last filing date.

    Raises
    ------
    ProviderUnavailable
        The SEC does not answer, or answers something else than it used to.
    """
    found: dict[str, Hit] = {}
    start = 0
    while len(found) < limit:
        first, last = max(since, FIRST_DAY).isoformat(), min(until, date(2100, 1, 1)).isoformat()
        page = client.search(words, forms=",".join(forms), since=first, until=last, start=start)
        try:
            rows: list[Mapping[str, Any]] = page["hits"]["hits"]
            total = int(page["hits"]["total"]["value"])
            hits = [hit for row in rows if (hit := _hit(row)) is not None]
        except (KeyError, TypeError, ValueError) as error:
            raise ProviderUnavailable(
                f"the SEC's full-text search answers otherwise than it used to: {error!r}"
            ) from error
        for hit in hits:
            found.setdefault(hit.accession, hit)
        start += len(rows)
        if not rows or start >= total:
            break
    return list(found.values())[:limit]


def _hit(row: Mapping[str, Any]) -> Hit | None:
    about = row["_source"]
    for name in about["display_names"]:
        if filer := _FILER.search(name):
            ticker = filer[1].split(",")[0].strip()
            return Hit(ticker, str(row["_id"]).partition(":")[0], about["form"], date.fromisoformat(about["file_date"]))
    return None
