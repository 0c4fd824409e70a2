"""What a second route answers, and numbers read from the text of a case."""

from __future__ import annotations

import re
from typing import Any

Answers = list[dict[str, Any]]


def number(text: str) -> float:
    """Return millions of dollars out of ``$1,200 thousand`` or ``$1.2 million``, or the plain number."""
    value = float(re.sub(r"[^0-9.-]", "", text))
    return value / 1000 if "thousand" in text else value


def found(pattern: str, text: str) -> re.Match[str]:
    """Return where a text first says ``pattern``, which it does."""
    match = re.search(pattern, text)
    assert match is not None, (pattern, text)
    return match


def claimed(text: str, before: str, after: str = "") -> float:
    return float(found(rf"{before}\s*(-?[0-9.]+){after}", text)[1])
