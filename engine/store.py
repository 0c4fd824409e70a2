"""The record of a run: a SQLite ledger and content-addressed transcripts in one folder.

An attempt is durable once :meth:`Store.commit` returns: blob to a temporary name, fsync, rename, fsync of the folder,
then one transaction in the ledger. The first commit of a cell wins and every attempt is kept, so running a cell twice
(after a crash, on a lost worker) has the effect of running it once.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from engine.errors import ConfigError, RunFolderBusy, StoreCorrupt

LEDGER = "ledger.sqlite"
MANIFEST = "manifest.json"
LOCK = "lock"
BLOBS = "transcripts"

SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, position INTEGER NOT NULL, task_id TEXT NOT NULL, state TEXT NOT NULL,
    blob TEXT NOT NULL, committed_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS attempts (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, task_id TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
    blob TEXT NOT NULL, at REAL NOT NULL
);
"""


def canonical(value: Any) -> bytes:
    """Return the one JSON text of a value: sorted keys, no spaces, NaN refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "surrogatepass"
    )


def digest(value: Any) -> str:
    """Return the sha256 of the canonical JSON of ``value``."""
    return hashlib.sha256(canonical(value)).hexdigest()


def has_answer(record: Mapping[str, Any]) -> bool:
    """Return whether the agent answered any message of a record's conversation."""
    return any(turn.get("role") == "agent" for turn in record["transcript"])


def was_seen(record: Mapping[str, Any]) -> bool:
    """Return whether the agent may know how a record's conversation goes on: it answered, or nobody knows."""
    return has_answer(record) or bool(record.get("lost"))


