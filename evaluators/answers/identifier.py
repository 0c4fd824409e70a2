"""Read one code-like answer (accession number, date) out of what a reply states."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluators.answers.dates import ENDED, written_dates
from evaluators.answers.statement import alternatives, stated_answers
from evaluators.answers.typed_json import Refusal

ACCESSION_NUMBER = re.compile(r"(?<![0-9])([0-9]{10})-?([0-9]{2})-?([0-9]{6})(?![0-9])")
"""An EDGAR accession number, with or without its dashes."""


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


def _tokens(text: str) -> set[str] | Refusal:
    return {"-".join(match.groups()) for match in ACCESSION_NUMBER.finditer(text)}


def _dates(text: str) -> set[str] | Refusal:
    """Return the dates in ``text`` but those on which a period ended."""
    text = ACCESSION_NUMBER.sub(lambda match: " " * len(match.group()), text)
    stated = [(text[a:b], days) for a, b, days in written_dates(text) if not ENDED.search(text[max(0, a - 20) : a])]
    found = {days[0] for _, days in stated if len(days) == 1}
    for written, days in stated:
        if not days:
            return Refusal(f"there is no such day: {written!r}")
        if not found & set(days):
            return Refusal(f"day or month first in {written!r}? write the date as YYYY-MM-DD")
    return found


def parse_accession_number(text: str) -> StatedToken | Refusal:
    """Return the one EDGAR accession number that ``text`` states. Never raises on any ``text``."""
    return _one(text, "accession number")


def parse_date(text: str) -> StatedToken | Refusal:
    """Return the one calendar date that ``text`` states, as an ISO date. Never raises on any ``text``.

    ``2024-11-01``, ``2024/11/01``, ``20241101``, ``November 1, 2024``, ``1-Nov-2024`` are read; forms whose order of
    day and month is a matter of country (``01/11/2024``) are not. The day on which a period ended is passed over.
    """
    return _one(text, "date")


def _one(text: str, what: str) -> StatedToken | Refusal:
    statements = stated_answers(text)
    if isinstance(statements, Refusal):
        return statements
    found: set[str] = set()
    for statement in statements:
        if hedge := alternatives(statement):
            return hedge
        here = _dates(statement.text) if what == "date" else _tokens(statement.text)
        if isinstance(here, Refusal):
            return here
        if not here:
            form = "YYYY-MM-DD" if what == "date" else "0000000000-00-000000"
            return Refusal(f"no {what} of the form {form} in the stated answer: {statement.text[:80]!r}")
        found |= here
    if len(found) > 1:
        return Refusal(f"several values for one {what}: {', '.join(sorted(found))[:120]}")
    return StatedToken(found.pop(), statements[-1].text)
