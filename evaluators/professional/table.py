"""A CSV deliverable: its columns, its right content, and the marks of a given one."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evaluators.answers import Kind, Refusal, Tolerance, numbers_match, read_number
from evaluators.professional.marks import Mark

ColumnKind: TypeAlias = Literal["key", "money", "number", "percent"]
Cell: TypeAlias = str | float

MAX_ROWS = 2_000
_READ_AS: dict[ColumnKind, Kind] = {"key": "any", "money": "currency", "number": "number", "percent": "percent"}
_PLAIN = re.compile(r"-?[0-9]+(?:\.([0-9]+))?")


@dataclass(frozen=True)
class Column:
    """A column of the table.

    Attributes
    ----------
    kind
        ``key`` names the row (text, a date, a period number); ``money`` is in US dollars; ``percent`` is written as a
        decimal fraction.
    decimals
        Decimals asked for.
    meaning
        What stands in it, for the task text.
    """

    name: str
    kind: ColumnKind
    meaning: str
    decimals: int = 2

    @property
    def tolerance(self) -> Tolerance:
        """0.1% of the value, or two units of the last decimal asked for; whole numbers are exact."""
        if self.decimals == 0:
            return Tolerance(relative=0.0, absolute=0.0)
        return Tolerance(relative=0.001, absolute=2 * 10.0**-self.decimals)

    def write(self, value: Cell) -> str:
        """Return a cell as it is asked for."""
        if isinstance(value, str):
            return value
        text = f"{value:.{self.decimals}f}"
        return text.removeprefix("-") if float(text) == 0 else text

    def reads_as(self, cell: str, gold: Cell) -> bool:
        """Return whether a given cell holds the right value, however it is written."""
        if isinstance(gold, str):
            return cell.strip().lower() == gold.lower()
        stated = read_number(cell, kind=_READ_AS[self.kind])
        return not isinstance(stated, Refusal) and numbers_match(
            stated.value, gold, relative=self.tolerance.relative, absolute=self.tolerance.absolute
        )

    def well_formed(self, cell: str) -> bool:
        """Return whether a cell is written as asked: no currency sign, no separators, the decimals asked for."""
        if self.kind == "key":
            return bool(cell) and cell == cell.strip()
        match = _PLAIN.fullmatch(cell)
        return match is not None and len(match[1] or "") == self.decimals


@dataclass(frozen=True)
class Table:
    """A CSV file with one header line and one row per key, in order.

    Attributes
    ----------
    columns
        The first one is the key.
    rows
        The right content, one tuple of cells a row, in the order of ``columns``.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def describe(self) -> str:
        """Return the specification for the task text."""
        listed = "; ".join(f"`{column.name}` {column.meaning}{self._written(column)}" for column in self.columns)
        return (
            f"`{self.name}`: comma-separated, one header line, these columns in this order: {listed}. "
            "Numbers are plain, without currency signs, percent signs and thousands separators; a cell is right within "
            "0.1% or two units of its last decimal, a whole number exactly."
        )

    @staticmethod
    def _written(column: Column) -> str:
        if column.kind == "key":
            return ""
        unit = ", as a decimal fraction" if column.kind == "percent" else ""
        return f"{unit} ({column.decimals} decimals)" if column.decimals else f"{unit} (whole number)"

    def render(self) -> str:
        """Return the right file."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        for row in self.rows:
            writer.writerow([column.write(cell) for column, cell in zip(self.columns, row, strict=True)])
        return out.getvalue()

    def marks(self, content: str | None) -> list[Mark]:
        """Return the marks of a given file (None when it is missing)."""
        if content is None:
            return self._all_missed("missing")
        try:
            lines = [line for line in csv.reader(io.StringIO(content.lstrip("\ufeff"))) if any(map(str.strip, line))]
        except csv.Error as error:
            return self._all_missed(f"not CSV: {error}")
        if not lines or len(lines) > MAX_ROWS:
            return self._all_missed("empty" if not lines else f"{len(lines)} rows, more than {MAX_ROWS}")
        return self._marks(lines[0], lines[1:])

    def _all_missed(self, note: str) -> list[Mark]:
        return [
            Mark("completion", f"{self.name} rows", 0.0, 2.0, note),
            Mark("accuracy", f"{self.name} figures", 0.0, 1.0, note),
            Mark("format", f"{self.name} layout", 0.0, 1.0, note),
            Mark("format", f"{self.name} cells", 0.0, 1.0, note),
        ]

    def _marks(self, header: list[str], lines: list[list[str]]) -> list[Mark]:
        names = [column.name for column in self.columns]
        place = {name.strip().lower(): index for index, name in enumerate(header)}
        key = place.get(names[0].lower())
        given: dict[str, list[list[str]]] = {}
        for line in lines:
            if key is not None and key < len(line):
                given.setdefault(line[key].strip().lower(), []).append(line)
        asked = max(len(self.rows), len(lines))
        present, right, figures = 0, 0, 0
        for row in self.rows:
            matching = given.get(self.columns[0].write(row[0]).lower(), [])
            present += len(matching) == 1 and len(matching[0]) == len(header)
            for column, gold in list(zip(self.columns, row, strict=True))[1:]:
                figures += 1
                index = place.get(column.name.lower())
                if len(matching) == 1 and len(matching[0]) == len(header) and index is not None:
                    right += column.reads_as(matching[0][index], gold)
        figures = figures * asked // len(self.rows)
        return [
            Mark("completion", f"{self.name} rows", present / asked, 2.0, f"{present} of {asked} rows"),
            Mark("accuracy", f"{self.name} figures", right / figures, 1.0, f"{right} of {figures} cells right"),
            Mark("format", f"{self.name} layout", self._layout(header, lines), 1.0, f"header {','.join(header)[:120]}"),
            Mark("format", f"{self.name} cells", self._cells(header, lines), 1.0),
        ]

    def _layout(self, header: list[str], lines: list[list[str]]) -> float:
        exact = header == [column.name for column in self.columns]
        keys = [line[0] if line else "" for line in lines]
        ordered = keys == [self.columns[0].write(row[0]) for row in self.rows]
        return 0.5 * exact + 0.5 * ordered

    def _cells(self, header: list[str], lines: list[list[str]]) -> float:
        if header != [column.name for column in self.columns] or not lines:
            return 0.0
        cells = [
            len(line) == len(self.columns) and column.well_formed(line[index])
            for line in lines
            for index, column in enumerate(self.columns)
        ]
        return sum(cells) / len(cells)
