"""When a given number counts as the gold number."""

from __future__ import annotations

import math
from dataclasses import dataclass

CLEAR_MARGINS = 6.0
"""A gold number larger than this many absolute margins is one that 0 does not nearly meet."""


@dataclass(frozen=True)
class Tolerance:
    """How far a right answer may be from the gold value: the wider of two bands.

    Attributes
    ----------
    relative
        Band as a fraction of the gold value's magnitude; 0.01 is 1%.
    absolute
        Floor of the band in the gold's own unit, for gold values near zero.
    """

    relative: float = 0.01
    absolute: float = 0.0

    def __post_init__(self) -> None:
        if not (0.0 <= self.relative < 1.0):
            raise ValueError(f"relative must lie in [0, 1), got {self.relative!r}")
        if not (0.0 <= self.absolute < math.inf):
            raise ValueError(f"absolute must be finite and not negative, got {self.absolute!r}")


def numbers_match(given: float, gold: float, *, relative: float = 0.01, absolute: float = 0.0) -> bool:
    """Return whether ``given`` lies within ``max(relative * |gold|, absolute)`` of ``gold``.

    A number that is not finite never matches. A wrong sign matches only inside the absolute floor.
    """
    if not (math.isfinite(given) and math.isfinite(gold)):
        return False
    return abs(given - gold) <= max(relative * abs(gold), absolute) * (1.0 + 1e-12)
