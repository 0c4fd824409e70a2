"""Other backtesters on the same moving-average cross, served by the protocol of ``peers.py`` from their own venv."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import peers

Call = peers.Call


def vectorbt_cross(x: dict[str, Any]) -> Call:
    """Simulate signals with vectorbt: all markets at once as columns, then the metrics that it has."""
    import pandas as pd
    import vectorbt as vbt

    opens, closes = pd.DataFrame(x["open"]), pd.DataFrame(x["close"])

    def call() -> Any:
        fast, slow = closes.ewm(span=12, adjust=False).mean(), closes.ewm(span=26, adjust=False).mean()
        side = np.sign(fast - slow).shift(1)
        change = side.ne(side.shift(1))
        portfolio = vbt.Portfolio.from_orders(
            opens,
            size=side.where(change),
            size_type="targetpercent",
            fees=x["fee"],
            slippage=x["slippage"],
            init_cash=10_000.0,
            freq="1h",
        )
        measures = (
            portfolio.total_return(),
            portfolio.annualized_return(),
            portfolio.annualized_volatility(),
            portfolio.sharpe_ratio(),
            portfolio.sortino_ratio(),
            portfolio.calmar_ratio(),
            portfolio.max_drawdown(),
            portfolio.trades.win_rate(),
            portfolio.trades.profit_factor(),
            portfolio.value_at_risk(),
        )
        return np.asarray(measures[0])

    return call


def backtesting_py_cross(x: dict[str, Any]) -> Call:
    """Run backtesting.py on one market; it reports its metrics by itself."""
    import pandas as pd

    warnings.simplefilter("ignore")
    from backtesting import Backtest, Strategy

    market = {name.title(): x[name][:, 0] for name in ("open", "high", "low", "close", "volume")}
    frame = pd.DataFrame(market, index=pd.date_range("2024-01-01", periods=len(x["open"]), freq="h"))

    class Cross(Strategy):
        def init(self) -> None:
            closes = pd.Series(self.data.Close)
            self.fast = self.I(lambda: closes.ewm(span=12, adjust=False).mean())
            self.slow = self.I(lambda: closes.ewm(span=26, adjust=False).mean())

        def next(self) -> None:
            up = self.fast[-1] > self.slow[-1]
            if up and not self.position.is_long:
                self.position.close()
                self.buy(size=0.99)
            elif not up and not self.position.is_short:
                self.position.close()
                self.sell(size=0.99)

    def call() -> Any:
        test = Backtest(frame, Cross, cash=10_000_000, commission=x["fee"] + x["slippage"], finalize_trades=True)
        return np.asarray(test.run()["Return [%]"])

    return call


peers.vectorbt_cross = vectorbt_cross
peers.backtesting_py_cross = backtesting_py_cross

if __name__ == "__main__":
    peers._serve()
