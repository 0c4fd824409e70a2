"""Simulated daily markets for any date from 2005 to 2035: what is left to trade where real prices end.

Every table is drawn forward in time from the ticker's own seed, so a later day never changes an earlier one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt

from lake.point_in_time import PointInTime, Source
from lake.records import Bars

FIRST_DAY = date(2005, 1, 3)
LAST_DAY = date(2035, 12, 31)
TRADING_DAYS_A_YEAR = 252


@dataclass(frozen=True)
class SimulatedMarket:
    """A market whose log-variance follows an Ornstein-Uhlenbeck process correlated with the returns.

    Attributes
    ----------
    drift, volatility
        Per year, as fractions; ``volatility`` is the long-run median.
    reversion
        Speed of mean reversion of the log-volatility, per year.
    volatility_of_volatility
        Of the log-volatility, per square root of a year.
    correlation
        Between the shocks of return and log-volatility.
    daily_volume
        Median shares a day.
    """

    ticker: str
    title: str
    spot: float
    drift: float
    volatility: float
    reversion: float = 4.0
    volatility_of_volatility: float = 0.9
    correlation: float = -0.6
    daily_volume: float = 2.0e6


MARKETS: dict[str, SimulatedMarket] = {
    row.ticker: row
    for row in (
        SimulatedMarket("SIM-INDEX", "Simulated broad index", 1000.0, 0.05, 0.16),
        SimulatedMarket("SIM-TECH", "Simulated technology share", 80.0, 0.07, 0.32),
        SimulatedMarket("SIM-BANK", "Simulated bank share", 45.0, 0.04, 0.26),
        SimulatedMarket("SIM-PHARMA", "Simulated pharmaceutical share", 60.0, 0.05, 0.22),
        SimulatedMarket("SIM-ENERGY", "Simulated energy share", 35.0, 0.03, 0.30),
    )
}


def _weekdays() -> list[date]:
    span = (LAST_DAY - FIRST_DAY).days + 1
    days = (FIRST_DAY + timedelta(days=offset) for offset in range(span))
    return [day for day in days if day.weekday() < 5]


def _generator(market: SimulatedMarket) -> np.random.Generator:
    digest = hashlib.sha256(f"traderbench simulated daily market {market.ticker}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "big")))


def _log_volatility_gap(market: SimulatedMarket, shocks: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the deviation of log-volatility from its long-run value at the start of each day."""
    keep = 1.0 - market.reversion / TRADING_DAYS_A_YEAR
    scale = market.volatility_of_volatility / TRADING_DAYS_A_YEAR**0.5
    gap = np.zeros(len(shocks))
    for day in range(1, len(shocks)):
        gap[day] = keep * gap[day - 1] + scale * shocks[day - 1]
    return gap


def simulate(market: SimulatedMarket) -> Bars:
    """Return the bars of ``market`` on every weekday: two-step days (overnight, session) around a common path."""
    days = _weekdays()
    normal = _generator(market).standard_normal((len(days), 6))
    shock = normal[:, 0]
    own = (1.0 - market.correlation**2) ** 0.5
    gap = _log_volatility_gap(market, market.correlation * shock + own * normal[:, 1])
    daily = market.volatility * np.exp(gap) / TRADING_DAYS_A_YEAR**0.5
    drift = market.drift / TRADING_DAYS_A_YEAR - 0.5 * daily**2
    log_close = np.log(market.spot) + np.cumsum(drift + daily * shock)
    before = np.concatenate([[np.log(market.spot)], log_close[:-1]])
    log_open = before + 0.3 * (log_close - before) + 0.25 * daily * normal[:, 2]
    high = np.exp(np.maximum(log_open, log_close) + 0.4 * daily * np.abs(normal[:, 3]))
    low = np.exp(np.minimum(log_open, log_close) - 0.4 * daily * np.abs(normal[:, 4]))
    volume = market.daily_volume * np.exp(0.5 * gap + 0.3 * normal[:, 5] + 0.2 * np.abs(shock))
    # Rounded to cents like a quote; the open and close are rounded first so that they stay within high and low.
    opened, closed = np.exp(log_open).round(2), np.exp(log_close).round(2)
    columns = (opened, np.maximum(high.round(2), np.maximum(opened, closed)),
               np.minimum(low.round(2), np.minimum(opened, closed)), closed, volume.round())  # fmt: skip
    return Bars(tuple(days), *(tuple(column.tolist()) for column in columns))


def simulated() -> Source[Bars]:
    """Return the simulated markets; labelled as such by their ``SIM-`` tickers and by the source's origin."""
    return PointInTime(
        "SIMULATED by traderbench (lake/simulated.py): not a real market",
        lambda: {ticker: simulate(market) for ticker, market in MARKETS.items()},
    )
