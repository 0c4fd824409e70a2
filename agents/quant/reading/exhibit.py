"""Tables as they stand in a text: aligned, between bars or semicolons, as a list, or told in sentences."""

from __future__ import annotations

import re

NUMBER = re.compile(r"[-+]?\$?[-+]?\d[\d,]*(?:\.\d+)?")


def rows(text: str) -> list[list[str]]:
    """Return the rows of every table of a text, the name of each row first; headers are rows without a number."""
    found = []
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
        elif line.startswith("- ") and ": " in line:
            name, _, rest = line[2:].partition(": ")
            cells = [name, *rest.split(", ")]
        elif re.search(r"\S(?:;\s|\s{2,})\S", line):
            cells = [cell.strip() for cell in re.split(r";\s|\s{2,}", line)]
        else:
            told = re.findall(r"\bFor ([^,.]+), (.+? was .+?)\.(?=\s|$)", line)
            found += [[name, *re.split(r", (?:and )?| and ", rest)] for name, rest in told]
            continue
        found.append(cells)
    return [cells for cells in found if len(cells) > 1 and any(NUMBER.search(cell) for cell in cells[1:])]


def number(cell: str) -> float | None:
    """Return the last number of a cell in the unit that it is written in; None of one without."""
    numbers = NUMBER.findall(cell)
    return float(re.sub(r"[$,]", "", numbers[-1])) if numbers else None
