"""A plain per-bar simulator: what one writes first, with floats, branches and a loop."""

from __future__ import annotations

import math
from itertools import pairwise


def cross(
    bars: list[tuple[float, float, float, float, float]], fee: float, slip: float, stop: float
) -> dict[str, float]:
    """Play a moving-average cross on ``(open, high, low, close, funding)`` bars; return its measures."""
    cash, position, fast, slow, side, level, opened = 10_000.0, 0.0, bars[0][3], bars[0][3], 0.0, 0.0, 10_000.0
    equity, path, profits, traded = 10_000.0, [10_000.0], [], 0.0
    wanted_side = 0.0
    for open_, high, low, close, rate in bars:
        cash -= position * open_ * rate
        if wanted_side != side:
            equity = cash + position * open_
            target = wanted_side * equity / open_
            quantity = target - position
            fill = open_ * (1.0 + math.copysign(slip, quantity))
            cash -= quantity * fill + abs(quantity) * fill * fee
            traded += abs(quantity) * fill
            if position != 0.0:
                profits.append(equity - opened)
            position, side, opened = target, wanted_side, equity
            level = open_ * (1.0 - side * stop)
        if (position > 0.0 and low <= level) or (position < 0.0 and high >= level):
            worse = min(level, open_) if position > 0.0 else max(level, open_)
            fill = worse * (1.0 - math.copysign(slip, position))
            cash += position * fill - abs(position) * fill * fee
            traded += abs(position) * fill
            profits.append(cash - opened)
            position = 0.0
        equity = max(cash + position * close, 0.0)
        path.append(equity)
        fast += 2.0 / 13.0 * (close - fast)
        slow += 2.0 / 27.0 * (close - slow)
        wanted_side = 1.0 if fast > slow else -1.0
    return measures(path, profits, traded)


def measures(path: list[float], profits: list[float], traded: float) -> dict[str, float]:
    """Return the usual measures of an equity path."""
    returns = [after / before - 1.0 for before, after in pairwise(path)]
    mean = sum(returns) / len(returns)
    deviation = math.sqrt(sum((r - mean) ** 2 for r in returns) / (len(returns) - 1))
    downside = math.sqrt(sum(min(r, 0.0) ** 2 for r in returns) / len(returns))
    peak, drawdown = path[0], 0.0
    for value in path:
        peak = max(peak, value)
        drawdown = max(drawdown, 1.0 - value / peak)
    ordered = sorted(returns)
    return {
        "total_return": path[-1] / path[0] - 1.0,
        "sharpe": mean / deviation * math.sqrt(8760.0),
        "sortino": mean / downside * math.sqrt(8760.0),
        "max_drawdown": drawdown,
        "win_rate": sum(p > 0.0 for p in profits) / max(len(profits), 1),
        "value_at_risk": -ordered[int(0.05 * len(ordered))],
        "turnover": traded / (sum(path) / len(path)),
    }
