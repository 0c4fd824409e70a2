"""A book of options and stocks on several underlyings, and what it is worth in any scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from numpy.typing import NDArray

from native import folded, kernel
from pricing.inputs import require
from pricing.normal import density, mills_ratio
from pricing.signature import checked

_FARTHEST = 60.0


class Book(NamedTuple):
    """Positions, one row each. Every field has shape ``[positions]``.

    Attributes
    ----------
    underlying
        Index of the underlying in the market's arrays, int.
    is_option
        False for stock, whose other option fields are not read (use NaN).
    is_call
        True for a call, False for a put.
    shares
        Signed number of shares: quantity times multiplier.
    strike
        Exercise price, > 0.
    time_to_expiry
        Years, >= 0.
    volatility
        Per year, as a decimal, >= 0.
    """

    underlying: ArrayLike
    is_option: ArrayLike
    is_call: ArrayLike
    shares: ArrayLike
    strike: ArrayLike
    time_to_expiry: ArrayLike
    volatility: ArrayLike


@checked
def revalue(
    book: Book,
    *,
    spot: ArrayLike,
    rate: ArrayLike = 0.0,
    dividend_yield: ArrayLike = 0.0,
    volatility_change: ArrayLike = 0.0,
    skew_change: ArrayLike = 0.0,
    years_passed: ArrayLike = 0.0,
) -> jax.Array:
    """Value of the whole book in each scenario, every option priced anew.

    Prices are right to about 1e-15 of the spot, in float32 to 1e-6.

    Parameters
    ----------
    book
        The positions.
    spot
        Prices of the underlyings, >= 0, shape ``[underlyings]`` or ``[scenarios, underlyings]``. Float32 scenarios are
        priced in float32.
    rate, dividend_yield
        Continuously compounded, per year: one number, or per scenario ``[scenarios]``.
    volatility_change
        Added to every volatility, 0.01 being one point: one number or ``[scenarios]``. No volatility falls below 0.
    skew_change
        Added to the slope of volatility in ``log(strike / spot)`` of the scenario: -0.10 adds one point to a strike 10%
        below the spot. One number or ``[scenarios]``.
    years_passed
        Calendar time gone by: one number or ``[scenarios]``. An option past its expiry is worth its exercise value at
        the scenario's spot.

    Returns
    -------
    Value in currency, shape ``[]`` or ``[scenarios]``.

    Raises
    ------
    ValueError
        When a position is out of range, or shapes do not fit.
    """
    prices = np.asarray(spot)
    if prices.dtype != np.float32:
        prices = prices.astype(np.float64)
    require("spot", prices, at_least=0.0)
    if prices.ndim not in (1, 2):
        raise ValueError(f"spot must have shape [underlyings] or [scenarios, underlyings], got {prices.shape}")
    table = np.atleast_2d(prices)
    options, stock_shares = options_and_stock(book, table.shape[1], prices.dtype)
    moves: list[NDArray[np.floating] | None] = [
        _per_scenario(name, value, table.shape[0], prices.dtype)
        for name, value in (
            ("rate", rate),
            ("dividend_yield", dividend_yield),
            ("volatility_change", volatility_change),
            ("years_passed", years_passed),
        )
    ]
    no_skew = np.ndim(skew_change) == 0 and float(np.asarray(skew_change)) == 0.0
    moves.append(None if no_skew else _per_scenario("skew_change", skew_change, table.shape[0], prices.dtype))
    stock = (table @ stock_shares).reshape(prices.shape[:-1])
    return _with_options(stock, options, table.T, *moves) if options.shares.size else jnp.asarray(stock)


class Options(NamedTuple):
    """Numpy columns, each one number where a compiled loop reads them."""

    underlying: Any
    sign: Any
    shares: Any
    strike: Any
    time_to_expiry: Any
    volatility: Any


def options_and_stock(book: Book, underlyings: int, dtype: np.dtype) -> tuple[Options, NDArray[np.floating]]:
    """Return the checked options of a book, and the shares of each underlying that it holds as stock."""
    rows = {name: np.atleast_1d(np.asarray(value)) for name, value in book._asdict().items()}
    index, is_option = rows["underlying"].astype(np.int32), rows["is_option"].astype(bool)
    if index.size and not (0 <= index.min() and index.max() < underlyings):
        raise ValueError(f"underlying must be an index below {underlyings}, got {index.tolist()}")
    require("strike", rows["strike"][is_option], above=0.0)
    require("time_to_expiry", rows["time_to_expiry"][is_option], at_least=0.0)
    require("volatility", rows["volatility"][is_option], at_least=0.0)
    require("shares", rows["shares"])
    stock = np.zeros(underlyings, dtype)
    np.add.at(stock, index[~is_option], rows["shares"][~is_option].astype(dtype))
    columns = [np.where(rows["is_call"], 1.0, -1.0)]
    columns += [rows[name] for name in ("shares", "strike", "time_to_expiry", "volatility")]
    options = (column[is_option].astype(dtype) for column in columns)
    return Options(index[is_option], *options), stock


def _per_scenario(name: str, value: ArrayLike, scenarios: int, dtype: np.dtype) -> NDArray[np.floating]:
    array = np.asarray(value, dtype)
    require(name, array)
    if array.shape not in ((), (scenarios,)):
        raise ValueError(f"{name} must be one number or have shape ({scenarios},), got {array.shape}")
    return array


@jax.jit
def _with_options(stock: jax.Array, options: Options, spot: jax.Array, *moves: jax.Array | None) -> jax.Array:
    """Add both values in one compiled program: single operations between them would cost more than they do."""
    value: jax.Array = stock + revalue_options(options, spot, *moves).reshape(stock.shape)
    return value


@jax.jit
def revalue_options(
    options: Options,
    spot: jax.Array,
    rate: jax.Array,
    dividend_yield: jax.Array,
    volatility_change: jax.Array,
    years_passed: jax.Array,
    skew_change: jax.Array | None,
) -> jax.Array:
    """Sum over options; ``spot`` has shape [underlyings, scenarios], the moves have [scenarios] or are numbers."""
    moves = (rate, dividend_yield, volatility_change, years_passed, skew_change)
    total: jax.Array = _add_option(
        jnp.zeros_like(spot[0]), rows=options, which=options.underlying, lines=(spot, _log(spot)), lanes=moves
    )
    return total


_log = kernel(jnp.log)


@folded
def _add_option(
    total: jax.Array, option: Options, market: tuple[jax.Array, jax.Array], moves: Sequence[Any]
) -> jax.Array:
    """Add out-of-the-money value plus intrinsic value; the far tail needs no more than absolute accuracy here."""
    spot, log_spot = market
    rate, dividend_yield, volatility_change, years_passed, skew_change = moves
    log_strike = jnp.log(option.strike)
    volatility = option.volatility + volatility_change
    if skew_change is not None:
        volatility = volatility - skew_change * (log_spot - log_strike)
    time = jnp.maximum(option.time_to_expiry - years_passed, 0.0)
    deviation = jnp.maximum(volatility, 0.0) * jnp.sqrt(time)
    log_moneyness = log_spot + ((rate - dividend_yield) * time - log_strike)
    shares, cash = spot * jnp.exp(-dividend_yield * time), option.strike * jnp.exp(-rate * time)
    distance = jnp.where(log_moneyness == 0.0, 0.0, jnp.abs(log_moneyness) * (1.0 / deviation))
    near = jnp.maximum(0.5 * deviation - distance, -_FARTHEST)
    far = jnp.maximum(-0.5 * deviation - distance, -_FARTHEST)
    smaller = jnp.where(log_moneyness <= 0.0, shares, cash)
    height = smaller * density(near)
    near_tail = height * mills_ratio(jnp.abs(near))
    value = jnp.where(near > 0.0, smaller - near_tail, near_tail) - height * mills_ratio(-far)
    position: jax.Array = option.shares * (value + jnp.maximum(option.sign * (shares - cash), 0.0))
    return total + position
