"""Records on disk: one Parquet file a key, found through a manifest with checksums, read by DuckDB when asked for.

Opening a table reads nothing but the manifest, and that at the first question: a thousand tickers cost no start-up.
Keys come from agents; they are looked up in the manifest and never become part of a path.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import typing
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from urllib.parse import quote

from lake import whole_file
from lake.point_in_time import ProviderUnavailable, RecordT_co, Source, UnknownKey, known_rows, unknown_key
from lake.records import Columns

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

RecordT = TypeVar("RecordT", bound=Columns)
MANIFEST = "manifest.json"
KEPT = 64
"""Keys of a table that stay in memory: a simulated broker asks for the same prices every day."""
_NAME = re.compile(r"[A-Z0-9][A-Z0-9.^=/:_-]{0,23}|\^[A-Z0-9.-]{1,20}", re.ASCII)
"""What may be asked of a provider: agents write anything."""


class Searchable(Source[RecordT_co], Protocol[RecordT_co]):
    """A source whose rows can be chosen by SQL conditions: for long texts."""

    def select(
        self,
        where: str,
        values: Sequence[Any] = (),
        *,
        key: str | None = None,
        as_of: date,
        order: str = "known_on",
        last: int | None = None,
    ) -> RecordT_co:
        """Return the rows known on ``as_of`` that meet a condition, as :meth:`Table.select` does."""
        ...

    def distinct(
        self, column: str, where: str = "true", values: Sequence[Any] = (), *, key: str, as_of: date
    ) -> list[Any]:
        """Return the different values of a column, as :meth:`Table.distinct` does."""
        ...

    def unknown(self, key: str, as_of: date) -> UnknownKey:
        """Return the error for a key of which nothing was known."""
        ...


class Table(Generic[RecordT]):
    """A ``point_in_time.Source`` over the files of one folder; safe for threads.

    Parameters
    ----------
    folder
        Where the files and the manifest lie; it need not exist. None: there is nothing.
    record
        What a row is; its fields are the columns.
    origin
        Where the data comes from, and its terms.
    hint
        What to do about a key that is not here, said at the end of every :class:`UnknownKey`. It is said of unpulled
        keys and of keys of which nothing was known yet alike, or the error would tell the future.
    fetch
        Writes a key that is not here, from its provider; None: the table is offline.
    """

    def __init__(
        self,
        folder: Path | None,
        record: type[RecordT],
        *,
        origin: str,
        hint: str = "",
        fetch: Callable[[str], None] | None = None,
    ) -> None:
        self.record = record
        self._folder = folder
        self._origin = origin
        self._hint = hint
        self._fetch = fetch
        self._fetching = threading.Lock()
        self._asked: set[str] = set()
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._entries: dict[str, dict[str, Any]] = {}
        self._tables: OrderedDict[tuple[str, str], RecordT] = OrderedDict()

    @property
    def folder(self) -> Path:
        """Where the files lie; ``ValueError`` for a table that has none."""
        if self._folder is None:
            raise ValueError(f"a table of {self.record.__name__} without a folder holds nothing and takes nothing")
        return self._folder

    @property
    def origin(self) -> str:
        """Where the data comes from, and its terms."""
        return self._origin

    def entries(self) -> Mapping[str, dict[str, Any]]:
        """Return the manifest: by key its file, rows, sha256, first_known, pulled_at and what the puller noted."""
        if self._folder is None:
            return {}
        path = self._folder / MANIFEST
        with self._lock:
            try:
                status = path.stat()
            except FileNotFoundError:
                return {}
            if self._seen != (status.st_mtime_ns, status.st_ino):
                try:
                    self._entries = json.loads(path.read_bytes())["keys"]
                except (ValueError, KeyError, TypeError) as error:
                    raise ProviderUnavailable(f"{path} is no manifest of pulled data; remove the folder") from error
                self._seen = (status.st_mtime_ns, status.st_ino)
            return self._entries

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        """Return the keys of which something was known on ``as_of``, sorted."""
        day = as_of.isoformat()
        return tuple(
            sorted(key for key, entry in self.entries().items() if entry["rows"] and entry["first_known"] <= day)
        )

    def known(self, key: str, *, as_of: date) -> RecordT:
        """Return the rows of ``key`` with ``known_on <= as_of``; :class:`UnknownKey` if there is none."""
        self.ensure(key)
        entry = self.entries().get(key)
        # a file of the future is not opened: how long that takes would tell of it
        if entry is None or not entry["rows"] or entry["first_known"] > as_of.isoformat():
            raise self.unknown(key, as_of)
        rows = known_rows(self._whole(key, entry), as_of=as_of)
        if not rows:
            raise self.unknown(key, as_of)
        return rows

    def ensure(self, key: str) -> None:
        """Fetch a key that is not here, if the table may, whatever the date that it is asked on."""
        if self._fetch is None or key in self.entries() or not _NAME.fullmatch(key):
            return
        with self._fetching:
            if key not in self._asked and key not in self.entries():
                self._fetch(key)
                # what its provider does not have is asked for once a process; an outage raises and is tried again
                self._asked.add(key)

    def unknown(self, key: str, as_of: date) -> UnknownKey:
        """Return the error for a key of which nothing was known: it names some that were."""
        return unknown_key(key, as_of, self.keys(as_of=as_of), self._hint)

    def select(
        self,
        where: str,
        values: Sequence[Any] = (),
        *,
        key: str | None = None,
        as_of: date,
        order: str = "known_on",
        last: int | None = None,
    ) -> RecordT:
        """Return the rows known on ``as_of`` that meet an SQL condition, of one key or of all.

        Only the columns and row groups that the condition needs are read: for tables with long texts.

        Parameters
        ----------
        where, values
            The condition; what callers were given goes into ``values``, never into the text.
        order
            Columns to sort by, ``known_on`` first.
        last
            How many rows, from the end of that order; None: all.
        """
        files = self._files(key, as_of)
        if not files:
            return self.record.of([])
        rows, limit = _chosen("read_parquet(?)", f"known_on <= ? AND ({where})", order, last)
        return known_rows(_read(self.record, rows, [files, as_of, *values, limit]), as_of=as_of)

    def distinct(
        self, column: str, where: str = "true", values: Sequence[Any] = (), *, key: str, as_of: date
    ) -> list[Any]:
        """Return the different values of one column in the rows of ``key`` that were known, the oldest first."""
        if not (files := self._files(key, as_of)):
            return []
        query = _different(column, "read_parquet(?)", f"known_on <= ? AND ({where})")
        return [row[0] for row in _engine().cursor().execute(query, [files, as_of, *values]).fetchall()]

    def across(self, where: str, values: Sequence[Any] = (), *, as_of: date) -> dict[str, RecordT]:
        """Return by key the rows known on ``as_of`` that meet an SQL condition, in one reading of all files."""
        if not (files := self._files(None, as_of)):
            return {}
        names = {str(self.folder / entry["file"]): key for key, entry in self.entries().items()}
        types = list(_types(self.record))
        query = (
            f"SELECT filename, {', '.join(types)} FROM read_parquet(?, filename=true, file_row_number=true) "
            f"WHERE known_on <= ? AND ({where}) ORDER BY filename, file_row_number"
        )
        table = _engine().cursor().sql(query, params=[files, as_of, *values]).to_arrow_table()
        rows: dict[str, list[tuple[Any, ...]]] = {}
        for name, *row in zip(*(table[name].to_pylist() for name in ("filename", *types)), strict=True):
            rows.setdefault(names[name], []).append(tuple(row))
        return {key: known_rows(self.record.of(found), as_of=as_of) for key, found in rows.items()}

    def _files(self, key: str | None, as_of: date) -> list[str]:
        if key is not None:
            self.ensure(key)
        chosen = [entry for name, entry in self.entries().items() if entry["rows"] and key in (None, name)]
        return [str(self._verified(entry)) for entry in chosen if entry["first_known"] <= as_of.isoformat()]

    def write(self, key: str, rows: RecordT, *, source: str, **noted: Any) -> bool:
        """Put ``rows`` in place of what is here of ``key``; return whether they differ from it.

        Parameters
        ----------
        source
            Where they were fetched.
        noted
            Further entries of the manifest, such as ``until``.
        """
        content = _parquet(rows)
        digest = hashlib.sha256(content).hexdigest()
        with whole_file.one_writer(self.folder):
            entries = dict(self.entries())
            changed = entries.get(key, {}).get("sha256") != digest
            entry: dict[str, Any] = {
                "file": f"{quote(key, safe='')}.parquet",
                "rows": len(rows),
                "sha256": digest,
                "first_known": rows.known_on[0].isoformat() if len(rows) else "",
                "pulled_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "source": source,
            }
            whole_file.replace(self.folder / entry["file"], content)
            entries[key] = entry | noted
            document = {"record": self.record.__name__, "keys": dict(sorted(entries.items()))}
            whole_file.replace(self.folder / MANIFEST, json.dumps(document, indent=1).encode())
        return changed

    def add(self, key: str, rows: RecordT, *, source: str, **noted: Any) -> bool:
        """Add ``rows`` to what is here of ``key``, each once; return whether any was new."""
        entry = self.entries().get(key)
        before = (
            []
            if entry is None
            else list(zip(*(column for _, column in self._whole(key, entry).columns()), strict=True))
        )
        after = list(zip(*(column for _, column in rows.columns()), strict=True))
        return self.write(key, self.record.of(list(dict.fromkeys([*before, *after]))), source=source, **noted)

    def digest(self) -> str:
        """Return one sha256 for all keys and contents."""
        held = {key: entry["sha256"] for key, entry in sorted(self.entries().items())}
        return hashlib.sha256(json.dumps(held).encode()).hexdigest()

    def _whole(self, key: str, entry: Mapping[str, Any]) -> RecordT:
        name = (key, str(entry["sha256"]))
        with self._lock:
            if name in self._tables:
                self._tables.move_to_end(name)
                return self._tables[name]
        rows = _read(self.record, "read_parquet(?)", [[str(self._verified(entry))]])
        with self._lock:
            self._tables[name] = rows
            while len(self._tables) > KEPT:
                self._tables.popitem(last=False)
        return rows

    def _verified(self, entry: Mapping[str, Any]) -> Path:
        """Return the path of a file that is what was pulled.

        Raises
        ------
        ProviderUnavailable
            It was changed or lost since.
        """
        path = self.folder / str(entry["file"])
        if _sha256(path, _stamp(path)) != entry["sha256"]:
            raise ProviderUnavailable(f"{path} was changed or lost since it was pulled; pull it again")
        return path


def _chosen(relation: str, where: str, order: str, last: int | None) -> tuple[str, int]:
    """Return the rows that meet a condition, the last of an order, as SQL; and how many they may be."""
    newest = ", ".join(f"{column} DESC" for column in order.split(", "))
    rows = f"(SELECT * FROM {relation} WHERE {where} ORDER BY {newest} LIMIT ?) ORDER BY {order}"
    return rows, 2**62 if last is None else last


def _different(column: str, relation: str, where: str) -> str:
    return f"SELECT {column} FROM {relation} WHERE {where} GROUP BY 1 ORDER BY min(known_on), 1"


def select_in(
    rows: RecordT, where: str, values: Sequence[Any] = (), *, order: str = "known_on", last: int | None = None
) -> RecordT:
    """Return those of some rows in memory that meet an SQL condition, as :meth:`Table.select` does of files."""
    found, limit = _chosen("memory_rows", where, order, last)
    columns = ", ".join(f'"{name}"' for name in _types(type(rows)))
    table = _over(rows).sql(f"SELECT {columns} FROM {found}", params=[*values, limit]).to_arrow_table()
    return type(rows)(**{name: tuple(table[name].to_pylist()) for name in _types(type(rows))})


def distinct_in(rows: Columns, column: str, where: str = "true", values: Sequence[Any] = ()) -> list[Any]:
    """Return the different values of a column of rows in memory, as :meth:`Table.distinct` does of files."""
    query = _different(column, "memory_rows", where)
    return [row[0] for row in _over(rows).execute(query, list(values)).fetchall()]


def _over(rows: Columns) -> duckdb.DuckDBPyConnection:
    """Return a cursor that knows the rows as ``memory_rows``: its name is its own."""
    return _engine().cursor().register("memory_rows", _arrow(rows))


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)


@cache
def _sha256(path: Path, stamp: tuple[int, int, int]) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if stamp != (0, 0, 0) else ""


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    import duckdb

    # extensions would be fetched from the network
    off = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    return duckdb.connect(":memory:", config={"threads": 1, **off})


def _read(record: type[RecordT], rows: str, values: Sequence[Any]) -> RecordT:
    columns = ", ".join(f'"{name}"' for name in _types(record))
    table = _engine().cursor().sql(f"SELECT {columns} FROM {rows}", params=list(values)).to_arrow_table()
    return record(**{name: tuple(table[name].to_pylist()) for name in _types(record)})


def _types(record: type[Columns]) -> dict[str, Any]:
    """Return the type of each column, by name, in order."""
    hints = typing.get_type_hints(record)
    return {name: typing.get_args(hint)[0] for name, hint in hints.items()}


def _arrow_type(kind: Any) -> pa.DataType:
    import pyarrow as pa

    types = {date: pa.date32(), datetime: pa.timestamp("us", tz="UTC"), float: pa.float64(), int: pa.int64()}
    types |= {str: pa.string(), bool: pa.bool_()}
    plain = [part for part in typing.get_args(kind) if part is not type(None)]
    return types[plain[0] if plain else kind]


def _parquet(rows: Columns) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(_arrow(rows), sink, compression="zstd", row_group_size=4096)
    return bytes(sink.getvalue().to_pybytes())


def _arrow(rows: Columns) -> pa.Table:
    import pyarrow as pa

    types = _types(type(rows))
    return pa.table({name: pa.array(column, _arrow_type(types[name])) for name, column in rows.columns()})
