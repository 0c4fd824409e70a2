"""The market record every other file speaks about."""

from __future__ import annotations

from typing import NamedTuple

import jax


class Market(NamedTuple):
    """Candles of one market, or of a batch of markets.

    Every field has shape ``[bars]`` or ``[batch, bars]``. Prices are in units of the quote currency.

    Attributes
    ----------
    time
        Open time of each bar, seconds since 1970-01-01 UTC, strictly increasing.
    open, high, low, close
        Prices, > 0, with ``low <= min(open, close)`` and ``high >= max(open, close)``.
    volume
        Traded amount of the base currency within the bar, >= 0.
    funding_rate
        Rate that a long pays to a short **at the open of this bar**, as a fraction of notional; 0 where no funding is
        exchanged in this bar.
    """

    time: jax.Array
    open: jax.Array
    high: jax.Array
    low: jax.Array
    close: jax.Array
    volume: jax.Array
    funding_rate: jax.Array
