"""Read a judge's verdict, and hold its evidence against the reply."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from evaluators.judge.text import collapsed, words

MIN_COPIED_WORDS = 5
"""A quote of so many words that stands in the task as well shows nothing of the agent's own."""

_CODE_BLOCK = re.compile(r"\A```(?:json)?\s*(\{.*\})\s*```\Z", re.DOTALL)


class Verdict(NamedTuple):
    """What a judge said about one criterion."""

    met: bool
    evidence: str


class Unreadable(ValueError):
    """A verdict that is not in the form asked for."""


def parse_verdict(text: str) -> Verdict:
    """Return the verdict in ``text``: exactly one JSON object with a boolean ``met`` and a string ``evidence``.

    Raises
    ------
    Unreadable
        Anything else, a key that comes twice included.
    """
    stripped = text.strip()
    block = _CODE_BLOCK.match(stripped)
    try:
        found = json.loads(block[1] if block else stripped, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not one JSON object: {stripped[:80]!r}") from error
    if not isinstance(found, dict) or set(found) != {"met", "evidence"}:
        raise Unreadable(f"not an object of met and evidence: {stripped[:80]!r}")
    if not isinstance(found["met"], bool) or not isinstance(found["evidence"], str):
        raise Unreadable(f"met must be true or false and evidence a string: {stripped[:80]!r}")
    return Verdict(found["met"], found["evidence"])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key comes twice")
    return document


def evidence_fault(evidence: str, *, reply: str, task: str) -> str:
    """Return why ``evidence`` proves nothing about ``reply``; empty when it is a verbatim passage of its own."""
    quote = collapsed(evidence)
    if not words(quote):
        return "no evidence"
    if quote not in collapsed(reply):
        return "the evidence does not stand in the reply"
    if len(words(quote)) >= MIN_COPIED_WORDS and quote.casefold() in collapsed(task).casefold():
        return "the evidence is a passage of the task"
    return ""
