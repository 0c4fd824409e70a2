"""Trading rules as tests draw them: each rule in its own values, edges included."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from backtest.rules import Rules

VALUES: dict[str, list[float]] = {
    "fee_bps": [0.0, 5.0, 40.0],
    "slippage_bps": [0.0, 2.0, 100.0],
    "impact_bps": [0.0, 50.0, 800.0],
    "max_slippage_bps": [200.0, 1000.0],
    "max_leverage": [0.5, 1.0, 5.0, 50.0],
    "maintenance_margin": [0.0, 0.005, 0.1],
    "liquidation_fee_bps": [0.0, 50.0],
    "min_notional": [1e-3, 10.0, 500.0],
}
assert set(VALUES) == set(Rules._fields), f"no values for {set(Rules._fields) ^ set(VALUES)}: they would not be tried"

rules_drawn: st.SearchStrategy[Any] = st.builds(Rules, **{n: st.sampled_from(v) for n, v in VALUES.items()})
