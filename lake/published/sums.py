"""The sums by which a file is known: its sha256, and the name that git gives its content."""

from __future__ import annotations

import hashlib
from pathlib import Path

PART = ".part"
"""At the end of the name of a file that is still coming."""
CHUNK = 1 << 20


def sums(path: Path) -> tuple[str, str]:
    """Return the sha256 of a file, and the name that git gives its content."""
    whole, named = hashlib.sha256(), hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            whole.update(chunk)
            named.update(chunk)
    return whole.hexdigest(), named.hexdigest()


def sha256(path: Path) -> str:
    """Return the sha256 of a file."""
    return sums(path)[0]
