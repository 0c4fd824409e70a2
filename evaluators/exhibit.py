"""Figures as they are met in the wild: an aligned table, comma-separated lines, a list, a paragraph."""

from __future__ import annotations

import random
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def show(rng: random.Random, columns: Sequence[str], rows: Rows) -> str:
    """Return rows of written cells in a form drawn at random; the first column names the row."""
    return rng.choice((aligned, piped, separated, listed, told))(columns, rows)


def aligned(columns: Sequence[str], rows: Rows) -> str:
    """Return a table in columns of equal width."""
    widths = [max(len(row[place]) for row in (columns, *rows)) for place in range(len(columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *rows)]
    return "\n".join(line.rstrip() for line in lines)


def piped(columns: Sequence[str], rows: Rows) -> str:
    """Return a table as Markdown writes one."""
    lines = ["| " + " | ".join(row) + " |" for row in (columns, ["---"] * len(columns), *rows)]
    return "\n".join(lines)


def separated(columns: Sequence[str], rows: Rows) -> str:
    """Return lines of cells between semicolons, as figures hold commas."""
    return "\n".join("; ".join(row) for row in (columns, *rows))


def listed(columns: Sequence[str], rows: Rows) -> str:
    """Return a list with an item for each row."""
    lines = []
    for row in rows:
        cells = ", ".join(f"{name} {cell}" for name, cell in zip(columns[1:], row[1:], strict=True))
        lines.append(f"- {row[0]}: {cells}")
    return "\n".join(lines)


def told(columns: Sequence[str], rows: Rows) -> str:
    """Return one paragraph with a sentence for each row."""
    sentences = []
    for row in rows:
        cells = [f"{name} was {cell}" for name, cell in zip(columns[1:], row[1:], strict=True)]
        sentences.append(f"For {row[0]}, {' and '.join(cells) if len(cells) < 3 else ', '.join(cells)}.")
    return " ".join(sentences)


def money(value: float) -> str:
    """Return dollars and cents."""
    sign = "-" if value < 0 else ""
    return f"{sign}${abs(value):,.2f}"


def percent(value: float, digits: int = 2) -> str:
    """Return a fraction as a percentage."""
    return f"{100 * value:.{digits}f}%"
