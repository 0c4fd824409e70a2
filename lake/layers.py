"""Sources behind each other: what the first does not have is asked of the next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Generic

from lake.fundamentals import Companies, Company
from lake.point_in_time import RecordT_co, Source, UnknownKey, unknown_key
from lake.records import Sections
from lake.tables import Searchable


class Layered(Generic[RecordT_co]):
    """Several sources as one. A key is served by the first of them that knew anything of it, and by that alone.

    ``hint`` says what to do about a key that none of them knew.
    """

    def __init__(self, *sources: Source[RecordT_co], hint: str = "") -> None:
        self.sources = sources
        self._hint = hint

    @property
    def origin(self) -> str:
        """Where the data comes from, the first source first."""
        return "; else ".join(source.origin for source in self.sources)

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        """Return the keys of which any of them knew something, sorted."""
        return tuple(sorted({key for source in self.sources for key in source.keys(as_of=as_of)}))

    def holder(self, key: str, *, as_of: date) -> Source[RecordT_co] | None:
        """Return the source that serves ``key`` on ``as_of``; None if none does."""
        for source in self.sources:
            try:
                source.known(key, as_of=as_of)
            except UnknownKey:
                continue
            return source
        return None

    def known(self, key: str, *, as_of: date) -> RecordT_co:
        """Return what was known of ``key``; the :class:`UnknownKey` if nothing names keys of all sources."""
        for source in self.sources:
            try:
                return source.known(key, as_of=as_of)
            except UnknownKey:
                continue
        raise unknown_key(key, as_of, self.keys(as_of=as_of), self._hint)


class LayeredTexts(Layered[Sections]):
    """Texts of several sources as one, each company's from the first that has any.

    A search over all companies reads the first source: those behind it make their texts when a company is asked for.
    """

    sources: tuple[Searchable[Sections], ...]

    def __init__(self, *sources: Searchable[Sections]) -> None:
        super().__init__(*sources)

    def holder(self, key: str, *, as_of: date) -> Searchable[Sections]:
        """Return the source that has texts of the company on that day; the first if none has."""
        return next((each for each in self.sources if key in each.keys(as_of=as_of)), self.sources[0])

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
        """Return the rows that meet an SQL condition and were public, as ``Table.select`` does."""
        holder = self.sources[0] if key is None else self.holder(key, as_of=as_of)
        return holder.select(where, values, key=key, as_of=as_of, order=order, last=last)

    def distinct(
        self, column: str, where: str = "true", values: Sequence[Any] = (), *, key: str, as_of: date
    ) -> list[Any]:
        """Return the different values of one column in a company's rows that were public, the oldest first."""
        return self.holder(key, as_of=as_of).distinct(column, where, values, key=key, as_of=as_of)

    def unknown(self, key: str, as_of: date) -> UnknownKey:
        """Return the error for a company of which no text was public."""
        return self.sources[0].unknown(key, as_of)


class LayeredCompanies:
    """Several directories of filers as one."""

    def __init__(self, *directories: Companies) -> None:
        self._directories: Sequence[Companies] = directories

    def find(self, ticker: str) -> Company | None:
        """Return the company with this ticker, or None."""
        found = (directory.find(ticker) for directory in self._directories)
        return next((company for company in found if company is not None), None)

    def search(self, text: str, *, limit: int) -> list[Company]:
        """Return up to ``limit`` companies that the directories find, each ticker once."""
        found: dict[str, Company] = {}
        for directory in self._directories:
            for company in directory.search(text, limit=limit):
                found.setdefault(company.ticker, company)
        return list(found.values())[:limit]
