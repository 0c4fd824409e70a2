"""The one gate through which data leaves the lake: nothing that became known after ``as_of`` passes it."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Generic, Protocol, TypeVar

from lake.records import Columns

RecordT = TypeVar("RecordT", bound=Columns)
RecordT_co = TypeVar("RecordT_co", bound=Columns, covariant=True)


class UnknownKey(KeyError):
    """The source holds nothing under this key that was known on the date asked for."""

    def __str__(self) -> str:
        return str(self.args[0])


LISTED = 20
"""Keys that an error names."""


def listed(keys: Sequence[str]) -> str:
    """Return keys in a line, the first ones by name."""
    more = f" and {len(keys) - LISTED:,} more" if len(keys) > LISTED else ""
    return ", ".join(keys[:LISTED]) + more if keys else "nothing"


def unknown_key(key: str, as_of: date, keys: Sequence[str], hint: str = "") -> UnknownKey:
    """Return the error for a key of which nothing was known: it names some that were."""
    return UnknownKey(f"no data on {key!r} was known on {as_of}; known then: {listed(keys)}{hint}")


class ProviderUnavailable(RuntimeError):
    """A provider outside of this machine did not answer; the message says which and how."""


def known_rows(table: RecordT, *, as_of: date) -> RecordT:
    """Return the rows of ``table`` with ``known_on <= as_of``."""
    return table.head(known_count(table, as_of=as_of))


def known_count(table: Columns, *, as_of: date) -> int:
    """Return how many rows of ``table`` have ``known_on <= as_of``: they are its first."""
    return bisect_right(table.known_on, as_of)


class Source(Protocol[RecordT_co]):
    """A provider of one kind of record, by key (a ticker, or the name of a series)."""

    @property
    def origin(self) -> str:
        """One line: where the data comes from, and its terms."""
        ...

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        """Return the keys of which something was known on ``as_of``, sorted."""
        ...

    def known(self, key: str, *, as_of: date) -> RecordT_co:
        """Return everything about ``key`` that was known at the close of ``as_of``; :class:`UnknownKey` if nothing."""
        ...


class PointInTime(Generic[RecordT]):
    """A source over tables in memory, read by ``load`` when the first query comes.

    Parameters
    ----------
    origin
        Where the data comes from, and its terms.
    load
        Returns the full tables by key.
    """

    def __init__(self, origin: str, load: Callable[[], Mapping[str, RecordT]]) -> None:
        self._origin = origin
        self._load = load
        self._tables: Mapping[str, RecordT] | None = None
        self._lock = threading.Lock()

    @property
    def origin(self) -> str:
        """Where the data comes from, and its terms."""
        return self._origin

    def _loaded(self) -> Mapping[str, RecordT]:
        with self._lock:
            if self._tables is None:
                self._tables = self._load()
            return self._tables

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        """Return the keys of which something was known on ``as_of``, sorted."""
        return tuple(sorted(key for key, table in self._loaded().items() if table.known_on[:1] <= (as_of,) and table))

    def known(self, key: str, *, as_of: date) -> RecordT:
        """Return the rows of ``key`` with ``known_on <= as_of``."""
        table = self._loaded().get(key)
        rows = None if table is None else known_rows(table, as_of=as_of)
        if not rows:
            raise unknown_key(key, as_of, self.keys(as_of=as_of))
        return rows
