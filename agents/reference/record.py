"""Keep every message that an agent receives, byte for byte, so that a run can be searched for what leaked."""

from __future__ import annotations

import json
from pathlib import Path


def record(path: str, text: str) -> None:
    """Append ``text`` to the JSON-lines file at ``path``."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"received": text}) + "\n")
