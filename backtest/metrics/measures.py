"""The measures of an episode, one a function, over statistics that a stored path and running sums both give.

The function of each field of :class:`Summary` has its name. A measure of your own is such a function, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from backtest.account import Ledger
from backtest.metrics import significance, tail
from backtest.metrics.numbers import ratio


class Statistics(NamedTuple):
    """What measures are computed from; arrays ``[...]``, NaN where not known.

    Attributes
    ----------
    bars, bars_per_year
        Number of bars, and how many make a year.
    growth
        Final over initial equity; 0 for a ruined account.
    mean, deviation
        Of the simple returns per bar; the deviation is that of a sample, NaN for fewer than 2 bars.
    skewness, kurtosis
        Third and fourth standardised moments (population; 3 for a normal distribution). NaN without risk.
    downside
        Root mean square of the negative returns, zeros counted.
    mean_equity
        Mean over the bars of equity at the close.
    mean_exposure, gross_exposure
        Means over the bars of position value over equity at the close, with sign and without.
    max_drawdown, max_drawdown_bars
        Largest fraction lost from a peak, in [0, 1]; longest run of bars that closed below an earlier peak.
    ledger
        Totals of the account.
    returns
        The simple returns ``[..., bars]``; None in a sweep, which stores no path.
    """

    bars: int
    bars_per_year: float
    growth: jax.Array
    mean: jax.Array
    deviation: jax.Array
    skewness: jax.Array
    kurtosis: jax.Array
    downside: jax.Array
    mean_equity: jax.Array
    mean_exposure: jax.Array
    gross_exposure: jax.Array
    max_drawdown: jax.Array
    max_drawdown_bars: jax.Array
    ledger: Ledger
    returns: jax.Array | None


Measure: TypeAlias = Callable[[Statistics], jax.Array]
"""Statistics with arrays ``[...]`` -> measure ``[...]``; pure, NaN where it is not defined."""


def total_return(s: Statistics) -> jax.Array:
    """Return final over initial equity minus 1; -1 for a ruined account."""
    return s.growth - 1.0


def log_growth(s: Statistics) -> jax.Array:
    """Return the log of final over initial equity; minus infinity for a ruined account."""
    return jnp.log(s.growth)


def annual_return(s: Statistics) -> jax.Array:
    """Return the compound annual growth rate (empyrical ``cagr``); -1 for a ruined account."""
    return s.growth ** (s.bars_per_year / s.bars) - 1.0


def annual_volatility(s: Statistics) -> jax.Array:
    """Return the deviation of returns times the root of bars per year."""
    return s.deviation * math.sqrt(s.bars_per_year)


def sharpe(s: Statistics) -> jax.Array:
    """Return mean over deviation of returns, annualised. NaN where the deviation is 0."""
    return ratio(s.mean, s.deviation) * math.sqrt(s.bars_per_year)


def sortino(s: Statistics) -> jax.Array:
    """Return mean over root mean square of the negative returns, annualised. NaN without a loss."""
    return ratio(s.mean, s.downside) * math.sqrt(s.bars_per_year)


def calmar(s: Statistics) -> jax.Array:
    """Return annual return over maximum drawdown. NaN without a drawdown."""
    return ratio(annual_return(s), s.max_drawdown)


def max_drawdown(s: Statistics) -> jax.Array:
    """Return the largest fraction lost from a peak, in [0, 1]."""
    return s.max_drawdown


def max_drawdown_bars(s: Statistics) -> jax.Array:
    """Return the longest run of bars below an earlier peak."""
    return s.max_drawdown_bars


def trades(s: Statistics) -> jax.Array:
    """Return the number of closed trades."""
    return s.ledger.trades


def win_rate(s: Statistics) -> jax.Array:
    """Return closed trades with a profit after costs over closed trades. NaN without a closed trade."""
    return ratio(s.ledger.wins, s.ledger.trades)


def profit_factor(s: Statistics) -> jax.Array:
    """Return the sum of profits over the sum of losses of closed trades. NaN without a loss."""
    return ratio(s.ledger.gross_profit, s.ledger.gross_loss)


def turnover(s: Statistics) -> jax.Array:
    """Return traded notional per year over mean equity."""
    return ratio(s.ledger.traded_notional, s.mean_equity) * (s.bars_per_year / s.bars)


def mean_exposure(s: Statistics) -> jax.Array:
    """Return the mean of position value over equity, with sign."""
    return s.mean_exposure


def gross_exposure(s: Statistics) -> jax.Array:
    """Return the mean of position value over equity, without sign."""
    return s.gross_exposure


def skewness(s: Statistics) -> jax.Array:
    """Return the skewness of the returns."""
    return s.skewness


def kurtosis(s: Statistics) -> jax.Array:
    """Return the kurtosis of the returns."""
    return s.kurtosis


def value_at_risk(s: Statistics) -> jax.Array:
    """Return the loss per bar at the 95% level from the empirical quantile; needs the returns."""
    return jnp.full_like(s.mean, jnp.nan) if s.returns is None else tail.value_at_risk(s.returns)


def expected_shortfall(s: Statistics) -> jax.Array:
    """Return the mean loss of the worst 5% of bars; needs the returns."""
    return jnp.full_like(s.mean, jnp.nan) if s.returns is None else tail.expected_shortfall(s.returns)


def modified_value_at_risk(s: Statistics) -> jax.Array:
    """Return value at risk per bar at the 95% level from four moments."""
    return tail.modified_value_at_risk(mean=s.mean, deviation=s.deviation, skewness=s.skewness, kurtosis=s.kurtosis)


def modified_expected_shortfall(s: Statistics) -> jax.Array:
    """Return expected shortfall per bar at the 95% level from four moments."""
    return tail.modified_expected_shortfall(
        mean=s.mean, deviation=s.deviation, skewness=s.skewness, kurtosis=s.kurtosis
    )


def deflated_sharpe(s: Statistics) -> jax.Array:
    """Return the chance that the true Sharpe ratio is above 0; for one trial."""
    return significance.probabilistic_sharpe(
        sharpe_per_bar=ratio(s.mean, s.deviation), skewness=s.skewness, kurtosis=s.kurtosis, bars=s.bars
    )


class Summary(NamedTuple):
    """All measures of an episode, fields ``[...]``; see the functions of the same names.

    ``value_at_risk`` and ``expected_shortfall`` (per bar, 95%) need the whole path: NaN where it was not stored.
    ``mean_exposure`` and ``gross_exposure`` are means over bars of position value over equity at the close, with sign
    and without. ``deflated_sharpe`` is for one trial; correct it for the number tried with the function. ``own`` holds
    measures of your own, in the order in which they were given.
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
    own: tuple[jax.Array, ...] = ()


MEASURES: dict[str, Measure] = {name: globals()[name] for name in Summary._fields if name != "own"}
"""The measures by name, in the order of :class:`Summary`."""
OF_A_PATH = frozenset({"value_at_risk", "expected_shortfall"})
"""Those that are NaN where no path was stored."""


def summarise(s: Statistics, own: Sequence[Measure] = ()) -> Summary:
    """Return all measures, and those of ``own`` after them."""
    return Summary(**{name: measure(s) for name, measure in MEASURES.items()}, own=tuple(each(s) for each in own))
