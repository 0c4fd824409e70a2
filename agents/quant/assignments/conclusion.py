"""Draw the conclusion of an assignment by its rule ``A if the X exceeds the Y, else B``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

PER_BASIS_POINT = 1e4
RATIO = re.compile(r" in basis points of the (.+)")


def verdict(rules: Sequence[str], figures: Mapping[str, float], context: Mapping[str, Any]) -> str:
    """Return the conclusion by the two halves of the rule; empty when it is of another kind."""
    match = re.match(r"(\w+) if (.+?) exceeds? (.+)", rules[0]) if len(rules) == 2 else None
    if match is None:
        return ""
    word, left, right = match.groups()
    value, limit = _left_side(left, right, figures, context), _limit(left, RATIO.sub("", right), context)
    if value is None or limit is None:
        return ""
    return word if value > limit else rules[1].strip()


def _left_side(left: str, right: str, figures: Mapping[str, float], context: Mapping[str, Any]) -> float | None:
    """Return the figure that the left side names, in the unit in which the right side states the limit."""
    value, ratio = _named(left, figures), RATIO.search(right)
    if value is None:
        return None
    if ratio is not None:
        whole = _named(ratio.group(1), figures)
        return PER_BASIS_POINT * value / whole if whole else None
    value = abs(value) if "absolute" in left else value
    return value * float(context["spot"]) if "times the spot" in left and "spot" in context else value


def _named(phrase: str, figures: Mapping[str, float]) -> float | None:
    label = max((label for label in figures if label.lower() in phrase.lower()), key=len, default=None)
    return None if label is None else figures[label]


def _limit(left: str, right: str, context: Mapping[str, Any]) -> float | None:
    """Return the input whose name shares most words with the right side (and, for ``its limit``, with the left)."""
    wanted = set(re.findall(r"[a-z]+", f"{right} {left if right.startswith('its') else ''}".lower()))
    best = max(_numbers(context), key=lambda item: len(wanted & set(item[0].lower().split("_"))), default=("", None))
    return best[1] if wanted & set(best[0].lower().split("_")) else None


def _numbers(data: Mapping[str, Any]) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for name, value in data.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            found.append((name, float(value)))
        elif isinstance(value, dict):
            found += _numbers(value)
    return found
