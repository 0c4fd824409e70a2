"""Measures: one function each over statistics (``measures``), and the same of an equity path (the names here)."""

from backtest.metrics.measures import Measure, Statistics, Summary
from backtest.metrics.numbers import ratio
from backtest.metrics.path import (
    annual_return,
    annual_volatility,
    calmar,
    drawdowns,
    kurtosis,
    log_growth,
    max_drawdown,
    max_drawdown_bars,
    profit_factor,
    returns,
    sharpe,
    skewness,
    sortino,
    standardised_moment,
    statistics,
    summary,
    total_return,
    turnover,
    win_rate,
)
from backtest.metrics.significance import deflated_sharpe, probabilistic_sharpe
from backtest.metrics.tail import expected_shortfall, modified_expected_shortfall, modified_value_at_risk, value_at_risk

__all__ = [
    "Measure",
    "Statistics",
    "Summary",
    "annual_return",
    "annual_volatility",
    "calmar",
    "deflated_sharpe",
    "drawdowns",
    "expected_shortfall",
    "kurtosis",
    "log_growth",
    "max_drawdown",
    "max_drawdown_bars",
    "modified_expected_shortfall",
    "modified_value_at_risk",
    "probabilistic_sharpe",
    "profit_factor",
    "ratio",
    "returns",
    "sharpe",
    "skewness",
    "sortino",
    "standardised_moment",
    "statistics",
    "summary",
    "total_return",
    "turnover",
    "value_at_risk",
    "win_rate",
]
