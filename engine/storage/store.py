"""The record of a run: a SQLite ledger and content-addressed transcripts in one folder.

An attempt is durable once :meth:`Store.commit` returns: blob to a temporary name, fsync, rename, fsync of the folder,
one line in the log of commits, fsync, then one transaction in the ledger. The first commit of a cell wins and every
attempt is kept, so running a cell twice (after a crash, on a lost worker) has the effect of running it once.

A run that is opened is compared with its log (:mod:`engine.storage.commit_log`): what was acknowledged and is gone is
an error, never a reason to play it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from engine import record as record_of
from engine.errors import ConfigError, StoreCorrupt
from engine.record import Spent, State, TaskRecord
from engine.storage import commit_log, durable, run_folder
from engine.storage.commit_log import Attempt, Cell, Commit, CommitLog
from engine.storage.run_folder import BLOBS, LEDGER, MANIFEST

SCHEMA_WITH_LOG = 2
"""``schema`` of the manifest of a run that keeps a log of commits; runs before it have none and are not compared."""

REBUILD = f"Move {LEDGER}* away, and traderbench resume writes it again from {commit_log.NAME}"

DISK_ERRORS = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
"""SQLite's errors that speak of the disk and not of the ledger's content."""

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


def has_answer(record: TaskRecord) -> bool:
    """Return whether the agent answered any message of a record's conversation."""
    return any(turn.get("role") == "agent" for turn in record["transcript"])


def was_seen(record: TaskRecord) -> bool:
    """Return whether the agent may know how a record's conversation goes on: it answered, or nobody knows."""
    return has_answer(record) or bool(record.get("lost"))


