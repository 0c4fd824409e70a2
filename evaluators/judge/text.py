"""The plain form of a text: what is shown to a judge, what a quote is looked up in, what copies are found by."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_WORD = re.compile(r"[^\W_]+(?:[.,][0-9]+)*")


def clean(text: str) -> str:
    """Return ``text`` in compatibility form without what no reader sees: controls, zero-width, bidi and tag characters.

    Line ends and tabs stay.
    """
    kept = (mark for mark in text if mark in "\n\t" or unicodedata.category(mark) not in _UNSEEN)
    return unicodedata.normalize("NFKC", "".join(kept))


def collapsed(text: str) -> str:
    """Return ``clean(text)`` with every run of white space as one space."""
    return " ".join(clean(text).split())


def words(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, without punctuation."""
    return _WORD.findall(clean(text).casefold())


def covered(inner: list[str], outer: list[str], *, run: int) -> list[bool]:
    """Return for each word of ``inner`` whether it stands in a run of ``run`` words that ``outer`` has too."""
    runs = {tuple(outer[start : start + run]) for start in range(len(outer) - run + 1)}
    marks = [False] * len(inner)
    for start in range(len(inner) - run + 1):
        if tuple(inner[start : start + run]) in runs:
            marks[start : start + run] = [True] * run
    return marks
