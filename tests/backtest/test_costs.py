"""One place knows what a fill costs; all others ask it."""

from __future__ import annotations

import re
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from backtest import costs
from backtest.rules import FREE, Rules
from evaluators.crypto.hindsight import trade_costs

ROOT = Path(__file__).resolve().parents[2]
RULES = Rules(fee_bps=7.0, slippage_bps=2.0, impact_bps=80.0, max_slippage_bps=60.0)
QUANTITY, PRICE, VOLUME = jnp.array([-3.0, 0.5, 40.0]), jnp.full(3, 200.0), jnp.full(3, 50.0)


def paid() -> np.ndarray:
    """What the fills cost: the difference to the price, and the fee."""
    price, fee = costs.fill(quantity=QUANTITY, price=PRICE, volume=VOLUME, rules=RULES)
    return np.asarray(jnp.abs(QUANTITY) * jnp.abs(price - PRICE) + fee)


def test_the_cost_of_a_unit_times_units_is_what_the_fill_costs() -> None:
    price, _ = costs.fill(quantity=QUANTITY, price=PRICE, volume=VOLUME, rules=RULES)
    each = costs.unit_cost(fill_price=price, price=PRICE, rules=RULES)
    np.testing.assert_allclose(jnp.abs(QUANTITY) * each, paid(), rtol=1e-12)


def test_the_cost_before_a_trade_is_that_of_the_fill_but_for_the_fee_on_slippage() -> None:
    before = costs.one_way(quantity=QUANTITY, volume=VOLUME, rules=RULES)
    slip = costs.slippage(quantity=QUANTITY, volume=VOLUME, rules=RULES)
    assert float(slip[2]) == pytest.approx(60e-4)
    on_slippage = np.sign(QUANTITY) * slip * 7e-4
    np.testing.assert_allclose(before + on_slippage, paid() / (np.abs(QUANTITY) * PRICE), rtol=1e-12)
    still = costs.one_way(quantity=jnp.zeros(()), volume=jnp.ones(()), rules=RULES)
    assert float(still) == pytest.approx(9e-4)
    assert float(costs.one_way(quantity=jnp.ones(()), volume=jnp.ones(()), rules=FREE)) == 0.0


def test_hindsight_pays_by_the_same_model_and_the_price_band_where_nothing_was_traded() -> None:
    unit, volume = np.array([[3.0, 3.0]]), np.array([[50.0, 0.0]])
    none, once, twice = trade_costs(unit, volume, RULES)[:, 0]
    np.testing.assert_array_equal(none, 0.0)
    of_three, of_six = (2e-4 + 80e-4 * np.sqrt(size / 50.0) + 7e-4 for size in (3.0, 6.0))
    np.testing.assert_allclose(once, [of_three, 60e-4 + 7e-4], rtol=1e-12)
    np.testing.assert_allclose(twice, [2.0 * of_six, 2.0 * (60e-4 + 7e-4)], rtol=1e-12)


def test_no_other_file_reads_what_a_fill_costs() -> None:
    """The exception tells agents the fee; a professional assignment that states costs of its own reads no rules."""
    costs = [name for name in Rules._fields if name.endswith("_bps") and name != "liquidation_fee_bps"]
    reads = re.compile(rf"rules\.({'|'.join(costs)})\b", re.IGNORECASE)
    rooms = ("backtest", "evaluators", "mcp_servers", "engine", "transforms")
    found = {
        str(path.relative_to(ROOT))
        for room in rooms
        for path in (ROOT / room).rglob("*.py")
        if reads.search(path.read_text())
    }
    assert found == {"backtest/costs.py", "evaluators/crypto/instructions.py"}
