"""Stylised facts of crypto markets (the list of Cont 2001), measured and as the simulator has to show them.

The ranges hold the values of Binance's hourly BTCUSDT and ETHUSDT perpetual candles (January 2023 to March 2026), its
hourly SOLUSDT spot candles (2023 to 2025) and its BTCUSDT funding rates (September 2019 to February 2026), with room
for the luck of one path of three years. They agree with what is published: heavy tails, slowly decaying
autocorrelation of absolute but none of raw returns, a weak leverage effect, and volume that moves with volatility
(Zhang, Wang, Li and Shen 2018, "Some stylized facts of the cryptocurrency market"; Takaishi 2018, "Statistical
properties and multifractality of Bitcoin"; Silva, Bertella and Brigatti 2020, "The leverage effect and other stylized
facts displayed by Bitcoin returns"); and jumps besides stochastic volatility (Hou, Wang, Chen and Haerdle 2020,
"Pricing cryptocurrency options").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from backtest.market import Market
from pricing.signature import checked


class Facts(NamedTuple):
    """Figures of one market; ``r`` is the log return of a bar, ``|r|`` its size.

    Attributes
    ----------
    annual_volatility
        Standard deviation of r times the root of bars a year.
    kurtosis, daily_kurtosis
        Of r, and of daily log returns; 3 for a normal distribution.
    beyond_six_deviations
        Share of bars with ``|r|`` above six standard deviations; 2e-9 for a normal distribution.
    autocorrelation
        Of r at one bar.
    clustering_bar, clustering_day, clustering_week
        Autocorrelation of ``|r|`` at one bar, a day and a week.
    leverage
        Correlation of r with the next ``|r|``.
    volume_to_size
        Correlation of log volume with the log of ``|r|``.
    volume_persistence
        Autocorrelation of log volume at one bar.
    funding_mean, funding_deviation, funding_persistence, funding_negative
        Of the rates that were exchanged: mean, standard deviation, autocorrelation at one interval, share below 0.
    """

    annual_volatility: float
    kurtosis: float
    daily_kurtosis: float
    beyond_six_deviations: float
    autocorrelation: float
    clustering_bar: float
    clustering_day: float
    clustering_week: float
    leverage: float
    volume_to_size: float
    volume_persistence: float
    funding_mean: float
    funding_deviation: float
    funding_persistence: float
    funding_negative: float


MEASURED: dict[str, Facts] = {
    "BTCUSDT perpetual, hourly, 2023-01 to 2026-03": Facts(
        0.472, 16, 5.96, 0.00205, -0.0182, 0.27, 0.139, 0.144, -0.0214, 0.49, 0.771, 7.45e-05, 8.58e-05, 0.806, 0.106
    ),
    "ETHUSDT perpetual, hourly, 2023-01 to 2026-03": Facts(
        0.626,
        21,
        6.6,
        0.00201,
        -0.00178,
        0.239,
        0.131,
        0.123,
        -0.0438,
        0.53,
        0.737,
        float("nan"),
        float("nan"),
        float("nan"),
        float("nan"),
    ),
    "SOLUSDT spot, hourly, 2023-03 to 2025-12": Facts(
        0.898,
        13.5,
        5.75,
        0.00169,
        -0.0239,
        0.231,
        0.145,
        0.0975,
        -0.00821,
        0.444,
        0.749,
        float("nan"),
        float("nan"),
        float("nan"),
        float("nan"),
    ),
}
"""Funding figures are NaN where the candles came without. BTC with the funding rates of its perpetual."""

RANGES: dict[str, tuple[float, float]] = {
    "annual_volatility": (0.40, 0.95),
    "kurtosis": (8.0, 30.0),
    "daily_kurtosis": (4.0, 19.0),
    "beyond_six_deviations": (5e-4, 4e-3),
    "autocorrelation": (-0.05, 0.05),
    "clustering_bar": (0.18, 0.40),
    "clustering_day": (0.10, 0.28),
    "clustering_week": (0.03, 0.20),
    "leverage": (-0.08, 0.01),
    "volume_to_size": (0.40, 0.70),
    "volume_persistence": (0.65, 0.90),
    "funding_mean": (3e-5, 2e-4),
    "funding_deviation": (8e-5, 3e-4),
    "funding_persistence": (0.75, 0.95),
    "funding_negative": (0.04, 0.20),
}


@checked
def measure(market: Market, *, bar_seconds: float) -> Facts:
    """Return the figures of one market ``[bars]`` of concrete arrays, at least some thousand bars."""
    close, volume, funding = (np.asarray(field) for field in (market.close, market.volume, market.funding_rate))
    r = np.diff(np.log(close))
    size = np.abs(r)
    day = round(86_400.0 / bar_seconds)
    log_volume, log_size = np.log(np.maximum(volume[1:], 1e-12)), np.log(size + 1e-5)
    paid = funding[funding != 0.0]
    some = paid.size > 20
    return Facts(
        annual_volatility=float(r.std() * np.sqrt(365.0 * day)),
        kurtosis=_kurtosis(r),
        daily_kurtosis=_kurtosis(np.diff(np.log(close[::day]))),
        beyond_six_deviations=float(np.mean(size > 6.0 * r.std())),
        autocorrelation=_autocorrelation(r, 1),
        clustering_bar=_autocorrelation(size, 1),
        clustering_day=_autocorrelation(size, day),
        clustering_week=_autocorrelation(size, 7 * day),
        leverage=float(np.corrcoef(r[:-1], size[1:])[0, 1]),
        volume_to_size=float(np.corrcoef(log_volume, log_size)[0, 1]),
        volume_persistence=_autocorrelation(log_volume, 1),
        funding_mean=float(paid.mean()) if some else float("nan"),
        funding_deviation=float(paid.std()) if some else float("nan"),
        funding_persistence=_autocorrelation(paid, 1) if some else float("nan"),
        funding_negative=float(np.mean(paid < 0.0)) if some else float("nan"),
    )


def _kurtosis(values: npt.NDArray[np.float64]) -> float:
    centred = values - values.mean()
    return float(np.mean(centred**4) / np.mean(centred**2) ** 2)


def _autocorrelation(values: npt.NDArray[np.float64], lag: int) -> float:
    centred = values - values.mean()
    return float(np.mean(centred[lag:] * centred[:-lag]) / np.mean(centred**2))
