"""Read named figures out of a text: from a table with a head, or from names and figures in the same order."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

_FIGURE = re.compile(r"-?\$?\d[\d,]*(?:\.\d+)?(?: (?:thousand|million|billion)|%)?")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_JOINTS = re.compile(r",\s+|;\s+|\s+and\s+")
_EMPTY = frozenset("a an and are at before by each for in is its of on one or over per that the to what with".split())
ALIKE = 0.3
"""Share of the words of a name and a meaning that have to be the same."""


def values_of(text: str, meanings: Mapping[str, str]) -> dict[str, float]:
    """Return the figure of each meaning that a name in the text is like; the likest pairs first."""
    pairs = [pair for labels, figures in (*_tables(text), *_lists(text)) for pair in zip(labels, figures, strict=True)]
    likeness = sorted(
        (
            (_alike(label, f"{name.replace('_', ' ')} {meaning}"), place, name)
            for place, (label, _) in enumerate(pairs)
            for name, meaning in meanings.items()
        ),
        reverse=True,
    )
    found: dict[str, float] = {}
    taken: set[int] = set()
    for score, place, name in likeness:
        if score >= ALIKE and name not in found and place not in taken:
            found[name] = _value(pairs[place][1])
            taken.add(place)
    return found


def _tables(text: str) -> list[tuple[list[str], list[str]]]:
    """Return heads and rows of figures below them."""
    lines = [line for line in text.splitlines() if not re.fullmatch(r"[|\s:-]+", line)]
    found = []
    for head, row in itertools.pairwise(lines):
        cells = [[cell.strip() for cell in re.split(r"[|;]", line.strip().strip("|"))] for line in (head, row)]
        if len(cells[0]) == len(cells[1]) > 1 and all(_FIGURE.fullmatch(cell) for cell in cells[1]):
            found.append((cells[0], cells[1]))
    return found


def _lists(text: str) -> list[tuple[list[str], list[str]]]:
    """Return names before a colon and as many figures after it."""
    found = []
    for names, figures in re.findall(r"([^.:\n]+): ([^:\n]+)\.(?:\s|$)", text):
        turned = re.search(r"\b(?:last|reverse|backwards)\b", names + figures) is not None
        labels, shown = _JOINTS.split(names.rsplit(";", 1)[0] if turned else names), _FIGURE.findall(figures)
        if len(labels) == len(shown) > 1:
            found.append((labels, shown[::-1] if turned else shown))
    return found


def _alike(label: str, meaning: str) -> float:
    one, two = (
        {_stem(word) for word in re.findall(r"[a-z]+", text.lower()) if word not in _EMPTY} for text in (label, meaning)
    )
    return len(one & two) / len(one) if one else 0.0


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _value(figure: str) -> float:
    number = float(re.sub(r"[^\d.-]", "", figure))
    if figure.endswith("%"):
        return number / 100
    return number * _SCALES.get(figure.split(" ")[-1], 1.0)
