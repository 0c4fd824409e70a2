"""Windows of real markets, from whatever candle files a folder holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from backtest.market import Market
from backtest.rules import Rules
from evaluators.crypto.windows import WARMUP_BARS, Windows, of

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".feather")
TIME_NAMES = ("timestamp", "date", "time", "open_time_utc", "open_time", "datetime", "t")
PRICES = ("open", "high", "low", "close")
STRIDES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60, 90, 120, 180, 240, 360, 480, 720, 1440)
MOVE_TO_COST = 5.0
"""A typical move between decisions is at least this many times the cost of a trade."""


@dataclass(frozen=True)
class Stretch:
    """Candles at equal distances without a fault.

    Attributes
    ----------
    label
        File, symbol and interval, for reports.
    market
        Fields ``[bars]``, numpy; ``funding_rate`` is 0, candle files hold none.
    seconds
        Length of a bar.
    """

    label: str
    market: Market
    seconds: float


def files(path: str) -> list[Path]:
    """Return the candle files under ``path``, sorted.

    Raises
    ------
    ValueError
        When there is no such path, or nothing under it that could hold candles.
    """
    root = Path(path)
    if not root.exists():
        raise ValueError(f"crypto: path {path!r} does not exist (working directory: {str(Path.cwd())!r})")
    found = [root] if root.is_file() else sorted(each for each in root.rglob("*") if each.is_file())
    candles = [each for each in found if each.name.lower().endswith(SUFFIXES)]
    if not candles:
        raise ValueError(f"crypto: no candle files under {path!r} (looked for {', '.join(SUFFIXES)})")
    return candles


def folder_hash(path: str) -> str:
    """Return the sha256 over names and contents of the candle files."""
    digest = hashlib.sha256()
    for each in files(path):
        digest.update(each.name.encode() + b"\0" + hashlib.sha256(each.read_bytes()).digest())
    return digest.hexdigest()


@lru_cache(maxsize=8)
def stretches(path: str) -> tuple[Stretch, ...]:
    """Return every faultless stretch of candles under ``path``; a gap, a duplicate or a bad candle ends one.

    Raises
    ------
    ValueError
        When no file holds candles, with what each file holds instead.
    """
    found: list[Stretch] = []
    skipped: list[str] = []
    for each in files(path):
        try:
            found.extend(read(each))
        except ValueError as error:
            skipped.append(f"{each.name}: {error}")
    if not found:
        raise ValueError(f"crypto: no candles under {path!r}: {'; '.join(skipped)}")
    return tuple(found)


def read(path: Path) -> list[Stretch]:
    """Return the stretches of one file."""
    import pandas as pd

    name = path.name.lower()
    if name.endswith(".parquet"):
        frame = pd.read_parquet(path)
    elif name.endswith(".feather"):
        frame = pd.read_feather(path)
    else:
        frame = pd.read_csv(path)
    if frame.index.name is not None:
        frame = frame.reset_index()
    frame.columns = [str(column).strip().lower() for column in frame.columns]
    missing = [column for column in (*PRICES, "volume") if column not in frame.columns]
    times = [column for column in TIME_NAMES if column in frame.columns]
    if missing or not times:
        raise ValueError(f"no candles (missing {', '.join([*missing, *([] if times else ['a time column'])])})")
    groups = [column for column in ("window", "symbol", "interval") if column in frame.columns]
    parts: Iterator[tuple[Any, Any]] = iter(frame.groupby(groups, sort=True)) if groups else iter([((), frame)])
    found: list[Stretch] = []
    for key, part in parts:
        label = " ".join([path.name, *map(str, key)])
        found.extend(split(label, seconds_of(part[times[0]]), part[[*PRICES, "volume"]].to_numpy(dtype=float)))
    return found


def seconds_of(column: Any) -> npt.NDArray[np.float64]:
    """Return open times in seconds since 1970 UTC; numbers are taken as seconds, milli- or microseconds by size."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=float)
        typical = float(np.median(values))
        return np.asarray(values / (1e6 if typical > 1e14 else 1e3 if typical > 1e11 else 1.0))
    moments = pd.to_datetime(column, utc=True)
    return np.asarray((moments - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy(dtype=float))


def split(label: str, time: npt.NDArray[np.float64], candles: npt.NDArray[np.float64]) -> list[Stretch]:
    """Cut candles at gaps, duplicates, steps back in time and invalid rows."""
    if time.size < 2:
        return []
    steps = np.diff(time)
    seconds = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    if seconds <= 0.0:
        return []
    open_, high, low, close, volume = candles.T
    good = np.isfinite(candles).all(axis=1) & (candles[:, :4] > 0.0).all(axis=1) & (volume >= 0.0)
    good &= (low <= np.minimum(open_, close)) & (high >= np.maximum(open_, close)) & (high > low)
    runs_on = np.concatenate([[False], np.abs(steps - seconds) < 1e-6 * seconds]) & good & np.roll(good, 1)
    starts = np.flatnonzero(~runs_on)
    found = []
    for first, last in zip(starts, [*starts[1:], time.size], strict=True):
        if last - first > WARMUP_BARS and good[first]:
            fields = [time[first:last], *candles[first:last].T, np.zeros(last - first)]
            found.append(Stretch(f"{label} {seconds:g}s", of(fields), seconds))
    return found


def stride(stretch: Stretch, rules: Rules) -> int:
    """Return how many bars lie between decisions so that a typical move is large against the cost of a trade."""
    one_way = (rules.fee_bps + rules.slippage_bps) * 1e-4
    log_close = np.log(np.asarray(stretch.market.close))
    for bars in STRIDES:
        moves = log_close[bars:] - log_close[:-bars]
        if moves.size and float(np.sqrt(np.mean(moves**2))) >= MOVE_TO_COST * one_way:
            return bars
    return STRIDES[-1]


@dataclass(frozen=True)
class Place:
    """A possible window: a stretch, its first bar, and the stride of its decisions."""

    stretch: Stretch
    first: int
    every: int

    @property
    def start_time(self) -> float:
        """Time of the first traded bar, seconds since 1970."""
        return float(self.stretch.market.time[self.first + WARMUP_BARS])


def places(path: str, *, decisions: int, every: int | None, rules: Rules) -> list[Place]:
    """Return windows of ``decisions`` that share no traded bar, over all stretches.

    Raises
    ------
    ValueError
        When no stretch is long enough for one window.
    """
    found: list[Place] = []
    longest = 0
    for stretch in stretches(path):
        step = every or stride(stretch, rules)
        length, size = decisions * step, len(stretch.market.time)
        longest = max(longest, size)
        found += [Place(stretch, first, step) for first in range(0, size - WARMUP_BARS - length + 1, length)]
    if not found:
        raise ValueError(
            f"crypto: no stretch of candles under {path!r} is long enough for a window of {decisions} decisions and "
            f"{WARMUP_BARS} bars before it (the longest has {longest} bars)"
        )
    return found


def grouped(found: list[Place]) -> dict[tuple[float, int], list[Place]]:
    """Return the places by length of bar (seconds) and stride: only equal ones can share a task."""
    groups: dict[tuple[float, int], list[Place]] = {}
    for place in found:
        groups.setdefault((place.stretch.seconds, place.every), []).append(place)
    return groups


def bundles(found: list[Place], *, windows: int, seed: int) -> list[list[Place]]:
    """Cut the places into bundles of ``windows`` that fit together, no place twice, in an order drawn from ``seed``."""
    rng = np.random.default_rng([seed, 1])
    made: list[list[Place]] = []
    for _, group in sorted(grouped(found).items()):
        order = rng.permutation(len(group))
        for first in range(0, len(group) - windows + 1, windows):
            made.append([group[index] for index in order[first : first + windows]])
    return [made[index] for index in rng.permutation(len(made))]


def windows_at(chosen: list[Place], *, decisions: int, bucket_seconds: float) -> Windows:
    """Return the windows at ``chosen`` places, which must share one stride.

    ``bucket_seconds`` is the length of time whose windows count as one family, whatever their symbols.
    """
    length = WARMUP_BARS + decisions * chosen[0].every
    fields = [
        np.stack([np.asarray(getattr(p.stretch.market, name))[p.first : p.first + length] for p in chosen])
        for name in Market._fields
    ]
    family = tuple(f"time-{int(place.start_time // bucket_seconds)}" for place in chosen)
    return Windows(of(fields), family, tuple(place.stretch.label for place in chosen))


def longest_window(found: list[Place], *, decisions: int) -> float:
    """Return the length of the longest window, seconds."""
    return max(place.stretch.seconds * place.every * decisions for place in found)
