"""Profits of a book over a horizon: drawn from a model of correlated underlyings, or replayed from history."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from numpy.typing import NDArray

from pricing.risk.book import Book, revalue
from pricing.signature import checked

TRADING_DAYS_PER_YEAR = 252.0
_BLOCK_NUMBERS = 1 << 20
"""Prices that are held at a time, 8 MiB: a large book in all scenarios would take hundreds."""


@dataclass(frozen=True)
class Gaussian:
    """Normal log returns."""


@dataclass(frozen=True)
class StudentT:
    """Multivariate Student-t log returns with the same covariance, so that tails are fat and joint.

    Attributes
    ----------
    degrees_of_freedom
        > 2.
    """

    degrees_of_freedom: float

    def __post_init__(self) -> None:
        if not self.degrees_of_freedom > 2.0:
            raise ValueError(f"degrees_of_freedom must be > 2, got {self.degrees_of_freedom!r}")


@dataclass(frozen=True)
class Jumps:
    """Normal log returns plus jumps that strike every underlying at once (Merton 1976).

    Attributes
    ----------
    intensity
        Jumps per year, >= 0.
    mean, deviation
        Of the log of one jump, per underlying independent given the jump.
    """

    intensity: float
    mean: float
    deviation: float

    def __post_init__(self) -> None:
        if not self.intensity >= 0.0:
            raise ValueError(f"intensity must be >= 0 jumps per year, got {self.intensity!r}")
        if not self.deviation >= 0.0:
            raise ValueError(f"deviation must be >= 0, got {self.deviation!r}")


ReturnModel: TypeAlias = Gaussian | StudentT | Jumps


@checked
def simulate_log_returns(
    key: jax.Array,
    *,
    volatility: ArrayLike,
    correlation: ArrayLike,
    years: float,
    scenarios: int,
    drift: ArrayLike = 0.0,
    model: ReturnModel = Gaussian(),
) -> jax.Array:
    """Draw joint log returns of the underlyings.

    Parameters
    ----------
    key
        jax random key; the same key gives the same scenarios.
    volatility
        Per year, as a decimal, shape ``[underlyings]``; of the diffusion where the model has jumps.
    correlation
        Shape ``[underlyings, underlyings]``, positive semidefinite.
    years
        Horizon, > 0.
    scenarios
        Even number: each draw is used with both signs (antithetic), so that the mean of symmetric draws is exact.
    drift
        Expected growth of prices per year, a number or ``[underlyings]``. Log returns are drawn around
        ``(drift - volatility**2 / 2 - jump compensator) * years``, so prices grow at ``drift`` on average (for
        Student-t, whose exponential has no mean, this is the normal value).
    model
        Law of the returns.

    Returns
    -------
    Log returns, shape ``[scenarios, underlyings]``.

    Raises
    ------
    ValueError
        When the correlation matrix is not one, or counts are out of range.
    """
    draws = _draw(key, volatility, correlation, years, scenarios, drift, model)
    half = scenarios // 2
    return jnp.concatenate([_log_returns(draws, 0, half), _log_returns(draws, half, scenarios)])


@checked
def stressed_correlation(correlation: ArrayLike, change: float) -> NDArray[np.float64]:
    """Correlation matrix moved towards one (``change`` > 0) or towards zero (< 0).

    ``change`` between -1 and 1 is the part of the way that is gone; the result stays a correlation matrix.
    """
    if not -1.0 <= change <= 1.0:
        raise ValueError(f"change must lie between -1 and 1, got {change!r}")
    matrix = np.asarray(correlation, float)
    target = np.ones_like(matrix) if change > 0.0 else np.eye(matrix.shape[0])
    moved: NDArray[np.float64] = (1.0 - abs(change)) * matrix + abs(change) * target
    return moved


@checked
def simulated_profits(
    key: jax.Array,
    book: Book,
    *,
    spot: ArrayLike,
    volatility: ArrayLike,
    correlation: ArrayLike,
    horizon_days: float = 1.0,
    scenarios: int = 20_000,
    rate: float = 0.0,
    dividend_yield: float = 0.0,
    drift: ArrayLike = 0.0,
    model: ReturnModel = Gaussian(),
) -> NDArray[np.float64]:
    """Profit of a book over a horizon in simulated scenarios, every option priced anew after the time has passed.

    Feed the result to :func:`pricing.risk.value_at_risk` and :func:`pricing.risk.expected_shortfall`.

    Parameters
    ----------
    key
        jax random key.
    book
        The positions.
    spot
        Prices now, shape ``[underlyings]``.
    volatility, correlation, drift, model, scenarios
        As in :func:`simulate_log_returns`.
    horizon_days
        Trading days, of which a year has 252.
    rate, dividend_yield
        Continuously compounded, per year.

    Returns
    -------
    Profits in currency, shape ``[scenarios]``.
    """
    years = horizon_days / TRADING_DAYS_PER_YEAR
    draws = _draw(key, volatility, correlation, years, scenarios, drift, model)
    on_host: _Draws = jax.tree.map(np.asarray, draws)
    prices = np.atleast_1d(np.asarray(spot, float))
    now = float(revalue(book, spot=prices, rate=rate, dividend_yield=dividend_yield))
    rates = {"rate": rate, "dividend_yield": dividend_yield}
    profits = np.empty(scenarios)
    for start, stop in _blocks(scenarios // 2, prices.size):
        for first, last in ((start, stop), (start + scenarios // 2, stop + scenarios // 2)):
            table = prices * np.exp(_log_returns(on_host, first, last))
            profits[first:last] = np.asarray(revalue(book, spot=table, **rates, years_passed=years)) - now
    return profits


@checked
def historical_profits(
    book: Book,
    *,
    spot: ArrayLike,
    returns: ArrayLike,
    horizon_days: int = 1,
    rate: float = 0.0,
    dividend_yield: float = 0.0,
) -> NDArray[np.float64]:
    """Profit of today's book in the moves that happened, every option priced anew.

    Parameters
    ----------
    book
        The positions.
    spot
        Prices now, shape ``[underlyings]``.
    returns
        Simple returns of consecutive trading days, > -1, shape ``[days, underlyings]``.
    horizon_days
        Days per scenario: returns of overlapping windows are compounded. Overlapping windows are not independent, so
        standard errors of longer horizons are too small by about the square root of the horizon.
    rate, dividend_yield
        Continuously compounded, per year.

    Returns
    -------
    Profits in currency, shape ``[days - horizon_days + 1]``.

    Raises
    ------
    ValueError
        When there are fewer days than the horizon, or a return is not above -1.
    """
    moves = np.asarray(returns, float)
    moves = moves[:, None] if moves.ndim == 1 else moves
    if not 1 <= horizon_days <= moves.shape[0]:
        raise ValueError(
            f"horizon_days must lie between 1 and the {moves.shape[0]} days of history, got {horizon_days}"
        )
    if moves.ndim != 2 or moves.shape[1] != np.size(spot):
        raise ValueError(
            f"returns must have shape [days, {np.size(spot)}], one column for each spot, got {moves.shape}"
        )
    if not (moves > -1.0).all():
        raise ValueError(f"returns must be > -1, got {moves.min()!r}")
    total = np.concatenate([np.zeros((1, moves.shape[1])), np.cumsum(np.log1p(moves), axis=0)])
    growth = np.exp(total[horizon_days:] - total[:-horizon_days])
    years = horizon_days / TRADING_DAYS_PER_YEAR
    return _profits(book, np.asarray(spot, float), growth, years, rate, dividend_yield)


class _Draws(NamedTuple):
    """What the log returns of all scenarios are made of: each row of ``shocks`` serves twice, with both signs."""

    shocks: jax.Array | NDArray[np.float64]
    stretch: jax.Array | NDArray[np.float64] | None
    jumps: jax.Array | NDArray[np.float64] | None
    centre: jax.Array | NDArray[np.float64]
    scale: jax.Array | NDArray[np.float64]


def _draw(
    key: jax.Array,
    volatility: ArrayLike,
    correlation: ArrayLike,
    years: float,
    scenarios: int,
    drift: ArrayLike,
    model: ReturnModel,
) -> _Draws:
    sigma = np.atleast_1d(np.asarray(volatility, float))
    root = _root(np.asarray(correlation, float), sigma.size)
    if scenarios < 2 or scenarios % 2:
        raise ValueError(f"scenarios must be an even number >= 2, got {scenarios!r}")
    if not (math.isfinite(years) and years > 0.0):
        raise ValueError(f"years must be finite and > 0, got {years!r}")
    if not (sigma >= 0.0).all():
        raise ValueError(f"volatility must be >= 0, got {sigma.min()!r}")
    normal_key, other_key, size_key = jax.random.split(key, 3)
    shocks = jax.random.normal(normal_key, (scenarios // 2, sigma.size)) @ jnp.asarray(root.T)
    centre = (np.asarray(drift, float) - 0.5 * sigma**2) * years
    stretch = jumps = None
    if isinstance(model, StudentT):
        degrees = model.degrees_of_freedom
        stretch = jnp.sqrt((degrees - 2.0) / jax.random.chisquare(other_key, degrees, (scenarios // 2, 1)))
    elif isinstance(model, Jumps):
        count = jax.random.poisson(other_key, model.intensity * years, (scenarios, 1)).astype(shocks.dtype)
        sizes = jax.random.normal(size_key, (scenarios, sigma.size))
        jumps = model.mean * count + model.deviation * jnp.sqrt(count) * sizes
        centre = centre - model.intensity * years * math.expm1(model.mean + 0.5 * model.deviation**2)
    scale = jnp.asarray(math.sqrt(years) * sigma)[None, :]
    return _Draws(shocks, stretch, jumps, jnp.asarray(np.broadcast_to(centre, sigma.shape))[None, :], scale)


def _log_returns(draws: _Draws, start: int, stop: int) -> Any:
    """Return the scenarios from ``start`` to ``stop``, both in one half, as the kind of array that the draws are."""
    half = draws.shocks.shape[0]
    rows = slice(start % half, start % half + stop - start)
    shocks = draws.shocks[rows] if start < half else -draws.shocks[rows]
    if draws.stretch is not None:
        shocks = shocks * draws.stretch[rows]
    returns = draws.centre + draws.scale * shocks
    return returns if draws.jumps is None else returns + draws.jumps[start:stop]


def _blocks(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Yield parts of all rows, of one length and of few numbers; the last overlaps the one before it.

    One length, because what follows may be compiled for it.
    """
    length = min(rows, max(_BLOCK_NUMBERS // columns, 1))
    for start in range(0, rows, length):
        first = min(start, rows - length)
        yield first, first + length


def _profits(
    book: Book,
    spot: NDArray[np.float64],
    growth: NDArray[np.float64],
    years: float,
    rate: float,
    dividend_yield: float,
) -> NDArray[np.float64]:
    spot = np.atleast_1d(spot)
    now = revalue(book, spot=spot, rate=rate, dividend_yield=dividend_yield)
    then = revalue(book, spot=spot * growth, rate=rate, dividend_yield=dividend_yield, years_passed=years)
    profits: NDArray[np.float64] = np.asarray(then) - float(now)
    return profits


def _root(correlation: NDArray[np.float64], underlyings: int) -> NDArray[np.float64]:
    if correlation.shape != (underlyings, underlyings):
        wanted = f"({underlyings}, {underlyings}), a row for each volatility"
        raise ValueError(f"correlation must have shape {wanted}, got {correlation.shape}")
    if not np.allclose(np.diag(correlation), 1.0) or not np.allclose(correlation, correlation.T):
        raise ValueError("correlation must be symmetric with ones on the diagonal")
    values, vectors = np.linalg.eigh(correlation)
    if values[0] < -1e-10:
        raise ValueError(f"correlation must be positive semidefinite, smallest eigenvalue {values[0]:.3g}")
    root: NDArray[np.float64] = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
