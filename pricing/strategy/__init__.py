"""Option strategies: payoff, risk and reward, breakevens, probability of profit, Greeks, margin, name."""

from pricing.strategy.analysis import Analysis, NetGreeks, analyze
from pricing.strategy.leg import Leg

__all__ = ["Analysis", "Leg", "NetGreeks", "analyze"]
