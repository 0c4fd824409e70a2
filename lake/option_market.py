"""The options on a ticker on a day, quoted or simulated, with one surface for prices and probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lake import chains
from lake.chains import Chain
from lake.quoted import snapshot, surface
from lake.quoted.surface import Fit
from lake.sample import Lake

if TYPE_CHECKING:
    from pricing.surface import SVI, Surface

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OptionMarket:
    """What tools ask of the options on one ticker.

    Attributes
    ----------
    day
        Day of the quotes; times to expiry count from here.
    spot, spot_date
        Price of the underlying, USD, and its day.
    rate, rate_origin
        Per year, continuously compounded, decimal, and where it is from.
    american
        Whether the options may be exercised early.
    expirations, years, forward
        Expirations with a curve, years to them, and forwards, USD.
    curves, surface
        The curve of each expiration, and all of them as one surface.
    fit, simulated
        What the surface was fitted to, or the simulated chain; one of them is None.
    """

    ticker: str
    as_of: date
    day: date
    spot: float
    spot_date: date
    rate: float
    rate_origin: str
    american: bool
    expirations: tuple[date, ...]
    years: Floats
    forward: Floats
    curves: tuple[SVI, ...]
    surface: Surface
    origin: str
    underlying_origin: str
    fit: Fit | None
    simulated: Chain | None

    def row_of(self, expiration: date) -> int:
        """Return the number of an expiration; ``ValueError`` lists those that there are, and why one is not."""
        if expiration in self.expirations:
            return self.expirations.index(expiration)
        listed = ", ".join(map(str, self.expirations))
        why = self.fit.left_out.get(expiration) if self.fit else None
        if why:
            raise ValueError(f"the surface of {self.ticker} has no {expiration}: {why}; it has {listed}")
        raise ValueError(f"{self.ticker} has no options that expire on {expiration}; listed: {listed}")

    def dividend_yield(self, row: int) -> float:
        """Return what the forward of an expiration says of income, per year, continuously compounded."""
        return self.rate - math.log(self.forward[row] / self.spot) / float(self.years[row])

    def volatility(self, strike: Floats, years: Floats) -> Floats:
        """Return the surface's volatilities."""
        return surface.volatility_at(self.surface, strike, years)

    def smile(self, row: int) -> Smile:
        """Return the volatilities of one expiration."""
        return Smile(
            forward=float(self.forward[row]),
            years=float(self.years[row]),
            **{name: float(value) for name, value in self.curves[row]._asdict().items()},
        )


@dataclass(frozen=True)
class Smile:
    """An SVI curve as a function from strike to volatility: for the many single strikes that an integral asks for."""

    forward: float
    years: float
    a: float
    b: float
    rho: float
    m: float
    sigma: float

    def __call__(self, strike: float) -> float:
        """Return the volatility at a strike, per year."""
        k = math.log(strike / self.forward) - self.m
        return math.sqrt((self.a + self.b * (self.rho * k + math.hypot(k, self.sigma))) / self.years)


def option_market(lake: Lake, ticker: str, *, as_of: date) -> OptionMarket:
    """Return the options on a ticker: the last quotes of the lake, or the simulated chain where it has none.

    Raises
    ------
    UnknownKey
        Nothing of the ticker was known.
    ValueError
        What was known is too old, or too little for a surface.
    """
    if snapshot.is_quoted(lake, ticker, as_of=as_of):
        return _quoted(lake, ticker, as_of)
    return _simulated(chains.chain(lake, ticker, as_of=as_of))


def _quoted(lake: Lake, ticker: str, as_of: date) -> OptionMarket:
    found = snapshot.last(lake, ticker, as_of=as_of)
    rate, origin = chains.risk_free_rate(lake, as_of=as_of)
    fit = surface.fit(found, rate, origin, not origin.startswith("assumed"))
    return OptionMarket(
        ticker=ticker,
        as_of=as_of,
        day=found.day,
        spot=found.spot,
        spot_date=found.day,
        rate=fit.rate,
        rate_origin=fit.rate_origin,
        american=found.is_american,
        expirations=fit.expirations,
        years=fit.years,
        forward=fit.forward,
        curves=fit.curves,
        surface=fit.surface,
        origin=f"{found.origin}; quotes of {found.read_at.isoformat()}",
        underlying_origin=found.spot_origin,
        fit=fit,
        simulated=None,
    )


def _simulated(chain: Chain) -> OptionMarket:
    forward = chain.spot * np.exp((chain.rate - chain.dividend_yield) * chain.years)
    curves = _curves(chain.ticker, chain.as_of, tuple(chain.variance), tuple(chain.years), tuple(forward))
    return OptionMarket(
        ticker=chain.ticker,
        as_of=chain.as_of,
        day=chain.as_of,
        spot=chain.spot,
        spot_date=chain.spot_date,
        rate=chain.rate,
        rate_origin=chain.rate_origin,
        american=False,
        expirations=chain.expirations,
        years=chain.years,
        forward=forward,
        curves=curves[0],
        surface=curves[1],
        origin=chains.ORIGIN,
        underlying_origin=chain.underlying_origin,
        fit=None,
        simulated=chain,
    )


@lru_cache(maxsize=32)
def _curves(
    ticker: str, as_of: date, variance: tuple[float, ...], years: tuple[float, ...], forward: tuple[float, ...]
) -> tuple[tuple[SVI, ...], Surface]:
    """Return the simulated surface as SVI curves: each of its slices is one (Gatheral and Jacquier 2014, 3.3)."""
    from pricing.surface import SVI

    curves = []
    for theta in variance:
        slope = chains.WING / (theta**chains.POWER * (1.0 + theta) ** (1.0 - chains.POWER))
        tilt = chains.SKEW
        flat = math.sqrt(1.0 - tilt**2)
        figures = (0.5 * theta * flat**2, 0.5 * theta * slope, tilt, -tilt / slope, flat / slope)
        curves.append(SVI._make(np.array(figures)))
    return tuple(curves), surface.of_few_sizes(np.array(years), np.array(forward), curves)
