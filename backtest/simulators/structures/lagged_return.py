"""The return of an earlier bar, in units of the volatility until then."""

from __future__ import annotations

from jax import lax

from backtest.simulators.structures.contract import Structure, firm, nothing, of_the_bar

LAGGED_RETURN = Structure(
    nothing,
    of_the_bar(lambda bar: firm(lax.erf(bar.surprise))),
    parity="odd",
    lags=(3, 4, 5, 7, 8),
    choices=1,
    spread=0.777,
)
