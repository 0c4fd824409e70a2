"""The sections of a filing: the items of forms 10-K, 10-Q and 8-K, told from the table of contents and references."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_ITEM = re.compile(r"item\s*(\d{1,2}[A-C]?)\b\s*[.:\u2013\u2014-]?\s*(.*)", re.IGNORECASE)
_ITEM_8K = re.compile(r"item\s*(\d{1,2}\.\d{2})\b\s*[.:\u2013\u2014-]?\s*(.*)", re.IGNORECASE)
_PART = re.compile(r"part\s+(I{1,3}|IV)\b[\s.:\u2013\u2014-]*", re.IGNORECASE)
MAX_HEADING = 200
"""Characters; what is longer is a paragraph that begins with a reference."""
LONG = 1000
"""Characters of a section that is none of a table of contents."""


class Section(NamedTuple):
    """A part of a filing; ``name`` is empty for what stands before the first heading."""

    name: str
    title: str
    text: str


class _Heading(NamedTuple):
    line: int
    name: str
    title: str


def _headings(lines: Sequence[str], form: str) -> list[_Heading]:
    pattern = _ITEM_8K if form.startswith("8-K") else _ITEM
    quarterly = form.startswith("10-Q")
    part, found = "I", []
    for number, line in enumerate(lines):
        if len(line) > MAX_HEADING:
            continue
        if whole := _PART.match(line):
            part, line = whole[1].upper(), line[whole.end() :]
        heading = pattern.match(line)
        # "Item 7 of this report", "Item 1A, Risk Factors, above": references within the text
        if heading is None or heading[2][:1].islower() or heading[2][:1] in (",", ";", ")", '"', "\u201d"):
            continue
        name = f"{part}-{heading[1].upper()}" if quarterly else heading[1].upper()
        title = heading[2] or (lines[number + 1] if number + 1 < len(lines) else "")
        found.append(_Heading(number, name, title[:MAX_HEADING]))
    return found


def split(lines: Sequence[str], form: str) -> list[Section]:
    """Return the sections in the order of the document; the whole text stands in exactly one of them each.

    The table of contents names every item too, and text refers to items: of several headings of one name behind the
    table of contents, the one that the longest text follows is the section's.

    Parameters
    ----------
    lines
        Of :func:`lake.edgar.page_text.lines`.
    form
        ``10-K``, ``10-Q``, ``8-K``, with or without ``/A``; other forms are one section without a name.
    """
    headings = _headings(lines, form) if form.startswith(("10-K", "10-Q", "8-K")) else []
    # headings that repeat on each page begin no new section
    begun = [
        each
        for before, each in zip([None, *headings], headings, strict=False)
        if before is None or before.name != each.name
    ]
    ends = [each.line for each in begun[1:]] + [len(lines)]
    sizes = {heading: sum(map(len, lines[heading.line + 1 : end])) for heading, end in zip(begun, ends, strict=True)}
    first = _first_line(sizes)
    chosen: dict[str, _Heading] = {}
    for heading in sorted(sizes, key=lambda each: (each.line >= first, sizes[each])):
        chosen[heading.name] = heading
    return _parts(lines, sorted(chosen.values()))


def _first_line(sizes: Mapping[_Heading, int]) -> int:
    """Return where the table of contents is over: at the first section that is long and was named before."""
    named: set[str] = set()
    for heading, size in sizes.items():
        if heading.name in named and size >= LONG:
            return heading.line
        named.add(heading.name)
    return 0


def _parts(lines: Sequence[str], chosen: Sequence[_Heading]) -> list[Section]:
    starts = [0, *(heading.line for heading in chosen)]
    stops = [*(heading.line for heading in chosen), len(lines)]
    names = [("", ""), *((heading.name, heading.title) for heading in chosen)]
    parts = [Section(*name, "\n".join(lines[a:b])) for name, a, b in zip(names, starts, stops, strict=True)]
    return [part for part in parts if part.text]
