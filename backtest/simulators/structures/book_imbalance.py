"""Resting volume to buy against that to sell, at the close of an earlier bar."""

from __future__ import annotations

from backtest.simulators.structures.contract import FIRM_SPREAD, Structure, firm, nothing, of_the_bar

BOOK_IMBALANCE = Structure(
    nothing,
    of_the_bar(lambda bar: firm(bar.book)),
    parity="odd",
    lags=(1, 2, 3),
    choices=1,
    spread=FIRM_SPREAD,
)
