"""Measures of an equity path, one a function: :mod:`backtest.metrics.measures` over statistics of the path.

Returns are simple returns per bar, shape ``[..., bars]``; every function reduces the last axis. Risk-free rate 0.
A measure that is undefined (no risk taken, no trade closed) is NaN, never a made-up number; each function says when.
NaN in what a measure reads gives NaN. A negative or infinite equity and an infinite return are ``ValueError``.
Definitions are those of empyrical and quantstats where those agree; the docstring says where ours differs.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from backtest.account import Ledger
from backtest.metrics import measures
from backtest.metrics.measures import Statistics, Summary
from backtest.metrics.numbers import equity_path, one_a_bar, ratio, require_bars_per_year
from pricing.signature import checked, labelled, relabelled


@checked
def _returns(equity: jax.Array) -> jax.Array:
    equity = equity_path(equity, bars=1)
    before, after = equity[..., :-1], equity[..., 1:]
    return jnp.where(before == 0.0, 0.0, after / jnp.where(before == 0.0, 1.0, before) - 1.0)


def returns(equity: jax.Array) -> jax.Array:
    """Return simple returns ``[..., bars]`` of an equity path ``[..., bars + 1]``; 0 once equity is 0.

    A pandas Series gives one, each return under the label of the bar at whose close it was earned.
    """
    each: jax.Array = relabelled(_returns(equity), equity, first=1)
    return each


@checked
def total_return(equity: jax.Array) -> jax.Array:
    """Return final over initial equity minus 1; -1 for a ruined account."""
    return measures.total_return(_of_equity(equity))


@checked
def log_growth(equity: jax.Array) -> jax.Array:
    """Return the log of final over initial equity; minus infinity for a ruined account."""
    return measures.log_growth(_of_equity(equity))


@checked
def annual_return(equity: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return the compound annual growth rate (empyrical ``cagr``); -1 for a ruined account."""
    equity_path(equity, bars=1)
    return measures.annual_return(_of_equity(equity, bars_per_year=bars_per_year))


