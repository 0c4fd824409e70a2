"""Fresh markets from a key: ``simulate(key, bars=..., parameters=...) -> Market``."""

from backtest.simulators.bates import DEFAULT_PARAMETERS, Parameters, simulate

__all__ = ["DEFAULT_PARAMETERS", "Parameters", "simulate"]
