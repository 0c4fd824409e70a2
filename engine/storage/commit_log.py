"""The list of what a run acknowledged: one line a commit, each with a hash over itself and all lines before it.

The ledger answers questions; this file says what its answers must be. A commit is written and synced here before the
ledger is told, so after a crash the ledger lacks the last line at most, and whoever opens the run adds it. A ledger
that lacks more was damaged afterwards, and so was a log where more than one transcript belongs to no line.

The first line holds the sha256 of the manifest. The hashes tell loss and accident, not somebody who may write here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engine.errors import StoreCorrupt
from engine.record import State
from engine.storage import durable

NAME = "commits.log"


class Commit(NamedTuple):
    """One acknowledged attempt.

    Attributes
    ----------
    key, position, task_id
        Its cell.
    state, reason, blob
        How it ended, and the name of its transcript.
    over
        Name of the result that it was asked to replace, or None.
    at
        Seconds since the epoch.
    """

    key: str
    position: int
    task_id: str
    state: str
    reason: str
    blob: str
    over: str | None
    at: float


class Cell(NamedTuple):
    """The result of a cell: which attempt counts."""

    position: int
    task_id: str
    state: str
    blob: str


class Attempt(NamedTuple):
    """What the ledger's row of an attempt says."""

    key: str
    task_id: str
    state: str
    blob: str


class CommitLog:
    """An existing log, read and checked.

    Attributes
    ----------
    path
        The file.
    manifest
        sha256 of the run's manifest.
    commits
        Every acknowledged attempt, in the order of the acknowledgements.
    unfinished
        Names of transcripts that a crash left behind before they were acknowledged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = ""
        self.commits: list[Commit] = []
        self.unfinished: set[str] = set()
        self._chain, self._whole = "", 0
        self._read()

    @classmethod
    def begin(cls, path: Path, manifest: str) -> CommitLog:
        """Start the log of a run whose manifest has this sha256."""
        durable.write_file(path, _line("", {"manifest": manifest}))
        return cls(path)

    def _read(self) -> None:
        try:
            raw = self.path.read_bytes()
        except OSError as error:
            raise StoreCorrupt(f"{self.path}: {error.strerror}; restore the folder from a copy") from error
        # a line that its writer did not live to end was never acknowledged
        self._whole = raw.rfind(b"\n") + 1
        for number, line in enumerate(raw[: self._whole].splitlines(), start=1):
            told, _, text = line.partition(b" ")
            if told != _hash(self._chain, text):
                raise StoreCorrupt(
                    f"{self.path}: line {number} does not match its hash; restore the folder from a copy"
                )
            self._chain = told.decode()
            self._take(json.loads(text))
        if not self.manifest:
            raise StoreCorrupt(f"{self.path}: it is cut off in its first line; restore the folder from a copy")

    def _take(self, entry: dict[str, Any]) -> None:
        if "manifest" in entry:
            self.manifest = entry["manifest"]
        elif "unfinished" in entry:
            self.unfinished.add(entry["unfinished"])
        else:
            self.commits.append(Commit(**entry))

    def cut_torn_line(self) -> None:
        """Remove a last line that was never ended, so that the next one starts a line of its own."""
        if self.path.stat().st_size > self._whole:
            with self.path.open("r+b") as stream:
                stream.truncate(self._whole)

    def add(self, commit: Commit) -> None:
        """Write a commit; it is acknowledged once this returns."""
        self._append(commit._asdict())

    def add_unfinished(self, blob: str) -> None:
        """Take down a transcript that was written and never acknowledged."""
        self._append({"unfinished": blob})

    def unnamed(self, blobs: set[str]) -> set[str]:
        """Return which of these transcripts neither a commit nor a note of a former crash names."""
        return blobs - self.unfinished - {commit.blob for commit in self.commits}

    def _append(self, entry: dict[str, Any]) -> None:
        line = _line(self._chain, entry)
        durable.append_line(self.path, line)
        self._whole += len(line)
        self._chain = line.partition(b" ")[0].decode()
        self._take(entry)


def results_of(commits: Iterable[Commit]) -> dict[str, Cell]:
    """Return which attempt counts for each key: the first that is not ours to repeat, or a retry that was asked for."""
    cells: dict[str, Cell] = {}
    for commit in commits:
        if fills(commit, cells.get(commit.key)):
            cells[commit.key] = Cell(commit.position, commit.task_id, commit.state, commit.blob)
    return cells


def fills(commit: Commit, held: Cell | None) -> bool:
    """Return whether an attempt becomes the result of its cell, which holds ``held`` so far."""
    if commit.state == State.INFRA_UNAVAILABLE:
        return False
    if commit.over is not None:
        return held is not None and held.blob == commit.over
    return held is None


def difference(
    commits: Sequence[Commit], attempts: Sequence[Attempt], cells: Mapping[str, Cell], *, on_the_way: int
) -> str:
    """Return how a ledger differs from what was acknowledged, or an empty text.

    Parameters
    ----------
    commits
        What was acknowledged.
    attempts, cells
        The ledger's rows.
    on_the_way
        How many of the last commits the ledger may not have yet.
    """
    told = [Attempt(commit.key, commit.task_id, commit.state, commit.blob) for commit in commits]
    missing = len(told) - len(attempts)
    if list(attempts) != told[: len(attempts)]:
        return f"its rows are not the {len(told)} commits that {NAME} names"
    if missing > on_the_way:
        return f"{missing} of {len(told)} acknowledged commits are missing in it; {NAME} names them"
    if dict(cells) != results_of(commits[: len(attempts)]):
        return f"its results are not those of the {len(told)} commits that {NAME} names"
    return ""


def _line(chain: str, entry: Mapping[str, Any]) -> bytes:
    text = json.dumps(entry, separators=(",", ":"), allow_nan=False).encode()
    return _hash(chain, text) + b" " + text + b"\n"


def _hash(chain: str, text: bytes) -> bytes:
    return hashlib.sha256(chain.encode() + text).hexdigest().encode()
