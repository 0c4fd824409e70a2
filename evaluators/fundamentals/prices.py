"""Questions on daily share prices: return, volatility, drawdown, relative performance, correlation."""

from __future__ import annotations

import itertools
import math
import random
import statistics
from collections.abc import Sequence
from datetime import date, timedelta

from evaluators.answers import Tolerance
from evaluators.answers.expected import ExpectedNumber
from evaluators.fundamentals.question import LAST_DAY, NotDrawable, Question, Template
from lake.point_in_time import UnknownKey
from lake.records import Bars
from lake.sample import Lake
from lake.splits import SPLITS

TRADING_DAYS_A_YEAR = 252
FIRST_DAY = date(2000, 6, 1)
RETURN_TOLERANCE = Tolerance(relative=0.01, absolute=0.0005)
VOLATILITY_TOLERANCE = Tolerance(relative=0.01, absolute=0.0)
CORRELATION_TOLERANCE = Tolerance(relative=0.01, absolute=0.002)

DAILY_RETURNS = "daily log returns (from each close in the window to the next)"


def _window(rng: random.Random, lake: Lake, tickers: Sequence[str]) -> tuple[date, date, date, list[Bars]]:
    """Draw first day, last day and simulation date, and return the bars of each ticker between the two days."""
    tables = [lake.bars_of(ticker, as_of=LAST_DAY)[0] for ticker in tickers]
    days = tables[0].known_on
    first = rng.randrange(len(days) - 60)
    last = min(first + rng.randint(60, 380), len(days) - 1)
    start, end = days[first], days[last]
    if start < FIRST_DAY or end.year > 2026:
        raise NotDrawable(f"window {start} to {end}")
    for ticker in tickers:
        # Prices are as traded: a window across a split would show a halving that no holder saw.
        if any(start < split.day <= end for split in SPLITS.get(ticker, ())):
            raise NotDrawable(f"{ticker} was split between {start} and {end}")
    as_of = end + timedelta(days=rng.randint(1, 90))
    windows = []
    for ticker in tickers:
        try:
            bars = lake.bars_of(ticker, as_of=as_of)[0]
        except UnknownKey as error:
            raise NotDrawable(str(error)) from error
        windows.append(bars.take(row for row, day in enumerate(bars.known_on) if start <= day <= end))
    if any(window.known_on != windows[0].known_on for window in windows):
        raise NotDrawable("the shares traded on different days")
    return start, end, as_of, windows


def _any_ticker(rng: random.Random, lake: Lake) -> str:
    names = lake.tickers(as_of=date(2013, 1, 2))
    return rng.choice([name for name in names if name != "FB"])


def _pair(rng: random.Random, lake: Lake) -> tuple[str, str]:
    names = [name for name in lake.tickers(as_of=date(2013, 1, 2)) if name != "FB"]
    simulated = [name for name in names if name.startswith("SIM-")]
    real = [name for name in names if not name.startswith("SIM-")]
    first, second = rng.sample(rng.choice((real, simulated)), 2)
    return first, second


def log_returns(bars: Bars) -> list[float]:
    """Return the daily log returns within the window."""
    return [math.log(after / before) for before, after in itertools.pairwise(bars.close)]


def maximum_drawdown(closes: Sequence[float]) -> float:
    """Return the largest fall from a running maximum, as a positive fraction."""
    return max(1 - close / peak for close, peak in zip(closes, itertools.accumulate(closes, max), strict=True))


def price_return(rng: random.Random, lake: Lake) -> Question:
    """Ask for the price return over a window."""
    ticker = _any_ticker(rng, lake)
    start, end, as_of, (bars,) = _window(rng, lake, [ticker])
    text = (
        f"What was the price return of {ticker} from the close of {start} to the close of {end}? Use unadjusted "
        "closing prices, without dividends."
    )
    gold = bars.close[-1] / bars.close[0] - 1
    return Question(text, ExpectedNumber(gold, "percent", RETURN_TOLERANCE), as_of, ticker)


def volatility(rng: random.Random, lake: Lake) -> Question:
    """Ask for annualised standard deviation of daily log returns."""
    ticker = _any_ticker(rng, lake)
    start, end, as_of, (bars,) = _window(rng, lake, [ticker])
    text = (
        f"What was the annualised volatility of {ticker} from the close of {start} to the close of {end}: the sample "
        f"standard deviation (n-1) of the {DAILY_RETURNS} times the square root of {TRADING_DAYS_A_YEAR}? Use "
        "unadjusted closing prices."
    )
    gold = statistics.stdev(log_returns(bars)) * math.sqrt(TRADING_DAYS_A_YEAR)
    return Question(text, ExpectedNumber(gold, "percent", VOLATILITY_TOLERANCE), as_of, ticker)


def drawdown(rng: random.Random, lake: Lake) -> Question:
    """Ask for largest fall from a running maximum."""
    ticker = _any_ticker(rng, lake)
    start, end, as_of, (bars,) = _window(rng, lake, [ticker])
    text = (
        f"What was the maximum drawdown of {ticker} from the close of {start} to the close of {end}: the largest fall "
        "of the unadjusted closing price from its running maximum since the first of these two closes? Give it as a "
        "positive percentage."
    )
    return Question(
        text, ExpectedNumber(maximum_drawdown(bars.close), "percent", VOLATILITY_TOLERANCE, size=True), as_of, ticker
    )


def relative_performance(rng: random.Random, lake: Lake) -> Question:
    """Ask for the price return of one share less that of another."""
    names = _pair(rng, lake)
    start, end, as_of, (mine, other) = _window(rng, lake, names)
    gold = mine.close[-1] / mine.close[0] - other.close[-1] / other.close[0]
    text = (
        f"By how many percentage points did the price return of {names[0]} exceed that of {names[1]} from the close of "
        f"{start} to the close of {end}? Use unadjusted closing prices; negative when {names[0]} did worse."
    )
    return Question(text, ExpectedNumber(gold, "percent", RETURN_TOLERANCE), as_of, names[0])


def return_correlation(rng: random.Random, lake: Lake) -> Question:
    """Ask for correlation of the daily returns of two shares."""
    names = _pair(rng, lake)
    start, end, as_of, (mine, other) = _window(rng, lake, names)
    gold = statistics.correlation(log_returns(mine), log_returns(other))
    text = (
        f"What was the correlation between the {DAILY_RETURNS} of {names[0]} and of {names[1]} from the close of "
        f"{start} to the close of {end}? Use unadjusted closing prices."
    )
    return Question(text, ExpectedNumber(gold, "number", CORRELATION_TOLERANCE), as_of, names[0])


TEMPLATES = (
    Template("price-return", "Quantitative Reasoning", price_return, ("yfinance",)),
    Template("price-volatility", "Quantitative Reasoning", volatility, ("yfinance",)),
    Template("price-drawdown", "Quantitative Reasoning", drawdown, ("yfinance",)),
    Template("relative-performance", "Trend Analysis", relative_performance, ("yfinance",)),
    Template("return-correlation", "Quantitative Reasoning", return_correlation, ("yfinance",)),
)
