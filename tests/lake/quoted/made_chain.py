"""A chain that is made from a known surface, as quotes of a file or a snapshot would be."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from pricing import american, black_scholes, heston

PARAMETERS = heston.Parameters(0.05, 2.0, 0.06, 0.5, -0.6)

SPOT, RATE, DIVIDENDS = 100.0, 0.04, 0.01
DAYS = (28, 91, 182)


def true_volatility(strike: Any, years: float) -> Any:
    """A smile that falls in strike and flattens in time; SVI with rho -0.5 in total variance."""
    forward = SPOT * math.exp((RATE - DIVIDENDS) * years)
    k = np.log(np.asarray(strike) / forward)
    level = 0.05 * years
    total = 0.5 * level * (1.0 - 0.5 * 4.0 * k + np.sqrt((4.0 * k - 0.5) ** 2 + 0.75))
    return np.sqrt(total / years)


def rows(day: date, *, exercise: str = "american", half_spread: float = 0.02, shift: float = 0.0) -> list[Any]:
    """Return rows of ``OptionQuotes``: strikes from 70 to 130, volatilities ``shift`` higher than the true ones."""
    strikes = np.arange(70.0, 130.1, 2.5)
    found: list[Any] = []
    for days in DAYS:
        years = days / 365
        for kind in ("call", "put"):
            terms: dict[str, Any] = {
                "spot": SPOT,
                "strike": strikes,
                "time_to_expiry": years,
                "rate": RATE,
                "dividend_yield": DIVIDENDS,
                "volatility": true_volatility(strikes, years) + shift,
                "is_call": kind == "call",
            }
            if exercise == "heston":
                price = heston.price(**{k: v for k, v in terms.items() if k != "volatility"}, parameters=PARAMETERS)
            else:
                price = american.price(**terms) if exercise == "american" else black_scholes.price(**terms)
            for strike, mid in zip(strikes.tolist(), np.asarray(price).tolist(), strict=True):
                bid = mid - half_spread if mid > half_spread else None
                read_at = datetime(day.year, day.month, day.day, 21, tzinfo=UTC)
                expiration = day + timedelta(days=days)
                quote = (mid, bid, mid + half_spread, 5.0, 10.0, None)
                found.append((day, read_at, SPOT, expiration, kind, strike, *quote))
    return found
