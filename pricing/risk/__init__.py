"""Risk of option books: value at risk, expected shortfall, stress, attribution. A loss is positive."""

from pricing.risk.attribution import Attribution, attribution
from pricing.risk.book import Book, revalue
from pricing.risk.estimate import Estimate, expected_shortfall, value_at_risk
from pricing.risk.parametric import normal_expected_shortfall, normal_value_at_risk
from pricing.risk.stress import SCENARIOS, Scenario, StressOutcome, stress

__all__ = [
    "SCENARIOS",
    "Attribution",
    "Book",
    "Estimate",
    "Scenario",
    "StressOutcome",
    "attribution",
    "expected_shortfall",
    "normal_expected_shortfall",
    "normal_value_at_risk",
    "revalue",
    "stress",
    "value_at_risk",
]
