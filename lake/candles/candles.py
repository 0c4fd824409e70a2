"""Candles and funding rates as they came."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Candles:
    """Candles of one symbol in the order of their source.

    Attributes
    ----------
    source
        File, or exchange, that they come from.
    symbol
        As the source writes it; empty when it does not say.
    seconds
        Length of a bar.
    time
        Open times, seconds since 1970-01-01 UTC, ``[bars]``.
    open, high, low, close
        Prices in quote currency, ``[bars]``.
    volume
        Base currency, ``[bars]``.
    """

    source: str
    symbol: str
    seconds: float
    time: Floats
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats

    def __len__(self) -> int:
        return len(self.time)

    def rows(self, chosen: slice) -> Candles:
        """Return some of the candles."""
        fields = (self.time, self.open, self.high, self.low, self.close, self.volume)
        return Candles(self.source, self.symbol, self.seconds, *(field[chosen] for field in fields))


@dataclass(frozen=True)
class Funding:
    """Funding rates of a perpetual future.

    Attributes
    ----------
    source
        File, or exchange, that they come from.
    time
        When each was exchanged, seconds since 1970-01-01 UTC, ``[events]``, increasing.
    rate
        Paid by a long to a short, fraction of notional, ``[events]``.
    """

    source: str
    time: Floats
    rate: Floats


def moment(seconds: float) -> str:
    """Return a time as text, UTC."""
    if not np.isfinite(seconds):
        return str(seconds)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
