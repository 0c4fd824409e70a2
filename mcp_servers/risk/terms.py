"""What several risk tools take: positions, returns, correlations; and how they become a book of the kernels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field

from mcp_servers.bounds import MAX_PRICE, MAX_RATE, MAX_UNITS, MAX_VOLATILITY, MAX_YEARS, MIN_RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pricing.risk import Book

SHARES_A_CONTRACT = 100.0
DAYS_A_YEAR = 365
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
Volatilities = Annotated[
    dict[str, Annotated[float, Field(gt=0, le=MAX_VOLATILITY)]],
    Field(description="Name of the underlying -> volatility of its price, per year, decimal"),
]
Correlation = Annotated[
    Annotated[float, Field(ge=0, lt=1)] | list[list[Annotated[float, Field(ge=-1, le=1)]]],
    Field(description="Between any two underlyings, or the matrix, in the order in which positions name them"),
]
CorrelationChange = Annotated[
    float, Field(description="Part of the way to 1 (> 0) or to 0 (< 0) that correlations move", ge=-1, le=1)
]


class Position(BaseModel):
    """A position in shares or in one option series."""

    option_type: Literal["call", "put", "stock"] = Field(description="call, put or stock")
    quantity: float = Field(description="Contracts or shares; > 0 long, < 0 short", ge=-MAX_UNITS, le=MAX_UNITS)
    spot: float = Field(description="Price of the underlying, USD", gt=0, le=MAX_PRICE)
    strike: float | None = Field(default=None, description="Options only, USD", gt=0, le=MAX_PRICE)
    time_to_expiry: float | None = Field(default=None, description="Options only, years", gt=0, le=MAX_YEARS)
    volatility: float | None = Field(
        default=None, description="Options only, per year, decimal", gt=0, le=MAX_VOLATILITY
    )
    multiplier: float | None = Field(default=None, description="Shares a contract; 100 for options", gt=0, le=MAX_PRICE)
    underlying: str = Field(default="", description="Name of the underlying; positions on one name share one spot")


Positions = Annotated[
    list[Position],
    Field(description="Positions on one name share its price moves", min_length=1, max_length=500),
]


class Portfolio(BaseModel):
    """Positions and the rates they are priced with."""

    positions: list[Position] = Field(description="At least one position", min_length=1, max_length=500)
    rate: Rate = 0.0
    dividend_yield: Rate = 0.0


def shares_of(position: Position) -> float:
    """Return the signed number of shares that a position stands for."""
    if position.multiplier is not None:
        return position.quantity * position.multiplier
    return position.quantity * (1.0 if position.option_type == "stock" else SHARES_A_CONTRACT)


def require_option_terms(positions: list[Position]) -> None:
    """Raise ``ValueError`` for an option that lacks a term, naming both."""
    for number, position in enumerate(positions):
        if position.option_type == "stock":
            continue
        for field in ("strike", "time_to_expiry", "volatility"):
            if getattr(position, field) is None:
                raise ValueError(f"positions[{number}] is a {position.option_type} and needs {field}")


def padded(positions: list[Position]) -> list[Position]:
    """Return the positions with empty ones behind, so that few sizes are ever compiled."""
    from pricing.padding import padded_size

    size = padded_size(len(positions), least=LEAST_COMPILED_SIZE)
    return positions + [Position(option_type="stock", quantity=0.0, spot=1.0)] * (size - len(positions))


def book(positions: list[Position]) -> tuple[Book, NDArray[np.float64]]:
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
        shares=np.array([shares_of(position) for position in positions] + [0.0] * empty),
        strike=column("strike"),
        time_to_expiry=column("time_to_expiry"),
        volatility=column("volatility"),
    )
    size = padded_size(len(positions), least=LEAST_COMPILED_SIZE)
    return book, np.array(list(spots.values()) + [1.0] * (size - len(spots)))


def names_of(positions: list[Position]) -> list[str]:
    """Return the underlyings in the order in which positions name them; ``ValueError`` for one without a name."""
    names = list(dict.fromkeys(position.underlying for position in positions))
    if "" in names:
        raise ValueError("every position must name its underlying, so that shared price moves are known")
    return names


def require_for_each(field: str, given: dict[str, object], names: list[str]) -> None:
    """Raise ``ValueError`` unless ``given`` has exactly the underlyings as keys."""
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"{field} must be given for each underlying; missing: {missing}")
    strangers = [name for name in given if name not in names]
    if strangers:
        raise ValueError(f"{field} names underlyings that no position has: {strangers}; positions have: {names}")


def correlation_matrix(
    correlation: float | list[list[float]], names: list[str], change: float = 0.0
) -> NDArray[np.float64]:
    """Return the matrix, moved by ``change``; ``ValueError`` where it is none."""
    import numpy as np

    from pricing import risk

    count = len(names)
    if isinstance(correlation, list):
        if [len(row) for row in correlation] != [count] * count:
            raise ValueError(f"correlation must have {count} rows of {count} numbers, one for each of {names}")
        matrix = np.array(correlation, float)
        if not (np.allclose(matrix, matrix.T) and np.allclose(np.diag(matrix), 1.0)):
            raise ValueError("correlation must be symmetric with 1 on its diagonal")
        lowest = float(np.linalg.eigvalsh(matrix)[0])
        if lowest < -1e-9:
            raise ValueError(f"correlation must be positive semidefinite; its smallest eigenvalue is {lowest:.4g}")
    else:
        matrix = np.where(np.eye(count, dtype=bool), 1.0, correlation)
    return risk.stressed_correlation(matrix, change) if change else matrix
