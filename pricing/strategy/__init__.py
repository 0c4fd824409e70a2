"""Option strategies: payoff, risk and reward, breakevens, probability of profit, Greeks, margin, name."""

from pricing.strategy.analysis import Analysis, NetGreeks, analyze
from pricing.strategy.distribution import TerminalDistribution
from pricing.strategy.leg import Leg
from pricing.strategy.margin import Margin, margin
from pricing.strategy.payoff import Payoff, payoff
from pricing.strategy.structure import Structure, classify

__all__ = [
    "Analysis",
    "Leg",
    "Margin",
    "NetGreeks",
    "Payoff",
    "Structure",
    "TerminalDistribution",
    "analyze",
    "classify",
    "margin",
    "payoff",
]
