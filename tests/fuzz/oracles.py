"""What right answers are, in plain Python: nothing here calls what is tested."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist
from typing import Any

import numpy as np

_NORMAL = NormalDist()


def _cdf(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def black_scholes(s: float, k: float, t: float, r: float, v: float, q: float, call: bool) -> dict[str, float]:
    """Haug, Option Pricing Formulas, 2nd ed., chapters 1 and 2, as printed."""
    deviation = v * math.sqrt(t)
    d1 = (math.log(s / k) + (r - q + 0.5 * v * v) * t) / deviation
    d2, sign = d1 - deviation, 1.0 if call else -1.0
    shares, cash, height = s * math.exp(-q * t), k * math.exp(-r * t), _NORMAL.pdf(d1)
    return {
        "price": sign * (shares * _cdf(sign * d1) - cash * _cdf(sign * d2)),
        "delta": sign * math.exp(-q * t) * _cdf(sign * d1),
        "gamma": math.exp(-q * t) * height / (s * deviation),
        "theta": -shares * height * v / (2.0 * math.sqrt(t))
        + sign * (q * shares * _cdf(sign * d1) - r * cash * _cdf(sign * d2)),
        "vega": shares * height * math.sqrt(t),
        "rho": sign * t * cash * _cdf(sign * d2),
    }


def bachelier(f: float, k: float, t: float, r: float, v: float, call: bool) -> float:
    d = (f - k) / (v * math.sqrt(t)) * (1.0 if call else -1.0)
    return math.exp(-r * t) * v * math.sqrt(t) * (d * _cdf(d) + _NORMAL.pdf(d))


def bounds(s: float, k: float, t: float, r: float, q: float, call: bool) -> tuple[float, float]:
    """Static arbitrage bounds of a European option (Merton 1973)."""
    shares, cash = s * math.exp(-q * t), k * math.exp(-r * t)
    return max((shares - cash) if call else (cash - shares), 0.0), shares if call else cash


def ema(closes: list[float], window: int) -> list[float]:
    out = [closes[0]]
    for close in closes[1:]:
        out.append(out[-1] + 2.0 / (window + 1.0) * (close - out[-1]))
    return out


def sma(closes: list[float], window: int) -> list[float]:
    return [sum(closes[i + 1 - window : i + 1]) / window if i + 1 >= window else math.nan for i in range(len(closes))]


def rsi(closes: list[float], window: int) -> list[float]:
    gain = loss = 0.0
    out = [math.nan]
    for i in range(1, len(closes)):
        up, down = max(closes[i] - closes[i - 1], 0.0), max(closes[i - 1] - closes[i], 0.0)
        count = min(i, window)
        gain, loss = gain + (up - gain) / count, loss + (down - loss) / count
        out.append(math.nan if i < window else 50.0 if gain + loss == 0.0 else 100.0 * gain / (gain + loss))
    return out


def true_ranges(high: list[float], low: list[float], close: list[float], window: int) -> list[float]:
    mean, out = 0.0, [math.nan]
    for i in range(1, len(close)):
        span = max(high[i], close[i - 1]) - min(low[i], close[i - 1])
        mean += (span - mean) / min(i, window)
        out.append(mean if i >= window else math.nan)
    return out


def donchian(high: list[float], low: list[float], window: int) -> tuple[list[float], list[float]]:
    n = range(len(high))
    top = [max(high[i + 1 - window : i + 1]) if i + 1 >= window else math.nan for i in n]
    bottom = [min(low[i + 1 - window : i + 1]) if i + 1 >= window else math.nan for i in n]
    return top, bottom


def returns(equity: list[float]) -> list[float]:
    return [b / a - 1.0 for a, b in itertools.pairwise(equity)]


def drawdowns(equity: list[float]) -> list[float]:
    peak, out = 0.0, []
    for each in equity:
        peak = max(peak, each)
        out.append(1.0 - each / peak)
    return out


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def moment(values: list[float], order: int) -> float:
    mean = sum(values) / len(values)
    variance = sum((x - mean) ** 2 for x in values) / len(values)
    return sum((x - mean) ** order for x in values) / len(values) / variance ** (order / 2)


def deviation(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1))


def close(got: Any, wanted: Any, *, rtol: float = 1e-9, atol: float = 1e-9) -> bool:
    return bool(np.allclose(np.asarray(got, float), np.asarray(wanted, float), rtol=rtol, atol=atol, equal_nan=True))
