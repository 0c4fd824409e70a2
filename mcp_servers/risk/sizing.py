"""How large a position may be: by what it may lose, by growth, or by how much it may move."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from mcp_servers import caller
from mcp_servers.bounds import MAX_AMOUNT, MAX_PRICE, MAX_VOLATILITY, MIN_VOLATILITY
from mcp_servers.risk.terms import Confidence, Rate

SCENARIOS = 100_000
TRADING_DAYS_A_YEAR = 252


class PositionSize(BaseModel):
    """A size, in units of what `price` is the price of; negative is short."""

    method: str
    units: float = Field(description="Shares or contracts, not rounded")
    whole_units: int = Field(description="Shares or contracts, rounded towards 0")
    exposure: float = Field(description="Units times price, USD")
    weight: float = Field(description="Exposure as a fraction of the capital")
    volatility_of_capital: float = Field(description="Of the position alone, decimal per year")
    value_at_risk: float = Field(description="Of the position over the horizon at the confidence, USD; loss positive")


def calculate_position_size(
    method: Annotated[
        Literal["value_at_risk", "kelly", "volatility_target"],
        Field(
            description="value_at_risk needs risk_budget, kelly expected_return, volatility_target target_volatility"
        ),
    ],
    capital: Annotated[float, Field(description="USD", gt=0, le=MAX_AMOUNT)],
    price: Annotated[float, Field(description="USD of one unit: a share, or 100 of them", gt=0, le=MAX_PRICE)],
    volatility: Annotated[float, Field(description="Per year, decimal", ge=MIN_VOLATILITY, le=MAX_VOLATILITY)],
    risk_budget: Annotated[
        float | None, Field(description="Part of the capital that may be lost: 0.02 is 2%", gt=0, le=1)
    ] = None,
    expected_return: Annotated[
        float | None, Field(description="Growth of the price per year, decimal, continuous", ge=-2, le=2)
    ] = None,
    target_volatility: Annotated[
        float | None, Field(description="Of the capital, per year, decimal", gt=0, le=MAX_VOLATILITY)
    ] = None,
    kelly_fraction: Annotated[float, Field(description="Part of the full Kelly size: 0.5 is half", gt=0, le=1)] = 1.0,
    rate: Rate = 0.0,
    confidence: Confidence = 0.95,
    horizon_days: Annotated[float, Field(description="Trading days of the value at risk", gt=0, le=252)] = 1.0,
    degrees_of_freedom: Annotated[
        float | None, Field(description="Student-t returns with such tails; default: normal", gt=2, le=1000)
    ] = None,
) -> PositionSize:
    """Size a position: by value at risk, by Kelly's growth optimum, or to a target volatility.

    Units are shares or contracts, the exposure is USD, the weight a fraction of the capital, volatilities decimals per
    year. Kelly's weight is (expected_return - rate) / volatility^2 times kelly_fraction. The value at risk is of
    100,000 drawn returns, zero drift, of the task's seed. Example: `{"method": "value_at_risk", "capital": 1000000,
    "price": 50, "volatility": 0.3, "risk_budget": 0.02, "confidence": 0.99}`.
    """
    import jax
    import numpy as np

    from pricing import risk

    needed = {"value_at_risk": "risk_budget", "kelly": "expected_return", "volatility_target": "target_volatility"}
    given = {"risk_budget": risk_budget, "expected_return": expected_return, "target_volatility": target_volatility}
    for name, value in given.items():
        if (value is None) == (name == needed[method]):
            raise ValueError(f"method {method} needs {needed[method]}, and neither of the two others")
    returns = risk.simulate_log_returns(
        jax.random.key(caller.current().grant.seed),
        volatility=np.array([volatility]),
        correlation=np.eye(1),
        years=horizon_days / TRADING_DAYS_A_YEAR,
        scenarios=SCENARIOS,
        model=risk.Gaussian() if degrees_of_freedom is None else risk.StudentT(degrees_of_freedom),
    )
    moves = np.expm1(np.asarray(returns)[:, 0])
    lost = risk.value_at_risk(moves, confidence=confidence).value
    if risk_budget is not None:
        weight = risk_budget / lost
    elif expected_return is not None:
        weight = kelly_fraction * (expected_return - rate) / volatility**2
    else:
        assert target_volatility is not None
        weight = target_volatility / volatility
    units = weight * capital / price
    of_position = lost if weight >= 0.0 else risk.value_at_risk(-moves, confidence=confidence).value
    return PositionSize(
        method=method,
        units=units,
        whole_units=math.trunc(units),
        exposure=weight * capital,
        weight=weight,
        volatility_of_capital=abs(weight) * volatility,
        value_at_risk=abs(weight) * capital * of_position,
    )
