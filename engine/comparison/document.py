"""A page of sentences and tables that prints in a terminal and opens in a browser."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 110
NUMBER = re.compile(r"(< )?[-+$]?\d")
WITHOUT_NUMBER = ("", "n/a", "unknown")


@dataclass(frozen=True)
class Table:
    """Rows of words under their columns."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers, which stand at its right edge."""
        return all(NUMBER.match(row[column]) or row[column] in WITHOUT_NUMBER for row in self.rows)


@dataclass(frozen=True)
class Document:
    """What is to be said; ``chart`` is SVG, or empty."""

    title: str
    sentences: Sequence[str]
    chart: str
    note: str
    tables: Sequence[Table]


def as_text(document: Document) -> str:
    """Return the document for a terminal."""
    parts = [textwrap.fill(sentence, WIDTH) for sentence in document.sentences]
    parts += [_table(table) for table in document.tables]
    return "\n\n".join(parts)


def _table(table: Table) -> str:
    lines = [table.columns, *table.rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(table.columns))]
    numbers = [table.is_number(place) for place in range(len(table.columns))]
    drawn = [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numbers, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([table.title, *(f"  {line}" for line in drawn)])


def as_html(document: Document) -> str:
    """Return the document as one HTML page that needs no network and runs no script; every word is escaped."""
    from engine.report import template

    return template("document.html.j2").render(document=document)
