"""Value at risk: of a sample of returns, of a portfolio by three methods and by part, and tests of forecasts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from mcp_servers import caller
from mcp_servers.bounds import MAX_AMOUNT, MAX_VOLATILITY
from mcp_servers.risk.terms import (
    Confidence,
    Correlation,
    CorrelationChange,
    Position,
    Positions,
    Rate,
    Returns,
    book,
    correlation_matrix,
    names_of,
    require_for_each,
    require_option_terms,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pricing.risk import Book

MONTE_CARLO_DRAWS = 100_000
SCENARIOS = 20_000
TRADING_DAYS_A_YEAR = 252
MOST_SPLIT = 50
"""Underlyings over which a revalued book is split: each takes a revaluation of the whole."""
LEAST_HISTORY = 256
"""Moves of history are filled up to this with days on which nothing moves, which are then left out."""
Losses = Annotated[
    list[Annotated[float, Field(allow_inf_nan=False)]],
    Field(description="Profit or loss of each day, USD, losses negative", min_length=2, max_length=100_000),
]


class RiskEstimate(BaseModel):
    """A loss is positive."""

    method: str
    confidence: float
    observations: int
    horizon_periods: float
    value_at_risk: float = Field(description="USD, or the unit of the portfolio value; loss positive")
    expected_shortfall: float | None = Field(
        description="Mean loss beyond the value at risk; null for cornish_fisher, which has none"
    )
    standard_error: float | None = Field(description="Of value_at_risk; null where a closed form has none")


class PortfolioRisk(RiskEstimate):
    """A loss is positive, USD; columns have one entry an underlying, in the order in which positions name them."""

    underlying: list[str]
    component: list[float] | None = Field(
        description=f"Part of the value at risk, USD; they add up to it. null beyond {MOST_SPLIT} underlyings"
    )
    standalone: list[float] | None = Field(
        description=f"Value at risk of its positions alone, USD. null beyond {MOST_SPLIT} underlyings"
    )


class CoverageTests(BaseModel):
    """Likelihood-ratio tests; a p-value is 0 to 1, a small one (below 0.05) says that the forecast was wrong."""

    days: int
    exceedances: int = Field(description="Days whose loss was larger than the forecast")
    expected_exceedances: float = Field(description="Number of days, for a right forecast")
    exceeded_on: list[int] = Field(description="Places of those days, from 0")
    kupiec_statistic: float = Field(description="Right frequency; chi-squared, 1 degree of freedom, no unit")
    kupiec_p_value: float = Field(description="0 to 1")
    independence_statistic: float = Field(description="No clusters; chi-squared, 1 degree of freedom, no unit")
    independence_p_value: float = Field(description="0 to 1")
    christoffersen_statistic: float = Field(description="Both together; chi-squared, 2 degrees of freedom, no unit")
    christoffersen_p_value: float = Field(description="0 to 1")


def calculate_var(
    returns: Returns,
    confidence: Confidence = 0.95,
    method: Annotated[
        Literal["historical", "parametric", "monte_carlo", "cornish_fisher"],
        Field(
            description="sample quantile; normal closed form; normal draws seeded by the task; normal quantile "
            "corrected by the sample's skewness and kurtosis"
        ),
    ] = "historical",
    portfolio_value: Annotated[
        float, Field(description="USD; 1 gives the risk as a fraction", gt=0, le=MAX_AMOUNT)
    ] = 1.0,
    horizon_periods: Annotated[
        int, Field(description="Periods ahead; > 1 needs another method than historical", ge=1, le=1000)
    ] = 1,
) -> RiskEstimate:
    """Value at risk and expected shortfall of a sample of returns, in the unit of portfolio_value. Losses are positive.

    With portfolio_value 1 they are fractions; in USD where it is in USD. Example: `{"returns": [0.01, -0.02, 0.005],
    "confidence": 0.95, "portfolio_value": 1000000}`.
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
    elif method == "cornish_fisher":
        value, error = _cornish_fisher(outcomes, mean, deviation, confidence, horizon_periods), None
        shortfall = None
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


