"""Windows of real markets, from whatever candle files a folder holds."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from backtest.costs import one_way
from backtest.market import Market
from backtest.rules import Rules
from evaluators.crypto.windows import WARMUP_BARS, Windows, of
from lake.candles.folder import Stretch, stretches

STRIDES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60, 90, 120, 180, 240, 360, 480, 720, 1440)
MOVE_TO_COST = 5.0
"""A typical move between decisions is at least this many times the cost of a trade."""


def stride(stretch: Stretch, rules: Rules) -> int:
    """Return how many bars lie between decisions so that a typical move is large against the cost of a trade."""
    cost = float(one_way(quantity=jnp.zeros(()), volume=jnp.ones(()), rules=rules))
    log_close = np.log(np.asarray(stretch.market.close))
    for bars in STRIDES:
        moves = log_close[bars:] - log_close[:-bars]
        if moves.size and float(np.sqrt(np.mean(moves**2))) >= MOVE_TO_COST * cost:
            return bars
    return STRIDES[-1]


@dataclass(frozen=True)
class Place:
    """A possible window: a stretch, its first bar, the stride of its decisions, and their number."""

    stretch: Stretch
    first: int
    every: int
    decisions: int

    @property
    def start_time(self) -> float:
        """Time of the first traded bar, seconds since 1970."""
        return float(self.stretch.market.time[self.first + WARMUP_BARS])

    @property
    def observed(self) -> tuple[float, float]:
        """Time of the first bar that is shown and of the end of the last, seconds since 1970."""
        start = float(self.stretch.market.time[self.first])
        return start, start + (WARMUP_BARS + self.decisions * self.every) * self.stretch.seconds

    @property
    def label(self) -> str:
        """Where the window comes from, and whether its funding is known."""
        length = WARMUP_BARS + self.decisions * self.every
        funded = self.stretch.funded[self.first + WARMUP_BARS : self.first + length]
        words = "with funding" if funded.all() else "funding for a part" if funded.any() else "without funding (0)"
        return f"{self.stretch.label}, {words}"


def places(path: str, *, decisions: int, every: int | None, rules: Rules) -> list[Place]:
    """Return windows of ``decisions`` that share no traded bar, over all stretches.

    Raises
    ------
    ValueError
        When no stretch is long enough for one window.
    """
    possible: list[Place] = []
    longest = 0
    for stretch in stretches(path):
        size = len(stretch.market.time)
        longest = max(longest, size)
        if size < WARMUP_BARS + 2:
            continue
        step = every or stride(stretch, rules)
        length = decisions * step
        possible += [
            Place(stretch, first, step, decisions) for first in range(0, size - WARMUP_BARS - length + 1, length)
        ]
    if not possible:
        raise ValueError(
            f"path {path!r} holds no stretch of candles that is long enough for a window of {decisions} decisions and "
            f"{WARMUP_BARS} bars before it (the longest has {longest} bars); give longer candles, or leave path out "
            "for simulated markets"
        )
    return possible


def grouped(places: list[Place]) -> dict[tuple[float, int], list[Place]]:
    """Return the places by length of bar (seconds) and stride: only equal ones can share a task."""
    groups: dict[tuple[float, int], list[Place]] = {}
    for place in places:
        groups.setdefault((place.stretch.seconds, place.every), []).append(place)
    return groups


def bundles(places: list[Place], *, windows: int, seed: int) -> list[list[Place]]:
    """Cut the places into bundles of ``windows`` that fit together, no place twice, in an order drawn from ``seed``.

    The windows of a bundle are played side by side, so no two of them share a time, warm-up included: the warm-up of
    one would show the other's future. Symbols make no difference, because coins move together.
    """
    rng = np.random.default_rng([seed, 1])
    complete: list[list[Place]] = []
    for _, group in sorted(grouped(places).items()):
        filling: list[list[Place]] = []
        for index in rng.permutation(len(group)):
            place = group[index]
            bundle = next((begun for begun in filling if all(apart(place, member) for member in begun)), None)
            if bundle is None:
                bundle = []
                filling.append(bundle)
            bundle.append(place)
            if len(bundle) == windows:
                complete.append(bundle)
                filling = [begun for begun in filling if begun is not bundle]
    return [complete[index] for index in rng.permutation(len(complete))]


def apart(one: Place, other: Place) -> bool:
    """Return whether two windows share no moment, warm-up included."""
    (start, end), (other_start, other_end) = one.observed, other.observed
    return end <= other_start or other_end <= start


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
    return Windows(of(fields), family, tuple(place.label for place in chosen))


def longest_window(places: list[Place], *, decisions: int) -> float:
    """Return the length of the longest window, seconds."""
    return max(place.stretch.seconds * place.every * decisions for place in places)
