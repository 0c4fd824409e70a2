"""Measures of an equity path, one a function.

Returns are simple returns per bar, shape ``[..., bars]``; every function reduces the last axis. Risk-free rate 0.
A measure that is undefined (no risk taken, no trade closed) is NaN, never a made-up number; each function says when.
NaN in what a measure reads gives NaN. A negative or infinite equity and an infinite return are ``ValueError``.
Definitions are those of empyrical and quantstats where those agree; the docstring says where ours differs.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import ndtr

from backtest.account import Ledger
from pricing.inputs import require
from pricing.signature import checked, labelled, relabelled

EULER_GAMMA = 0.5772156649015329


@checked
def _returns(equity: jax.Array) -> jax.Array:
    equity = _path(equity, bars=1)
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
    equity = _path(equity)
    return equity[..., -1] / equity[..., 0] - 1.0


@checked
def log_growth(equity: jax.Array) -> jax.Array:
    """Return the log of final over initial equity; minus infinity for a ruined account."""
    equity = _path(equity)
    return jnp.log(equity[..., -1] / equity[..., 0])


@checked
def annual_return(equity: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return the compound annual growth rate (empyrical ``cagr``); -1 for a ruined account."""
    equity = _path(equity, bars=1)
    _check_bars_per_year(bars_per_year)
    return (equity[..., -1] / equity[..., 0]) ** (bars_per_year / (equity.shape[-1] - 1)) - 1.0


