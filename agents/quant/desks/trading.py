"""Trade one asset by rules that look back only: follow a trend that is strong for its noise, otherwise stay out.

A position is opened in the direction of the trend, sized for a target volatility, protected by a stop, and kept until
the trend is gone: trading costs money, so the rule changes its mind rarely.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

FAST_BARS = 12
SLOW_BARS = 48
ENTRY_STRENGTH = 0.5
EXIT_STRENGTH = 0.1
STOP_IN_DEVIATIONS = 4.0
MAX_SIZE = 0.5
MIN_BARS = 8


def closes_of(ohlcv: Any) -> list[float]:
    """Return the closing prices in any of the usual shapes: columns, rows of objects, rows of arrays, one bar."""
    if isinstance(ohlcv, dict):
        column = ohlcv.get("close", ohlcv.get("closes", []))
        values = column if isinstance(column, list) else [column]
    elif isinstance(ohlcv, list):
        values = [_close_of_row(row) for row in ohlcv]
    else:
        values = []
    return [float(value) for value in values if _is_price(value)]


def _close_of_row(row: Any) -> Any:
    if isinstance(row, dict):
        return row.get("close")
    # timestamp, open, high, low, close, volume; or the same without the timestamp
    if isinstance(row, list) and len(row) >= 5:
        return row[4] if len(row) >= 6 else row[3]
    return row


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def exponential_mean(values: list[float], bars: int) -> float:
    """Return the exponential moving average with span ``bars``, started at the first value."""
    weight, mean = 2.0 / (bars + 1.0), values[0]
    for value in values[1:]:
        mean += weight * (value - mean)
    return mean


def deviation(closes: list[float]) -> float:
    """Return the standard deviation of the log returns of one bar."""
    returns = [math.log(after / before) for before, after in itertools.pairwise(closes)]
    mean = sum(returns) / len(returns)
    return math.sqrt(sum((value - mean) ** 2 for value in returns) / len(returns))


def trend_strength(closes: list[float]) -> float:
    """Return the distance of the fast from the slow mean, in standard deviations of a move over the fast span."""
    noise = deviation(closes) * math.sqrt(FAST_BARS)
    if noise == 0.0:
        return 0.0
    return math.log(exponential_mean(closes, FAST_BARS) / exponential_mean(closes, SLOW_BARS)) / noise


def shown_trend(indicators: Any, close: float) -> float | None:
    """Return the trend strength that the shown indicators tell: fast over slow mean, in average ranges of a bar.

    The average true range of one bar is about 1.6 standard deviations of its move.
    """
    if not isinstance(indicators, dict):
        return None
    means = {
        int(name.rsplit("_", 1)[1]): value
        for name, value in indicators.items()
        if re.fullmatch(r"(?:ema|sma)_\d+", name) and _is_price(value)
    }
    spread = indicators.get("atr")
    if len(means) < 2 or not _is_price(spread):
        return None
    noise = spread / close / 1.6 * math.sqrt(min(means))
    return math.log(means[min(means)] / means[max(means)]) / noise


def held_side(account: Any) -> int:
    """Return 1 for a long position, -1 for a short one, 0 for none."""
    positions = account.get("positions", []) if isinstance(account, dict) else []
    rows = list(positions.values()) if isinstance(positions, dict) else positions
    for row in rows if isinstance(rows, list) else []:
        side = _side_of(row)
        if side:
            return side
    return 0


def _side_of(row: Any) -> int:
    if isinstance(row, int | float):
        return (row > 0) - (row < 0)
    if not isinstance(row, dict):
        return 0
    size = next((row[key] for key in ("size", "quantity", "amount", "units") if _number(row.get(key))), 0.0)
    side = str(row.get("side", row.get("direction", ""))).lower()
    if side in ("short", "sell"):
        return -1 if size else 0
    if side in ("long", "buy"):
        return 1 if size else 0
    return (size > 0) - (size < 0)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def decide(state: dict[str, Any], history: list[float]) -> dict[str, Any]:
    """Return the decision on one episode, from its state and the closes seen in it before."""
    bars = closes_of(state.get("ohlcv"))
    closes = bars if len(bars) > len(history) else history
    shown = shown_trend(state.get("indicators"), closes[-1]) if closes else None
    if shown is None and len(closes) < MIN_BARS:
        return _decision("HOLD", 0.0, reasoning=f"{len(closes)} bars seen, {MIN_BARS} needed")
    strength, side = trend_strength(closes) if shown is None else shown, held_side(state.get("account"))
    wanted = (strength > 0) - (strength < 0)
    if side and (wanted != side or abs(strength) < EXIT_STRENGTH):
        return _decision("CLOSE", 0.0, abs(strength), f"the trend is gone ({strength:.2f})")
    if side or abs(strength) < ENTRY_STRENGTH:
        return _decision("HOLD", 0.0, abs(strength), f"no reason to trade (trend {strength:.2f})")
    step = _step(closes, state.get("indicators"))
    size = min(MAX_SIZE, 0.02 / max(step * math.sqrt(24.0), 1e-6))
    stop = closes[-1] * (1.0 - wanted * min(0.5, STOP_IN_DEVIATIONS * step * math.sqrt(FAST_BARS)))
    action = "BUY" if wanted > 0 else "SELL"
    return _decision(action, size, abs(strength), f"trend of {strength:.2f} deviations", stop_loss=stop)


def _step(closes: list[float], indicators: Any) -> float:
    """Return the standard deviation of one bar's move: as seen, or from the shown range while too little was seen."""
    spread = indicators.get("atr") if isinstance(indicators, dict) else None
    if len(closes) < MIN_BARS and _is_price(spread):
        return float(spread) / closes[-1] / 1.6
    return deviation(closes) if len(closes) > 1 else 0.0


def _decision(
    action: str, size: float, strength: float = 0.0, reasoning: str = "", stop_loss: float | None = None
) -> dict[str, Any]:
    return {
        "action": action,
        "size": round(size, 4),
        "stop_loss": stop_loss,
        "take_profit": None,
        "confidence": round(min(1.0, strength / 3.0), 3),
        "reasoning": reasoning,
    }


class Trader:
    """Remembers the closes of each conversation and episode; forgets the longest unused beyond ``capacity``."""

    def __init__(self, capacity: int = 8192) -> None:
        self._closes: dict[tuple[str, str], list[float]] = {}
        self._capacity = capacity

    def reply(self, body: dict[str, Any], conversation: str) -> dict[str, Any]:
        """Return the reply to a published message, of one episode."""
        state = body.get("state")
        state = state if isinstance(state, dict) else {}
        asset = conversation, str(state.get("symbol"))
        history = self._closes.pop(asset, [])
        shown = closes_of(state.get("ohlcv"))
        history = (history + shown[-1:] if history else shown)[-4 * SLOW_BARS :]
        self._closes[asset] = history
        while len(self._closes) > self._capacity:
            del self._closes[next(iter(self._closes))]
        return decide(state, history)
