"""Temporary folders of a run that the next run removes where their owner was killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder that only this user may enter, removed at the end.

    Folders of the same prefix whose owners have died are removed first. The owner holds a lock on its folder, which
    the kernel takes away with the process: a folder in use is never removed.
    """
    _remove_abandoned(prefix)
    path, lock = _make(prefix)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _make(prefix: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix))
        # before the lock is held another run may take the new folder for an abandoned one
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        if _takes(lock) and path.exists():
            return path, lock
        os.close(lock)


def _takes(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_abandoned(prefix: str) -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        # root's folders may have been given to the user of an agent
        if os.geteuid() in (0, os.fstat(lock).st_uid) and _takes(lock):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
