"""A JSON-lines file that survives the death of its writer."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Journal:
    """Entries in the order they were appended. The caller holds a lock; one process writes.

    Parameters
    ----------
    path
        The file; None keeps nothing.

    Attributes
    ----------
    broken
        Why nothing is written any more, or None.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.broken: str | None = None

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield what earlier processes wrote. A line cut off by the death of its writer was never acknowledged."""
        if self._path is None or not self._path.exists():
            return
        text = self._path.read_text(encoding="utf-8")
        for line in text.splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue
        if text and not text.endswith("\n"):
            # So that the next entry does not become part of the broken line.
            self._write("\n")

    def append(self, entry: dict[str, Any]) -> None:
        """Write an entry through to the operating system: it outlives this process from here on.

        Where it cannot be written (the disk is full) the process goes on and nothing more is written: what is on disk
        stays a beginning of the truth. Only a restart loses what is missing, and the harness notices every restart.
        """
        if self._path is not None and self.broken is None:
            self._write(json.dumps(entry) + "\n")

    def _write(self, text: str) -> None:
        assert self._path is not None
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            self.broken = f"{self._path.name}: {error.strerror}"
            # not by print: the messages may go to the same full disk, and a log handler forgives that
            logging.getLogger(__name__).warning("this journal is written no more: %s", self.broken)
