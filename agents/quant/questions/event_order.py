"""Put events in order by the way language refers back: what is "the offer" here was "an offer" before."""

from __future__ import annotations

import itertools
import re
from typing import Any

from mcp_toolbox import Toolbox

from reading.message import final_answer

MAX_EVENTS = 8
_STOP_WORDS = frozenset(
    "a an the of to in on at by for from with and or its it this that these those into is are was were has have had "
    "after before now which who one be been being as still up out over under their them they him his her not no".split()
)
_DEFINITE = frozenset("the this that these those now after following having".split())


def read_events(text: str) -> list[str]:
    """Return the numbered events of a question."""
    return re.findall(r"^\d+\.\s+(.+)$", text, re.MULTILINE)


def _stem(word: str) -> str:
    return re.sub(r"(?:ation|ement|ment|ing|ions?|ed|es|s|al|e)$", "", word) if len(word) > 4 else word


def _mentions(event: str) -> dict[str, bool]:
    """Return the stems of an event, and whether each is mentioned as something known already."""
    found: dict[str, bool] = {}
    known = 0
    for word in re.findall(r"[a-z]+", event.lower()):
        if word in _DEFINITE:
            known = 3
        elif word not in _STOP_WORDS:
            found[_stem(word)] = found.get(_stem(word), False) or known > 0
        known -= 1
    return found


def precedence(first: str, second: str) -> int:
    """Return how strongly ``second`` refers back to ``first``: words known there that are new here."""
    here, there = _mentions(first), _mentions(second)
    return sum(there[stem] and not here[stem] for stem in here.keys() & there.keys())


def order(events: list[str]) -> list[int]:
    """Return the order (indices from 0) in which the most references point backwards."""
    weights = {(i, j): precedence(events[i], events[j]) for i, j in itertools.permutations(range(len(events)), 2)}
    orders = itertools.permutations(range(len(events)))
    return list(max(orders, key=lambda row: sum(weights[pair] for pair in itertools.combinations(row, 2))))


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the order of the events of a question; None when it is not about the order of events."""
    text = str(body.get("question", "")).split("\n\nEnd your reply")[0]
    events = read_events(text)
    if not 2 <= len(events) <= MAX_EVENTS or "order" not in text:
        return None
    return final_answer(",".join(str(index + 1) for index in order(events)))
