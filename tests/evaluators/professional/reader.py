"""Reads a told sheet as a careful analyst would, who knows what a thing may be called and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from evaluators.professional.sheet import Exhibit, Sheet

NUMBER = r"-?\$?\d[\d,]*(?:\.\d+)?(?: thousand| million| billion| cents| percentage points| basis points|%)?"
POWERS = {
    "dollars": {"": 0, "$": 0, "thousand": 3, "million": 6},
    "price": {"": 0, "$": 0, "cents": -2},
    "millions": {"million": 0, "thousand": -3, "billion": 3},
    "fraction": {"": 0, "as a decimal": 0, "%": -2, "percentage points": -2, "basis points": -4},
    "basis points": {"basis points": 0, "%": 2, "percentage points": 2},
    "number": {"": 0},
}
"""Unit -> how it may be written -> the power of ten that brings it back."""

Cells = dict[str, str]
"""Heading -> cell, of one row."""


def value(text: str, unit: str, heading: str = "") -> Decimal | str:
    """Return the number in the unit, or the words as they stand."""
    if unit == "text":
        return text
    match = re.fullmatch(r"(-?)\$?([\d,]+(?:\.\d+)?) ?(.*)", text)
    assert match is not None, text
    after = match[3] or heading.removeprefix("$ ")
    return Decimal(match[1] + match[2].replace(",", "")).scaleb(POWERS[unit][after])


def begins_with(text: str, names: Iterable[str]) -> tuple[str, str, str]:
    """Return the longest name that the text begins with, the unit in brackets behind it, and the rest."""
    for name in sorted(names, key=len, reverse=True):
        match = re.match(rf"{re.escape(name)}(?: \(([$%a-z ]+)\))?(?=$|[ :])", text, re.I)
        if match is not None:
            return name, match[1] or "", text[match.end() :]
    raise AssertionError(f"no name at {text!r}")


def table(body: Sequence[str], names: Sequence[str]) -> Iterator[Cells]:
    """Yield the rows of a table in any of its five forms, the name of the row under ``""``."""
    if body[0].startswith("- "):
        for line in body:
            key, rest = line[2:].split(": ", 1)
            yield {"": key} | _pairs(rest.split(", "), names, " ")
    elif body[0].startswith("For "):
        for key, rest in re.findall(r"For ([^,]+), (.*?)\.(?= For |$)", body[0]):
            yield {"": key} | _pairs(re.split(r", | and ", rest), names, " was ")
    else:
        lines = [_cells(line) for line in body if not line.startswith("| ---")]
        for line in lines[1:]:
            yield {"": line[0]} | dict(zip(lines[0][1:], line[1:], strict=True))


def _cells(line: str) -> list[str]:
    if line.startswith("| "):
        return line[2:-2].split(" | ")
    return line.split("; ") if "; " in line else re.split(r" {2,}", line)


def _pairs(parts: Sequence[str], names: Sequence[str], between: str) -> Cells:
    found = {}
    for part in parts:
        name, unit, rest = begins_with(part, names)
        found[f"{name} ({unit})" if unit else name] = rest.removeprefix(between)
    return found


def read_facts(blocks: Sequence[str], sheet: Sheet) -> list[Decimal | str]:
    """Return the values of the facts, in their order."""
    names = [name for fact in (*sheet.facts, *sheet.beside) for name in fact.names]
    (block, *rules) = blocks
    counts = re.findall(r"take the figure of (.+)\.", rules[0])[0] if rules else ""
    said = dict[str, tuple[str, str]]()
    for part in _statements(block):
        name, unit, rest = begins_with(part, names)
        said[name] = unit, re.sub(r"^(?:: | is | )", "", rest)
    found = []
    for fact in sheet.facts:
        (name,) = [name for name in fact.names if name in said]
        found.append(_fact(said[name][1], fact.unit, said[name][0], counts))
    return found


def _statements(block: str) -> list[str]:
    lines = block.splitlines()
    if block.startswith("What is given: "):
        return block.removeprefix("What is given: ").removesuffix(".").split("; ")
    if block.startswith("- "):
        return [line[2:] for line in lines]
    if len(lines) > 1:
        return [": ".join(_cells(line)) for line in lines[1:] if not line.startswith("| ---")]
    return re.split(r"\. (?=[A-Z])", block.removesuffix("."))


def _fact(text: str, unit: str, heading: str, counts: str) -> Decimal | str:
    if " according to " in text:
        parts = [part.split(" according to ") for part in text.split(" and ", 1)]
        if len(parts[0]) != 2 or parts[0][1] != counts:
            parts = parts[::-1]
        return value(parts[0][0], unit, heading)
    moved = re.search(rf"(raised|lowered) by ({NUMBER})", text)
    if moved is None:
        return value(text, unit, heading)
    (old,) = re.findall(NUMBER, text.replace(moved[0], ""))
    before, change = value(old, unit, heading), value(moved[2], unit, heading)
    assert isinstance(before, Decimal) and isinstance(change, Decimal)
    return before + change if moved[1] == "raised" else before - change


def read_exhibit(blocks: Sequence[str], given: Exhibit) -> list[list[Decimal | str]]:
    """Return the rows of the assignment, in the order of their names."""
    lines = blocks[0].splitlines()[1:]
    owner = next((re.findall(r"belongs to (\w+) (\w+)", block)[0] for block in blocks if "belongs to" in block), None)
    beside = [name for heading, _ in given.beside for name in heading.names]
    names = [*(name for heading in given.headings[1:] for name in heading.names), *beside, *(owner or ())]
    rows = [row for row in table(lines, names) if owner is None or row[owner[0]] == owner[1]]
    mended = _corrections(blocks)
    found = []
    for row in rows:
        units = {begins_with(name, names)[0]: (begins_with(name, names)[1], cell) for name, cell in row.items() if name}
        cells: list[Decimal | str] = [row[""]]
        for heading in given.headings[1:]:
            (name,) = [name for name in heading.names if name in units]
            unit, cell = units[name]
            cell = mended.get((row[""], name), cell)
            cells.append(value(cell, heading.unit, unit))
        found.append(cells)
    return sorted(found, key=lambda row: [cell if isinstance(cell, str) else f"{cell.normalize():f}" for cell in row])


def _corrections(blocks: Sequence[str]) -> Mapping[tuple[str, str], str]:
    listed = next((block for block in blocks if block.startswith("Corrections")), "")
    valid = re.findall(r"one that is (\w+) replaces", listed)
    notes = re.findall(r"(?m)^- (.+?), (.+): (.+) \((\w+)\)$", listed)
    return {(key, name): stated for key, name, stated, state in notes if [state] == valid}


def read(text: str, sheet: Sheet) -> tuple[list[Decimal | str], list[list[list[Decimal | str]]]]:
    """Return the facts and the rows of every table that a text tells."""
    titles = [tuple(title.lower() for title in table.titles) for table in sheet.exhibits]
    groups = dict[int, list[str]]()
    at = -1
    for block in text.split("\n\n"):
        first = block.splitlines()[0].lower()
        heads = [place for place, called in enumerate(titles) if first in called]
        if heads:
            at = heads[0]
        elif not block.startswith(("Only ", "Corrections ", "Where ")):
            at = -1
        groups.setdefault(at, []).append(block)
    facts = read_facts(groups[-1], sheet) if sheet.facts else []
    return facts, [read_exhibit(groups[place], given) for place, given in enumerate(sheet.exhibits)]
