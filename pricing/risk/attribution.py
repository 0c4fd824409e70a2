"""Where a profit came from: Taylor terms of the price, and the part they do not explain."""

from __future__ import annotations

from dataclasses import dataclass

from pricing.signature import checked


@dataclass(frozen=True)
class Attribution:
    """Profit by source, in the unit of the Greeks that were given.

    Attributes
    ----------
    delta, gamma, theta, vega, rho, vanna, volga
        Part of the profit due to each sensitivity.
    explained
        Their sum.
    total
        The profit that was made.
    unexplained
        ``total - explained``.
    """

    delta: float
    gamma: float
    theta: float
    vega: float
    rho: float
    vanna: float
    volga: float
    explained: float
    total: float
    unexplained: float


@checked
def attribution(
    *,
    total: float,
    spot_change: float,
    volatility_change: float = 0.0,
    time_passed: float = 0.0,
    rate_change: float = 0.0,
    delta: float,
    gamma: float = 0.0,
    theta: float = 0.0,
    vega: float = 0.0,
    rho: float = 0.0,
    vanna: float = 0.0,
    volga: float = 0.0,
) -> Attribution:
    """Split a profit by Greek, with the Greeks of the start.

    The units of each pair must match: theta per year with ``time_passed`` in years (or per day with days), vega, vanna
    and volga per 1.00 with ``volatility_change`` as a decimal (or per point with points), rho likewise.

    Parameters
    ----------
    total
        Profit that was made.
    spot_change
        Change of the stock price, in currency.
    volatility_change, time_passed, rate_change
        Changes since the Greeks were taken.
    delta, gamma, theta, vega, rho, vanna, volga
        Sensitivities at the start.
    """
    parts = {
        "delta": delta * spot_change,
        "gamma": 0.5 * gamma * spot_change * spot_change,
        "theta": theta * time_passed,
        "vega": vega * volatility_change,
        "rho": rho * rate_change,
        "vanna": vanna * spot_change * volatility_change,
        "volga": 0.5 * volga * volatility_change * volatility_change,
    }
    explained = sum(parts.values())
    return Attribution(**parts, explained=explained, total=total, unexplained=total - explained)
