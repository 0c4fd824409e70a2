"""Ratios of returns: Sharpe, Sortino, the deepest fall."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import BaseModel, Field

from mcp_servers.bounds import MAX_RATE, MIN_RATE
from mcp_servers.risk.terms import PeriodsAYear, Returns


class Ratio(BaseModel):
    """A return to risk ratio."""

    ratio: float = Field(description="Annualised")
    per_period: float
    observations: int


class Drawdown(BaseModel):
    """The deepest fall from a running maximum of compounded returns."""

    max_drawdown: float = Field(description="Positive fraction")
    peak_index: int = Field(description="Number of returns before the peak")
    trough_index: int = Field(description="Number of returns before the trough")


def _ratio(annualised: float, returns: list[float], periods_per_year: int, risk: str) -> Ratio:
    if not math.isfinite(annualised):
        raise ValueError(f"the {risk} of these returns is 0: the ratio is undefined")
    return Ratio(ratio=annualised, per_period=annualised / math.sqrt(periods_per_year), observations=len(returns))


def calculate_sharpe_ratio(
    returns: Returns,
    risk_free_rate: Annotated[
        float, Field(description="Per year, decimal; divided by the periods a year", ge=MIN_RATE, le=MAX_RATE)
    ] = 0.0,
    periods_per_year: PeriodsAYear = 252,
) -> Ratio:
    """Sharpe ratio: mean excess return over its standard deviation (n-1), annualised by the square root of time.

    `ratio` is annualised, `per_period` is not; neither has a unit. Example: `{"returns": [0.01, -0.005, 0.007]}`.
    """
    from pricing import risk

    ratio = risk.sharpe_ratio(returns, periods_per_year=periods_per_year, risk_free_rate=risk_free_rate)
    return _ratio(ratio, returns, periods_per_year, "deviation")


def calculate_sortino_ratio(
    returns: Returns,
    target_return: Annotated[
        float, Field(description="Per year, decimal; divided by the periods a year", ge=-1, le=1)
    ] = 0.0,
    periods_per_year: PeriodsAYear = 252,
) -> Ratio:
    """Sortino ratio: mean excess over the target, by the root mean square shortfall over all n periods, annualised.

    `ratio` is annualised, `per_period` is not; neither has a unit. Example: `{"returns": [0.01, -0.005, 0.007]}`.
    """
    from pricing import risk

    ratio = risk.sortino_ratio(returns, periods_per_year=periods_per_year, target_rate=target_return)
    return _ratio(ratio, returns, periods_per_year, "downside deviation")


def calculate_max_drawdown(returns: Returns) -> Drawdown:
    """Find the deepest fall from a running maximum of the compounded simple returns, as a fraction: 0.2 is 20%.

    Example: `{"returns": [0.1, -0.3, 0.05]}`.
    """
    import numpy as np

    from pricing import risk

    if not returns or min(returns) < -1.0:
        raise ValueError("returns must hold at least one value, and none below -1 (a loss of everything)")
    wealth = np.concatenate([[1.0], np.cumprod(1.0 + np.asarray(returns, float))])
    fallen = risk.drawdown(wealth)
    trough = int(fallen.argmax())
    return Drawdown(
        max_drawdown=float(fallen[trough]), peak_index=int(wealth[: trough + 1].argmax()), trough_index=trough
    )
