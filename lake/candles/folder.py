"""The faultless stretches of candles of whatever files a folder holds, as markets with their funding."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import numpy as np
import numpy.typing as npt

from backtest.market import Market
from lake.candles import faults, files
from lake.candles.candles import Candles, Funding
from lake.candles.market import has_funding, market


@dataclass(frozen=True)
class Stretch:
    """Candles at equal distances without a fault.

    Attributes
    ----------
    label
        File, symbol and interval, for reports.
    market
        Fields ``[bars]``, numpy; ``funding_rate`` is 0 where no file of the folder holds the symbol's.
    seconds
        Length of a bar.
    funded
        ``[bars]`` whether the funding rate of the bar is known.
    """

    label: str
    market: Market
    seconds: float
    funded: npt.NDArray[np.bool_]


def candle_files(path: str) -> list[Path]:
    """Return the candle files under ``path``, sorted.

    Raises
    ------
    ValueError
        When there is no such path, or nothing under it that could hold candles.
    """
    root = Path(path)
    if not root.exists():
        raise ValueError(f"path {path!r} does not exist (working directory: {str(Path.cwd())!r})")
    every = [root] if root.is_file() else sorted(file for file in root.rglob("*") if file.is_file())
    candles = [file for file in every if file.name.lower().endswith(files.SUFFIXES)]
    if not candles:
        raise ValueError(f"path {path!r} holds no candle files (looked for {', '.join(files.SUFFIXES)})")
    return candles


def content_hash(path: str) -> str:
    """Return the sha256 over names and contents of the candle files."""
    digest = hashlib.sha256()
    for file in candle_files(path):
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


@lru_cache(maxsize=8)
def stretches(path: str, *, bars: int = 2) -> tuple[Stretch, ...]:
    """Return every faultless stretch of at least ``bars`` candles under ``path``.

    A gap, a duplicate or a bad candle ends one.

    Raises
    ------
    ValueError
        When no file holds such a stretch, with what each file lacks.
    """
    kept: list[Stretch] = []
    skipped: list[str] = []
    every = candle_files(path)
    for file in every:
        try:
            symbols = files.read(file)
        except ValueError as error:
            skipped.append(str(error))
            continue
        for candles in symbols:
            rates = [
                files.read_funding(other)
                for other in every
                if other.parent == file.parent and files.is_funding_of(other, candles.symbol)
            ]
            kept.extend(_funded(part, rates) for part in faults.stretches(candles, bars=bars))
    if not kept:
        why = "; ".join(skipped) or f"every stretch is shorter than {bars} bars"
        raise ValueError(f"path {path!r} holds no candles that can be used: {why}")
    return tuple(kept)


def _funded(candles: Candles, rates: list[Funding]) -> Stretch:
    """Return the stretch with the funding rates that cover most of its bars; 0 where there are none."""
    label = f"{candles.source} {candles.symbol} {candles.seconds:g}s"
    covered = [has_funding(rate, candles.time) for rate in rates]
    best = max(range(len(rates)), key=lambda index: int(covered[index].sum()), default=None)
    if best is None or not covered[best].any():
        return Stretch(label, _on_the_host(market(candles)), candles.seconds, np.zeros(len(candles), bool))
    return Stretch(label, _on_the_host(market(candles, rates[best])), candles.seconds, covered[best])


def _on_the_host(market: Market) -> Market:
    fields: list[Any] = [np.asarray(field) for field in jax.device_get(market)]
    return Market(*fields)
