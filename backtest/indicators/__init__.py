"""Causal indicators. ``over(ema(20), market)`` gives an array; ``ema(20).update`` runs inside a scan."""

from backtest.indicators.averages import Bands, Macd, bollinger, donchian, ema, macd, sma, vwap
from backtest.indicators.oscillators import Directional, adx, atr, rsi
from backtest.indicators.streaming import Indicator, over
from backtest.indicators.variability import funding_carry, realised_volatility

__all__ = [
    "Bands",
    "Directional",
    "Indicator",
    "Macd",
    "adx",
    "atr",
    "bollinger",
    "donchian",
    "ema",
    "funding_carry",
    "macd",
    "over",
    "realised_volatility",
    "rsi",
    "sma",
    "vwap",
]
