"""The stress test: shocks of all underlyings at once, or of one that the others follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field

from mcp_servers.bounds import MAX_RATE
from mcp_servers.risk.terms import (
    Correlation,
    CorrelationChange,
    Portfolio,
    Position,
    Volatilities,
    book,
    correlation_matrix,
    names_of,
    require_for_each,
    require_option_terms,
)

if TYPE_CHECKING:
    from pricing.risk import Scenario


class StressScenario(BaseModel):
    """One shock, applied at once."""

    name: str = Field(description="Your name of the scenario; the answer repeats it")
    spot_change: float = Field(default=0.0, description="Relative: -0.20 is a fall of 20%", ge=-1, le=1)
    underlying: str | None = Field(
        default=None,
        description="Only this one moves by spot_change; the others follow by correlation x their volatility / its",
    )
    correlation_change: CorrelationChange = 0.0
    volatility_change: float = Field(default=0.0, description="Absolute: 0.10 is ten points", ge=-2, le=2)
    rate_change: float = Field(default=0.0, description="Absolute: 0.01 is 100 basis points", ge=-MAX_RATE, le=MAX_RATE)
    days_passed: float = Field(default=0.0, description="Calendar days", ge=0, le=3650)


class StressResult(BaseModel):
    """Columns; one entry a scenario. Every option is priced anew."""

    scenario: list[str]
    profit_and_loss: list[float] = Field(description="USD, profits positive")
    worst_scenario: str
    worst_profit_and_loss: float = Field(description="USD")
    value: float = Field(description="Market value before the shock, USD")


def run_stress_test(
    portfolio: Annotated[Portfolio, Field(description="What is held, and the rates")],
    scenarios: Annotated[
        list[StressScenario] | None,
        Field(
            description='For example {"name": "crash", "spot_change": -0.20}; default: those of scenario_set',
            max_length=200,
        ),
    ] = None,
    scenario_set: Annotated[
        Literal["standard", "historical"],
        Field(description="standard shocks, or days that happened (1987 to 2024: S&P 500 and its volatility index)"),
    ] = "standard",
    volatility: Annotated[Volatilities | None, Field(description="For scenarios of one underlying")] = None,
    correlation: Correlation = 0.0,
) -> StressResult:
    """Revalue a portfolio in each scenario, every option priced anew. Values and profits are USD, losses negative.

    A scenario of one underlying moves the others by what its move says of them (their regression on it), with the
    correlations stressed by the scenario. Example: `{"portfolio": {"positions": [{"option_type": "stock", "quantity":
    100, "spot": 50, "underlying": "A"}]}, "scenarios": [{"name": "crash", "spot_change": -0.2}]}`.
    """
    from pricing import risk

    require_option_terms(portfolio.positions)
    held, spots = book(portfolio.positions)
    shocks = list(risk.SCENARIOS if scenario_set == "standard" else risk.HISTORICAL_SCENARIOS)
    if scenarios:
        shocks = [_shock(scenario, portfolio.positions, volatility, correlation, spots.size) for scenario in scenarios]
    # Calm scenarios fill up to a standard number, for the same reason as empty positions. Their names are longer than
    # any of the agent's, so never equal.
    filler = "calm " + "".join(shock.name for shock in shocks)
    missing = range(-len(shocks) % len(risk.SCENARIOS))
    calm = [risk.Scenario(name=f"{filler} {number}") for number in missing]
    rates = {"rate": portfolio.rate, "dividend_yield": portfolio.dividend_yield}
    outcomes = risk.stress(held, spot=spots, **rates, scenarios=shocks + calm)[: len(shocks)]
    worst = min(outcomes, key=lambda outcome: outcome.profit_and_loss)
    value = risk.revalue(held, spot=spots, **rates)
    return StressResult(
        scenario=[outcome.scenario.name for outcome in outcomes],
        profit_and_loss=[outcome.profit_and_loss for outcome in outcomes],
        worst_scenario=worst.scenario.name,
        worst_profit_and_loss=worst.profit_and_loss,
        value=float(value),
    )


def _shock(
    scenario: StressScenario,
    positions: list[Position],
    volatility: dict[str, float] | None,
    correlation: float | list[list[float]],
    size: int,
) -> Scenario:
    """Return the kernel's scenario; where one underlying is shocked, with a move of each."""
    from pricing import risk

    plain = scenario.model_dump(exclude={"underlying", "correlation_change"})
    if scenario.underlying is None:
        if scenario.correlation_change:
            raise ValueError(
                f"scenario {scenario.name!r}: correlation_change needs underlying, the one that is shocked"
            )
        return risk.Scenario(**plain)
    names = names_of(positions)
    if scenario.underlying not in names:
        raise ValueError(f"scenario {scenario.name!r}: no position has underlying {scenario.underlying!r}: {names}")
    if volatility is None:
        raise ValueError(f"scenario {scenario.name!r} shocks one underlying and needs volatility of each")
    require_for_each("volatility", dict(volatility), names)
    at = names.index(scenario.underlying)
    row = correlation_matrix(correlation, names, scenario.correlation_change)[at]
    ratio = [volatility[name] / volatility[scenario.underlying] for name in names]
    moves = [scenario.spot_change * float(rho) * by for rho, by in zip(row, ratio, strict=True)]
    beyond = [name for name, move in zip(names, moves, strict=True) if move < -1.0]
    if beyond:
        raise ValueError(f"scenario {scenario.name!r}: {beyond} would fall by more than 100%; take a smaller move")
    return risk.Scenario(**plain | {"spot_change": (*moves, *[0.0] * (size - len(moves)))})