class Store:
    """One run folder, held by one process at a time.

    Use :meth:`create` for a new run and :meth:`open` for an existing one; both are context managers that hold the lock.
    """

    def __init__(self, folder: Path, *, read_only: bool = False, fresh: bool = False) -> None:
        self.folder = folder
        self._read_only = read_only
        self._log: CommitLog | None = None
        self._lock = None if read_only else run_folder.hold_lock(folder)
        try:
            if fresh:
                run_folder.remove_leftovers(folder)
            self._rebuilds = not read_only and not (folder / LEDGER).exists()
            if self._rebuilds:
                run_folder.remove(folder, f"{LEDGER}-wal", f"{LEDGER}-shm")
            self._ledger = _connect(folder / LEDGER, read_only=read_only)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, folder: Path, manifest: dict[str, Any]) -> Store:
        """Start a run in an empty or new folder; a folder that holds a run already is refused."""
        try:
            # the manifest tells the seed: for the owner alone
            run_folder.make(folder, mode=durable.OWNER_ONLY_FOLDER)
        except OSError as error:
            raise ConfigError(f"--out {folder}: {error.strerror}") from error
        run_folder.refuse_used(folder)
        raw = json.dumps(manifest, indent=2, sort_keys=True, allow_nan=False).encode()
        with run_folder.writing(folder, "mend that, or name another folder with --out"):
            store = cls(folder, fresh=True)
            try:
                store._log = CommitLog.begin(folder / commit_log.NAME, hashlib.sha256(raw).hexdigest())
                durable.write_file(folder / MANIFEST, raw)
            except BaseException:
                store.close()
                raise
        return store

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Store:
        """Open an existing run.

        Raises
        ------
        StoreCorrupt
            When something that was acknowledged is gone, or the manifest is not the one that the run began with; where
            ``read_only`` is set, :meth:`check` tells instead.
        """
        if not (folder / MANIFEST).is_file():
            raise ConfigError(f"{folder} holds no run (no {MANIFEST} in it)")
        with run_folder.writing(folder, f"mend that, then: traderbench resume {folder}"):
            store = cls(folder, read_only=read_only)
            try:
                store._open_log()
            except BaseException:
                store.close()
                raise
        return store

    def _open_log(self) -> None:
        path = self.folder / commit_log.NAME
        if not path.exists() and self.manifest().get("schema", 1) < SCHEMA_WITH_LOG:
            return
        self._log = CommitLog(path)
        if self._read_only:
            return
        for damage in self._damages():
            raise StoreCorrupt(damage)
        self._log.cut_torn_line()
        run_folder.remove_torn(self.folder)
        for blob in self._log.unnamed(self._blobs()):
            self._log.add_unfinished(blob)
        self._catch_up(self._log)

    @property
    def is_logged(self) -> bool:
        """Whether lost commits and a changed manifest can be noticed; not in runs that began before the log was."""
        return self._log is not None

    def _damages(self) -> Iterator[str]:
        """Yield how the folder differs from what was acknowledged, one line each; nothing where there is no log."""
        if self._log is None:
            return
        if hashlib.sha256((self.folder / MANIFEST).read_bytes()).hexdigest() != self._log.manifest:
            yield (
                f"{self.folder / MANIFEST} was changed after the run began; restore it, or start a new run for another "
                "seed, other weights or other limits"
            )
        # a crash leaves the last commit on its way to the ledger, and a run that goes on may commit between two looks
        looks_on = self._read_only and run_folder.in_use(self.folder)
        attempts, cells = self._rows()
        stored = self._blobs()
        log = CommitLog(self._log.path)
        on_the_way = len(log.commits) if self._rebuilds or looks_on else 1
        if difference := commit_log.difference(log.commits, attempts, cells, on_the_way=on_the_way):
            yield f"{self.folder / LEDGER}: {difference}. {REBUILD}"
        if (number := len(log.unnamed(stored))) > 1:
            yield (
                f"{log.path}: {number} transcripts belong to no commit in it; a crash leaves one at most, so commits "
                "were lost; restore the folder from a copy"
            )

    def _rows(self) -> tuple[list[Attempt], dict[str, Cell]]:
        """Return the ledger's attempts and results, of one moment."""
        self._query("BEGIN")
        try:
            attempts = self._query("SELECT key, task_id, state, blob FROM attempts ORDER BY id")
            cells = self._query("SELECT key, position, task_id, state, blob FROM cells")
        finally:
            self._query("COMMIT")
        return [Attempt(*row) for row in attempts], {key: Cell(*rest) for key, *rest in cells}

    def _blobs(self) -> set[str]:
        """Return the names of the transcripts in the folder."""
        return {path.name.partition(".")[0] for path in (self.folder / BLOBS).glob("??/*.json.zz")}

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

    def commit(
        self, *, key: str, position: int, record: TaskRecord, over: str | None = None, at: float | None = None
    ) -> bool:
        """Make one attempt durable; return whether it became the cell's result.

        An attempt whose state is ``infra_unavailable`` is kept but does not fill the cell, so that resume tries again.

        Parameters
        ----------
        over
            Name of the result, as :meth:`retriable` told it, that this attempt replaces: a retry on request. Where
            another result stands in the cell by then, that one stays. The replaced one stays among the attempts.
        at
            When it was acknowledged, in seconds since the epoch; None: now.
        """
        with run_folder.writing(self.folder, f"mend that, then: traderbench resume {self.folder}"):
            blob = self._put_blob(record)
            state, reason, task_id = record["state"], record["reason"], record["task_id"]
            commit = Commit(key, position, task_id, state, reason, blob, over, time.time() if at is None else at)
            if self._log is None:
                return self._apply(commit)
            self._log.add(commit)
            return self._catch_up(self._log)

    def _catch_up(self, log: CommitLog) -> bool:
        """Tell the ledger what it does not know yet; return whether the last of it became its cell's result."""
        filled = False
        for commit in log.commits[self.attempts() :]:
            filled = self._apply(commit)
        return filled

    def _apply(self, commit: Commit) -> bool:
        """Write a commit into the ledger; return whether it became its cell's result."""
        key, position, task_id, state, reason, blob, over, now = commit
        with self._ledger:
            self._ledger.execute("BEGIN IMMEDIATE")
            self._ledger.execute(
                "INSERT INTO attempts (key, task_id, state, reason, blob, at) VALUES (?, ?, ?, ?, ?, ?)",
                (key, task_id, state, reason, blob, now),
            )
            if state == State.INFRA_UNAVAILABLE:
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
        away = self._query(f"SELECT key, blob FROM cells WHERE state = '{State.AGENT_UNAVAILABLE}'")
        return {key: blob for key, blob in away if not has_answer(self._get_blob(blob))}

    def former_attempts(self) -> dict[str, list[TaskRecord]]:
        """Return, by task, the attempts that are not its result, where there are any, in the order they were made."""
        rows = self._query(
            "SELECT task_id, blob FROM attempts WHERE id NOT IN (SELECT MIN(attempts.id) FROM attempts JOIN cells "
            "ON cells.key = attempts.key AND cells.blob = attempts.blob GROUP BY cells.key) ORDER BY id"
        )
        by_task: dict[str, list[TaskRecord]] = {}
        for task_id, blob in rows:
            by_task.setdefault(task_id, []).append(self._get_blob(blob))
        return by_task

    def records(self) -> Iterator[TaskRecord]:
        """Yield the result of each finished cell, in playing order."""
        for blob, task_id in self._query("SELECT blob, task_id FROM cells ORDER BY position"):
            yield self._record_of(blob, task_id)

    def history(self) -> Iterator[tuple[Commit, TaskRecord]]:
        """Yield every acknowledged attempt with its record, in the order of the acknowledgements."""
        for commit in [] if self._log is None else self._log.commits:
            yield commit, self._get_blob(commit.blob)

    def tried(self) -> set[str]:
        """Return the keys of the cells with an attempt."""
        return {row[0] for row in self._query("SELECT DISTINCT key FROM attempts")}

    def draws(self) -> dict[str, int]:
        """Return, for each cell with a failure of the harness, the draw that its next attempt is played on."""
        failed: dict[str, int] = {}
        for key, blob in self._query(f"SELECT key, blob FROM attempts WHERE state = '{State.INFRA_UNAVAILABLE}'"):
            failed[key] = failed.get(key, 1) + was_seen(self._get_blob(blob))
        return failed

    def last_infrastructure_failures(self) -> dict[str, TaskRecord]:
        """Return, for each cell without a result, its latest failed attempt."""
        rows = self._query(
            f"SELECT key, blob FROM attempts WHERE state = '{State.INFRA_UNAVAILABLE}' "
            "AND key NOT IN (SELECT key FROM cells) ORDER BY id"
        )
        return {key: self._get_blob(blob) for key, blob in rows}

    def spent(self) -> list[Spent]:
        """Return the ``usage`` of every attempt."""
        return [self._get_blob(blob)["usage"] for (blob,) in self._query("SELECT blob FROM attempts")]

    def attempts(self) -> int:
        """Return how many attempts were kept."""
        return int(next(iter(self._query("SELECT COUNT(*) FROM attempts")))[0])

    def check(self) -> list[str]:
        """Compare ledger, log and every transcript; return what is wrong, one line each."""
        problems = [row[0] for row in self._query("PRAGMA integrity_check") if row[0] != "ok"]
        problems += self._damages()
        rows = self._query("SELECT blob, task_id FROM attempts UNION SELECT blob, task_id FROM cells")
        for blob, task_id in rows:
            try:
                self._record_of(blob, task_id)
            except StoreCorrupt as error:
                problems.append(str(error))
        return problems

    def _record_of(self, blob: str, task_id: str) -> TaskRecord:
        """Return the record that a row of the ledger points to."""
        record = self._get_blob(blob)
        if record.get("task_id") != task_id:
            raise StoreCorrupt(f"{self.folder}: the ledger's row of {task_id!r} points to another task's transcript")
        return record

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return self._ledger.execute(sql).fetchall()
        except sqlite3.DatabaseError as error:
            if _is_of_the_disk(error):
                raise
            raise StoreCorrupt(f"{self.folder / LEDGER}: {error}") from error

    def _blob_path(self, name: str) -> Path:
        return self.folder / BLOBS / name[:2] / f"{name}.json.zz"

    def _put_blob(self, record: TaskRecord) -> str:
        raw = canonical(record)
        name = hashlib.sha256(raw).hexdigest()
        path = self._blob_path(name)
        if not path.exists():
            for folder in (path.parent.parent, path.parent):
                folder.mkdir(exist_ok=True, mode=durable.OWNER_ONLY_FOLDER)
            durable.write_file(path, zlib.compress(raw))
        return name

    def _get_blob(self, name: str) -> TaskRecord:
        path = self._blob_path(name)
        try:
            raw = zlib.decompress(path.read_bytes())
        except (OSError, zlib.error) as error:
            raise StoreCorrupt(f"transcript {path}: {error}") from error
        if hashlib.sha256(raw).hexdigest() != name:
            raise StoreCorrupt(f"transcript {path}: its content does not match its hash")
        return record_of.read(json.loads(raw), f"transcript {path}")


def _is_of_the_disk(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in DISK_ERRORS


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only and not path.is_file():
        raise StoreCorrupt(f"{path} is missing")
    try:
        if not path.exists():
            # the files that SQLite puts beside it take over its mode
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, durable.OWNER_ONLY))
        ledger = sqlite3.connect(path, isolation_level=None, timeout=10.0)
        try:
            ledger.execute("PRAGMA journal_mode=WAL")
            ledger.execute("PRAGMA synchronous=FULL")
            problems = [row[0] for row in ledger.execute("PRAGMA quick_check") if row[0] != "ok"]
            if problems:
                raise StoreCorrupt(f"{path}: {problems[0]}. {REBUILD}")
            ledger.executescript(SCHEMA)
        except BaseException:
            ledger.close()
            raise
    except sqlite3.DatabaseError as error:
        if _is_of_the_disk(error):
            raise
        raise StoreCorrupt(f"{path} is not a readable ledger: {error}. {REBUILD}") from error
    return ledger
