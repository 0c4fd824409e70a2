"""Few array sizes, so that few are ever compiled: a kernel is compiled anew for every shape that it meets."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


def padded_size(count: int, *, least: int = 4) -> int:
    """Return the smallest ``least * 2**k`` that is not below ``count``."""
    size = least
    while size < count:
        size *= 2
    return size


def padded(row: NDArray[T], *, least: int = 4) -> NDArray[T]:
    """Return a row ``[n]``, n >= 1, with its last value repeated up to the padded size."""
    return np.concatenate([row, np.repeat(row[-1:], padded_size(row.size, least=least) - row.size)])
