"""Notes that give a bare number its scale and unit: ``(in millions)``, ``in thousands of dollars:``, ``(%)``."""

from __future__ import annotations

import re
from typing import NamedTuple

from evaluators.answers.quantity import MONEY, SCALE, UNIT
from evaluators.answers.typed_json import Refusal
from evaluators.answers.units import CANONICAL, SCALES

_FILLER = (
    r"(?:all|figures?|amounts?|values?|numbers?|data|currency|stated|expressed|reported|given|shown|are|is|in|the|of"
    r"|per\s+the\s+filing|单位)"
)
_SCALES = rf"(?:'?000,000s?|'?000s?|hundreds|{SCALE})"
_SCALED = (
    rf"(?:(?:{UNIT})\s*)?(?:thousand|million|billion|trillion)s(?:\s+(?:of\s+)?(?:{UNIT}))?"
    rf"|(?:{UNIT})\s*(?:thousand|million|billion|trillion)s?|(?:thousand|million|billion)\s+(?:{UNIT})"
)
_NOTE = re.compile(
    rf"[(\[（]\s*(?:(?:{_FILLER})[\s:：]*){{0,6}}(?P<inside>(?:(?:{_SCALES}|{UNIT}|of|in|and)\s*){{1,5}})[)\]）]"
    rf"|\b(?:(?:{_FILLER})\s+){{0,5}}in\s+(?P<after_in>{_SCALED}|percent|per\s+cent|%)"
    rf"|(?<![\w$])(?P<lead>(?:\$|USD|US\$)\s?(?:thousand|million|billion)s)(?=\s)",
    re.IGNORECASE,
)
_ALL_FIGURES = re.compile(
    r"(?:^|[.:;\"])[ \t>*#(\[_|-]*"
    rf"(?:(?:{_FILLER}|{MONEY}|dollars?|note|nb|here|below|above|using|working)[ \t:]+){{0,8}}"
    r"(?:(?:figures|amounts|values|numbers|data)\b(?:(?!shares)[^.:;\"\n]){0,40}[ \t])?"
    rf"(?P<words>in\s+(?:{_SCALED}))"
    r"(?:,?[ \t]+unless[ \t]+(?:otherwise[ \t]+)?(?:stated|noted|specified|indicated))?[ \t)\]*_|]*(?=[.:;\"]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_PRICE = re.compile(r"\bper[\s-]share\b|\bEPS\b|/\s?share\b|\bprices?\b", re.IGNORECASE)
_WORD = re.compile(rf"(?P<scale>{_SCALES})|(?P<unit>{UNIT})", re.IGNORECASE)


class Note(NamedTuple):
    """A note, where it stands, and what it says; scale 1 and an empty unit where it says nothing of them."""

    start: int
    end: int
    scale: float
    unit: str


def _scale(word: str) -> float:
    word = word.lower()
    return SCALES[word] if word in SCALES else {"hundreds": 1e2}.get(word, 1e6 if "," in word else 1e3)


def read_notes(text: str) -> list[Note] | Refusal:
    """Return the notes of a statement; a refusal when one names two scales or units."""
    notes = []
    for match in _NOTE.finditer(text):
        words = match["inside"] or match["after_in"] or match["lead"]
        parts = list(_WORD.finditer(words))
        scales = {_scale(part["scale"]) for part in parts if part["scale"]}
        units = {CANONICAL[re.sub(r"\s+", " ", part["unit"].lower())] for part in parts if part["unit"]}
        if len(scales) > 1 or len(units) > 1:
            return Refusal(f"unclear scale or unit: {match.group().strip()!r}")
        notes.append(Note(match.start(), match.end(), next(iter(scales), 1.0), next(iter(units), "")))
    return notes


def without_notes(text: str, notes: list[Note]) -> str:
    """Return ``text`` with blanks for its notes."""
    for note in notes:
        text = f"{text[: note.start]}{' ' * (note.end - note.start)}{text[note.end :]}"
    return text


def scale_of_all_figures(text: str) -> str:
    """Return the words that give all figures of a reply one scale (``All figures in millions.``), empty without any.

    Prices and amounts per share are never in millions: in a reply about some the words are about other figures.
    """
    match = _ALL_FIGURES.search(text)
    return match["words"] if match and not _PRICE.search(text) else ""