@checked
def annual_volatility(returns: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return the sample standard deviation of returns times the root of bars per year. NaN for fewer than 2 bars."""
    return measures.annual_volatility(_of_returns(returns, bars_per_year=bars_per_year))


def _deviation(values: jax.Array) -> jax.Array:
    if values.shape[-1] < 2:
        return jnp.full(values.shape[:-1], jnp.nan)
    return jnp.std(values, axis=-1, ddof=1)


@checked
def sharpe(returns: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return mean over sample standard deviation of returns, annualised. NaN where the deviation is 0."""
    return measures.sharpe(_of_returns(returns, bars_per_year=bars_per_year))


@checked
def sortino(returns: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return mean over root mean square of the negative returns (zeros counted), annualised. NaN without a loss."""
    return measures.sortino(_of_returns(returns, bars_per_year=bars_per_year))


@checked
def calmar(equity: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return annual return over maximum drawdown. NaN without a drawdown."""
    equity_path(equity, bars=1)
    s = _of_equity(equity, bars_per_year=bars_per_year)
    return measures.calmar(s._replace(max_drawdown=max_drawdown(equity)))


@labelled
def drawdowns(equity: jax.Array) -> jax.Array:
    """Return the fraction lost since the highest equity so far, ``[..., bars + 1]``, in [0, 1]."""
    equity = equity_path(equity)
    peak = lax.cummax(equity, axis=equity.ndim - 1)
    return 1.0 - equity / peak


@checked
def max_drawdown(equity: jax.Array) -> jax.Array:
    """Return the largest fraction lost from a peak, in [0, 1] (empyrical reports it with a minus sign)."""
    return jnp.max(drawdowns(equity), axis=-1)


@checked
def max_drawdown_bars(equity: jax.Array) -> jax.Array:
    """Return the longest run of bars that closed below an earlier peak, whether or not it was won back."""

    def count(run: jax.Array, below: jax.Array) -> tuple[jax.Array, jax.Array]:
        run = jnp.where(below, run + 1.0, 0.0)
        return run, run

    lost = drawdowns(equity_path(equity))
    _, runs = lax.scan(count, jnp.zeros(lost.shape[:-1]), jnp.moveaxis(lost > 0.0, -1, 0))
    return jnp.where(jnp.isnan(lost).any(axis=-1), jnp.nan, jnp.max(runs, axis=0))


@checked
def win_rate(ledger: Ledger) -> jax.Array:
    """Return closed trades with a profit after costs over closed trades. NaN without a closed trade."""
    return measures.win_rate(_known(ledger=ledger))


@checked
def profit_factor(ledger: Ledger) -> jax.Array:
    """Return the sum of profits over the sum of losses of closed trades. NaN without a loss."""
    return measures.profit_factor(_known(ledger=ledger))


@checked
def turnover(equity: jax.Array, ledger: Ledger, *, bars_per_year: float) -> jax.Array:
    """Return traded notional per year over mean equity."""
    equity_path(equity, bars=1)
    s = _of_equity(equity, bars_per_year=bars_per_year)
    return measures.turnover(s._replace(mean_equity=jnp.mean(equity[..., 1:], axis=-1), ledger=ledger))


@checked
def skewness(returns: jax.Array) -> jax.Array:
    """Return the third standardised moment (population). NaN without risk."""
    return standardised_moment(one_a_bar(returns), 3)


@checked
def kurtosis(returns: jax.Array) -> jax.Array:
    """Return the fourth standardised moment (population; 3 for a normal distribution). NaN without risk."""
    return standardised_moment(one_a_bar(returns), 4)


@checked
def standardised_moment(values: jax.Array, order: int) -> jax.Array:
    """Return the mean of ``((x - mean) / standard deviation) ** order``. NaN where the deviation is 0."""
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    values = one_a_bar(values, "values")
    centred = values - jnp.mean(values, axis=-1, keepdims=True)
    variance = jnp.mean(centred**2, axis=-1)
    return ratio(jnp.mean(centred**order, axis=-1), variance ** (order / 2))


@checked
def summary(equity: jax.Array, ledger: Ledger, *, bars_per_year: float, exposure: jax.Array | None = None) -> Summary:
    """Return all measures of stored episodes.

    Parameters
    ----------
    equity
        ``[..., bars + 1]``, the initial equity first (``Trajectory.equity``).
    ledger
        Fields ``[...]`` (``Trajectory.account.ledger``).
    bars_per_year
        365 * 24 for hourly bars of a market that never closes.
    exposure
        ``[..., bars]`` (``Trajectory.exposure``); the two exposure measures are NaN when omitted.

    Raises
    ------
    ValueError
        When there is no bar, or bars_per_year is not above 0.
    """
    return measures.summarise(statistics(equity, ledger, bars_per_year=bars_per_year, exposure=exposure))


@checked
def statistics(
    equity: jax.Array, ledger: Ledger, *, bars_per_year: float, exposure: jax.Array | None = None
) -> Statistics:
    """Return what all measures are computed from; arguments and errors as of :func:`summary`."""
    equity = equity_path(equity, bars=1)
    if exposure is not None:
        exposure = one_a_bar(exposure, "exposure")
        wanted = (*equity.shape[:-1], equity.shape[-1] - 1)
        if exposure.shape != wanted:
            raise ValueError(f"exposure must have one value a bar, shape {wanted}, got {exposure.shape}")
    path = returns(equity)
    unknown = jnp.full(equity.shape[:-1], jnp.nan)
    return _of_returns(path, bars_per_year=bars_per_year)._replace(
        growth=_of_equity(equity).growth,
        skewness=skewness(path),
        kurtosis=kurtosis(path),
        mean_equity=jnp.mean(equity[..., 1:], axis=-1),
        mean_exposure=unknown if exposure is None else jnp.mean(exposure, axis=-1),
        gross_exposure=unknown if exposure is None else jnp.mean(jnp.abs(exposure), axis=-1),
        max_drawdown=max_drawdown(equity),
        max_drawdown_bars=max_drawdown_bars(equity),
        ledger=ledger,
    )


def _of_returns(returns: jax.Array, *, bars_per_year: float) -> Statistics:
    """Return mean, deviation and downside of returns, and the returns."""
    require_bars_per_year(bars_per_year)
    returns = one_a_bar(returns)
    return _known(
        bars=returns.shape[-1],
        bars_per_year=bars_per_year,
        mean=jnp.mean(returns, axis=-1),
        deviation=_deviation(returns),
        downside=jnp.sqrt(jnp.mean(jnp.minimum(returns, 0.0) ** 2, axis=-1)),
        returns=returns,
    )


def _of_equity(equity: jax.Array, *, bars_per_year: float = 1.0) -> Statistics:
    """Return the growth of an equity path."""
    equity = equity_path(equity)
    require_bars_per_year(bars_per_year)
    growth = equity[..., -1] / equity[..., 0]
    return _known(bars=equity.shape[-1] - 1, bars_per_year=bars_per_year, growth=growth)


def _known(**fields: Any) -> Statistics:
    """Return statistics of which only some are known."""
    unknown = dict.fromkeys(Statistics._fields, jnp.nan)
    return Statistics(**{**unknown, "returns": None, **fields})
