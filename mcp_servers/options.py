"""Option chains (port 8104): simulated chains, Black-Scholes-Merton prices and Greeks, surfaces, strategies."""

from __future__ import annotations

import math
from dataclasses import asdict
from datetime import date
from typing import Annotated, Literal

from mcp.server import MCPServer
from pydantic import BaseModel, Field

from lake import chains, sample
from lake.chains import Chain
from lake.sample import Lake
from mcp_servers import caller, toolset
from mcp_servers.bounds import MAX_RATE, MAX_VOLATILITY, MAX_YEARS, MIN_RATE

Ticker = Annotated[str, Field(description="Underlying, for example SIM-TECH; the error message names what is quoted")]
OptionType = Annotated[Literal["call", "put"], Field(description="call or put")]
Spot = Annotated[float, Field(description="Price of the underlying, currency units", gt=0, allow_inf_nan=False)]
Strike = Annotated[float, Field(description="Exercise price, currency units", gt=0, allow_inf_nan=False)]
Years = Annotated[float, Field(description="Time to expiry in years (calendar days / 365)", ge=0, le=MAX_YEARS)]
Volatility = Annotated[
    float, Field(description="Per year, as a decimal: 0.25 is 25%", ge=0, le=MAX_VOLATILITY, allow_inf_nan=False)
]
Rate = Annotated[
    float, Field(description="Continuously compounded, per year, decimal: 0.05 is 5%", ge=MIN_RATE, le=MAX_RATE)
]
DividendYield = Annotated[
    float, Field(description="Continuously compounded, per year, decimal", ge=MIN_RATE, le=MAX_RATE)
]
WARM_UP_TICKER, WARM_UP_DAY = "SIM-TECH", date(2013, 3, 1)


class OptionsChain(BaseModel):
    """Columns; one entry a strike, ascending. Prices in USD a share; one contract is 100 shares."""

    ticker: str
    as_of: date
    expiration: date
    expirations: list[date] = Field(description="Every listed expiration")
    time_to_expiry: float = Field(description="Years (calendar days / 365)")
    spot: float = Field(description="Last close of the underlying, USD")
    spot_date: date
    rate: float = Field(description="Continuously compounded, per year, decimal")
    rate_source: str
    dividend_yield: float = Field(description="Continuously compounded, per year, decimal")
    strike: list[float]
    implied_volatility: list[float] = Field(description="Of the mid price, per year, decimal")
    call_bid: list[float]
    call_ask: list[float]
    put_bid: list[float]
    put_ask: list[float]
    call_delta: list[float]
    put_delta: list[float]
    gamma: list[float] = Field(description="Per 1.00 of spot")
    vega: list[float] = Field(description="Per 1.00 of volatility")
    call_theta: list[float] = Field(description="Per year")
    put_theta: list[float] = Field(description="Per year")
    source: str
    underlying_source: str


class OptionPrice(BaseModel):
    """Black-Scholes-Merton value of one European option, per unit of the underlying."""

    price: float = Field(description="In the currency of the spot")
    delta: float = Field(description="Per 1.00 of spot")
    gamma: float = Field(description="Delta change per 1.00 of spot")
    theta: float = Field(description="Per year of time passing")
    theta_per_day: float = Field(description="Per calendar day: theta / 365")
    vega: float = Field(description="Per 1.00 of volatility")
    vega_per_point: float = Field(description="Per percentage point of volatility: vega / 100")
    rho: float = Field(description="Per 1.00 of rate")
    rho_per_point: float = Field(description="Per percentage point of rate: rho / 100")


class Implied(BaseModel):
    """Volatility at which the model price equals the given one."""

    implied_volatility: float = Field(description="Per year, decimal")


class Surface(BaseModel):
    """Implied volatilities by expiration and strike; rows of the nested lists are expirations."""

    ticker: str
    as_of: date
    spot: float = Field(description="USD")
    rate: float = Field(description="Continuously compounded, per year, decimal")
    expirations: list[date]
    time_to_expiry: list[float] = Field(description="Years")
    at_the_money_volatility: list[float] = Field(description="At the strike next to the spot, per year, decimal")
    strikes: list[list[float]] = Field(description="USD")
    implied_volatility: list[list[float]] = Field(description="Per year, decimal")
    source: str


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
    probability_of_profit: float | None = Field(description="0 to 1, lognormal; null without spot, time, volatility")
    expected_profit: float | None = Field(description="Mean profit at expiry under the same distribution")
    margin: float | None = Field(description="Initial margin, Regulation T; null without spot")
    delta: float | None = Field(default=None, description="Equivalent shares")
    gamma: float | None = Field(default=None, description="Delta change per 1.00 of spot")
    theta: float | None = Field(default=None, description="Per year")
    vega: float | None = Field(default=None, description="Per 1.00 of volatility")
    rho: float | None = Field(default=None, description="Per 1.00 of rate")


