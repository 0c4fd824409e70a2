"""Simulated filers as sources of the lake: made when a key is asked for, cut at the date like all others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import date
from functools import cache, lru_cache
from typing import Any, Generic

from lake.point_in_time import UnknownKey, known_rows, unknown_key
from lake.records import Facts, Sections
from lake.simulated_filers.directory import filers
from lake.simulated_filers.schedule import first_filed
from lake.simulated_filers.statements import facts_of_year
from lake.tables import RecordT, distinct_in, select_in

ORIGIN = "SIMULATED by traderbench (lake/simulated_filers): no real company"
KEPT = 64
"""Companies of which a source keeps what it made."""


@cache
def _first_days() -> dict[str, date]:
    return {ticker: first_filed(filer) for ticker, filer in sorted(filers().items())}


class Generated(Generic[RecordT]):
    """A ``point_in_time.Source`` of what ``make`` returns for a ticker; a filer is known from its first report on."""

    def __init__(self, make: Callable[[str], RecordT]) -> None:
        self._make = lru_cache(maxsize=KEPT)(make)

    @property
    def origin(self) -> str:
        """Say that it is simulated."""
        return ORIGIN

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        """Return the tickers of filers that had filed a report by ``as_of``, sorted."""
        return tuple(ticker for ticker, day in _first_days().items() if day <= as_of)

    def known(self, key: str, *, as_of: date) -> RecordT:
        """Return the rows of ``key`` with ``known_on <= as_of``: none of a filer of which there are none so far.

        Raises
        ------
        UnknownKey
            Nobody of this ticker had filed by then.
        """
        if not self._has(key, as_of):
            raise self.unknown(key, as_of)
        return known_rows(self._make(key), as_of=as_of)

    def unknown(self, key: str, as_of: date) -> UnknownKey:
        """Return the error for a key of which nothing was known."""
        return unknown_key(key, as_of, self.keys(as_of=as_of))

    def _has(self, key: str, as_of: date) -> bool:
        return key in _first_days() and _first_days()[key] <= as_of


class GeneratedFacts(Generated[Facts]):
    """Figures of simulated filers; one figure of all of them is made without the rest."""

    def across(self, tags: Collection[str], fiscal_year: int, *, as_of: date) -> dict[str, Facts]:
        """Return by ticker the rows of some tags and one fiscal year that were known."""
        found = {}
        for ticker in self.keys(as_of=as_of):
            rows = known_rows(facts_of_year(ticker, tags, fiscal_year), as_of=as_of)
            if len(rows):
                found[ticker] = rows
        return found


class GeneratedSections(Generated[Sections]):
    """Texts of simulated filers, asked like those on disk (``lake.tables.Searchable``), of one company at a time."""

    def select(
        self,
        where: str,
        values: Sequence[Any] = (),
        *,
        key: str | None = None,
        as_of: date,
        order: str = "known_on",
        last: int | None = None,
    ) -> Sections:
        """Return the rows of ``key`` that meet an SQL condition and were known; nothing without a key."""
        if key is None or not self._has(key, as_of):
            return Sections.of([])
        return select_in(self.known(key, as_of=as_of), where, values, order=order, last=last)

    def distinct(
        self, column: str, where: str = "true", values: Sequence[Any] = (), *, key: str, as_of: date
    ) -> list[Any]:
        """Return the different values of one column in the rows of ``key`` that were known, the oldest first."""
        return distinct_in(self.known(key, as_of=as_of), column, where, values) if self._has(key, as_of) else []
