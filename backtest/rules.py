"""The venue's rules: what a trade costs, how much may be borrowed, when a position is taken away."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import jax

from backtest import naming
from pricing.signature import checked

Number: TypeAlias = float | jax.Array


class Rules(NamedTuple):
    """Trading rules of one venue. Numbers only, so the record passes through ``jit`` without a new compilation.

    Attributes
    ----------
    fee_bps
        Fee of every fill, basis points of the traded notional.
    slippage_bps
        Half spread paid by every fill, basis points of the price.
    impact_bps
        Price impact of an order as large as the bar's volume, basis points; it grows with the square root of
        participation (order size over the bar's volume).
    max_slippage_bps
        Price band of the venue: slippage and impact together never exceed it. Below 10,000.
    max_leverage
        Largest absolute notional an order may lead to, as a multiple of equity at the moment of the order.
    maintenance_margin
        The position is liquidated where equity falls to this fraction of its notional. In [0, 1).
    liquidation_fee_bps
        Fee of a liquidation on top of fee and slippage, basis points of its notional.
    min_notional
        Smallest order, in quote currency. A smaller one is not filled, unless it closes the position.
    """

    fee_bps: Number = 5.0
    slippage_bps: Number = 1.0
    impact_bps: Number = 50.0
    max_slippage_bps: Number = 1000.0
    max_leverage: Number = 3.0
    maintenance_margin: Number = 0.005
    liquidation_fee_bps: Number = 50.0
    min_notional: Number = 10.0


DEFAULT_RULES = Rules()
"""A perpetual future on a large exchange: taker fee 5 bps, half spread 1 bp, 0.5% impact at full participation."""

FREE = Rules(
    fee_bps=0.0, slippage_bps=0.0, impact_bps=0.0, max_slippage_bps=0.0, liquidation_fee_bps=0.0, min_notional=0.0
)
"""No costs and no minimum size; leverage and margin as usual. For closed forms and oracles."""

_BOUNDS: dict[str, tuple[float, float]] = {
    "fee_bps": (0.0, 10_000.0),
    "slippage_bps": (0.0, 10_000.0),
    "impact_bps": (0.0, 100_000.0),
    "max_slippage_bps": (0.0, 10_000.0),
    "max_leverage": (0.0, 1_000.0),
    "maintenance_margin": (0.0, 1.0),
    "liquidation_fee_bps": (0.0, 10_000.0),
    "min_notional": (0.0, 1e12),
}


@checked
def changed(values: Mapping[str, float]) -> Rules:
    """Return the default rules with some of them changed.

    Raises
    ------
    ValueError
        Naming the first that is no rule, with the nearest, or is out of its range.
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"values must be rules by name, as {{'fee_bps': 4}}, got {values!r}")
    for name in values:
        if name not in Rules._fields:
            known = naming.nearest(name, Rules._fields) or f"; known: {', '.join(Rules._fields)}"
            raise ValueError(f"rules.{name}: unknown key{known}")
    return check_rules(DEFAULT_RULES._replace(**values))


@checked
def check_rules(rules: Rules) -> Rules:
    """Return the rules unchanged, or raise.

    Raises
    ------
    ValueError
        Naming the first field that is not a finite number within its range (the upper end excluded).
    """
    for name in Rules._fields:
        value, (lowest, highest) = getattr(rules, name), _BOUNDS[name]
        if not (isinstance(value, int | float) and math.isfinite(value) and lowest <= value < highest):
            raise ValueError(f"rules.{name} must be a number in [{lowest:g}, {highest:g}), got {value!r}")
    if rules.max_leverage == 0.0:
        raise ValueError("rules.max_leverage must be above 0: nothing could be traded")
    return rules
