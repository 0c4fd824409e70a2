"""Profits of a book over a horizon: drawn from a model of correlated underlyings, or replayed from history."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import ArrayLike
from numpy.typing import NDArray

from pricing.inputs import require
from pricing.risk.book import Book, Options, options_and_stock, revalue, revalue_options
from pricing.risk.estimate import Estimate, Tail, require_confidence
from pricing.risk.order_statistics import order_statistics
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
    law = _law(volatility, correlation, years, scenarios, drift, model)
    returns: jax.Array = _returns_drawn(key, law, type(model), scenarios)
    return returns


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
    world = _world(book, spot, volatility, correlation, horizon_days, scenarios, rate, dividend_yield, drift, model)
    profits = np.asarray(_profits_drawn(key, world, type(model), scenarios, _rows(scenarios, world.spot.size)))
    _require_finite(bool(np.isfinite(profits).all()))
    return profits


class TailRisk(NamedTuple):
    """What a book may lose: value at risk and expected shortfall, positive for losses."""

    value_at_risk: Estimate
    expected_shortfall: Estimate


@checked
def simulated_risk(
    key: jax.Array,
    book: Book,
    *,
    spot: ArrayLike,
    volatility: ArrayLike,
    correlation: ArrayLike,
    confidence: float = 0.95,
    horizon_days: float = 1.0,
    scenarios: int = 20_000,
    rate: float = 0.0,
    dividend_yield: float = 0.0,
    drift: ArrayLike = 0.0,
    model: ReturnModel = Gaussian(),
) -> TailRisk:
    """Monte Carlo value at risk and expected shortfall of a book, in one program that leaves no sample behind.

    Draws, prices, profits and quantiles stay on the device. The estimates are those of
    :func:`pricing.risk.value_at_risk` and :func:`pricing.risk.expected_shortfall` on :func:`simulated_profits`, to
    rounding (1e-12 of the largest profit).

    Parameters
    ----------
    key, book, spot, volatility, correlation, horizon_days, scenarios, rate, dividend_yield, drift, model
        As in :func:`simulated_profits`.
    confidence
        Between 0 and 1, exclusive.
    """
    require_confidence(confidence)
    world = _world(book, spot, volatility, correlation, horizon_days, scenarios, rate, dividend_yield, drift, model)
    tail = Tail.of(scenarios, confidence)
    rows = _rows(scenarios, world.spot.size)
    ranks = np.array([*tail.ranks, tail.edge], np.int32)
    statistics, total, squares, finite = jax.device_get(
        _tail_drawn(key, world, ranks, tail.whole, type(model), scenarios, rows)
    )
    _require_finite(bool(finite))
    *ordered, edge = statistics.tolist()
    return TailRisk(tail.value_at_risk(ordered), tail.expected_shortfall(edge, float(total), float(squares)))


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


class _Law(NamedTuple):
    """Law of the log returns over the horizon, ``years``; ``parameters`` are the fields of the model.

    ``centre`` and ``scale`` have shape ``[1, underlyings]``.
    """

    root: jax.Array
    centre: jax.Array
    scale: jax.Array
    parameters: tuple[float, ...]
    years: float


class _World(NamedTuple):
    """What profits depend on, besides the draws; ``spot`` has shape ``[1, underlyings]``."""

    law: _Law
    spot: jax.Array
    options: Options
    stock_shares: jax.Array
    rate: float
    dividend_yield: float


class _Draws(NamedTuple):
    """What the log returns of all scenarios are made of: each row of ``shocks`` serves twice, with both signs."""

    shocks: jax.Array
    stretch: jax.Array | None
    jumps: jax.Array | None


def _world(
    book: Book,
    spot: ArrayLike,
    volatility: ArrayLike,
    correlation: ArrayLike,
    horizon_days: float,
    scenarios: int,
    rate: float,
    dividend_yield: float,
    drift: ArrayLike,
    model: ReturnModel,
) -> _World:
    """Check everything that can be wrong."""
    law = _law(volatility, correlation, horizon_days / TRADING_DAYS_PER_YEAR, scenarios, drift, model)
    prices = np.atleast_1d(np.asarray(spot, float))
    if prices.shape != law.scale.shape[1:]:
        raise ValueError(f"spot must have shape {law.scale.shape[1:]}, a price for each volatility, got {prices.shape}")
    require("spot", prices, at_least=0.0, missing=False)
    options, stock_shares = options_and_stock(book, prices.size, prices.dtype)
    return _World(law, jnp.asarray(prices[None, :]), options, jnp.asarray(stock_shares), rate, dividend_yield)


def _law(
    volatility: ArrayLike,
    correlation: ArrayLike,
    years: float,
    scenarios: int,
    drift: ArrayLike,
    model: ReturnModel,
) -> _Law:
    sigma = np.atleast_1d(np.asarray(volatility, float))
    root = _root(np.asarray(correlation, float), sigma.size)
    if scenarios < 2 or scenarios % 2:
        raise ValueError(f"scenarios must be an even number >= 2, got {scenarios!r}")
    if not (math.isfinite(years) and years > 0.0):
        raise ValueError(f"years must be finite and > 0, got {years!r}")
    if not (sigma >= 0.0).all():
        raise ValueError(f"volatility must be >= 0, got {sigma.min()!r}")
    centre = (np.asarray(drift, float) - 0.5 * sigma**2) * years
    if isinstance(model, Jumps):
        centre = centre - model.intensity * years * math.expm1(model.mean + 0.5 * model.deviation**2)
    scale = math.sqrt(years) * sigma
    rows = [jnp.asarray(np.broadcast_to(values, sigma.shape)[None, :]) for values in (centre, scale)]
    return _Law(jnp.asarray(root), rows[0], rows[1], astuple(model), years)


def _draw(key: jax.Array, law: _Law, kind: type[ReturnModel], scenarios: int) -> _Draws:
    half, names = scenarios // 2, law.root.shape[0]
    normal_key, other_key, size_key = jax.random.split(key, 3)
    shocks = jax.random.normal(normal_key, (half, names)) @ law.root.T
    stretch = jumps = None
    if kind is StudentT:
        (degrees,) = law.parameters
        stretch = jnp.sqrt((degrees - 2.0) / jax.random.chisquare(other_key, degrees, (half, 1)))
    elif kind is Jumps:
        intensity, mean, deviation = law.parameters
        count = jax.random.poisson(other_key, intensity * law.years, (scenarios, 1)).astype(shocks.dtype)
        jumps = mean * count + deviation * jnp.sqrt(count) * jax.random.normal(size_key, (scenarios, names))
    return _Draws(shocks, stretch, jumps)


def _log_returns(draws: _Draws, law: _Law, start: int | jax.Array, rows: int, *, mirrored: bool) -> jax.Array:
    """Return some scenarios of one half: the drawn one, or the one that is drawn with the other sign."""

    def some(array: jax.Array, first: int | jax.Array) -> jax.Array:
        return lax.dynamic_slice_in_dim(array, first, rows)

    shocks = -some(draws.shocks, start) if mirrored else some(draws.shocks, start)
    if draws.stretch is not None:
        shocks = shocks * some(draws.stretch, start)
    returns = law.centre + law.scale * shocks
    if draws.jumps is None:
        return returns
    return returns + some(draws.jumps, start + (draws.shocks.shape[0] if mirrored else 0))


@partial(jax.jit, static_argnames=("kind", "scenarios"))
def _returns_drawn(key: jax.Array, law: _Law, kind: type[ReturnModel], scenarios: int) -> jax.Array:
    draws, half = _draw(key, law, kind, scenarios), scenarios // 2
    return jnp.concatenate([_log_returns(draws, law, 0, half, mirrored=mirrored) for mirrored in (False, True)])


@partial(jax.jit, static_argnames=("kind", "scenarios", "rows"))
def _profits_drawn(key: jax.Array, world: _World, kind: type[ReturnModel], scenarios: int, rows: int) -> jax.Array:
    """Return the profits of all scenarios, ``rows`` of each half at a time.

    The last part overlaps the one before it, so that all are of one length.
    """
    law, half = world.law, scenarios // 2
    draws = _draw(key, law, kind, scenarios)

    def worth(table: jax.Array, years: float) -> jax.Array:
        rates = (world.rate, world.dividend_yield)
        options: jax.Array = revalue_options(world.options, table.T, *rates, 0.0, years, None)
        return table @ world.stock_shares + options

    def add(profits: jax.Array, start: jax.Array) -> tuple[jax.Array, None]:
        sides = [_log_returns(draws, law, start, rows, mirrored=mirrored) for mirrored in (False, True)]
        part = jnp.stack([worth(world.spot * jnp.exp(side), law.years) for side in sides])
        return lax.dynamic_update_slice_in_dim(profits, part, start, axis=1), None

    starts = jnp.minimum(jnp.arange(0, half, rows), half - rows)
    profits, _ = lax.scan(add, jnp.zeros((2, half)), starts)
    return profits.reshape(-1) - worth(world.spot, 0.0)


@partial(jax.jit, static_argnames=("kind", "scenarios", "rows"))
def _tail_drawn(
    key: jax.Array,
    world: _World,
    ranks: jax.Array,
    whole: jax.Array,
    kind: type[ReturnModel],
    scenarios: int,
    rows: int,
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return the losses at ``ranks``, of which the last is the edge, what lies beyond it, and whether all are finite.

    Of the losses beyond the edge: their sum and the sum of their squared deviations from their mean. Where several
    losses are equal to the edge, as many of them count as ``whole`` asks for.
    """
    losses = -_profits_drawn(key, world, kind, scenarios, rows)
    statistics = order_statistics(losses, ranks)
    edge = statistics[-1]
    beyond = losses > edge
    equal = whole - beyond.sum()
    total = jnp.where(beyond, losses, 0.0).sum() + equal * edge
    mean = total / jnp.maximum(whole, 1)
    squares = jnp.where(beyond, (losses - mean) ** 2, 0.0).sum() + equal * (edge - mean) ** 2
    return statistics, total, squares, jnp.isfinite(losses).all()


def _rows(scenarios: int, names: int) -> int:
    """Return how many scenarios of each half are priced at a time: of few numbers."""
    return min(scenarios // 2, max(_BLOCK_NUMBERS // names, 1))


def _require_finite(finite: bool) -> None:
    if not finite:
        raise ValueError(
            "volatility, drift and horizon_days must leave every simulated price finite; some are infinite"
        )


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