def calculate_portfolio_var(
    positions: Positions,
    volatility: Annotated[
        dict[str, Annotated[float, Field(gt=0, le=MAX_VOLATILITY)]] | None,
        Field(description="Name of the underlying -> volatility of its price, per year, decimal; not for historical"),
    ] = None,
    correlation: Correlation = 0.0,
    confidence: Confidence = 0.95,
    horizon_days: Annotated[float, Field(description="Trading days", gt=0, le=252)] = 1.0,
    rate: Rate = 0.0,
    method: Annotated[
        Literal["monte_carlo", "historical", "delta_normal"],
        Field(description="drawn, or moves of history, every option priced anew; or dollar deltas and covariances"),
    ] = "monte_carlo",
    returns: Annotated[
        dict[str, Returns] | None,
        Field(description="historical: name of the underlying -> simple returns of the same consecutive trading days"),
    ] = None,
    degrees_of_freedom: Annotated[
        float | None,
        Field(description="monte_carlo: Student-t returns with such tails; default: normal", gt=2, le=1000),
    ] = None,
    correlation_change: CorrelationChange = 0.0,
) -> PortfolioRisk:
    """Estimate the value at risk of options and shares with its split over underlyings; zero drift.

    Losses are positive, in USD; the horizon is in trading days. Components add up to the value at risk; there are none
    beyond 50 underlyings. Example:
    `{"positions": [{"option_type": "stock", "quantity": 100, "spot": 50, "underlying": "A"}], "volatility": {"A": 0.3},
    "confidence": 0.99, "horizon_days": 10}`.
    """
    require_option_terms(positions)
    names = names_of(positions)
    if method == "historical":
        _refuse("historical", volatility=volatility, degrees_of_freedom=degrees_of_freedom)
        if returns is None:
            raise ValueError("method historical needs returns of each underlying")
        require_for_each("returns", dict(returns), names)
        return _historical(positions, names, returns, confidence, horizon_days, rate)
    _refuse(method, returns=returns)
    if volatility is None:
        raise ValueError(f"method {method} needs volatility of each underlying")
    require_for_each("volatility", dict(volatility), names)
    matrix = correlation_matrix(correlation, names, correlation_change)
    if method == "delta_normal":
        _refuse(method, degrees_of_freedom=degrees_of_freedom)
        return _delta_normal(positions, names, volatility, matrix, confidence, horizon_days, rate)
    return _simulated(positions, names, volatility, matrix, confidence, horizon_days, rate, degrees_of_freedom)


def backtest_value_at_risk(
    profit_and_loss: Losses,
    value_at_risk: Annotated[
        list[Annotated[float, Field(allow_inf_nan=False)]],
        Field(description="Forecast for each of these days, USD, a loss positive; or one for all", min_length=1),
    ],
    confidence: Confidence = 0.95,
) -> CoverageTests:
    """Test value-at-risk forecasts: Kupiec's for their frequency, Christoffersen's for clusters and for both.

    Profits and forecasts are USD (or fractions, both alike). Example: `{"profit_and_loss": [-1, 2, -5, 1],
    "value_at_risk": [3], "confidence": 0.95}`.
    """
    import numpy as np

    from pricing import risk

    days = len(profit_and_loss)
    if len(value_at_risk) not in (1, days):
        raise ValueError(f"value_at_risk must have one value or {days}, one for each day, got {len(value_at_risk)}")
    exceeded = risk.exceedances(profit_and_loss, np.broadcast_to(np.array(value_at_risk, float), (days,)))
    kupiec = risk.kupiec(exceeded, confidence=confidence)
    apart = risk.christoffersen_independence(exceeded)
    both = risk.christoffersen(exceeded, confidence=confidence)
    return CoverageTests(
        days=days,
        exceedances=int(exceeded.sum()),
        expected_exceedances=days * (1.0 - confidence),
        exceeded_on=np.flatnonzero(exceeded).tolist(),
        kupiec_statistic=kupiec.statistic,
        kupiec_p_value=kupiec.p_value,
        independence_statistic=apart.statistic,
        independence_p_value=apart.p_value,
        christoffersen_statistic=both.statistic,
        christoffersen_p_value=both.p_value,
    )


