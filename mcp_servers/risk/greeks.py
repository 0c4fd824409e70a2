"""Greeks of a portfolio, and what they say of a profit."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import BaseModel, Field

from mcp_servers.bounds import MAX_RATE
from mcp_servers.risk.terms import (
    DAYS_A_YEAR,
    Change,
    Positions,
    Rate,
    padded,
    require_option_terms,
    shares_of,
)


class PortfolioGreeks(BaseModel):
    """Sums in USD, contract multipliers included; the columns have one entry a position, in the given order."""

    delta: float = Field(description="Equivalent shares")
    dollar_delta: float = Field(description="USD of underlying: delta times spot")
    gamma: float = Field(description="Delta change per 1.00 of spot")
    theta: float = Field(description="Per year")
    theta_per_day: float = Field(description="Per calendar day")
    vega: float = Field(description="Per 1.00 of volatility")
    vega_per_point: float = Field(description="Per percentage point of volatility")
    rho: float = Field(description="Per 1.00 of rate")
    value: float = Field(description="Market value, USD")
    position_delta: list[float]
    position_gamma: list[float]
    position_theta: list[float]
    position_vega: list[float]
    position_rho: list[float]
    position_value: list[float]


class ProfitAttribution(BaseModel):
    """Parts of a profit, USD."""

    delta: float
    gamma: float
    theta: float
    vega: float
    rho: float
    explained: float = Field(description="Sum of the parts")
    total: float
    unexplained: float = Field(description="total less explained")


class MoveExplained(ProfitAttribution):
    """Parts of a profit, USD, with those of second order that a change of volatility brings."""

    vanna: float
    volga: float


def calculate_portfolio_greeks(
    positions: Positions,
    rate: Rate = 0.0,
    dividend_yield: Rate = 0.0,
) -> PortfolioGreeks:
    """Add up the Greeks (Black-Scholes-Merton) of options and shares.

    Values are USD, contract multipliers included. Delta is equivalent shares, gamma its change per 1.00 of spot; theta
    is per year (theta_per_day per calendar day), vega per 1.00 of volatility (vega_per_point per percentage point), rho
    per 1.00 of rate. Example: `{"positions": [{"option_type": "call", "quantity": 2, "spot": 100, "strike": 105,
    "time_to_expiry": 0.5, "volatility": 0.3}], "rate": 0.03}`.
    """
    import numpy as np

    from pricing import black_scholes, greek_units

    require_option_terms(positions)
    count, positions = len(positions), padded(positions)
    is_stock = np.array([position.option_type == "stock" for position in positions])
    spot = np.array([position.spot for position in positions])
    per_share = black_scholes.all_greeks(
        spot=spot,
        strike=np.array([position.strike or position.spot for position in positions]),
        time_to_expiry=np.array([position.time_to_expiry or 1.0 for position in positions]),
        rate=rate,
        volatility=np.array([position.volatility or 1.0 for position in positions]),
        dividend_yield=dividend_yield,
        is_call=np.array([position.option_type == "call" for position in positions]),
    )
    shares = np.array([shares_of(position) for position in positions])
    of_stock = {"price": spot, "delta": np.ones_like(spot)}
    held = {
        name: np.where(is_stock, of_stock.get(name, np.zeros_like(spot)), np.asarray(getattr(per_share, name))) * shares
        for name in ("price", "delta", "gamma", "theta", "vega", "rho")
    }
    total = {name: float(column.sum()) for name, column in held.items()}
    return PortfolioGreeks(
        delta=total["delta"],
        dollar_delta=float((held["delta"] * spot).sum()),
        gamma=total["gamma"],
        theta=total["theta"],
        theta_per_day=greek_units.theta_per_calendar_day(total["theta"]),
        vega=total["vega"],
        vega_per_point=greek_units.vega_per_point(total["vega"]),
        rho=total["rho"],
        value=total["price"],
        position_delta=held["delta"][:count].tolist(),
        position_gamma=held["gamma"][:count].tolist(),
        position_theta=held["theta"][:count].tolist(),
        position_vega=held["vega"][:count].tolist(),
        position_rho=held["rho"][:count].tolist(),
        position_value=held["price"][:count].tolist(),
    )


def attribute_profit_and_loss(
    total: Annotated[Change, Field(description="Profit that was made, USD")],
    spot_change: Annotated[Change, Field(description="Change of the underlying's price, USD")],
    delta: Annotated[Change, Field(description="At the start: per 1.00 of spot")],
    gamma: Annotated[Change, Field(description="At the start: delta change per 1.00 of spot")] = 0.0,
    theta: Annotated[Change, Field(description="At the start: per year")] = 0.0,
    vega: Annotated[Change, Field(description="At the start: per 1.00 of volatility")] = 0.0,
    rho: Annotated[Change, Field(description="At the start: per 1.00 of rate")] = 0.0,
    volatility_change: Annotated[float, Field(description="0.01 is one point", ge=-2, le=2)] = 0.0,
    days_passed: Annotated[float, Field(description="Calendar days", ge=0, le=3650)] = 0.0,
    rate_change: Annotated[float, Field(description="0.01 is 100 basis points", ge=-MAX_RATE, le=MAX_RATE)] = 0.0,
) -> ProfitAttribution:
    """Split a profit by Greek (Taylor terms with the Greeks of the start), and say what they leave unexplained.

    Every part is USD. Theta is given per year, vega per 1.00 of volatility, rho per 1.00 of rate. Example: `{"total":
    120, "spot_change": 2, "delta": 55, "gamma": 3, "theta": -900, "days_passed": 1}`.
    """
    from pricing import risk

    parts = risk.attribution(
        total=total,
        spot_change=spot_change,
        volatility_change=volatility_change,
        time_passed=days_passed / DAYS_A_YEAR,
        rate_change=rate_change,
        delta=delta,
        gamma=gamma,
        theta=theta,
        vega=vega,
        rho=rho,
    )
    found = {name: getattr(parts, name) for name in ProfitAttribution.model_fields}
    endless = [name for name, value in found.items() if not math.isfinite(value)]
    if endless:
        raise ValueError(f"{', '.join(endless)} is no finite number: give Greeks and changes in USD of one book")
    return ProfitAttribution(**found)


def explain_market_move(
    positions: Positions,
    spot_change: Annotated[Change, Field(description="Change of the underlying's price, USD")],
    volatility_change: Annotated[float, Field(description="Of every option: 0.01 is one point", ge=-2, le=2)] = 0.0,
    days_passed: Annotated[float, Field(description="Calendar days", ge=0, le=3650)] = 0.0,
    rate_change: Annotated[float, Field(description="0.01 is 100 basis points", ge=-MAX_RATE, le=MAX_RATE)] = 0.0,
    rate: Rate = 0.0,
    dividend_yield: Rate = 0.0,
) -> MoveExplained:
    """Reprice positions on one underlying after a move and split the profit by Greek, second order included.

    Every part is USD; the total is by full revaluation. Example: `{"positions": [{"option_type": "call", "quantity":
    10, "spot": 100, "strike": 105, "time_to_expiry": 0.25, "volatility": 0.3}], "spot_change": 2, "days_passed": 1}`.
    """
    from pricing import risk
    from pricing.strategy import Leg

    require_option_terms(positions)
    spots = {position.spot for position in positions}
    if len(spots) > 1 or len({position.underlying for position in positions}) > 1:
        raise ValueError("positions must be on one underlying at one spot: explain each underlying by itself")
    spot = spots.pop()
    if spot + spot_change < 0.0:
        raise ValueError(f"spot_change must leave a price of 0 or more, got {spot_change:g} at a spot of {spot:g}")
    if any(p.volatility is not None and p.volatility + volatility_change < 0.0 for p in positions):
        raise ValueError(f"volatility_change {volatility_change:g} would make a volatility negative")
    legs = [
        Leg(
            kind=position.option_type,
            quantity=position.quantity,
            premium=0.0,
            strike=position.strike if position.option_type != "stock" else None,
            multiplier=position.multiplier,
            time_to_expiry=position.time_to_expiry,
            volatility=position.volatility,
        )
        for position in positions
    ]
    move = risk.Move(spot=spot_change, volatility=volatility_change, rate=rate_change, years=days_passed / DAYS_A_YEAR)
    parts = risk.explain(legs, move, spot=spot, rate=rate, dividend_yield=dividend_yield)
    return MoveExplained(**{name: getattr(parts, name) for name in MoveExplained.model_fields})
