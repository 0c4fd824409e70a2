"""Fresh markets from a key: ``simulate(key, bars=..., parameters=...) -> Market``."""

from backtest.simulators.bates import Parameters, simulate

__all__ = ["Parameters", "simulate"]
