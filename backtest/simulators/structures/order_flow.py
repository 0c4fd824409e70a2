"""Aggressive buying against selling within an earlier bar."""

from __future__ import annotations

from backtest.simulators.structures.contract import FIRM_SPREAD, Structure, firm, nothing, of_the_bar

ORDER_FLOW = Structure(
    nothing,
    of_the_bar(lambda bar: firm(bar.flow)),
    parity="odd",
    lags=(1, 2, 3),
    choices=1,
    spread=FIRM_SPREAD,
)
