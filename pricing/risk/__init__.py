"""Risk of option books: value at risk, expected shortfall, stress, attribution. A loss is positive.

A sample of profits (:func:`simulated_profits`, :func:`historical_profits`, or your own) goes into
:func:`value_at_risk` and :func:`expected_shortfall`; closed forms stand beside them.
"""

from pricing.risk.attribution import Attribution, attribution
from pricing.risk.backtest import (
    CoverageTest,
    christoffersen,
    christoffersen_independence,
    exceedances,
    kupiec,
)
from pricing.risk.book import Book, revalue
from pricing.risk.component import component_value_at_risk
from pricing.risk.estimate import Estimate, expected_shortfall, value_at_risk
from pricing.risk.explain import Move, explain
from pricing.risk.parametric import (
    DeltaNormal,
    cornish_fisher_value_at_risk,
    delta_normal_value_at_risk,
    normal_expected_shortfall,
    normal_value_at_risk,
)
from pricing.risk.performance import drawdown, sharpe_ratio, sortino_ratio
from pricing.risk.simulation import (
    Gaussian,
    Jumps,
    StudentT,
    TailRisk,
    historical_profits,
    simulate_log_returns,
    simulated_profits,
    simulated_risk,
    stressed_correlation,
)
from pricing.risk.stress import HISTORICAL_SCENARIOS, SCENARIOS, Scenario, StressOutcome, stress

__all__ = [
    "HISTORICAL_SCENARIOS",
    "SCENARIOS",
    "Attribution",
    "Book",
    "CoverageTest",
    "DeltaNormal",
    "Estimate",
    "Gaussian",
    "Jumps",
    "Move",
    "Scenario",
    "StressOutcome",
    "StudentT",
    "TailRisk",
    "attribution",
    "christoffersen",
    "christoffersen_independence",
    "component_value_at_risk",
    "cornish_fisher_value_at_risk",
    "delta_normal_value_at_risk",
    "drawdown",
    "exceedances",
    "expected_shortfall",
    "explain",
    "historical_profits",
    "kupiec",
    "normal_expected_shortfall",
    "normal_value_at_risk",
    "revalue",
    "sharpe_ratio",
    "simulate_log_returns",
    "simulated_profits",
    "simulated_risk",
    "sortino_ratio",
    "stress",
    "stressed_correlation",
    "value_at_risk",
]
