"""Running sums from which all measures of a sweep follow: nothing of an episode is stored."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from backtest import metrics
from backtest.account import Account, Ledger
from backtest.metrics import Summary


class Tally(NamedTuple):
    """Sums over the bars seen so far; every field has the shape ``[...]`` of the account.

    Attributes
    ----------
    bars
        Number of bars, a scalar.
    initial, equity
        Equity before the first bar and at the last close.
    inverse
        ``1 / equity``; 0 for a ruined account.
    first, second, third, fourth
        Sums of powers of the simple returns per bar.
    downside
        Sum of squares of the negative returns.
    equity_sum
        Sum of equity at each close.
    exposure_sum, gross_exposure_sum
        Sums of exposure at each close, with sign and without.
    peak
        Highest equity so far.
    worst_peak, worst_trough
        The pair of the largest drawdown so far.
    below, longest_below
        Bars since the last peak; the longest such run.
    """

    bars: jax.Array
    initial: jax.Array
    equity: jax.Array
    inverse: jax.Array
    first: jax.Array
    second: jax.Array
    third: jax.Array
    fourth: jax.Array
    downside: jax.Array
    equity_sum: jax.Array
    exposure_sum: jax.Array
    gross_exposure_sum: jax.Array
    peak: jax.Array
    worst_peak: jax.Array
    worst_trough: jax.Array
    below: jax.Array
    longest_below: jax.Array


def start(account: Account) -> Tally:
    """Return the tally of an account before its first bar."""
    equity = account.equity
    zero = jnp.zeros_like(equity)
    return Tally(
        bars=jnp.zeros((), equity.dtype),
        initial=equity,
        equity=equity,
        inverse=1.0 / equity,
        first=zero,
        second=zero,
        third=zero,
        fourth=zero,
        downside=zero,
        equity_sum=zero,
        exposure_sum=zero,
        gross_exposure_sum=zero,
        peak=equity,
        worst_peak=equity,
        worst_trough=equity,
        below=zero,
        longest_below=zero,
    )


def add(tally: Tally, account: Account, close: jax.Array) -> Tally:
    """Return the tally with one more bar.

    Parameters
    ----------
    account
        After the bar.
    close
        Of the bar.
    """
    equity = account.equity
    # Not a quotient minus 1: an account that did not move has a return of exactly 0.
    change = (equity - tally.equity) * tally.inverse
    square = change * change
    inverse = jnp.where(equity > 0.0, 1.0 / equity, 0.0)
    exposure = account.position * close * inverse
    peak = jnp.maximum(tally.peak, equity)
    # trough / peak < worst_trough / worst_peak, without a division.
    worse = equity * tally.worst_peak < tally.worst_trough * peak
    below = jnp.where(equity < peak, tally.below + 1.0, 0.0)
    return Tally(
        bars=tally.bars + 1.0,
        initial=tally.initial,
        equity=equity,
        inverse=inverse,
        first=tally.first + change,
        second=tally.second + square,
        third=tally.third + square * change,
        fourth=tally.fourth + square * square,
        downside=tally.downside + jnp.where(change < 0.0, square, 0.0),
        equity_sum=tally.equity_sum + equity,
        exposure_sum=tally.exposure_sum + exposure,
        gross_exposure_sum=tally.gross_exposure_sum + jnp.abs(exposure),
        peak=peak,
        worst_peak=jnp.where(worse, peak, tally.worst_peak),
        worst_trough=jnp.where(worse, equity, tally.worst_trough),
        below=below,
        longest_below=jnp.maximum(tally.longest_below, below),
    )


def moments(tally: Tally) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return mean, population variance, skewness and kurtosis of the returns; the last two NaN without risk.

    From raw sums: bar returns have means far below their deviations, so nothing of weight cancels.
    """
    n = tally.bars
    m1, m2, m3, m4 = (total / n for total in (tally.first, tally.second, tally.third, tally.fourth))
    variance = jnp.maximum(m2 - m1**2, 0.0)
    third = m3 - 3.0 * m1 * m2 + 2.0 * m1**3
    fourth = m4 - 4.0 * m1 * m3 + 6.0 * m1**2 * m2 - 3.0 * m1**4
    return m1, variance, metrics.ratio(third, variance**1.5), metrics.ratio(fourth, variance**2)


def summarise(tally: Tally, ledger: Ledger, *, bars: int, bars_per_year: float) -> Summary:
    """Return the measures of :func:`backtest.metrics.summary`; the two that need the path are NaN."""
    mean, variance, skewness, kurtosis = moments(tally)
    deviation = jnp.sqrt(variance * (bars / (bars - 1.0))) if bars > 1 else jnp.full_like(variance, jnp.nan)
    annual_root = math.sqrt(bars_per_year)
    growth = tally.equity / tally.initial
    annual = growth ** (bars_per_year / bars) - 1.0
    drawdown = 1.0 - tally.worst_trough / tally.worst_peak
    unknown = jnp.full_like(mean, jnp.nan)
    return Summary(
        total_return=growth - 1.0,
        log_growth=jnp.log(growth),
        annual_return=annual,
        annual_volatility=deviation * annual_root,
        sharpe=metrics.ratio(mean, deviation) * annual_root,
        sortino=metrics.ratio(mean, jnp.sqrt(tally.downside / bars)) * annual_root,
        calmar=metrics.ratio(annual, drawdown),
        max_drawdown=drawdown,
        max_drawdown_bars=tally.longest_below,
        trades=ledger.trades,
        win_rate=metrics.win_rate(ledger),
        profit_factor=metrics.profit_factor(ledger),
        turnover=metrics.ratio(ledger.traded_notional, tally.equity_sum / bars) * (bars_per_year / bars),
        mean_exposure=tally.exposure_sum / bars,
        gross_exposure=tally.gross_exposure_sum / bars,
        skewness=skewness,
        kurtosis=kurtosis,
        value_at_risk=unknown,
        expected_shortfall=unknown,
        modified_value_at_risk=metrics.modified_value_at_risk(
            mean=mean, deviation=deviation, skewness=skewness, kurtosis=kurtosis
        ),
        modified_expected_shortfall=metrics.modified_expected_shortfall(
            mean=mean, deviation=deviation, skewness=skewness, kurtosis=kurtosis
        ),
        deflated_sharpe=metrics.probabilistic_sharpe(
            sharpe_per_bar=metrics.ratio(mean, deviation), skewness=skewness, kurtosis=kurtosis, bars=bars
        ),
    )
