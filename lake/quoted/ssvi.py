"""The same quotes by the SSVI surface: three parameters for all expirations, free of arbitrage by construction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lake.quoted.surface import CHECKED_TIMES, LEAST_EXPIRATIONS, LEAST_PRICED, Fit, model_prices

if TYPE_CHECKING:
    from pricing.surface import SSVI, Arbitrage

Floats = npt.NDArray[np.float64]
COUNTS_NOTHING = 1e9
"""Tolerance of a row that only fills up an array."""


@dataclass(frozen=True)
class SmoothFit:
    """An SSVI surface; columns as in :class:`lake.quoted.surface.Fit`."""

    theta: Floats
    rho: float
    eta: float
    gamma: float
    fitted: Floats
    priced_inside: npt.NDArray[np.bool_]
    arbitrage: Arbitrage


def fit(svi: Fit) -> SmoothFit:
    """Return the SSVI surface of the quotes that ``svi`` was fitted to."""
    from jax.tree_util import Partial

    from pricing import surface

    found = _parameters(svi)
    count = svi.years.size
    forward = dict(zip(svi.years.tolist(), svi.forward, strict=True))

    def volatility(strike: Floats, years: Floats) -> Floats:
        k = np.log(strike / np.array([forward[time] for time in years.tolist()]))
        return np.sqrt(np.asarray(surface.ssvi_total_variance(found, k, years)) / years)

    prices = model_prices(
        svi.snapshot, svi.priced, svi.rate, svi.surface, volatility(svi.priced.strike, svi.priced.time_to_expiry)
    )
    times = np.linspace(svi.years[0], svi.years[-1], CHECKED_TIMES)
    return SmoothFit(
        theta=np.asarray(found.theta)[:count],
        rho=float(found.rho),
        eta=float(found.eta),
        gamma=float(found.gamma),
        fitted=volatility(svi.quotes.strike, svi.quotes.time_to_expiry),
        priced_inside=(prices >= svi.priced.bid) & (prices <= svi.priced.ask),
        arbitrage=surface.check(Partial(surface.ssvi_total_variance, found), times),
    )


def _parameters(svi: Fit) -> SSVI:
    """Fit arrays of few sizes: rows that count for nothing, at expirations behind the last one, fill them up."""
    from pricing import surface
    from pricing.padding import padded_size

    k = np.log(svi.quotes.strike / np.interp(svi.quotes.time_to_expiry, svi.years, svi.forward))
    years = svi.quotes.time_to_expiry
    last = svi.years[-1]
    level = float(np.max(svi.mid**2 * years))
    expirations = padded_size(svi.years.size + 1, least=LEAST_EXPIRATIONS) - svi.years.size
    rows = padded_size(k.size + expirations, least=LEAST_PRICED) - k.size
    later = last * (1.0 + 1.0 + np.minimum(np.arange(rows), expirations - 1))
    empty = {"k": np.zeros(rows), "variance": level * later / last, "tolerance": np.full(rows, COUNTS_NOTHING)}
    return surface.fit_ssvi(
        log_moneyness=np.r_[k, empty["k"]],
        time_to_expiry=np.r_[years, later],
        total_variance=np.r_[svi.mid**2 * years, empty["variance"]],
        tolerance=np.r_[svi.mid * np.maximum(svi.ask - svi.bid, 1e-4) * years, empty["tolerance"]],
    )
