"""Risk metrics (port 8106): portfolio Greeks, value at risk, stress tests, Sharpe and Sortino ratios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from mcp.server import MCPServer
from pydantic import BaseModel, Field

from mcp_servers import caller, toolset
from mcp_servers.bounds import MAX_RATE, MAX_VOLATILITY, MAX_YEARS, MIN_RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pricing.risk import Book

SHARES_A_CONTRACT = 100.0
DAYS_A_YEAR = 365
MONTE_CARLO_DRAWS = 100_000
SCENARIOS = 20_000
LEAST_COMPILED_SIZE = 8
Confidence = Annotated[
    float, Field(description="Probability that the loss is not exceeded: 0.95 or 0.99, not 95", gt=0.5, lt=1)
]
Returns = Annotated[
    list[Annotated[float, Field(ge=-1, le=10)]],
    Field(description="Returns per period, decimals: 0.01 is 1%; profits positive", max_length=100_000),
]
PeriodsAYear = Annotated[int, Field(description="Periods a year: 252 daily, 52 weekly, 12 monthly", ge=1, le=600_000)]
Rate = Annotated[float, Field(description="Continuously compounded, per year, decimal", ge=MIN_RATE, le=MAX_RATE)]
Change = Annotated[float, Field(allow_inf_nan=False)]


class Position(BaseModel):
    """A position in shares or in one option series."""

    option_type: Literal["call", "put", "stock"] = Field(description="call, put or stock")
    quantity: float = Field(description="Contracts or shares; > 0 long, < 0 short", allow_inf_nan=False)
    spot: float = Field(description="Price of the underlying, USD", gt=0, allow_inf_nan=False)
    strike: float | None = Field(default=None, description="Options only, USD", gt=0, allow_inf_nan=False)
    time_to_expiry: float | None = Field(default=None, description="Options only, years", gt=0, le=MAX_YEARS)
    volatility: float | None = Field(
        default=None, description="Options only, per year, decimal", gt=0, le=MAX_VOLATILITY
    )
    multiplier: float | None = Field(default=None, description="Shares a contract; 100 for options", gt=0)
    underlying: str = Field(default="", description="Name of the underlying; positions on one name share one spot")


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


class RiskEstimate(BaseModel):
    """A loss is positive."""

    method: str
    confidence: float
    observations: int
    horizon_periods: float
    value_at_risk: float = Field(description="USD, or the unit of the portfolio value; loss positive")
    expected_shortfall: float = Field(description="Mean loss beyond the value at risk")
    standard_error: float | None = Field(description="Of value_at_risk; null where a closed form has none")


class StressScenario(BaseModel):
    """One shock, applied at once."""

    name: str = Field(description="Your name of the scenario; the answer repeats it")
    spot_change: float = Field(default=0.0, description="Relative: -0.20 is a fall of 20%", ge=-1, le=1)
    volatility_change: float = Field(default=0.0, description="Absolute: 0.10 is ten points", ge=-2, le=2)
    rate_change: float = Field(default=0.0, description="Absolute: 0.01 is 100 basis points", ge=-MAX_RATE, le=MAX_RATE)
    days_passed: float = Field(default=0.0, description="Calendar days", ge=0, le=3650)


class Portfolio(BaseModel):
    """Positions and the rates they are priced with."""

    positions: list[Position] = Field(description="At least one position", min_length=1, max_length=500)
    rate: Rate = 0.0
    dividend_yield: Rate = 0.0


class StressResult(BaseModel):
    """Columns; one entry a scenario. Every option is priced anew."""

    scenario: list[str]
    profit_and_loss: list[float] = Field(description="USD, profits positive")
    worst_scenario: str
    worst_profit_and_loss: float = Field(description="USD")
    value: float = Field(description="Market value before the shock, USD")


class Ratio(BaseModel):
    """A return to risk ratio."""

    ratio: float = Field(description="Annualised")
    per_period: float
    observations: int


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


class Drawdown(BaseModel):
    """The deepest fall from a running maximum of compounded returns."""

    max_drawdown: float = Field(description="Positive fraction")
    peak_index: int = Field(description="Number of returns before the peak")
    trough_index: int = Field(description="Number of returns before the trough")


def _shares(position: Position) -> float:
    if position.multiplier is not None:
        return position.quantity * position.multiplier
    return position.quantity * (1.0 if position.option_type == "stock" else SHARES_A_CONTRACT)


def _require_option_terms(positions: list[Position]) -> None:
    for number, position in enumerate(positions):
        if position.option_type == "stock":
            continue
        for field in ("strike", "time_to_expiry", "volatility"):
            if getattr(position, field) is None:
                raise ValueError(f"positions[{number}] is a {position.option_type} and needs {field}")


def _padded(positions: list[Position]) -> list[Position]:
    """Return the positions with empty ones behind, so that few sizes are ever compiled."""
    from pricing.padding import padded_size

    size = padded_size(len(positions), least=LEAST_COMPILED_SIZE)
    return positions + [Position(option_type="stock", quantity=0.0, spot=1.0)] * (size - len(positions))


def _book(positions: list[Position]) -> tuple[Book, NDArray[np.float64]]:
    """Return the positions as a book, and the spots of its underlyings; an unnamed position is an underlying itself.

    Behind them stand empty options and unused underlyings: revaluing is compiled for the numbers of options and of
    underlyings, and few of these numbers are ever met.
    """
    import numpy as np

    from pricing.padding import padded_size
    from pricing.risk import Book

    names = [position.underlying or f"position {number}" for number, position in enumerate(positions)]
    spots: dict[str, float] = {}
    for name, position in zip(names, positions, strict=True):
        if spots.setdefault(name, position.spot) != position.spot:
            raise ValueError(f"positions on {name!r} have different spots: {spots[name]} and {position.spot}")
    order = list(spots)
    options = sum(position.option_type != "stock" for position in positions)
    empty = padded_size(options, least=LEAST_COMPILED_SIZE) - options if options else 0

    def column(field: str) -> NDArray[np.float64]:
        values = [getattr(position, field) for position in positions]
        return np.array([math.nan if value is None else value for value in values] + [1.0] * empty)

    book = Book(
        underlying=np.array([order.index(name) for name in names] + [0] * empty),
        is_option=np.array([position.option_type != "stock" for position in positions] + [True] * empty),
        is_call=np.array([position.option_type == "call" for position in positions] + [True] * empty),
        shares=np.array([_shares(position) for position in positions] + [0.0] * empty),
        strike=column("strike"),
        time_to_expiry=column("time_to_expiry"),
        volatility=column("volatility"),
    )
    size = padded_size(len(positions), least=LEAST_COMPILED_SIZE)
    return book, np.array(list(spots.values()) + [1.0] * (size - len(spots)))


def calculate_portfolio_greeks(
    positions: Annotated[list[Position], Field(description="At least one position", min_length=1, max_length=500)],
    rate: Rate = 0.0,
    dividend_yield: Rate = 0.0,
) -> PortfolioGreeks:
    """Add up the Greeks (Black-Scholes-Merton) of options and shares.

    Values are USD, contract multipliers included. Delta is equivalent shares, gamma its change per 1.00 of spot; theta
    is per year (theta_per_day per calendar day), vega per 1.00 of volatility (vega_per_point per percentage point), rho
    per 1.00 of rate.
    """
    import numpy as np

    from pricing import black_scholes, greek_units

    _require_option_terms(positions)
    count, positions = len(positions), _padded(positions)
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
    shares = np.array([_shares(position) for position in positions])
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


def calculate_var(
    returns: Returns,
    confidence: Confidence = 0.95,
    method: Annotated[
        Literal["historical", "parametric", "monte_carlo"],
        Field(description="sample quantile; normal closed form; normal draws seeded by the task"),
    ] = "historical",
    portfolio_value: Annotated[
        float, Field(description="USD; 1 gives the risk as a fraction", gt=0, allow_inf_nan=False)
    ] = 1.0,
    horizon_periods: Annotated[
        int, Field(description="Periods ahead; > 1 needs parametric or monte_carlo", ge=1, le=1000)
    ] = 1,
) -> RiskEstimate:
    """Value at risk and expected shortfall of a sample of returns, in the unit of portfolio_value. Losses are positive.

    With portfolio_value 1 they are fractions; in USD where it is in USD.
    """
    import numpy as np

    from pricing import risk

    outcomes = np.asarray(returns, float) * portfolio_value
    if outcomes.size < 2:
        raise ValueError(f"returns must hold at least 2 values, got {outcomes.size}")
    mean, deviation = float(outcomes.mean()), float(outcomes.std(ddof=1))
    if method == "parametric":
        terms = {"standard_deviation": deviation, "mean": mean, "confidence": confidence}
        value = risk.normal_value_at_risk(**terms, horizon=horizon_periods)
        shortfall, error = risk.normal_expected_shortfall(**terms, horizon=horizon_periods), None
    else:
        if method == "monte_carlo":
            draws = np.random.default_rng(caller.current().grant.seed).standard_normal(MONTE_CARLO_DRAWS)
            outcomes = mean * horizon_periods + deviation * math.sqrt(horizon_periods) * draws
        elif horizon_periods > 1:
            raise ValueError("historical covers horizon_periods=1; use parametric or monte_carlo for a longer horizon")
        estimate = risk.value_at_risk(outcomes, confidence=confidence)
        value, error = estimate.value, estimate.standard_error if math.isfinite(estimate.standard_error) else None
        shortfall = risk.expected_shortfall(outcomes, confidence=confidence).value
    return RiskEstimate(
        method=method,
        confidence=confidence,
        observations=len(returns),
        horizon_periods=horizon_periods,
        value_at_risk=value,
        expected_shortfall=shortfall,
        standard_error=error,
    )


def run_stress_test(
    portfolio: Annotated[Portfolio, Field(description="What is held, and the rates")],
    scenarios: Annotated[
        list[StressScenario] | None,
        Field(
            description='For example {"name": "crash", "spot_change": -0.20}; default: standard ones', max_length=200
        ),
    ] = None,
) -> StressResult:
    """Revalue a portfolio in each scenario, every option priced anew. Values and profits are USD, losses negative."""
    from pricing import risk

    _require_option_terms(portfolio.positions)
    book, spots = _book(portfolio.positions)
    shocks = list(risk.SCENARIOS)
    if scenarios:
        shocks = [risk.Scenario(**scenario.model_dump()) for scenario in scenarios]
    # Calm scenarios fill up to a standard number, for the same reason as empty positions. Their names are longer than
    # any of the agent's, so never equal.
    filler = "calm " + "".join(shock.name for shock in shocks)
    missing = range(-len(shocks) % len(risk.SCENARIOS))
    calm = [risk.Scenario(name=f"{filler} {number}") for number in missing]
    rates = {"rate": portfolio.rate, "dividend_yield": portfolio.dividend_yield}
    outcomes = risk.stress(book, spot=spots, **rates, scenarios=shocks + calm)[: len(shocks)]
    worst = min(outcomes, key=lambda outcome: outcome.profit_and_loss)
    value = risk.revalue(book, spot=spots, **rates)
    return StressResult(
        scenario=[outcome.scenario.name for outcome in outcomes],
        profit_and_loss=[outcome.profit_and_loss for outcome in outcomes],
        worst_scenario=worst.scenario.name,
        worst_profit_and_loss=worst.profit_and_loss,
        value=float(value),
    )


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

    `ratio` is annualised, `per_period` is not; neither has a unit.
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

    `ratio` is annualised, `per_period` is not; neither has a unit.
    """
    from pricing import risk

    ratio = risk.sortino_ratio(returns, periods_per_year=periods_per_year, target_rate=target_return)
    return _ratio(ratio, returns, periods_per_year, "downside deviation")


