"""One public function under fuzz."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Random = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A function, how right arguments are drawn, and an independent check of its answer.

    Attributes
    ----------
    weight
        Share of the calls.
    dear
        Whether a right call takes seconds to compile: arguments are then mostly wrong ones, always in a short play.
    """

    function: Callable[..., Any]
    make: Callable[[Random], dict[str, Any]]
    check: Callable[[dict[str, Any], Any], bool]
    weight: float = 1.0
    dear: bool = False

    @property
    def name(self) -> str:
        return f"{self.function.__module__}.{self.function.__name__}"


def number(rng: Random, low: float, high: float, size: int | None) -> Any:
    return float(rng.uniform(low, high)) if size is None else rng.uniform(low, high, size)
