"""The report of a run: one HTML file that needs no network, and ``results.json`` for leaderboards."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine import results


def write(folder: Path, manifest: dict[str, Any], records: Sequence[dict[str, Any]]) -> None:
    """Write ``results.json`` and ``report.html`` into the run folder."""
    found = results.agentbeats(manifest, records)
    (folder / "results.json").write_text(json.dumps(found, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
    table = results.table(results.summary(manifest, records))
    (folder / "report.html").write_text(f"<!doctype html><meta charset=utf-8><pre>{html.escape(table)}</pre>\n")