def _bounded(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _expiration_row(chain: Chain, expiration: date) -> int:
    if expiration not in chain.expirations:
        listed = ", ".join(map(str, chain.expirations))
        raise ValueError(f"{chain.ticker} has no options that expire on {expiration}; listed: {listed}")
    return chain.expirations.index(expiration)


def _quotes(chain: Chain, row: int) -> dict[str, list[float]]:
    """Return bid and ask of both types, in whole cents; a bid is never below zero."""
    columns = {}
    for kind, mid in (("call", chain.call[row]), ("put", chain.put[row])):
        columns[f"{kind}_bid"] = [max(0.0, round(value, 2)) for value in (mid - chain.half_spread[row]).tolist()]
        columns[f"{kind}_ask"] = [round(value, 2) for value in (mid + chain.half_spread[row]).tolist()]
    return columns


def calculate_option_price(
    spot: Spot,
    strike: Strike,
    rate: Rate,
    volatility: Volatility,
    time_to_expiry: Years,
    option_type: OptionType,
    dividend_yield: DividendYield = 0.0,
) -> OptionPrice:
    """Price a European option (Black-Scholes-Merton) and return all its Greeks.

    All are per unit of the underlying. Delta and gamma are per 1.00 of spot, theta is per year (theta_per_day per
    calendar day), vega and rho are per 1.00 of volatility and of rate (vega_per_point, rho_per_point per percentage
    point).
    """
    from pricing import black_scholes, greek_units

    answer = black_scholes.all_greeks(
        spot=spot,
        strike=strike,
        time_to_expiry=time_to_expiry,
        rate=rate,
        volatility=volatility,
        dividend_yield=dividend_yield,
        is_call=option_type == "call",
    )
    figures = {name: float(getattr(answer, name)) for name in ("price", *black_scholes.Greeks._fields)}
    if not all(map(math.isfinite, figures.values())):
        raise ValueError("the Greeks are not defined at the strike when no time or no volatility is left")
    return OptionPrice(
        **figures,
        theta_per_day=greek_units.theta_per_calendar_day(figures["theta"]),
        vega_per_point=greek_units.vega_per_point(figures["vega"]),
        rho_per_point=greek_units.rho_per_point(figures["rho"]),
    )


def calculate_implied_volatility(
    price: Annotated[float, Field(description="Price of the option, per unit of the underlying", ge=0)],
    spot: Spot,
    strike: Strike,
    rate: Rate,
    time_to_expiry: Years,
    option_type: OptionType,
    dividend_yield: DividendYield = 0.0,
) -> Implied:
    """Find the volatility that an option price implies: per year, as a decimal (0.25 is 25%)."""
    from pricing import implied_volatility

    answer = implied_volatility.solve(
        price=price,
        spot=spot,
        strike=strike,
        time_to_expiry=time_to_expiry,
        rate=rate,
        dividend_yield=dividend_yield,
        is_call=option_type == "call",
    )
    status = implied_volatility.Status(int(answer.status))
    if status is not implied_volatility.Status.SOLVED:
        reasons = {"BELOW_INTRINSIC": "it is below the intrinsic value", "ABOVE_BOUND": "it is above the upper bound"}
        raise ValueError(f"a price of {price} has no implied volatility: {reasons.get(status.name, 'no time is left')}")
    return Implied(implied_volatility=float(answer.value))


def analyze_strategy(
    legs: Annotated[list[StrategyLeg], Field(description="At least one leg", min_length=1, max_length=20)],
    spot: Annotated[float | None, Field(description="Price of the underlying now, USD", gt=0)] = None,
    time_to_expiry: Annotated[float | None, Field(description="Years to the common expiry", ge=0, le=MAX_YEARS)] = None,
    volatility: Annotated[float | None, Field(description="Per year, decimal", ge=0, le=MAX_VOLATILITY)] = None,
    rate: Rate = 0.0,
    dividend_yield: DividendYield = 0.0,
) -> StrategyAnalysis:
    """Analyze a multi-leg strategy: maximum profit and loss, breakevens, probability of profit, net Greeks.

    Amounts are USD for the whole position, a probability is 0 to 1. Delta is equivalent shares, gamma its change per
    1.00 of spot; theta is per year, vega per 1.00 of volatility, rho per 1.00 of rate.
    """
    from pricing import strategy

    position = [
        strategy.Leg(
            kind=leg.option_type,
            quantity=leg.quantity,
            premium=leg.premium,
            strike=leg.strike,
            multiplier=leg.multiplier,
            time_to_expiry=leg.time_to_expiry,
            volatility=leg.volatility,
        )
        for leg in legs
    ]
    analysis = strategy.analyze(
        position,
        spot=spot,
        time_to_expiry=time_to_expiry,
        rate=rate,
        dividend_yield=dividend_yield,
        volatility=volatility,
    )
    return StrategyAnalysis(
        structure=strategy.classify(position).name,
        margin=None if spot is None else strategy.margin(position, spot=spot).requirement,
        net_cost=analysis.cost,
        max_profit=_bounded(analysis.max_profit),
        profit_is_unbounded=analysis.profit_is_unbounded,
        max_loss=_bounded(analysis.max_loss),
        loss_is_unbounded=analysis.loss_is_unbounded,
        breakevens=list(analysis.breakevens),
        probability_of_profit=analysis.probability_of_profit,
        expected_profit=analysis.expected_profit,
        **(asdict(analysis.greeks) if analysis.greeks else {}),
    )


class ChainTools:
    """The tools that read market data, over one lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def _chain(self, ticker: str) -> Chain:
        return chains.chain(self._lake, ticker.upper(), as_of=caller.as_of())

    def get_options_chain(
        self,
        ticker: Ticker,
        expiration: Annotated[date | None, Field(description="Expiration, ISO; default: the nearest listed")] = None,
    ) -> OptionsChain:
        """Return calls and puts of one expiration on the simulation date: quotes, implied volatility, Greeks.

        Prices are USD a share (a contract is 100 shares), times years, rates and volatilities decimals per year. Gamma
        is per 1.00 of spot, theta per year, vega per 1.00 of volatility.
        """
        chain = self._chain(ticker)
        row = _expiration_row(chain, expiration or chain.expirations[0])
        return OptionsChain(
            ticker=chain.ticker,
            as_of=chain.as_of,
            expiration=chain.expirations[row],
            expirations=list(chain.expirations),
            time_to_expiry=float(chain.years[row]),
            spot=chain.spot,
            spot_date=chain.spot_date,
            rate=chain.rate,
            rate_source=chain.rate_origin,
            dividend_yield=chain.dividend_yield,
            strike=chain.strikes[row].tolist(),
            implied_volatility=chain.volatility[row].tolist(),
            call_delta=chain.call_delta[row].tolist(),
            put_delta=(chain.call_delta[row] - 1.0).tolist(),
            gamma=chain.gamma[row].tolist(),
            vega=chain.vega[row].tolist(),
            call_theta=chain.call_theta[row].tolist(),
            put_theta=chain.put_theta[row].tolist(),
            source=chains.ORIGIN,
            underlying_source=chain.underlying_origin,
            **_quotes(chain, row),
        )

    def get_iv_surface(self, ticker: Ticker) -> Surface:
        """Return the implied volatility surface of a ticker on the simulation date.

        Volatilities and the rate are decimals per year, times years, spot and strikes USD.
        """
        chain = self._chain(ticker)
        nearest = [int(abs(strikes - chain.spot).argmin()) for strikes in chain.strikes]
        return Surface(
            ticker=chain.ticker,
            as_of=chain.as_of,
            spot=chain.spot,
            rate=chain.rate,
            expirations=list(chain.expirations),
            time_to_expiry=chain.years.tolist(),
            at_the_money_volatility=[float(chain.volatility[row, column]) for row, column in enumerate(nearest)],
            strikes=chain.strikes.tolist(),
            implied_volatility=chain.volatility.tolist(),
            source=chains.ORIGIN,
        )


def warm_up() -> None:
    """Compile what chains, prices, implied volatilities and strategies of up to four legs need."""
    tools = ChainTools(sample.embedded())
    with caller.acting_as(caller.standalone_grant(WARM_UP_DAY)):
        tools.get_options_chain(WARM_UP_TICKER)
    calculate_option_price(100.0, 100.0, 0.05, 0.2, 0.5, "call")
    calculate_implied_volatility(5.0, 100.0, 100.0, 0.05, 0.5, "call")
    near = StrategyLeg(option_type="call", quantity=-1, premium=5, strike=100, time_to_expiry=0.5)
    far = near.model_copy(update={"quantity": 1, "premium": 7, "time_to_expiry": 1.0})
    analyze_strategy([near], spot=100.0, volatility=0.2)
    analyze_strategy([near, far], spot=100.0, volatility=0.2)


def build_server(*, lake: Lake | None = None) -> MCPServer:
    """Return the server over ``lake`` (the embedded sample by default)."""
    tools = ChainTools(lake or sample.embedded())
    return toolset.build(
        "options",
        title="Options Chain",
        instructions=(
            "European options: chains on the simulation date (simulated, labelled so), Black-Scholes-Merton prices and "
            "Greeks, implied volatility, multi-leg strategies. Rates and volatilities are decimals per year, times are "
            "years, theta is per year, vega and rho are per 1.00."
        ),
        tools=(
            tools.get_options_chain,
            calculate_option_price,
            calculate_implied_volatility,
            tools.get_iv_surface,
            analyze_strategy,
        ),
    )
