"""Whether an earlier move was larger or smaller than usual: the one goes on and the other turns, or the reverse."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from backtest.simulators.structures.contract import Structure, firm, nothing, of_the_bar

MIDDLE = 0.45
"""What half of all bars exceed, in the unit of ``erf``: less than half, for returns have heavy tails."""

VOLATILITY_SURPRISE = Structure(
    nothing,
    of_the_bar(lambda bar: bar.side * firm(2.0 * (lax.erf(jnp.abs(bar.surprise) * 0.5**0.5) - MIDDLE))),
    parity="odd",
    lags=(3, 4, 5),
    choices=1,
    spread=0.75,
)