@checked
def annual_volatility(returns: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return the sample standard deviation of returns times the root of bars per year. NaN for fewer than 2 bars."""
    _check_bars_per_year(bars_per_year)
    return _deviation(_bars(returns)) * math.sqrt(bars_per_year)


def _deviation(values: jax.Array) -> jax.Array:
    if values.shape[-1] < 2:
        return jnp.full(values.shape[:-1], jnp.nan)
    return jnp.std(values, axis=-1, ddof=1)


@checked
def sharpe(returns: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return mean over sample standard deviation of returns, annualised. NaN where the deviation is 0."""
    _check_bars_per_year(bars_per_year)
    returns = _bars(returns)
    return ratio(jnp.mean(returns, axis=-1), _deviation(returns)) * math.sqrt(bars_per_year)


@checked
def sortino(returns: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return mean over root mean square of the negative returns (zeros counted), annualised. NaN without a loss."""
    _check_bars_per_year(bars_per_year)
    returns = _bars(returns)
    downside = jnp.sqrt(jnp.mean(jnp.minimum(returns, 0.0) ** 2, axis=-1))
    return ratio(jnp.mean(returns, axis=-1), downside) * math.sqrt(bars_per_year)


@checked
def calmar(equity: jax.Array, *, bars_per_year: float) -> jax.Array:
    """Return annual return over maximum drawdown. NaN without a drawdown."""
    return ratio(annual_return(equity, bars_per_year=bars_per_year), max_drawdown(equity))


@labelled
def drawdowns(equity: jax.Array) -> jax.Array:
    """Return the fraction lost since the highest equity so far, ``[..., bars + 1]``, in [0, 1]."""
    equity = _path(equity)
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

    lost = drawdowns(_path(equity))
    _, runs = lax.scan(count, jnp.zeros(lost.shape[:-1]), jnp.moveaxis(lost > 0.0, -1, 0))
    return jnp.where(jnp.isnan(lost).any(axis=-1), jnp.nan, jnp.max(runs, axis=0))


@checked
def win_rate(ledger: Ledger) -> jax.Array:
    """Return closed trades with a profit after costs over closed trades. NaN without a closed trade."""
    return ratio(ledger.wins, ledger.trades)


@checked
def profit_factor(ledger: Ledger) -> jax.Array:
    """Return the sum of profits over the sum of losses of closed trades. NaN without a loss."""
    return ratio(ledger.gross_profit, ledger.gross_loss)


@checked
def turnover(equity: jax.Array, ledger: Ledger, *, bars_per_year: float) -> jax.Array:
    """Return traded notional per year over mean equity."""
    _check_bars_per_year(bars_per_year)
    equity = _path(equity, bars=1)
    years = (equity.shape[-1] - 1) / bars_per_year
    return ratio(ledger.traded_notional, jnp.mean(equity[..., 1:], axis=-1)) / years


@checked
def skewness(returns: jax.Array) -> jax.Array:
    """Return the third standardised moment (population). NaN without risk."""
    return standardised_moment(_bars(returns), 3)


@checked
def kurtosis(returns: jax.Array) -> jax.Array:
    """Return the fourth standardised moment (population; 3 for a normal distribution). NaN without risk."""
    return standardised_moment(_bars(returns), 4)


@checked
def standardised_moment(values: jax.Array, order: int) -> jax.Array:
    """Return the mean of ``((x - mean) / standard deviation) ** order``. NaN where the deviation is 0."""
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    values = _bars(values, "values")
    centred = values - jnp.mean(values, axis=-1, keepdims=True)
    variance = jnp.mean(centred**2, axis=-1)
    return ratio(jnp.mean(centred**order, axis=-1), variance ** (order / 2))


@checked
def value_at_risk(returns: jax.Array, *, level: float = 0.95) -> jax.Array:
    """Return the loss (positive) that a bar exceeds with chance ``1 - level``, from the empirical quantile.

    numpy's linear interpolation, as in empyrical ``value_at_risk``, whose sign is the other.
    """
    _check_level(level)
    return -jnp.quantile(_bars(returns), 1.0 - level, axis=-1)


@checked
def expected_shortfall(returns: jax.Array, *, level: float = 0.95) -> jax.Array:
    """Return the mean loss (positive) of the worst ``1 - level`` of bars, at least one bar.

    The worst ``floor((1 - level) (bars - 1)) + 1`` bars, as in empyrical ``conditional_value_at_risk``.
    """
    _check_level(level)
    returns = _bars(returns)
    worst = int((1.0 - level) * (returns.shape[-1] - 1)) + 1
    shortfall = -jnp.mean(jnp.sort(returns, axis=-1)[..., :worst], axis=-1)
    # A sort puts what is missing last, where it would go unseen.
    return jnp.where(jnp.isnan(returns).any(axis=-1), jnp.nan, shortfall)


@checked
def modified_value_at_risk(
    *, mean: jax.Array, deviation: jax.Array, skewness: jax.Array, kurtosis: jax.Array, level: float = 0.95
) -> jax.Array:
    """Return value at risk from four moments (Cornish-Fisher; Favre and Galeano 2002). A loss is positive.

    What a sweep reports, because it needs no stored path.
    """
    _check_level(level)
    require("deviation", deviation, at_least=0.0)
    z = _normal_quantile(1.0 - level)
    excess = kurtosis - 3.0
    bent = (
        z
        + (z**2 - 1.0) * skewness / 6.0
        + (z**3 - 3.0 * z) * excess / 24.0
        - (2.0 * z**3 - 5.0 * z) * skewness**2 / 36.0
    )
    return -(mean + deviation * bent)


@checked
def modified_expected_shortfall(
    *, mean: jax.Array, deviation: jax.Array, skewness: jax.Array, kurtosis: jax.Array, level: float = 0.95
) -> jax.Array:
    """Return expected shortfall from four moments (second-order Edgeworth tail; Boudt, Peterson and Croux 2008).

    The tail is cut at the Cornish-Fisher quantile; never less than the modified value at risk, as in the authors'
    R package PerformanceAnalytics.
    """
    _check_level(level)
    chance = 1.0 - level
    excess = kurtosis - 3.0
    var = modified_value_at_risk(mean=mean, deviation=deviation, skewness=skewness, kurtosis=kurtosis, level=level)
    g = ratio(-var - mean, deviation)
    density = jnp.exp(-0.5 * g**2) / math.sqrt(2.0 * math.pi)
    third = (g**3) * skewness / 6.0
    fourth = (g**4 - 2.0 * g**2 - 1.0) * excess / 24.0
    square = (g**6 - 9.0 * g**4 + 9.0 * g**2 + 3.0) * skewness**2 / 72.0
    shortfall = deviation * density / chance * (1.0 + third + fourth + square) - mean
    return jnp.maximum(shortfall, var)


@checked
def probabilistic_sharpe(
    *,
    sharpe_per_bar: jax.Array,
    skewness: jax.Array,
    kurtosis: jax.Array,
    bars: int,
    benchmark: jax.Array | float = 0.0,
) -> jax.Array:
    """Return the chance that the true Sharpe ratio (per bar) exceeds ``benchmark`` (Bailey and Lopez de Prado 2012)."""
    if bars < 1:
        raise ValueError(f"bars must be at least 1, got {bars}")
    variance = 1.0 - skewness * sharpe_per_bar + 0.25 * (kurtosis - 1.0) * sharpe_per_bar**2
    return ndtr((sharpe_per_bar - benchmark) * math.sqrt(bars - 1) / jnp.sqrt(variance))


@checked
def deflated_sharpe(
    *,
    sharpe_per_bar: jax.Array,
    skewness: jax.Array,
    kurtosis: jax.Array,
    bars: int,
    trials: int,
    trial_variance: jax.Array | float,
) -> jax.Array:
    """Return the chance that skill is real after the best of ``trials`` was picked (Bailey and Lopez de Prado 2014).

    Parameters
    ----------
    sharpe_per_bar, skewness, kurtosis
        Of the returns of the picked one, not annualised.
    bars
        Number of returns.
    trials
        How many independent ones were tried, >= 1; 1 gives :func:`probabilistic_sharpe` against 0.
    trial_variance
        Variance of the Sharpe ratios (per bar) of the trials.

    Raises
    ------
    ValueError
        When trials is below 1.
    """
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    require("trial_variance", trial_variance, at_least=0.0)
    benchmark: jax.Array | float = 0.0
    if trials > 1:
        first, second = _normal_quantile(1.0 - 1.0 / trials), _normal_quantile(1.0 - 1.0 / (trials * math.e))
        benchmark = jnp.sqrt(trial_variance) * ((1.0 - EULER_GAMMA) * first + EULER_GAMMA * second)
    return probabilistic_sharpe(
        sharpe_per_bar=sharpe_per_bar, skewness=skewness, kurtosis=kurtosis, bars=bars, benchmark=benchmark
    )


class Summary(NamedTuple):
    """All measures of an episode, fields ``[...]``; see the functions of the same names.

    ``value_at_risk`` and ``expected_shortfall`` (per bar, 95%) need the whole path: NaN where it was not stored.
    ``mean_exposure`` and ``gross_exposure`` are means over bars of position value over equity at the close, with sign
    and without. ``deflated_sharpe`` is for one trial; correct it for the number tried with the function.
    """

    total_return: jax.Array
    log_growth: jax.Array
    annual_return: jax.Array
    annual_volatility: jax.Array
    sharpe: jax.Array
    sortino: jax.Array
    calmar: jax.Array
    max_drawdown: jax.Array
    max_drawdown_bars: jax.Array
    trades: jax.Array
    win_rate: jax.Array
    profit_factor: jax.Array
    turnover: jax.Array
    mean_exposure: jax.Array
    gross_exposure: jax.Array
    skewness: jax.Array
    kurtosis: jax.Array
    value_at_risk: jax.Array
    expected_shortfall: jax.Array
    modified_value_at_risk: jax.Array
    modified_expected_shortfall: jax.Array
    deflated_sharpe: jax.Array


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
    equity = _path(equity, bars=1)
    _check_bars_per_year(bars_per_year)
    if exposure is not None:
        exposure = _bars(exposure, "exposure")
        wanted = (*equity.shape[:-1], equity.shape[-1] - 1)
        if exposure.shape != wanted:
            raise ValueError(f"exposure must have one value a bar, shape {wanted}, got {exposure.shape}")
    path = returns(equity)
    mean, deviation = jnp.mean(path, axis=-1), _deviation(path)
    skew, kurt = skewness(path), kurtosis(path)
    unknown = jnp.full(equity.shape[:-1], jnp.nan)
    return Summary(
        total_return=total_return(equity),
        log_growth=log_growth(equity),
        annual_return=annual_return(equity, bars_per_year=bars_per_year),
        annual_volatility=annual_volatility(path, bars_per_year=bars_per_year),
        sharpe=sharpe(path, bars_per_year=bars_per_year),
        sortino=sortino(path, bars_per_year=bars_per_year),
        calmar=calmar(equity, bars_per_year=bars_per_year),
        max_drawdown=max_drawdown(equity),
        max_drawdown_bars=max_drawdown_bars(equity),
        trades=ledger.trades,
        win_rate=win_rate(ledger),
        profit_factor=profit_factor(ledger),
        turnover=turnover(equity, ledger, bars_per_year=bars_per_year),
        mean_exposure=unknown if exposure is None else jnp.mean(exposure, axis=-1),
        gross_exposure=unknown if exposure is None else jnp.mean(jnp.abs(exposure), axis=-1),
        skewness=skew,
        kurtosis=kurt,
        value_at_risk=value_at_risk(path),
        expected_shortfall=expected_shortfall(path),
        modified_value_at_risk=modified_value_at_risk(mean=mean, deviation=deviation, skewness=skew, kurtosis=kurt),
        modified_expected_shortfall=modified_expected_shortfall(
            mean=mean, deviation=deviation, skewness=skew, kurtosis=kurt
        ),
        deflated_sharpe=probabilistic_sharpe(
            sharpe_per_bar=ratio(mean, deviation), bars=path.shape[-1], skewness=skew, kurtosis=kurt
        ),
    )


def _path(equity: jax.Array, *, bars: int = 0) -> jax.Array:
    """Return an equity path, known values of which are at least 0 and begin above 0 (NaN passes)."""
    if jnp.ndim(equity) == 0 or equity.shape[-1] < bars + 1:
        wanted = "the initial value" + (" and at least one bar" if bars else "")
        raise ValueError(f"equity must hold {wanted}, got shape {jnp.shape(equity)}")
    require("equity", equity, at_least=0.0)
    require("the initial equity", equity[..., 0], above=0.0)
    return jnp.asarray(equity)


def _bars(values: jax.Array, name: str = "returns") -> jax.Array:
    """Return one number a bar, at least one bar; known ones are finite (NaN passes)."""
    if jnp.ndim(values) == 0 or values.shape[-1] < 1:
        raise ValueError(f"{name} must have shape [..., bars] with at least one bar, got {jnp.shape(values)}")
    require(name, values)
    return jnp.asarray(values)


def _check_bars_per_year(bars_per_year: float) -> None:
    if not bars_per_year > 0.0:
        raise ValueError(f"bars_per_year must be a finite number above 0, got {bars_per_year!r}")


def _check_level(level: float) -> None:
    if not 0.5 <= level < 1.0:
        raise ValueError(f"level must be in [0.5, 1), got {level!r}")


def _normal_quantile(chance: float) -> float:
    return NormalDist().inv_cdf(chance)


@checked
def ratio(numerator: jax.Array, denominator: jax.Array) -> jax.Array:
    """Return a quotient, NaN where the denominator is not above 0."""
    return jnp.where(denominator > 0.0, numerator / jnp.where(denominator > 0.0, denominator, 1.0), jnp.nan)