class Store:
    """One run folder, held by one process at a time.

    Use :meth:`create` for a new run and :meth:`open` for an existing one; both are context managers that hold the lock.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self._lock = None if read_only else _hold_lock(folder)
        try:
            self._ledger = _connect(folder / LEDGER, read_only=read_only)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, folder: Path, manifest: dict[str, Any]) -> Store:
        """Start a run in an empty or new folder; a folder that holds a run already is refused."""
        try:
            # the manifest tells the seed: for the owner alone
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ConfigError(f"--out {folder}: {error.strerror}") from error
        if (folder / MANIFEST).exists():
            raise ConfigError(f"{folder} already holds a run; resume it with: traderbench resume {folder}")
        foreign = [path.name for path in folder.iterdir() if path.name not in (LOCK, LEDGER, BLOBS)]
        if foreign:
            raise ConfigError(f"--out {folder}: the folder holds other files ({foreign[0]}); name a new or empty one")
        store = cls(folder)
        _write_durably(folder / MANIFEST, json.dumps(manifest, indent=2, sort_keys=True, allow_nan=False).encode())
        return store

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Store:
        """Open an existing run."""
        if not (folder / MANIFEST).is_file():
            raise ConfigError(f"{folder} holds no run (no {MANIFEST} in it)")
        return cls(folder, read_only=read_only)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the ledger and the lock."""
        if hasattr(self, "_ledger"):
            self._ledger.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def manifest(self) -> dict[str, Any]:
        """Return the run's resolved config, versions, hashes and seeds."""
        try:
            value = json.loads((self.folder / MANIFEST).read_bytes())
        except (OSError, ValueError) as error:
            raise StoreCorrupt(f"{self.folder / MANIFEST} is not readable JSON: {error}") from error
        if not isinstance(value, dict):
            raise StoreCorrupt(f"{self.folder / MANIFEST} does not hold a JSON object")
        return value

    def commit(self, *, key: str, position: int, record: dict[str, Any], over: str | None = None) -> bool:
        """Make one attempt durable; return whether it became the cell's result.

        An attempt whose state is ``infra_unavailable`` is kept but does not fill the cell, so that resume tries again.

        Parameters
        ----------
        over
            Name of the result, as :meth:`retriable` told it, that this attempt replaces: a retry on request. Where
            another result stands in the cell by then, that one stays. The replaced one stays among the attempts.
        """
        blob = self._put_blob(record)
        now, state, task_id = time.time(), record["state"], record["task_id"]
        with self._ledger:
            self._ledger.execute("BEGIN IMMEDIATE")
            self._ledger.execute(
                "INSERT INTO attempts (key, task_id, state, reason, blob, at) VALUES (?, ?, ?, ?, ?, ?)",
                (key, task_id, state, record["reason"], blob, now),
            )
            if state == "infra_unavailable":
                return False
            if over is not None:
                cursor = self._ledger.execute(
                    "UPDATE cells SET state = ?, blob = ?, committed_at = ? WHERE key = ? AND blob = ?",
                    (state, blob, now, key, over),
                )
                return cursor.rowcount == 1
            cursor = self._ledger.execute(
                "INSERT INTO cells (key, position, task_id, state, blob, committed_at) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (key) DO NOTHING",
                (key, position, task_id, state, blob, now),
            )
            return cursor.rowcount == 1

    def finished(self) -> set[str]:
        """Return the keys of the cells that have a result."""
        return {row[0] for row in self._query("SELECT key FROM cells")}

    def retriable(self) -> dict[str, str]:
        """Return key and name of the results that are errors of transport before anything was answered.

        A conversation that broke off after an answer of the agent stays as it is: played again, it would show the same
        market to somebody who knows how it goes on.
        """
        away = self._query("SELECT key, blob FROM cells WHERE state = 'agent_unavailable'")
        return {key: blob for key, blob in away if not has_answer(self._get_blob(blob))}

    def former_attempts(self) -> dict[str, list[dict[str, Any]]]:
        """Return, by task, the attempts that are not its result, where there are any, in the order they were made."""
        rows = self._query(
            "SELECT task_id, blob FROM attempts WHERE id NOT IN (SELECT MIN(attempts.id) FROM attempts JOIN cells "
            "ON cells.key = attempts.key AND cells.blob = attempts.blob GROUP BY cells.key) ORDER BY id"
        )
        found: dict[str, list[dict[str, Any]]] = {}
        for task_id, blob in rows:
            found.setdefault(task_id, []).append(self._get_blob(blob))
        return found

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the result of each finished cell, in playing order."""
        for blob, task_id in self._query("SELECT blob, task_id FROM cells ORDER BY position"):
            record = self._get_blob(blob)
            if record.get("task_id") != task_id:
                raise StoreCorrupt(
                    f"{self.folder}: the ledger's row of {task_id!r} points to another task's transcript"
                )
            yield record

    def tried(self) -> set[str]:
        """Return the keys of the cells with an attempt."""
        return {row[0] for row in self._query("SELECT DISTINCT key FROM attempts")}

    def draws(self) -> dict[str, int]:
        """Return, for each cell with a failure of the harness, the draw that its next attempt is played on."""
        failed: dict[str, int] = {}
        for key, blob in self._query("SELECT key, blob FROM attempts WHERE state = 'infra_unavailable'"):
            failed[key] = failed.get(key, 1) + was_seen(self._get_blob(blob))
        return failed

    def last_infrastructure_failures(self) -> dict[str, dict[str, Any]]:
        """Return, for each cell without a result, its latest failed attempt."""
        rows = self._query(
            "SELECT key, blob FROM attempts WHERE state = 'infra_unavailable' "
            "AND key NOT IN (SELECT key FROM cells) ORDER BY id"
        )
        return {key: self._get_blob(blob) for key, blob in rows}

    def spent(self) -> list[dict[str, Any]]:
        """Return the ``usage`` of every attempt."""
        return [self._get_blob(blob)["usage"] for (blob,) in self._query("SELECT blob FROM attempts")]

    def attempts(self) -> int:
        """Return how many attempts were kept."""
        return int(next(iter(self._query("SELECT COUNT(*) FROM attempts")))[0])

    def check(self) -> list[str]:
        """Check the ledger and every transcript's hash; return what is wrong, one line each."""
        problems = [row[0] for row in self._query("PRAGMA integrity_check") if row[0] != "ok"]
        for (blob,) in self._query("SELECT DISTINCT blob FROM attempts"):
            try:
                self._get_blob(blob)
            except StoreCorrupt as error:
                problems.append(str(error))
        return problems

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return self._ledger.execute(sql).fetchall()
        except sqlite3.DatabaseError as error:
            raise StoreCorrupt(f"{self.folder / LEDGER}: {error}") from error

    def _blob_path(self, name: str) -> Path:
        return self.folder / BLOBS / name[:2] / f"{name}.json.zz"

    def _put_blob(self, record: dict[str, Any]) -> str:
        raw = canonical(record)
        name = hashlib.sha256(raw).hexdigest()
        path = self._blob_path(name)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_durably(path, zlib.compress(raw))
        return name

    def _get_blob(self, name: str) -> dict[str, Any]:
        path = self._blob_path(name)
        try:
            raw = zlib.decompress(path.read_bytes())
        except (OSError, zlib.error) as error:
            raise StoreCorrupt(f"transcript {path}: {error}") from error
        if hashlib.sha256(raw).hexdigest() != name:
            raise StoreCorrupt(f"transcript {path}: its content does not match its hash")
        value: dict[str, Any] = json.loads(raw)
        return value


def _hold_lock(folder: Path) -> int:
    """Take the folder's lock, which dies with the process."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise RunFolderBusy(f"{folder} is in use by another traderbench process") from error
    return handle


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only and not path.is_file():
        raise StoreCorrupt(f"{path} is missing")
    try:
        ledger = sqlite3.connect(path, isolation_level=None, timeout=10.0)
        try:
            ledger.execute("PRAGMA journal_mode=WAL")
            ledger.execute("PRAGMA synchronous=FULL")
            problems = [row[0] for row in ledger.execute("PRAGMA quick_check") if row[0] != "ok"]
            if problems:
                raise StoreCorrupt(f"{path}: {problems[0]}")
            ledger.executescript(SCHEMA)
        except BaseException:
            ledger.close()
            raise
    except sqlite3.DatabaseError as error:
        raise StoreCorrupt(f"{path} is not a readable ledger: {error}") from error
    return ledger


def _write_durably(path: Path, content: bytes) -> None:
    """Write so that after a crash the file is either whole or absent."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with open(temporary, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
