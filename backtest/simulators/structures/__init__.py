"""What can be known in a market: one file a kind of knowledge, one row here; the contract test runs over every row."""

from __future__ import annotations

from backtest.simulators.structures.announcement import ANNOUNCEMENT
from backtest.simulators.structures.book_imbalance import BOOK_IMBALANCE
from backtest.simulators.structures.broken_level import BROKEN_LEVEL
from backtest.simulators.structures.contract import Structure, Traits
from backtest.simulators.structures.funding_surprise import FUNDING_SURPRISE
from backtest.simulators.structures.hidden_regime import HIDDEN_REGIME
from backtest.simulators.structures.hour_of_day import HOUR_OF_DAY
from backtest.simulators.structures.lagged_return import LAGGED_RETURN
from backtest.simulators.structures.leader import LEADER
from backtest.simulators.structures.order_flow import ORDER_FLOW
from backtest.simulators.structures.product import PRODUCT
from backtest.simulators.structures.two_lags import TWO_LAGS
from backtest.simulators.structures.volatility_surprise import VOLATILITY_SURPRISE

STRUCTURES: dict[str, Structure] = {
    "lagged_return": LAGGED_RETURN,
    "two_lags": TWO_LAGS,
    "order_flow": ORDER_FLOW,
    "book_imbalance": BOOK_IMBALANCE,
    "funding_surprise": FUNDING_SURPRISE,
    "leader": LEADER,
    "hour_of_day": HOUR_OF_DAY,
    "broken_level": BROKEN_LEVEL,
    "volatility_surprise": VOLATILITY_SURPRISE,
    "hidden_regime": HIDDEN_REGIME,
    "announcement": ANNOUNCEMENT,
    "product": PRODUCT,
}
MENU = tuple(STRUCTURES)

__all__ = ["MENU", "STRUCTURES", "Structure", "Traits"]
