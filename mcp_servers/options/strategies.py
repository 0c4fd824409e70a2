"""The tool that analyses a multi-leg strategy, under one volatility or under the surface of a ticker's options."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from mcp_servers.bounds import MAX_VOLATILITY, MAX_YEARS
from mcp_servers.options.chains import ChainTools
from mcp_servers.options.terms import DividendYield, Expiration, Rate

if TYPE_CHECKING:
    from pricing.strategy import Leg


class StrategyLeg(BaseModel):
    """One leg of a strategy."""

    option_type: Literal["call", "put", "stock"] = Field(description="call, put or stock")
    quantity: float = Field(
        description="Contracts (options) or shares (stock); > 0 bought, < 0 sold", allow_inf_nan=False
    )
    premium: float = Field(
        description="Price per share at which the leg is opened, USD, never negative", ge=0, allow_inf_nan=False
    )
    strike: float | None = Field(default=None, description="Exercise price; leave out for stock", gt=0)
    multiplier: float | None = Field(default=None, description="Shares a contract; 100 for options, 1 for stock", gt=0)
    time_to_expiry: float | None = Field(
        default=None, description="Years, when it differs from the common one", ge=0, le=MAX_YEARS
    )
    volatility: float | None = Field(
        default=None, description="Per year, decimal, when it differs", ge=0, le=MAX_VOLATILITY
    )


class StrategyAnalysis(BaseModel):
    """Result at expiry and sensitivities now, in USD for the whole position."""

    structure: str = Field(description="Name of the strategy, for example iron condor; custom when it has none")
    net_cost: float = Field(description="Paid to open; negative for a credit")
    max_profit: float | None = Field(description="null when unbounded")
    profit_is_unbounded: bool
    max_loss: float | None = Field(description="Positive number; null when unbounded")
    loss_is_unbounded: bool
    breakevens: list[float] = Field(description="Prices of the underlying at expiry with zero profit")
    probability_of_profit: float | None = Field(
        description="0 to 1, lognormal or under the ticker's fitted surface; null without spot, time, volatility"
    )
    expected_profit: float | None = Field(description="Mean profit at expiry under the same distribution")
    distribution: str = Field(description="Where the probability comes from; empty where there is none")
    margin: float | None = Field(description="Initial margin, Regulation T; null without spot")
    delta: float | None = Field(default=None, description="Equivalent shares")
    gamma: float | None = Field(default=None, description="Delta change per 1.00 of spot")
    theta: float | None = Field(default=None, description="Per year")
    vega: float | None = Field(default=None, description="Per 1.00 of volatility")
    rho: float | None = Field(default=None, description="Per 1.00 of rate")


class StrategyTools:
    """The tool over strategies, which reads a surface where it is told a ticker."""

    def __init__(self, chains: ChainTools) -> None:
        self._chains = chains

    def analyze_strategy(
        self,
        legs: Annotated[list[StrategyLeg], Field(description="At least one leg", min_length=1, max_length=20)],
        spot: Annotated[float | None, Field(description="Price of the underlying now, USD", gt=0)] = None,
        time_to_expiry: Annotated[
            float | None, Field(description="Years to the common expiry", ge=0, le=MAX_YEARS)
        ] = None,
        volatility: Annotated[float | None, Field(description="Per year, decimal", ge=0, le=MAX_VOLATILITY)] = None,
        rate: Rate | None = None,
        dividend_yield: DividendYield | None = None,
        ticker: Annotated[
            str | None,
            Field(description="Take spot, time, rates and the smile from the fitted surface of this ticker's options"),
        ] = None,
        expiration: Expiration = None,
    ) -> StrategyAnalysis:
        """Analyze a multi-leg strategy: maximum profit and loss, breakevens, probability of profit, net Greeks.

        Amounts are USD for the whole position, a probability is 0 to 1. Delta is equivalent shares, gamma its change
        per 1.00 of spot; theta is per year, vega per 1.00 of volatility, rho per 1.00 of rate. The probability is
        lognormal with `volatility`, or with `ticker` the one that the fitted surface of its options implies at
        `expiration`. Greeks are those of European options. Example: `{"legs": [{"option_type": "call", "quantity": 1,
        "premium": 5, "strike": 100}], "spot": 100, "time_to_expiry": 0.25, "volatility": 0.2}`.
        """
        from pricing import strategy

        position = [_leg(leg) for leg in legs]
        market: dict[str, Any] = {
            "spot": spot,
            "time_to_expiry": time_to_expiry,
            "rate": 0.0 if rate is None else rate,
            "dividend_yield": 0.0 if dividend_yield is None else dividend_yield,
            "volatility": volatility,
        }
        said = "" if volatility is None else "lognormal"
        if ticker is not None:
            given = {**market, "rate": rate, "dividend_yield": dividend_yield}
            both = [name for name, value in given.items() if value is not None]
            if both:
                raise ValueError(f"{', '.join(both)} is taken from the surface of {ticker}: leave it out, or ticker")
            market, said, position = self._of_surface(ticker, expiration, position)
        elif expiration is not None:
            raise ValueError("expiration needs ticker; without one give time_to_expiry, in years")
        analysis = strategy.analyze(position, **market)
        return StrategyAnalysis(
            structure=strategy.classify(position).name,
            margin=None if market["spot"] is None else strategy.margin(position, spot=market["spot"]).requirement,
            net_cost=analysis.cost,
            max_profit=_bounded(analysis.max_profit),
            profit_is_unbounded=analysis.profit_is_unbounded,
            max_loss=_bounded(analysis.max_loss),
            loss_is_unbounded=analysis.loss_is_unbounded,
            breakevens=list(analysis.breakevens),
            probability_of_profit=analysis.probability_of_profit,
            expected_profit=analysis.expected_profit,
            distribution="" if analysis.probability_of_profit is None else said or "lognormal",
            **(asdict(analysis.greeks) if analysis.greeks else {}),
        )

    def _of_surface(
        self, ticker: str, expiration: Expiration, position: list[Leg]
    ) -> tuple[dict[str, Any], str, list[Leg]]:
        """Return the market that the surface tells, where it is from, and the legs with volatilities of later times."""
        import numpy as np

        market = self._chains.market(ticker)
        row = 0 if expiration is None else market.row_of(expiration)
        years = float(market.years[row])
        legs = []
        for number, leg in enumerate(position):
            later = leg.time_to_expiry
            if later is not None and later < years:
                raise ValueError(
                    f"legs[{number}] expires after {later:g} years, before {market.expirations[row]} ({years:.4f} "
                    "years): expiration must be the first of the strategy"
                )
            if later is not None and leg.strike is not None and leg.volatility is None:
                told = market.volatility(np.array([leg.strike]), np.array([later]))
                legs.append(replace(leg, volatility=float(told[0])))
            else:
                legs.append(leg)
        found = {
            "spot": market.spot,
            "time_to_expiry": years,
            "rate": market.rate,
            "dividend_yield": market.dividend_yield(row),
            "volatility": market.smile(row),
        }
        said = f"fitted surface of {market.ticker} on {market.day}, expiration {market.expirations[row]}"
        return found, said, legs


def _leg(leg: StrategyLeg) -> Leg:
    from pricing.strategy import Leg

    return Leg(
        kind=leg.option_type,
        quantity=leg.quantity,
        premium=leg.premium,
        strike=leg.strike,
        multiplier=leg.multiplier,
        time_to_expiry=leg.time_to_expiry,
        volatility=leg.volatility,
    )


def _bounded(value: float) -> float | None:
    return None if math.isinf(value) else value
