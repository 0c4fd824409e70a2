"""The rubric of a task: its ``[+2] ...`` lines sorted into four dimensions, our own criteria where there are none."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from evaluators.judge import Criterion, Points, signed_share

DIMENSIONS = ("completion", "accuracy", "format", "professionalism")
POINTS = 25.0

_LINE = re.compile(r"^\s*\[\s*\+?\s*(-?[0-9]+(?:\.[0-9]+)?)\s*\]\s*(.*)$")
_FORMAT = re.compile(
    r"\b(?:pdf|docx?|xlsx?|pptx?|csv|word document|excel|spreadsheet|powerpoint|slides?|workbook|tabs?|file ?names?"
    r"|format(?:ted|ting)?|headings?|headers?|footers?|bullet(?:s|ed)?|font|layout|margins?|pages?|tabular|columns?|rows?"
    r"|bold|italic|labell?ed|titled?|single file)\b",
    re.IGNORECASE,
)
_PROFESSIONALISM = re.compile(
    r"\b(?:professional(?:ly|ism)?|tone|grammar|grammatical|spelling|typos?|polished|courteous|respectful|empath\w+"
    r"|concise(?:ly)?|plain language|jargon|readab\w+|client-ready|confidential\w*|style|overall)\b",
    re.IGNORECASE,
)
_ACCURACY = re.compile(
    r"[$€£]\s?[0-9]|[0-9]\s?%|[0-9][.,][0-9]|\b(?:calculat\w+|comput\w+|correct(?:ly)?|accurate(?:ly)?|equals?|total(?:s|ed)?|sum"
    r"|match(?:es)?|exact(?:ly)?|reconcil\w+|consistent|round(?:ed|s)?|formula\w*|valid|verif\w+|dated?|cit(?:es|ed|ation)\w*)\b",
    re.IGNORECASE,
)

OWN: Mapping[str, tuple[str, ...]] = {
    "completion": (
        "The response contains every deliverable that the task asks for, worked out in full.",
        "The response addresses every separate requirement that the task lists.",
        "The response contains the finished work itself and not a plan, an outline or an announcement of it.",
    ),
    "accuracy": (
        "Every calculation in the response that can be checked from the task is right, and at least one substantive "
        "statement or figure of the response can be checked.",
        "The response uses the facts, names and figures of the task without changing them.",
        "The reasoning of the response supports its conclusions, and it invents no facts.",
    ),
    "format": (
        "The response is structured as the task asks, or as a document of this kind is in the occupation.",
        "Tables, lists and headings in the response are complete and can be used as they stand.",
    ),
    "professionalism": (
        "The tone of the response suits the workplace and the reader that the task names.",
        "The response could be handed over without editing: no placeholder, no remark about being an AI, no errors of "
        "language.",
    ),
}
"""Criteria of ours for tasks, or dimensions, without a rubric line."""


def parse(text: str) -> list[tuple[float, str]]:
    """Return weight and wording of each line of a ``[+2] ...`` rubric; a line without a weight continues the last one.

    Raises
    ------
    ValueError
        Text before the first weight, or a weight of 0.
    """
    found: list[tuple[float, str]] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        if match := _LINE.match(line):
            weight = float(match[1])
            if weight == 0.0 or not math.isfinite(weight):
                raise ValueError(f"the weight of a rubric line must not be 0: {line[:80]!r}")
            found.append((weight, match[2].strip()))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}".strip())
        else:
            raise ValueError(f"a rubric begins with a weight like [+2], got {line[:80]!r}")
    return found


def dimension_of(text: str) -> str:
    """Return the dimension of a rubric line by its words; what tells nothing else is about completion."""
    for dimension, pattern in (("professionalism", _PROFESSIONALISM), ("format", _FORMAT), ("accuracy", _ACCURACY)):
        if pattern.search(text):
            return dimension
    return "completion"


def criteria(text: str | None) -> tuple[Criterion, ...]:
    """Return the lines of a task's rubric, and criteria of ours in every dimension without points to earn."""
    lines = parse(text) if text else []
    made = [Criterion(f"line-{n}", said, w, dimension_of(said)) for n, (w, said) in enumerate(lines, start=1)]
    for dimension in DIMENSIONS:
        if not any(criterion.dimension == dimension and criterion.weight > 0 for criterion in made):
            made += [
                Criterion(f"{dimension}-{n}", said, 1.0, dimension) for n, said in enumerate(OWN[dimension], start=1)
            ]
    return tuple(made)


def mark(listed: Sequence[Criterion], met: Mapping[str, bool]) -> Points:
    """Return the sum of four dimensions of 25.

    Format and professionalism count in proportion to the mean of completion and accuracy: the polish of work that is
    not there is worth nothing.
    """
    share = {d: signed_share([c for c in listed if c.dimension == d], met) for d in DIMENSIONS}
    substance = (share["completion"] + share["accuracy"]) / 2.0
    for dimension in ("format", "professionalism"):
        share[dimension] *= substance
    return Points(POINTS * math.fsum(share.values()), {d: 100.0 * share[d] for d in DIMENSIONS})
