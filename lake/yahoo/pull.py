"""Fetching a ticker from Yahoo into tables, going on where a pull ended; what has no date is kept as snapshots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

from lake.point_in_time import ProviderUnavailable
from lake.records import Columns, StatementLines
from lake.tables import Table
from lake.yahoo.provider import Tables, option_quotes, tables
from lake.yahoo.read import Yahoo

RecordT = TypeVar("RecordT", bound=Columns)
SOURCE = "Yahoo Finance through yfinance"


@dataclass(frozen=True)
class Pulled:
    """What there is of one ticker after a pull.

    Attributes
    ----------
    rows
        Number of rows by table.
    missing
        One line for each table that Yahoo did not give.
    fresh
        Whether all of it was here already, read on the same day.
    """

    ticker: str
    rows: dict[str, int]
    missing: tuple[str, ...] = ()
    fresh: bool = False


def pull(
    path: Path,
    ticker: str,
    *,
    session: Any,
    since: date | None = None,
    now: datetime | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Pulled:
    """Fetch prices, actions, earnings, estimates, statements and news of one ticker.

    Prices and actions replace what is here, because a split changes all that Yahoo shows; the other tables grow: each
    row keeps the day on which it was first read.

    Parameters
    ----------
    path
        ``lake.path``.
    ticker
        As Yahoo writes it.
    session
        Of :mod:`lake.yahoo.session`.
    since
        First day of prices; all by default.

    Raises
    ------
    ValueError
        Yahoo has no prices of the ticker.
    ProviderUnavailable
        Yahoo did not give the prices. Other tables that it does not give are in ``missing``.
    """
    held = tables(path)
    yahoo = Yahoo(ticker, session=session, cache=path / "equities" / ".yfinance", now=now)
    first = since.isoformat() if since else ""
    entry = held.news.entries().get(ticker, {})
    if entry.get("read_on") == yahoo.today.isoformat() and entry.get("since") == first:
        return Pulled(ticker, _counts(held, ticker), fresh=True)
    bars, actions = yahoo.prices(since)
    held.bars.write(ticker, bars, source=SOURCE, since=first)
    held.actions.write(ticker, actions, source=SOURCE, since=first)
    progress(f"{ticker}: {len(bars):,} bars, {len(actions):,} actions")
    missing: list[str] = []

    def grown(
        table: Table[RecordT], read: Callable[[], RecordT], new: Callable[[RecordT], RecordT] = lambda rows: rows
    ) -> None:
        try:
            rows = read()
        except (ProviderUnavailable, ValueError) as error:
            missing.append(str(error))
            return
        table.add(ticker, new(rows), source=SOURCE, since=first)

    grown(held.earnings, yahoo.earnings)
    grown(held.estimates, yahoo.estimates)
    grown(held.statements, yahoo.statements, lambda rows: _changed(held.statements, ticker, rows))
    grown(held.news, yahoo.news)
    if not missing:
        # the last one says that the day's reading is whole
        held.news.add(ticker, held.news.record.of([]), source=SOURCE, since=first, read_on=yahoo.today.isoformat())
    return Pulled(ticker, _counts(held, ticker), tuple(missing))


def pull_options(path: Path, ticker: str, *, session: Any, now: datetime | None = None) -> Pulled:
    """Add a snapshot of all listed options of one underlying; otherwise like :func:`pull`."""
    table = option_quotes(path)
    yahoo = Yahoo(ticker, session=session, cache=path / "options" / ".yfinance", now=now)
    quotes = yahoo.options()
    if not len(quotes):
        raise ValueError(f"Yahoo Finance lists no options on {ticker}")
    table.add(ticker, quotes, source=SOURCE)
    return Pulled(ticker, {"quotes": table.entries()[ticker]["rows"]})


def _counts(held: Tables, ticker: str) -> dict[str, int]:
    tables: tuple[Table[Any], ...] = held
    return {table.folder.name: table.entries().get(ticker, {}).get("rows", 0) for table in tables}


def _changed(table: Table[StatementLines], ticker: str, rows: StatementLines) -> StatementLines:
    """Return the lines that were not read before with the same value."""
    if ticker not in table.entries():
        return rows
    before = table.known(ticker, as_of=date.max)
    columns = (before.statement, before.frequency, before.period_end, before.line_item)
    last = dict(zip(zip(*columns, strict=True), before.value, strict=True))
    now = zip(rows.statement, rows.frequency, rows.period_end, rows.line_item, strict=True)
    return rows.take(
        row for row, (name, value) in enumerate(zip(now, rows.value, strict=True)) if last.get(name) != value
    )
