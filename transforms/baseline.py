"""The control condition."""

from __future__ import annotations

import jax

from backtest.market import Market
from transforms.record import transform


@transform(channel="observed")
def baseline(key: jax.Array, market: Market, *, severity: float | jax.Array = 1.0) -> Market:
    """Leave the market as it is."""
    del key, severity
    return market
