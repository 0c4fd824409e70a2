"""Questions on daily share prices: return, volatility, drawdown, relative performance, correlation.

Easy: between two dates. Hard: over so many trading days, which have to be counted. Expert: of the share, or the pair of
shares, that led in another measure in the same months of the year before.
"""

from __future__ import annotations

import itertools
import math
import random
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from evaluators.answers import Tolerance
from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import Difficulty
from evaluators.fundamentals.question import Drawn, NotDrawable, Template
from evaluators.fundamentals.world import World
from lake.point_in_time import UnknownKey
from lake.records import Bars
from lake.sample import SIMULATED, Lake
from lake.splits import SPLITS

TRADING_DAYS_A_YEAR = 252
FIRST_DAY, LAST_DAY = date(2000, 6, 1), date(2026, 12, 31)
"""Of the windows that are asked about."""
AFTER_ALL_BARS = date(2100, 1, 1)
"""A window is drawn from all bars there are, and again where it leaves the bounds. No gold answer is computed on it."""
RETURN_TOLERANCE = Tolerance(relative=0.01, absolute=0.0005)
SIZE_TOLERANCE = Tolerance(relative=0.01, absolute=0.0)
CORRELATION_TOLERANCE = Tolerance(relative=0.01, absolute=0.002)
RULES = "Use unadjusted closing prices, without dividends."
CLEAR = 0.01
"""A share leads by this much."""


class Window(NamedTuple):
    """The bars of some shares on the same days, the first and last close included."""

    start: date
    end: date
    as_of: date
    bars: tuple[Bars, ...]


def total_return(bars: Bars) -> float:
    """Return last over first close, less one."""
    return bars.close[-1] / bars.close[0] - 1


def log_returns(bars: Bars) -> list[float]:
    """Return the daily log returns within the window."""
    return [math.log(after / before) for before, after in itertools.pairwise(bars.close)]


def volatility(bars: Bars) -> float:
    """Return the sample deviation of daily log returns, a year."""
    return statistics.stdev(log_returns(bars)) * math.sqrt(TRADING_DAYS_A_YEAR)


def maximum_drawdown(bars: Bars) -> float:
    """Return the largest fall from a running maximum, as a positive fraction."""
    peaks = itertools.accumulate(bars.close, max)
    return max(1 - close / peak for close, peak in zip(bars.close, peaks, strict=True))


def _bars(lake: Lake, ticker: str, start: date, end: date, as_of: date) -> Bars:
    # prices are as traded: a window across a split would show a halving that no holder saw
    if any(start < split.day <= end for split in SPLITS.get(ticker, ())):
        raise NotDrawable(f"{ticker} was split between {start} and {end}")
    try:
        bars = lake.bars_of(ticker, as_of=as_of)[0]
    except UnknownKey as error:
        raise NotDrawable(str(error)) from error
    return bars.take(range(bisect_left(bars.known_on, start), bisect_right(bars.known_on, end)))


def _window(rng: random.Random, lake: Lake, tickers: Sequence[str]) -> Window:
    """Draw first day, last day and simulation date."""
    days = lake.bars_of(tickers[0], as_of=AFTER_ALL_BARS)[0].known_on
    first = rng.randrange(len(days) - 60)
    last = min(first + rng.randint(60, 380), len(days) - 1)
    start, end = days[first], days[last]
    if start < FIRST_DAY or end > LAST_DAY:
        raise NotDrawable(f"window {start} to {end}")
    as_of = end + timedelta(days=rng.randint(1, 90))
    bars = tuple(_bars(lake, ticker, start, end, as_of) for ticker in tickers)
    if any(each.known_on != bars[0].known_on for each in bars):
        raise NotDrawable("the shares traded on different days")
    return Window(start, end, as_of, bars)


def _names(lake: Lake) -> tuple[list[str], list[str]]:
    names = [name for name in lake.tickers(as_of=date(2013, 1, 2)) if name != "FB"]
    return [n for n in names if not n.startswith(SIMULATED)], [n for n in names if n.startswith(SIMULATED)]


