"""The list of a company's filings, from the SEC's ``submissions`` JSON, with the day on which each became public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from lake.clock import NEW_YORK, day_in, zone
from lake.records import FilingIndex

NEEDED = ("accessionNumber", "filingDate", "reportDate", "acceptanceDateTime", "form", "items", "primaryDocument")


def accepted_at(text: str) -> datetime:
    """Return the moment of acceptance.

    The SEC writes ``2022-02-04T20:11:27.000Z`` and means the clock of New York: no filing of a day lies between 22:00
    and 6:00 when read so. Were it UTC, this reading would be hours late, never early.
    """
    try:
        stamp = datetime.fromisoformat(text.removesuffix("Z"))
    except ValueError:
        raise ValueError(f"acceptanceDateTime must be like 2024-11-01T06:01:36.000Z, got {text!r}") from None
    return stamp.replace(tzinfo=zone(NEW_YORK))


def public_on(accepted: datetime, filed: date) -> date:
    """Return the day on which a filing became public.

    What is accepted after 17:30 has the next business day as its filing date and is disseminated then.
    """
    return max(day_in(NEW_YORK, accepted), filed)


def read(pages: Sequence[Mapping[str, Any]]) -> FilingIndex:
    """Return the filings of all pages, whatever the order in which they stand there.

    Parameters
    ----------
    pages
        ``filings.recent`` of the ``submissions`` JSON, and the further files that it names: objects of columns.

    Raises
    ------
    ValueError
        A column is missing, or columns differ in length.
    """
    rows: dict[str, tuple[Any, ...]] = {}
    for page in pages:
        missing = [name for name in NEEDED if name not in page]
        if missing or len({len(page[name]) for name in NEEDED}) != 1:
            wrong = f"lacks {', '.join(missing)}" if missing else "has columns of different lengths"
            raise ValueError(f"the SEC's list of filings {wrong}")
        titles = page.get("primaryDocDescription", [""] * len(page["form"]))
        for cells, title in zip(zip(*(page[name] for name in NEEDED), strict=True), titles, strict=True):
            accession, filed, report, accepted, form, items, document = cells
            moment = accepted_at(accepted)
            rows[accession] = (
                public_on(moment, date.fromisoformat(filed)),
                moment,
                form,
                accession,
                date.fromisoformat(report) if report else None,
                items or "",
                document or "",
                title or "",
            )
    return FilingIndex.of(sorted(rows.values(), key=lambda row: (row[0], row[1], row[3])))
