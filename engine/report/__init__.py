"""The report of a run: one HTML file that needs no network, ``results.json`` for leaderboards, ``tables.csv``."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.record import TaskRecord
from engine.report import results, tables

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).parent / "templates"


def write(folder: Path, manifest: dict[str, Any], records: Sequence[TaskRecord]) -> None:
    """Write ``results.json``, ``tables.csv`` and ``report.html`` into the run folder."""
    result = results.agentbeats(manifest, records)
    _replace(folder / "tables.csv", tables.as_csv(records))
    _replace(folder / "results.json", json.dumps(result, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
    _replace(folder / "report.html", render(manifest, records))


def render(manifest: dict[str, Any], records: Sequence[TaskRecord]) -> str:
    """Return the report as one HTML text.

    Everything that an agent wrote is escaped by the template engine, and the page's Content-Security-Policy runs no
    script but its own, so that a hostile answer is shown and never executed.
    """
    from engine.report import page

    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    return template("report.html.j2").render(
        page.context(manifest, records), script=script, script_hash=page.content_hash(script)
    )


def template(name: str) -> jinja2.Template:
    """Return a page's template, which escapes what it is given and knows the ``style`` of all pages."""
    import jinja2

    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    return environment.get_template(name, globals={"style": style})


def _replace(path: Path, text: str) -> None:
    """Write a file that is either the former or the new one, never half of it."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    os.replace(temporary, path)
