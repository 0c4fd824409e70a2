"""Windows in which nothing can be known: markets that are fair games."""

from __future__ import annotations

from functools import partial

import jax

from backtest import simulators
from backtest.market import Market
from evaluators.crypto.windows import WARMUP_BARS, Windows, labels, to_numpy


@partial(jax.jit, static_argnames=("bars",))
def _markets(keys: jax.Array, bars: int) -> Market:
    return jax.vmap(lambda key: simulators.simulate(key, bars=bars, parameters=simulators.FAIR_PARAMETERS))(keys)


def fair_windows(key: jax.Array, *, windows: int, bars: int) -> Windows:
    """Return hourly windows, ``bars`` of them traded."""
    market = to_numpy(_markets(jax.random.split(key, windows), WARMUP_BARS + bars))
    return Windows(market, labels("fair", windows), ("simulated",) * windows)
