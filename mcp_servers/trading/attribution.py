"""Where a profit came from: the move of the price by Greek, trading, income, fees.

The Greeks are Black-Scholes-Merton's at the close before, of what was held then, at the volatility that its mark
implied. What they do not explain is a source of its own, so that the sources add up to the profit exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from mcp_servers.trading.account import Account
from mcp_servers.trading.money import money, worth
from mcp_servers.trading.position import Position, Valued
from pricing import black_scholes, risk
from pricing.padding import padded

GREEKS = ("delta", "gamma", "theta", "vega", "rho", "vanna", "volga")
SOURCES = (*GREEKS, "unexplained", "trading", "income", "fees")
"""What stands in ``Position.by_source``: price moves by Greek and their rest; fills against the mark of their day, and
exercises against the mark; dividends and funding; fees (negative)."""


@dataclass(frozen=True)
class Start:
    """A position as a day found it, splits of the morning included."""

    position: Position
    quantity: Decimal
    mark: float
    multiplier: float
    valued: Valued | None


def start(account: Account) -> list[Start]:
    """Return the positions that a day begins with."""
    return [
        Start(position, position.quantity, position.mark, position.instrument.multiplier, position.valued)
        for position in account.held()
    ]


def greeks(held: Sequence[tuple[Position, Valued]]) -> list[Mapping[str, float]]:
    """Return the Greeks of one share of each option, at its own spot, volatility and time."""
    if not held:
        return []

    def column(values: Sequence[float | bool]) -> np.ndarray:
        return np.asarray(padded(np.asarray(values)))

    found = black_scholes.all_greeks(
        spot=column([valued.spot for _, valued in held]),
        strike=column([position.instrument.strike or 0.0 for position, _ in held]),
        time_to_expiry=column([valued.years for _, valued in held]),
        rate=column([valued.rate for _, valued in held]),
        volatility=column([valued.volatility for _, valued in held]),
        is_call=column([position.instrument.option_type == "call" for position, _ in held]),
    )
    table = {name: np.asarray(values).tolist() for name, values in found._asdict().items()}
    return [{name: row[index] for name, row in table.items()} for index in range(len(held))]


def attribute(account: Account, began: Sequence[Start]) -> None:
    """Book the profit made since the last call by its sources; ``began`` is what the day began with."""
    options = [(each.position, each.valued) for each in began if each.valued is not None]
    per_share = {id(position): found for (position, _), found in zip(options, greeks(options), strict=True)}
    moved = {id(each.position): each for each in began}
    for position in account.positions.values():
        if (each := moved.get(id(position))) is not None:
            _moves(each, per_share.get(id(position)))
        sources = position.by_source
        sources["income"], sources["fees"] = position.income, -position.fees
        # what the sources lack so far came of fills and exercises at other prices than the mark
        sources["trading"] += position.profit - sources.total()


def _moves(each: Start, found: Mapping[str, float] | None) -> None:
    """Book what the move of the mark did to what was held."""
    position, sources = each.position, each.position.by_source
    after = worth(each.quantity, position.mark, multiplier=each.multiplier)
    total = after - worth(each.quantity, each.mark, multiplier=each.multiplier)
    if found is None or each.valued is None or position.valued is None:
        sources["delta"] += total
        return
    then, now = each.valued, position.valued
    units = float(each.quantity) * each.multiplier
    parts = risk.attribution(
        total=total / 1e6,
        spot_change=now.spot - then.spot,
        volatility_change=now.volatility - then.volatility,
        time_passed=then.years - now.years,
        rate_change=now.rate - then.rate,
        **{name: units * _finite(found[name]) for name in GREEKS},
    )
    booked = {name: money(getattr(parts, name)) for name in GREEKS}
    for name, part in booked.items():
        sources[name] += part
    sources["unexplained"] += total - sum(booked.values())


def _finite(value: float) -> float:
    """Return a Greek, 0 where it has no finite value (on the last day, at the strike): its part is unexplained then."""
    return value if np.isfinite(value) else 0.0
