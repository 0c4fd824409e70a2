"""The last moves of a leading coin."""

from __future__ import annotations

from backtest.simulators.structures.contract import FIRM_SPREAD, Structure, firm, nothing, of_the_bar

LEADER = Structure(
    nothing,
    of_the_bar(lambda bar: firm(bar.leader)),
    parity="odd",
    lags=(1, 2, 3),
    choices=1,
    spread=FIRM_SPREAD,
)
