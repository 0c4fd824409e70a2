"""Reference strategies, one family a file."""

from backtest.strategies.passive import always, buy_and_hold, flat, from_targets, random_targets
from backtest.strategies.trend import moving_average_cross

__all__ = ["always", "buy_and_hold", "flat", "from_targets", "moving_average_cross", "random_targets"]
