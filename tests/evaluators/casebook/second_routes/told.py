"""What a second route answers, and numbers read from the text of a case."""

from __future__ import annotations

import re
from typing import Any

Answers = list[dict[str, Any]]


def number(text: str) -> float:
    """Return millions of dollars out of ``$1,200 thousand`` or ``$1.2 million``, or the plain number."""
    value = float(re.sub(r"[^0-9.-]", "", text))
    return value / 1000 if "thousand" in text else value


def claimed(text: str, before: str, after: str = "") -> float:
    return float(re.search(rf"{before}\s*(-?[0-9.]+){after}", text)[1])  # type: ignore[index]
