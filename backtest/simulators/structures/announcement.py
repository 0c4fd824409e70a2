"""An announcement that the price will rise or fall; whether the venue tells the truth is the sign of the market."""

from __future__ import annotations

from backtest.simulators.channels import NEWS_SHARE
from backtest.simulators.structures.contract import Structure, nothing, of_the_bar

ANNOUNCEMENT = Structure(
    nothing, of_the_bar(lambda bar: bar.news), parity="odd", lags=(1, 2), choices=1, spread=NEWS_SHARE**0.5
)
