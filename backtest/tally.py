"""Running sums from which all measures of a sweep follow: nothing of an episode is stored."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from backtest.account import Account, Ledger
from backtest.metrics import Statistics, ratio


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
    return m1, variance, ratio(third, variance**1.5), ratio(fourth, variance**2)


def statistics(tally: Tally, ledger: Ledger, *, bars: int, bars_per_year: float) -> Statistics:
    """Return what all measures are computed from (:mod:`backtest.metrics.measures`), without the returns."""
    mean, variance, skewness, kurtosis = moments(tally)
    return Statistics(
        bars=bars,
        bars_per_year=bars_per_year,
        growth=tally.equity / tally.initial,
        mean=mean,
        deviation=jnp.sqrt(variance * (bars / (bars - 1.0))) if bars > 1 else jnp.full_like(variance, jnp.nan),
        skewness=skewness,
        kurtosis=kurtosis,
        downside=jnp.sqrt(tally.downside / bars),
        mean_equity=tally.equity_sum / bars,
        mean_exposure=tally.exposure_sum / bars,
        gross_exposure=tally.gross_exposure_sum / bars,
        max_drawdown=1.0 - tally.worst_trough / tally.worst_peak,
        max_drawdown_bars=tally.longest_below,
        ledger=ledger,
        returns=None,
    )