def calculate_max_drawdown(returns: Returns) -> Drawdown:
    """Find the deepest fall from a running maximum of the compounded simple returns, as a fraction: 0.2 is 20%."""
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

    Every part is USD. Theta is given per year, vega per 1.00 of volatility, rho per 1.00 of rate.
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


def calculate_portfolio_var(
    positions: Annotated[
        list[Position], Field(description="Positions on one name share its price moves", min_length=1, max_length=500)
    ],
    volatility: Annotated[
        dict[str, Annotated[float, Field(gt=0, le=MAX_VOLATILITY)]],
        Field(description="Name of the underlying -> volatility of its price, per year, decimal"),
    ],
    correlation: Annotated[float, Field(description="Between the returns of any two underlyings", ge=0, lt=1)] = 0.0,
    confidence: Confidence = 0.95,
    horizon_days: Annotated[float, Field(description="Trading days", gt=0, le=252)] = 1.0,
    rate: Rate = 0.0,
) -> RiskEstimate:
    """Monte Carlo value at risk of options and shares, every option priced anew; normal returns, zero drift.

    Losses are positive, in USD; the horizon is in trading days.
    """
    import jax
    import numpy as np

    from pricing import risk

    _require_option_terms(positions)
    book, spots = _book(positions)
    names = list(dict.fromkeys(position.underlying for position in positions))
    if "" in names:
        raise ValueError("every position must name its underlying, so that shared price moves are known")
    missing = [name for name in names if volatility.get(name, 0.0) <= 0.0]
    if missing:
        raise ValueError(f"volatility must give a positive number for each underlying; missing: {missing}")
    strangers = [name for name in volatility if name not in names]
    if strangers:
        raise ValueError(f"volatility names underlyings that no position has: {strangers}; positions have: {names}")
    deviations = np.array([volatility[name] for name in names] + [0.0] * (spots.size - len(names)))
    matrix = np.where(np.eye(spots.size, dtype=bool), 1.0, correlation)
    found = risk.simulated_risk(
        jax.random.key(caller.current().grant.seed),
        book,
        spot=spots,
        volatility=deviations,
        correlation=matrix,
        confidence=confidence,
        horizon_days=horizon_days,
        scenarios=SCENARIOS,
        rate=rate,
    )
    return RiskEstimate(
        method="monte_carlo, full revaluation",
        confidence=confidence,
        observations=SCENARIOS,
        horizon_periods=horizon_days,
        value_at_risk=found.value_at_risk.value,
        expected_shortfall=found.expected_shortfall.value,
        standard_error=found.value_at_risk.standard_error,
    )


def warm_up() -> None:
    """Compile what calls of up to eight positions need."""
    call = Position(option_type="call", quantity=1, spot=100, strike=100, time_to_expiry=0.5, volatility=0.2)
    book = [call.model_copy(update={"underlying": "A"})]
    calculate_portfolio_greeks(book)
    run_stress_test(Portfolio(positions=book))
    calculate_portfolio_var(book, {"A": 0.2})
    calculate_var([0.01, -0.01], method="monte_carlo")
    calculate_sharpe_ratio([0.01, -0.01])


def build_server() -> MCPServer:
    """Return the server. It computes from its arguments and reads no data."""
    return toolset.build(
        "risk",
        title="Risk Metrics",
        instructions=(
            "Risk of returns and of option portfolios. Losses are positive in value at risk; profits are positive in "
            "stress tests. Rates, volatilities and returns are decimals; theta is per year, vega and rho per 1.00."
        ),
        tools=(
            calculate_portfolio_greeks,
            calculate_var,
            calculate_portfolio_var,
            attribute_profit_and_loss,
            run_stress_test,
            calculate_sharpe_ratio,
            calculate_sortino_ratio,
            calculate_max_drawdown,
        ),
        heavy=("calculate_portfolio_var",),
    )
