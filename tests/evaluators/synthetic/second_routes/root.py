"""What a second route is given and returns, and the root of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Values: TypeAlias = dict[str, float]


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Bisection; the function changes sign in between."""
    below = function(low) < 0
    assert below != (function(high) < 0)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (function(middle) < 0) == below else (low, middle)
    return (low + high) / 2
