"""The embedded sample with records of the future in every source: none of them may ever be served."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from lake import sample
from lake.fundamentals import Company, EmbeddedCompanies
from lake.layers import Layered, LayeredCompanies, LayeredTexts
from lake.point_in_time import PointInTime
from lake.records import (
    Actions,
    Bars,
    CryptoBars,
    Earnings,
    Estimates,
    Facts,
    FilingIndex,
    FundingRates,
    News,
    Observations,
    OptionQuotes,
    OrderBooks,
    Sections,
    StatementLines,
)
from lake.simulated_filers import outlook, statements, texts
from lake.simulated_filers.directory import SimulatedCompanies, filers
from lake.simulated_filers.source import Generated, GeneratedFacts, GeneratedSections
from lake.tables import RecordT, Table
from tests.lake.quoted import made_chain

AS_OF = date(2020, 6, 15)
TOMORROW = date(2020, 6, 16)
CANARY = 777_123.0
DIGITS = "777123"
NEWCOMER = "NEWCO"
"""A key of which everything is of tomorrow."""
FILER = sorted(filers())[0]
"""A simulated filer, of which everything planted is of tomorrow."""
_FOLDER = tempfile.TemporaryDirectory()


def planted(*, with_tomorrow: bool = True) -> sample.Lake:
    """Return the embedded sample with a row of tomorrow in every table; without it, what should be seen of that."""
    lake = sample.embedded()
    last = TOMORROW if with_tomorrow else AS_OF
    facts = list(_rows(lake.facts.known("AAPL", as_of=AS_OF)))
    facts.append(
        (TOMORROW, "Revenues", 2019, "FY", date(2018, 9, 30), date(2019, 9, 28), CANARY, "USD", "10-K/A", DIGITS)
    )
    bars = list(_rows(lake.simulated_bars.known("SIM-TECH", as_of=AS_OF)))
    bars.append((TOMORROW, CANARY, CANARY + 1, CANARY - 1, CANARY, CANARY))
    kept = Path(_FOLDER.name) / last.isoformat()

    def memory(table: type[RecordT], key: str, rows: Any) -> PointInTime[RecordT]:
        return PointInTime("fixture", lambda: {key: table.of([row for row in rows if row[0] <= last])})

    def beside(make: Callable[[str], RecordT], row: tuple[Any, ...]) -> Callable[[str], RecordT]:
        """Return what a simulated filer has, and a row of tomorrow."""

        def made(ticker: str) -> RecordT:
            table = make(ticker)
            return type(table).of([each for each in (*_rows(table), row) if each[0] <= last])

        return made

    rates = [(date(2020, 6, 1), date(2020, 6, 1), 0.15), (TOMORROW, TOMORROW, 77.0)]
    return replace(
        lake,
        facts=Layered(memory(Facts, "AAPL", facts), GeneratedFacts(beside(statements.facts, facts[-1]))),
        companies=LayeredCompanies(_Companies() if with_tomorrow else EmbeddedCompanies(), SimulatedCompanies()),
        simulated_bars=memory(Bars, "SIM-TECH", bars),
        rates=memory(Observations, "DTB3", rates),
        filings=Layered(
            _table(kept / "index", FilingIndex, "AAPL", list(_filings()), last),
            Generated(beside(statements.filings, list(_filings())[-1])),
        ),
        option_quotes=_table(kept / "option_quotes", OptionQuotes, "ACME", list(_option_quotes()), last),
        sections=LayeredTexts(
            _table(kept / "sections", Sections, "AAPL", list(_sections()), last),
            GeneratedSections(beside(texts.sections, list(_sections())[-1])),
        ),
        **{
            name: _provided(
                kept, name, last, beside(_OF_FILERS[name], row(TOMORROW, CANARY)) if name in _OF_FILERS else None
            )
            for name, (_, _, row) in _PROVIDED.items()
        },
    )


class _Companies(EmbeddedCompanies):
    """The embedded companies, and one that will file its first report tomorrow."""

    def find(self, ticker: str) -> Company | None:
        return (
            Company(NEWCOMER, "Apple of tomorrow", DIGITS, "", "", "", 9)
            if ticker == NEWCOMER
            else super().find(ticker)
        )

    def search(self, text: str, *, limit: int) -> list[Company]:
        found = self.find(NEWCOMER)
        return [*([found] if found else []), *super().search(text, limit=limit)][:limit]


def _moment(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 20, tzinfo=UTC)


_TWO_DAYS = ((AS_OF, 2.0), (TOMORROW, CANARY))
_PROVIDED: dict[str, tuple[Any, str, Callable[[date, float], tuple[Any, ...]]]] = {
    "actions": (Actions, "AAPL", lambda day, value: (day, "dividend", value)),
    "earnings": (Earnings, "AAPL", lambda day, value: (day, _moment(day), value, value)),
    "estimates": (Estimates, "AAPL", lambda day, value: (day, "eps", "0q", value, value, value, value, int(value))),
    "statements": (
        StatementLines,
        "AAPL",
        lambda day, value: (day, "income", "annual", date(2019, 9, 28), "TotalRevenue", value),
    ),
    "news": (News, "AAPL", lambda day, value: (day, _moment(day), f"Worth {value}", "Wire", f"{value}", "")),
    "crypto_candles": (
        CryptoBars,
        "BTC/USDT 1h",
        lambda day, value: (day, _moment(day), value, value, value, value, value),
    ),
    "funding": (FundingRates, "BTC/USDT:USDT", lambda day, value: (day, _moment(day), value)),
    "order_books": (OrderBooks, "BTC/USDT", lambda day, value: (day, _moment(day), "bid", 1, value, value)),
}
"""Fields of the lake -> the record, a key, and what a row is of a day and a value."""
_OF_FILERS = {"actions": outlook.actions, "earnings": outlook.earnings, "estimates": outlook.estimates}
"""Those that simulated filers have, too."""


def _provided(kept: Path, name: str, last: date, make: Callable[[str], Any] | None) -> Any:
    record, key, row = _PROVIDED[name]
    table = _table(kept / name, record, key, [row(day, value) for day, value in _TWO_DAYS], last)
    return table if make is None else Layered(table, Generated(make))


def _table(folder: Path, record: type[RecordT], key: str, rows: Any, last: date) -> Table[RecordT]:
    """Return a table on disk, as a pull leaves it, with what is of tomorrow under the key of a newcomer too."""
    table = Table(folder, record, origin="fixture")
    table.write(key, record.of([row for row in rows if row[0] <= last]), source="fixture")
    if last == TOMORROW:
        table.write(NEWCOMER, record.of([row for row in rows if row[0] == TOMORROW]), source="fixture")
    return table


def _filings() -> Any:
    for day, accession, form in ((AS_OF, "0000320193-20-000062", "10-Q"), (TOMORROW, DIGITS, "10-K")):
        accepted = datetime(day.year, day.month, day.day, 20, tzinfo=UTC)
        yield (day, accepted, form, accession, date(2020, 3, 28), "", f"{accession}.htm", form)


def _option_quotes() -> Any:
    """Yield a chain of the day, and one of tomorrow at the planted price of the underlying."""
    yield from made_chain.rows(AS_OF, exercise="heston")
    for row in made_chain.rows(TOMORROW):
        yield (*row[:2], CANARY, *row[3:])


def _sections() -> Any:
    for day, accession, form, word in (
        (AS_OF, "0000320193-20-000062", "10-Q", "phones"),
        (TOMORROW, DIGITS, "10-K", DIGITS),
    ):
        yield (day, "AAPL", accession, form, 0, "I-2", f"Discussion {word}", f"Item 2. Apple sells {word}")


def _rows(table: Any) -> Any:
    return zip(*(column for _, column in table.columns()), strict=True)
