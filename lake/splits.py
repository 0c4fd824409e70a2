"""Share splits within the embedded prices, which are as traded: what a holder of shares across one must know."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple


class Split(NamedTuple):
    """One share becomes ``ratio`` shares before the open of ``day``."""

    day: date
    ratio: float


SPLITS: dict[str, tuple[Split, ...]] = {
    "AAPL": (Split(date(2000, 6, 21), 2.0), Split(date(2005, 2, 28), 2.0)),
    "MSFT": (Split(date(2003, 2, 18), 2.0),),
}
"""From the companies' announcements. FB, GOOG and IBM had none between 2000 and March 2013."""
