"""What an agent is shown of all episodes at once: one row of numbers each, and on request the bars before, in columns.

Log-returns are in basis points, so that episodes of any price read alike. Rounding hides nothing that could be known: a
tenth of a basis point is a five-hundredth of an hourly move. What is large or only describes a bar is told in whole
numbers, so that a message of 96 episodes has about 6 kB.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from backtest.simulators.public import DAY, HOUR
from evaluators.contract import Json
from evaluators.crypto.hindsight import Array
from evaluators.crypto.windows import Episodes

BASIS = 1e4

COLUMNS = {
    "hour": "hour of the day at which the bar opened",
    "gap": "log-return from the close before to the open, basis points",
    "move": "log-return from open to close, basis points",
    "high": "log of the high over the open, basis points",
    "low": "log of the low over the open, basis points",
    "volume": "in units of the mean volume of the bars before the first decision",
    "funding": "rate paid by longs at the bar's open, basis points; 0 where none was due",
}
"""Of every bar."""
CHANNELS = {
    "flow": "imbalance of aggressive orders within the bar, percent, -100 all sold to 100 all bought",
    "book": "imbalance of the resting volume at the close, percent, -100 all asks to 100 all bids",
    "premium": "premium of the future over the index at the close, basis points",
    "leader": "log-return of a leading coin within the bar, basis points",
    "news": "announcement at the close: 1 the price will rise, -1 it will fall, 0 none",
}
"""Of every bar of a simulated market."""
UNITS = {"flow": 100.0, "book": 100.0, "premium": BASIS, "leader": BASIS, "news": 1.0}
"""What a channel is multiplied by where it is told."""
PRICE = {"close": "last price"}
"""Of a row, before the columns: what stops are set by."""
ACCOUNT = {
    "exposure": "your position, signed multiple of equity",
    "equity": "your equity over what you began with",
}
"""Of an account, on request."""

Table: TypeAlias = dict[str, Array]
"""``[episodes, bars]`` of each column."""
_DIGITS = {"gap": 1, "move": 1, "volume": 1, "funding": 2, "premium": 2}
"""Of the columns that are not told in whole numbers."""
_LARGE = 100.0
"""From here on a number is told whole."""


def table(episodes: Episodes, *, every: int) -> Table:
    """Return the columns of the observed bars.

    From the first decision on a row holds the ``every`` bars from one decision to the next, before it single bars.
    """
    seen, warmup = episodes.observed, episodes.warmup
    size = seen.close.shape[1]
    first = np.concatenate([np.arange(warmup), np.arange(warmup, size, every)])
    after = np.append(first[1:], size)
    last = after - 1
    open_, close = np.asarray(seen.open)[:, first], np.asarray(seen.close)[:, last]
    before = np.concatenate([open_[:, :1], close[:, :-1]], axis=1)
    length = (after - first).astype(float)
    shown: Table = {
        "hour": np.floor(np.asarray(seen.time)[:, first] % DAY / HOUR),
        "gap": BASIS * np.log(open_ / before),
        "move": BASIS * np.log(close / open_),
        "high": BASIS * np.log(np.maximum.reduceat(seen.high, first, axis=1) / open_),
        "low": BASIS * np.log(np.minimum.reduceat(seen.low, first, axis=1) / open_),
        "volume": np.add.reduceat(seen.volume, first, axis=1) / length / _usual_volume(episodes),
        "funding": BASIS * np.add.reduceat(seen.funding_rate, first, axis=1),
    }
    if episodes.known is not None:
        channels = episodes.known.channels
        shown |= {
            "flow": UNITS["flow"] * np.add.reduceat(channels.flow, first, axis=1) / length,
            "book": UNITS["book"] * np.asarray(channels.book)[:, last],
            "premium": UNITS["premium"] * np.asarray(channels.premium)[:, last],
            "leader": UNITS["leader"] * np.add.reduceat(channels.leader, first, axis=1),
            "news": UNITS["news"] * np.asarray(channels.news)[:, last],
        }
    return shown


def _usual_volume(episodes: Episodes) -> Array:
    mean = np.asarray(episodes.observed.volume)[:, : episodes.warmup].mean(axis=1, keepdims=True)
    return np.where(mean > 0.0, mean, 1.0)


def row(shown: Table, *, episode: int, bar: int, close: float) -> list[Json]:
    """Return the last price and the numbers of one bar."""
    return [float(f"{close:.5g}"), *(short(name, values[episode, bar]) for name, values in shown.items())]


def history(shown: Table, *, episode: int, bars: int) -> dict[str, Json]:
    """Return the columns of the first ``bars`` bars; the hour of the first alone, for the bars follow each other."""
    columns: dict[str, Any] = {
        name: [short(name, value) for value in values[episode, :bars]]
        for name, values in shown.items()
        if name != "hour"
    }
    return {"first_hour": int(shown["hour"][episode, 0]), **columns}


def handout(shown: Table, *, names: list[str], bars: int, seconds: float) -> dict[str, Json]:
    """Return the columns of all episodes as a document for a tool server: whole numbers of ``digits`` decimals."""
    digits = {name: _DIGITS.get(name, 0) for name in shown if name != "hour"}
    scaled = {name: _scaled(shown[name][:, :bars], count) for name, count in digits.items()}
    known = "flow" in shown
    meanings = COLUMNS | (CHANNELS if known else {})
    return {
        "note": "value / 10 ** digits[column] is in the units of meanings; oldest bar first",
        "seconds_per_bar": seconds,
        "meanings": {name: meanings[name] for name in digits},
        "digits": digits,
        "episodes": {
            episode: {
                "first_hour": int(shown["hour"][place, 0]),
                "columns": {name: values[place] for name, values in scaled.items()},
            }
            for place, episode in enumerate(names)
        },
    }


def _scaled(values: Array, digits: int) -> Json:
    """Return the values in units of their last digit, as ``short`` rounds them."""
    whole = np.abs(values) >= _LARGE
    return np.where(whole, np.rint(values) * 10**digits, np.rint(values * 10**digits)).astype(int).tolist()


def account(exposure: float, equity: float) -> list[Json]:
    """Return the numbers of an account, in the order of ``ACCOUNT``."""
    return [round(exposure, 2) + 0.0, round(equity, 4)]


def short(name: str, value: float) -> float | int:
    """Return a number with the digits of its column, a whole one without a point."""
    digits = 0 if abs(value) >= _LARGE else _DIGITS.get(name, 0)
    rounded_to = round(float(value), digits)
    return int(rounded_to) if rounded_to.is_integer() else rounded_to


def meaning(known: bool, *, price: bool = True) -> str:
    """Return what the columns are, in words, the price of a row among them or not."""
    columns = (PRICE if price else {}) | COLUMNS | (CHANNELS if known else {})
    return "; ".join(f"{name}: {text}" for name, text in columns.items())