def _led(rng: random.Random, lake: Lake, count: int) -> tuple[list[str], Window, str]:
    """Draw shares of which one leads, and its lowest of all, in a year before the window; return them in words."""
    group = rng.choice(_names(lake))
    names = rng.sample(group, min(4, len(group)))
    window = _window(rng, lake, names)
    before = window.start - timedelta(days=365)
    if before < FIRST_DAY:
        raise NotDrawable("no year before")
    word, measure = rng.choice((("price return", total_return), ("maximum drawdown", maximum_drawdown)))
    past = {name: _bars(lake, name, before, window.start, window.as_of) for name in names}
    if any(len(bars) < 100 for bars in past.values()):
        raise NotDrawable("too few days before")
    ranked = sorted(names, key=lambda name: measure(past[name]), reverse=True)
    values = [measure(past[name]) for name in ranked]
    if values[0] - values[1] < CLEAR or values[-2] - values[-1] < CLEAR:
        raise NotDrawable("too close to call")
    chosen = [ranked[0], ranked[-1]][:count]
    words = f"the share with the highest {word} out of {', '.join(names[:-1])} and {names[-1]}"
    if count == 2:
        words = f"the shares with the highest and with the lowest {word} out of {', '.join(names[:-1])} and {names[-1]}"
    words += f" (from the close of the first trading day on or after {before} to the close of {window.start})"
    bars = tuple(window.bars[names.index(name)] for name in chosen)
    return chosen, window._replace(bars=bars), words


def _draw(
    measure: Callable[..., float], tolerance: Tolerance, *, pair: bool = False, number: bool = False, size: bool = False
) -> Callable[[random.Random, World, Difficulty], Drawn]:
    def draw(rng: random.Random, world: World, level: Difficulty) -> Drawn:
        count = 2 if pair else 1
        if level == "expert":
            names, window, words = _led(rng, world.lake, count)
        else:
            real, simulated = _names(world.lake)
            names = rng.sample(rng.choice((real, simulated)), count)
            window, words = _window(rng, world.lake, names), " and ".join(names)
        period = f"from the close of {window.start} to the close of {window.end}"
        if level == "hard":
            returns = len(window.bars[0]) - 1
            period = (
                f"over the {returns} trading days up to the close of {window.end} (from the close before the first of "
                "them)"
            )
        return Drawn(
            company=words,
            period=period,
            rules=RULES,
            expected=ExpectedNumber(measure(*window.bars), "number" if number else "percent", tolerance, size=size),
            as_of=window.as_of,
            ticker=names[0],
            inputs={"tickers": list(names), "start": window.start.isoformat(), "end": window.end.isoformat()},
        )

    return draw


def _excess(mine: Bars, other: Bars) -> float:
    return total_return(mine) - total_return(other)


def _correlation(mine: Bars, other: Bars) -> float:
    return statistics.correlation(log_returns(mine), log_returns(other))


QUANTITATIVE, TREND, SERVERS = "Quantitative Reasoning", "Trend Analysis", ("yfinance",)
TEMPLATES = (
    Template(
        "price-return", QUANTITATIVE, _draw(total_return, RETURN_TOLERANCE),
        ("the price return (last close over the first, less one)", "the percentage change of the closing price"),
        ("the gain, negative for a loss, of the closing price in percent",),
        SERVERS,
    ),
    Template(
        "price-volatility", QUANTITATIVE, _draw(volatility, SIZE_TOLERANCE),
        ("the annualised volatility (sample standard deviation, n-1, of the daily log returns, from each close in the "
         "window to the next, times the square root of 252)",
         "the sample deviation (n-1) of daily log returns within the window, times the square root of 252,"),
        ("the yearly scale (252 days) of daily log returns by their sample standard deviation (n-1), from close to "
         "close within the window,",),
        SERVERS,
    ),
    Template(
        "price-drawdown", QUANTITATIVE, _draw(maximum_drawdown, SIZE_TOLERANCE, size=True),
        ("the maximum drawdown (largest fall of the close from its running maximum in the window), as a positive "
         "percentage,",
         "the largest loss from a former high of the closes in the window, in percent and positive,"),
        ("the deepest fall below the highest close so far within the window, as a positive percentage,",),
        SERVERS,
    ),
    Template(
        "relative-performance", TREND, _draw(_excess, RETURN_TOLERANCE, pair=True),
        ("the price return of the first less that of the second, in percentage points,",
         "the percentage points by which the first outperformed (negative: trailed) the second in price return"),
        ("the lead of the first over the second in price return, in points and negative for a lag,",),
        SERVERS,
    ),
    Template(
        "return-correlation", QUANTITATIVE, _draw(_correlation, CORRELATION_TOLERANCE, pair=True, number=True),
        ("the correlation between the daily log returns (from each close in the window to the next)",
         "the sample correlation of daily log returns, from close to close within the window,"),
        ("how daily log returns, from close to close within the window, were correlated",),
        SERVERS,
    ),
)  # fmt: skip
