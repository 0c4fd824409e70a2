"""Read one code-like answer (accession number, date) out of what a reply states."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from evaluators.answers.statement import stated_answers
from evaluators.answers.typed_json import Refusal

ACCESSION_NUMBER = re.compile(r"(?<![0-9])([0-9]{10})-?([0-9]{2})-?([0-9]{6})(?![0-9])")
"""An EDGAR accession number, with or without its dashes."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_DATES = (
    (re.compile(r"(?<![0-9])([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])"), ("year", "month", "day")),
    (re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})([01][0-9])([0-3][0-9])(?![0-9])"), ("year", "month", "day")),
    (re.compile(r"(?<![0-9])([0-9]{4})年([0-9]{1,2})月([0-9]{1,2})日"), ("year", "month", "day")),
    (re.compile(rf"\b{_MONTH}\s+([0-9]{{1,2}})(?:st|nd|rd|th)?,?\s+([0-9]{{4}})\b", re.I), ("name", "day", "year")),
    (re.compile(rf"\b([0-9]{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH},?\s+([0-9]{{4}})\b", re.I), ("day", "name", "year")),
)


@dataclass(frozen=True)
class StatedToken:
    """A code that a reply states.

    Attributes
    ----------
    value
        The code in its canonical form (accession number with dashes, ISO date).
    text
        The words it was read from.
    """

    value: str
    text: str


def _tokens(text: str) -> set[str]:
    return {"-".join(match.groups()) for match in ACCESSION_NUMBER.finditer(text)}


def _dates(text: str) -> set[str]:
    found = set()
    for pattern, names in _DATES:
        for match in pattern.finditer(text):
            part = dict(zip(names, match.groups(), strict=True))
            month = _MONTHS.index(part["name"].lower()) + 1 if "name" in part else int(part["month"])
            try:
                found.add(date(int(part["year"]), month, int(part["day"])).isoformat())
            except ValueError:
                continue
    return found


def parse_accession_number(text: str) -> StatedToken | Refusal:
    """Return the one EDGAR accession number that ``text`` states. Never raises on any ``text``."""
    return _one(text, "accession number")


def parse_date(text: str) -> StatedToken | Refusal:
    """Return the one calendar date that ``text`` states, as an ISO date. Never raises on any ``text``.

    ``2024-11-01``, ``20241101``, ``November 1, 2024``, ``1 Nov 2024`` are read; forms whose order of day and month is
    a matter of country (``01/11/2024``) are not.
    """
    return _one(text, "date")


def _one(text: str, what: str) -> StatedToken | Refusal:
    statements = stated_answers(text)
    if isinstance(statements, Refusal):
        return statements
    found: set[str] = set()
    for statement in statements:
        here = _dates(statement.text) if what == "date" else _tokens(statement.text)
        if not here:
            return Refusal(f"no {what} in the stated answer: {statement.text[:80]!r}")
        found |= here
    if len(found) > 1:
        return Refusal(f"several values for one {what}: {', '.join(sorted(found))[:120]}")
    return StatedToken(found.pop(), statements[-1].text)
