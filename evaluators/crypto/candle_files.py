"""Windows of real markets, from whatever candle files a folder holds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from backtest.market import Market
from backtest.rules import Rules
from evaluators.crypto.windows import WARMUP_BARS, Windows, of, to_numpy
from lake import crypto_candles, crypto_files

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".feather", ".zip")
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
        When no file holds candles, with what each file lacks.
    """
    found: list[Stretch] = []
    skipped: list[str] = []
    for each in files(path):
        try:
            held = [candles for candles in crypto_files.read(each) if (candles.close > 0.0).any()]
        except ValueError as error:
            skipped.append(str(error))
            continue
        for candles in held:
            parts = crypto_candles.stretches(candles, bars=WARMUP_BARS + 2)
            found.extend(Stretch(label(part), to_numpy(crypto_candles.market(part)), part.seconds) for part in parts)
    if not found:
        raise ValueError(f"crypto: no candles under {path!r}: {'; '.join(skipped) or 'every stretch is too short'}")
    return tuple(found)


def label(candles: crypto_candles.Candles) -> str:
    """Return where candles come from, for reports."""
    return f"{candles.source} {candles.symbol} {candles.seconds:g}s"


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
