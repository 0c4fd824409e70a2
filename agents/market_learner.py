"""Find out what the next move of a market depends on, from what was shown of it: numpy, and nothing of any simulator.

For every market some sixty signals are worked out of the bars so far: earlier returns, channels at several lags, their
products, the hour, levels that were broken. Those that have explained the past better than luck would are fitted by
ridge regression, and the side is changed where the forecast pays for the change.

The feed may lie about prices. So returns are measured between **averages** of a close and the open after it, which is
the same where the feed is true. Where moves are taken back by the next ones, as they are when every price is told with
an error, the fit allows for it. Elsewhere a move is believed as far as the bar's **wicks** allow: what a false close
leaves alone, they tell how far such bars go, and a move of four times as much has something false in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

CHANNELS = ("flow", "book", "premium", "leader", "news")
MEMORY = 0.9
LAGS = 8
LEAST_T = 2.8
"""Of some sixty signals that say nothing one in 200 looks like this by luck; two or three enter a fit."""
LEAST_TAKEN_BACK = 0.15
"""Of a move by the next one: less is luck, and the feed is taken for true."""
WICKS = 0.8
"""Mean of the wicks of a bar together, in deviations of its return (Brownian motion)."""
LEAST_FALSE = 3.0
"""Variance of moves with something false in them, in those of true ones."""
RIDGE = 8.0
"""In bars: what a fit of standardised signals is shrunk by."""
COST = 0.0006
"""Of a trade of one times equity, where the message does not say."""
BASIS = 1e-4


def lagged(series: Array, lag: int) -> Array:
    """Return the series ``lag`` bars ago, ``[bars]``: 0 before the first."""
    return np.concatenate([np.zeros(lag), series[:-lag]])


def usual_sizes(change: Array) -> Array:
    """Return the usual size of a return before each bar, and after the last: ``[bars + 1]``."""
    sizes = np.empty(len(change) + 1)
    sizes[0] = usual = max(float(np.abs(change[:24]).mean()) * 1.25, 1e-9)
    for bar, size in enumerate(np.abs(change)):
        usual = MEMORY * usual + (1.0 - MEMORY) * min(1.25 * size, 4.0 * usual)
        sizes[bar + 1] = usual
    return sizes


def signals(change: Array, sizes: Array, channels: Mapping[str, Array], hours: Array) -> Array:
    """Return what may explain each bar and the one to come, ``[bars + 1, signals]``, of the bars before it alone."""

    def ahead(series: Array) -> Array:
        return np.append(series, 0.0)

    surprise = ahead(np.clip(change / sizes[:-1], -1.5, 1.5))
    size = np.abs(change / sizes[:-1])
    level = np.cumsum(change)
    past = np.stack([lagged(level, back) for back in range(1, 5)])
    beyond = np.maximum(level - past.max(axis=0), 0.0) - np.maximum(past.min(axis=0) - level, 0.0)
    broken = np.clip(beyond / (0.4 * sizes[:-1]), -1.0, 1.0)
    larger = np.sign(change) * np.clip(1.5 * (size - np.median(size)), -1.0, 1.0)
    found = [lagged(surprise, lag) for lag in range(1, LAGS + 3)]
    found += [lagged(ahead(series), lag) for series in (larger, broken) for lag in range(1, 7)]
    if channels:
        premium = channels["premium"]
        before = lagged(premium, 1)
        news = premium - before * (premium @ before) / max(float(before @ before), 1e-12)
        flow, book, leader = (channels[name] for name in ("flow", "book", "leader"))
        shown = (flow, book, leader, news, channels["news"])
        found += [lagged(ahead(series), lag) for series in shown for lag in range(1, 4)]
        sides = [np.sign(series) for series in (change, flow, book, leader)]
        found += [lagged(ahead(one * other), lag) for one, other in combinations(sides, 2) for lag in (1, 2)]
        agreed = np.sign(change) * lagged(sides[1], 1)
        lately = np.zeros_like(change)
        for bar in range(1, len(change)):
            lately[bar] = 0.85 * lately[bar - 1] + 0.15 * agreed[bar]
        found.append(lagged(ahead(lately * sides[1]), 1))
    total, seen, hourly = np.zeros(24), np.zeros(24), np.zeros(len(change) + 1)
    for bar in range(len(change) + 1):
        hour = int(hours[bar]) % 24
        hourly[bar] = total[hour] / (seen[hour] + 3.0)
        total[hour] += surprise[bar]
        seen[hour] += 1.0
    found.append(hourly)
    return np.stack(found, axis=1)


def forecast(change: Array, wicks: Array, channels: Mapping[str, Array], hours: Array) -> float:
    """Return the expected log-return of the bar to come; ``hours`` holds one number more than the bars.

    ``wicks`` is how far each bar went beyond its open and close.
    """
    if len(change) < 4 * LAGS:
        return 0.0
    sizes = usual_sizes(change)
    target = np.clip(change / sizes[:-1], -2.5, 2.5)
    theta = false_share(target[LAGS:])
    if theta == 0.0:
        sizes = usual_sizes(wicks / WICKS)
        own = np.sqrt(sizes[:-1] * sizes[1:])
        target, true = believed(change / own)
        change = own * true
    every = signals(change, sizes, channels, hours)
    target = target[LAGS:]
    answer = whitened(target[:, None], theta)[:, 0]
    known = whitened(every[LAGS:-1], theta)
    spread = np.sqrt((known**2).mean(axis=0))
    spread = np.where(spread > 0.0, spread, 1.0)
    scaled = known / spread
    t = scaled.T @ answer / math.sqrt(max(len(answer) * float(answer.var()), 1e-12))
    kept = np.abs(t) >= min(LEAST_T, float(np.abs(t).max()))
    chosen = scaled[:, kept]
    weights = np.linalg.solve(chosen.T @ chosen + RIDGE * np.eye(int(kept.sum())), chosen.T @ answer)
    return float(sizes[-1] * (every[-1, kept] / spread[kept] @ weights))


def believed(moves: Array) -> tuple[Array, Array]:
    """Return which way each move really went, -1 to 1, and how far, of moves in deviations of a bar without a lie.

    Moves are taken for a mixture of true ones and of ones with something false in them, whose share and spread are
    found by expectation maximisation. A bar that went four deviations tells little of where the market went.
    """
    square = np.minimum(moves**2, 400.0)
    share, spread = 0.7, max(float(square.mean()), LEAST_FALSE)
    true = 0.5 * sum(np.exp(-0.5 * square / own) / math.sqrt(own) for own in (0.7, 1.4))
    for _ in range(12):
        false = np.exp(-0.5 * square / spread) / math.sqrt(spread)
        belief = share * true / (share * true + (1.0 - share) * false)
        share = float(belief.mean())
        doubt = 1.0 - belief
        spread = max(float(doubt @ square / max(doubt.sum(), 1e-9)), LEAST_FALSE)
    # 2 Phi(x) - 1 is close to tanh(0.8 x)
    within = np.tanh(0.8 * moves / math.sqrt(spread * (spread - 1.0)))
    # Which way it went says more than how far, which volatility has a hand in.
    return belief * np.tanh(moves / 0.3) + doubt * within, moves * (belief + doubt / spread)


def false_share(moves: Array) -> float:
    """Return how much of a move the next one takes back, 0 for a feed that is true.

    A price that is told with an error makes one move too large and the next too small: the moves are then those of a
    moving average of order one, ``u[t] - theta u[t - 1]``.
    """
    own, next_ = float(moves @ moves), float(moves[1:] @ moves[:-1])
    rho = min(max(-next_ / own, 0.0), 0.49) if own > 0.0 else 0.0
    if rho < LEAST_TAKEN_BACK:
        return 0.0
    return (1.0 - math.sqrt(1.0 - 4.0 * rho**2)) / (2.0 * rho)


def whitened(columns: Array, theta: float) -> Array:
    """Return ``[bars, columns]`` freed of errors that the next bar takes back (generalised least squares)."""
    if theta == 0.0:
        return columns
    found = columns.copy()
    for bar in range(1, len(found)):
        found[bar] += theta * found[bar - 1]
    return found


class Market:
    """What was shown of one market, and the side that is held."""

    def __init__(self) -> None:
        self.columns: dict[str, list[float]] = {}
        self.hours: list[float] = []
        self.hour_step = 1.0
        self.side = 0.0

    def add(self, row: Mapping[str, float]) -> None:
        """Take a bar."""
        self.hours.append(float(row.get("hour", 0.0)))
        for name in ("gap", "move", "high", "low", *CHANNELS):
            if name in row:
                self.columns.setdefault(name, []).append(float(row[name]))

    def begin(self, first_hour: float, columns: Mapping[str, Any], hour_step: float) -> None:
        """Take the bars before the first decision in place of what was shown."""
        self.hour_step = hour_step
        self.columns = {
            name: [float(each) for each in columns[name]]
            for name in ("gap", "move", "high", "low", *CHANNELS)
            if name in columns
        }
        self.hours = [(first_hour + bar * hour_step) % 24.0 for bar in range(len(self.columns["move"]))]

    def decide(self, cost: float) -> float:
        """Return the side to hold over the bar to come."""
        gap, move = (BASIS * np.array(self.columns[name]) for name in ("gap", "move"))
        wicks = self._wicks(move)
        after = np.append(gap[1:], 0.0)
        change = 0.5 * gap + move + 0.5 * after
        channels = {name: np.array(self.columns[name]) for name in CHANNELS if name in self.columns}
        coming = (self.hours[-1] + self.hour_step) % 24.0
        expected = forecast(change, wicks, channels, np.array([*self.hours, coming]))
        if abs(expected) > cost:
            self.side = math.copysign(1.0, expected)
        return self.side

    def _wicks(self, move: Array) -> Array:
        """Return how far each bar went beyond its open and close; where nobody tells, its usual share of the move."""
        if not {"high", "low"} <= set(self.columns):
            return np.abs(move)
        high, low = (BASIS * np.array(self.columns[name]) for name in ("high", "low"))
        wicks: Array = high - np.maximum(move, 0.0) + np.minimum(move, 0.0) - low
        return wicks


class Learner:
    """Plays conversations whose messages hold columns; forgets the longest unused beyond ``capacity``."""

    def __init__(self, capacity: int = 64) -> None:
        self._talks: dict[str, dict[str, Market]] = {}
        self._capacity = capacity

    @staticmethod
    def understands(body: Mapping[str, Any]) -> bool:
        """Return whether a message holds columns to learn from."""
        return body.get("type") == "trading_history" or ("columns" in body and "episodes" in body)

    def reply(self, body: Mapping[str, Any], conversation: str = "") -> dict[str, Any]:
        """Return the reply to a trading message: first it asks for what came before."""
        if body.get("type") == "trading_history":
            markets = self._talks[conversation]
            for row in body["history"]:
                market = markets[row["episode"]]
                market.begin(float(row["first_hour"]), row, market.hour_step)
            return self._decide(markets)
        known = self._talks.pop(conversation, None)
        markets = {} if known is None else known
        self._talks[conversation] = markets
        while len(self._talks) > self._capacity:
            del self._talks[next(iter(self._talks))]
        step = float(body.get("seconds_per_bar", 3600.0)) / 3600.0
        for name, row in body["episodes"].items():
            market = markets.setdefault(name, Market())
            market.hour_step = step
            market.add(dict(zip(body["columns"], row, strict=True)))
        return {"history": "all"} if known is None else self._decide(markets)

    def _decide(self, markets: Mapping[str, Market]) -> dict[str, Any]:
        return {"exposures": {name: market.decide(COST) for name, market in markets.items()}}