def _refuse(method: str, **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is not for method {method}: leave it out")


def _cornish_fisher(
    outcomes: NDArray[np.float64], mean: float, deviation: float, confidence: float, horizon: int
) -> float:
    from pricing import risk

    if deviation <= 0.0:
        raise ValueError("cornish_fisher needs returns that vary")
    scores = (outcomes - mean) / outcomes.std()
    return risk.cornish_fisher_value_at_risk(
        standard_deviation=deviation,
        skewness=float((scores**3).mean()),
        excess_kurtosis=float((scores**4).mean()) - 3.0,
        mean=mean,
        confidence=confidence,
        horizon=horizon,
    )


def _simulated(
    positions: list[Position],
    names: list[str],
    volatility: dict[str, float],
    correlation: NDArray[np.float64],
    confidence: float,
    horizon_days: float,
    rate: float,
    degrees_of_freedom: float | None,
) -> PortfolioRisk:
    import jax
    import numpy as np

    from pricing import risk

    held, spots = book(positions)
    unused = spots.size - len(names)
    matrix = np.eye(spots.size)
    matrix[: len(names), : len(names)] = correlation
    terms: dict[str, Any] = {
        "spot": spots,
        "volatility": np.array([volatility[name] for name in names] + [0.0] * unused),
        "correlation": matrix,
        "horizon_days": horizon_days,
        "scenarios": SCENARIOS,
        "rate": rate,
        "model": risk.Gaussian() if degrees_of_freedom is None else risk.StudentT(degrees_of_freedom),
    }
    key = jax.random.key(caller.current().grant.seed)
    found = risk.simulated_risk(key, held, **terms, confidence=confidence)
    # the same draws for every part, so that the parts of a scenario add up to the whole
    parts = [risk.simulated_profits(key, only, **terms) for only in _split(held, names)]
    return _of_parts(
        parts,
        names,
        confidence,
        method="monte_carlo, full revaluation",
        observations=SCENARIOS,
        horizon=horizon_days,
        value_at_risk=found.value_at_risk.value,
        expected_shortfall=found.expected_shortfall.value,
        standard_error=found.value_at_risk.standard_error,
    )


def _historical(
    positions: list[Position],
    names: list[str],
    returns: dict[str, list[float]],
    confidence: float,
    horizon_days: float,
    rate: float,
) -> PortfolioRisk:
    import numpy as np

    from pricing import risk
    from pricing.padding import padded_size

    if horizon_days != int(horizon_days):
        raise ValueError(f"horizon_days of method historical must be whole days, got {horizon_days:g}")
    horizon, days = int(horizon_days), len(returns[names[0]])
    lengths = {name: len(row) for name, row in returns.items()}
    if set(lengths.values()) != {days}:
        raise ValueError(f"returns must be of the same days for every underlying, got {lengths}")
    windows = days - horizon + 1
    if windows < 2:
        raise ValueError(f"returns must hold at least {horizon + 1} days for a horizon of {horizon}, got {days}")
    if min(map(min, returns.values())) <= -1.0:
        raise ValueError("returns must be above -1: a price that fell to nothing has no next move")
    held, spots = book(positions)
    moves = np.zeros((padded_size(days, least=LEAST_HISTORY), spots.size))
    moves[:days, : len(names)] = np.array([returns[name] for name in names]).T
    terms: dict[str, Any] = {"spot": spots, "returns": moves, "horizon_days": horizon, "rate": rate}
    total = risk.historical_profits(held, **terms)[:windows]
    parts = [risk.historical_profits(only, **terms)[:windows] for only in _split(held, names)]
    found = risk.value_at_risk(total, confidence=confidence)
    return _of_parts(
        parts,
        names,
        confidence,
        method="historical, full revaluation",
        observations=windows,
        horizon=horizon_days,
        value_at_risk=found.value,
        expected_shortfall=risk.expected_shortfall(total, confidence=confidence).value,
        standard_error=found.standard_error,
    )


def _split(held: Book, names: list[str]) -> list[Book]:
    """Return for each underlying the book without the positions on others; none where there are too many."""
    import numpy as np

    if len(names) > MOST_SPLIT:
        return []
    return [
        held._replace(shares=np.where(np.asarray(held.underlying) == number, held.shares, 0.0))
        for number in range(len(names))
    ]


def _of_parts(
    parts: list[NDArray[np.float64]],
    names: list[str],
    confidence: float,
    *,
    method: str,
    observations: int,
    horizon: float,
    value_at_risk: float,
    expected_shortfall: float,
    standard_error: float,
) -> PortfolioRisk:
    import numpy as np

    from pricing import risk

    components = risk.component_value_at_risk(np.stack(parts), confidence=confidence).tolist() if parts else None
    alone = [risk.value_at_risk(part, confidence=confidence).value for part in parts]
    return PortfolioRisk(
        method=method,
        confidence=confidence,
        observations=observations,
        horizon_periods=horizon,
        value_at_risk=value_at_risk,
        expected_shortfall=expected_shortfall,
        standard_error=standard_error if math.isfinite(standard_error) else None,
        underlying=names,
        component=components,
        standalone=alone or None,
    )


def _delta_normal(
    positions: list[Position],
    names: list[str],
    volatility: dict[str, float],
    correlation: NDArray[np.float64],
    confidence: float,
    horizon_days: float,
    rate: float,
) -> PortfolioRisk:
    import numpy as np

    from mcp_servers.risk.greeks import calculate_portfolio_greeks
    from pricing import risk

    deltas = calculate_portfolio_greeks(positions, rate=rate).position_delta
    exposure = np.zeros(len(names))
    for position, delta in zip(positions, deltas, strict=True):
        exposure[names.index(position.underlying)] += delta * position.spot
    daily = np.array([volatility[name] for name in names]) / math.sqrt(TRADING_DAYS_A_YEAR)
    covariance = correlation * np.outer(daily, daily)
    found = risk.delta_normal_value_at_risk(
        exposure=exposure, covariance=covariance, confidence=confidence, horizon=horizon_days
    )
    shortfall = risk.normal_expected_shortfall(
        standard_deviation=math.sqrt(max(float(exposure @ covariance @ exposure), 0.0)),
        confidence=confidence,
        horizon=horizon_days,
    )
    return PortfolioRisk(
        method="delta-normal",
        confidence=confidence,
        observations=0,
        horizon_periods=horizon_days,
        value_at_risk=found.value,
        expected_shortfall=shortfall,
        standard_error=None,
        underlying=names,
        component=found.component.tolist(),
        standalone=found.standalone.tolist(),
    )
