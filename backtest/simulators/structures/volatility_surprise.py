"""Whether an earlier bar moved more or less than was usual: the shock to volatility, whatever its direction."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from backtest.simulators.structures.contract import Structure, firm, nothing, of_the_bar

MIDDLE = 0.47
"""What half of all bars exceed, in the unit of ``erf``: less than half, for returns have heavy tails."""

VOLATILITY_SURPRISE = Structure(
    nothing,
    of_the_bar(lambda bar: firm(2.0 * (lax.erf(jnp.abs(bar.surprise) * 0.5**0.5) - MIDDLE))),
    parity="even",
    lags=(1, 2, 3),
    choices=1,
    spread=0.73,
)
