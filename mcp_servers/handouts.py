"""What the harness hands to a server for one task: a document that tools show to that task, told before it begins."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any, TypeAlias

from mcp_servers.access import Grant, Owner

Document: TypeAlias = dict[str, Any]


class Handouts:
    """Documents by task; safe for threads. In a folder they survive a restart of their process.

    Parameters
    ----------
    folder
        One file a task, until it is over; None keeps documents in memory alone.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._documents: dict[Owner, Document] = {}

    def put(self, grant: Grant, document: Document) -> None:
        """Keep the document of the grant's task, in place of one that was there.

        Raises
        ------
        OSError
            When it cannot be written; it is not kept then.
        """
        with self._lock:
            if self._folder is not None:
                self._folder.mkdir(parents=True, exist_ok=True)
                path = self._path(grant)
                unfinished = path.with_suffix(".unfinished")
                unfinished.write_text(json.dumps(document, separators=(",", ":")), encoding="utf-8")
                os.replace(unfinished, path)
            self._documents[grant.owner] = document

    def of(self, grant: Grant) -> Document | None:
        """Return the document of the grant's task, None where there is none."""
        owner = grant.owner
        with self._lock:
            if owner not in self._documents and self._folder is not None and self._path(grant).exists():
                self._documents[owner] = json.loads(self._path(grant).read_text(encoding="utf-8"))
            return self._documents.get(owner)

    def drop(self, grant: Grant) -> None:
        """Forget the document of the grant's task."""
        with self._lock:
            self._documents.pop(grant.owner, None)
            if self._folder is not None:
                self._path(grant).unlink(missing_ok=True)

    def _path(self, grant: Grant) -> Path:
        # names of tasks may hold anything
        assert self._folder is not None
        name = hashlib.sha256(json.dumps(grant.owner).encode()).hexdigest()[:32]
        return self._folder / f"{name}.json"
