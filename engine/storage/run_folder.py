"""The folder of a run: what may lie in it, who holds it, and what is said when it cannot be written."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from engine.errors import ConfigError, RunFolderBusy, WriteFailed
from engine.storage import commit_log, durable

LEDGER = "ledger.sqlite"
MANIFEST = "manifest.json"
LOCK = "lock"
BLOBS = "transcripts"
RUNS = Path("runs")
"""Where runs and sweeps go that are given no folder, seen from the working directory."""


def make(folder: Path, *, mode: int = 0o777) -> None:
    """Make a folder, where there is none yet; the folder of all runs is its owner's alone."""
    if folder.parent == RUNS:
        RUNS.mkdir(mode=durable.OWNER_ONLY_FOLDER, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True, mode=mode)


def is_open(folder: Path) -> bool:
    """Return whether a folder exists that other users may list or enter."""
    return folder.is_dir() and bool(folder.stat().st_mode & 0o077)


def refuse_used(folder: Path) -> None:
    """Refuse a folder that holds a run or other files; what a start without room left behind is neither."""
    if (folder / MANIFEST).exists():
        raise ConfigError(f"{folder} already holds a run; resume it with: traderbench resume {folder}")
    foreign = [path.name for path in folder.iterdir() if path.name not in (LOCK, BLOBS) and not _is_leftover(path)]
    if foreign:
        raise ConfigError(f"--out {folder}: the folder holds other files ({foreign[0]}); name a new or empty one")
    if any((folder / BLOBS).glob("*/*")):
        raise ConfigError(f"--out {folder}: the folder holds a run whose {MANIFEST} is gone; name a new or empty one")


def _is_leftover(path: Path) -> bool:
    unfinished = path.name.startswith((f".{MANIFEST}.", f".{commit_log.NAME}.")) and path.suffix == ".tmp"
    return unfinished or path.name in (LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", commit_log.NAME)


def remove_leftovers(folder: Path) -> None:
    """Remove what a start that could not write its manifest left behind."""
    remove(folder, *(path.name for path in folder.iterdir() if _is_leftover(path)))


def remove_torn(folder: Path) -> None:
    """Remove the files that a killed writer had not finished."""
    for pattern in (".*.tmp", f"{BLOBS}/??/.*.tmp"):
        for path in folder.glob(pattern):
            path.unlink()


def remove(folder: Path, *names: str) -> None:
    """Remove files of the folder, where they exist."""
    for name in names:
        (folder / name).unlink(missing_ok=True)


@contextlib.contextmanager
def writing(folder: Path, way_on: str) -> Iterator[None]:
    """Write for the owner alone, and turn a failure to write into one line that says what to do."""
    before = os.umask(0o777 & ~durable.OWNER_ONLY_FOLDER)
    try:
        yield
    except OSError as error:
        raise WriteFailed(f"{folder} cannot be written: {error.strerror}; {way_on}") from error
    except sqlite3.DatabaseError as error:
        raise WriteFailed(f"{folder} cannot be written: {error}; {way_on}") from error
    finally:
        os.umask(before)


def in_use(folder: Path) -> bool:
    """Return whether another process holds the folder's lock."""
    try:
        os.close(hold_lock(folder))
    except (RunFolderBusy, OSError):
        return True
    return False


def hold_lock(folder: Path) -> int:
    """Take the folder's lock, which dies with the process."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, durable.OWNER_ONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise RunFolderBusy(f"{folder} is in use by another traderbench process") from error
    return handle
