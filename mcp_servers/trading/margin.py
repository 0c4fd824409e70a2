"""Own money that positions need: the strategy-based rules of Regulation T, or the worst loss in a grid of stresses.

Shares and options of one underlying are taken together, a coin with the perpetual future on it; underlyings are added
up. A requirement is compared with the equity, in which options count at their marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from mcp_servers.trading.account import Account, MarginRule
from mcp_servers.trading.money import dollars, money
from mcp_servers.trading.position import Position
from pricing import risk, strategy
from pricing.padding import padded_size
from pricing.strategy.margin import STOCK_RATE

Purpose: TypeAlias = Literal["initial", "maintenance"]
NAMES: dict[MarginRule, str] = {"regulation_t": "Regulation T", "portfolio": "portfolio margin"}

RATES: dict[str, dict[Purpose, float]] = {
    "share": {"initial": 0.5, "maintenance": 0.25},
    "coin": {"initial": 1.0, "maintenance": 0.5},
    "perpetual": {"initial": 1 / 3, "maintenance": 0.1},
}
"""Of the market value, long or short; shares are thus held up to two times the equity, perpetual futures three."""

EQUITY_MOVE, CRYPTO_MOVE = 0.15, 0.30
VOLATILITY_MOVES = (-0.05, 0.0, 0.10)
STEPS = 5
CONTRACT_MINIMUM = 37.5
"""USD a contract under portfolio margin, however well it is hedged: 0.375 times the multiplier (FINRA Rule 4210(g))."""


class Need(NamedTuple):
    """What the positions on one underlying need.

    Attributes
    ----------
    amount
        Millionths of a dollar.
    worst
        The stress that makes it, or the rule.
    """

    underlying: str
    amount: int
    worst: str


def requirement(account: Account, purpose: Purpose) -> int:
    """Return the own money that the positions of an account need, millionths of a dollar."""
    return sum(need.amount for need in needs(account, purpose))


def needs(account: Account, purpose: Purpose) -> list[Need]:
    """Return what the positions need, by underlying."""
    groups: dict[str, list[Position]] = {}
    for position in account.held():
        groups.setdefault(position.instrument.underlying, []).append(position)
    if account.margin_rule == "portfolio":
        return [_stressed(underlying, group) for underlying, group in groups.items()]
    return [_by_rule(underlying, group, purpose) for underlying, group in groups.items()]


def _by_rule(underlying: str, group: Sequence[Position], purpose: Purpose) -> Need:
    plain = [position for position in group if position.instrument.kind != "option"]
    amount = sum(abs(dollars(position.value)) * RATES[position.instrument.kind][purpose] for position in plain)
    options = [position for position in group if position.instrument.kind == "option"]
    if options:
        spot = _spot(options)
        stock = [_stock(position, spot) for position in plain]
        needed = strategy.margin([*stock, *(_leg(position) for position in options)], spot=spot).requirement
        shares = sum(leg.shares for leg in stock)
        # the rules leave the options' value out of the equity that they ask for; here it is in
        options_value = sum(dollars(position.value) for position in options)
        amount += needed - STOCK_RATE * abs(shares) * spot + options_value
    return Need(underlying, money(amount), f"{NAMES['regulation_t']}, {purpose}")


def _stressed(underlying: str, group: Sequence[Position]) -> Need:
    options = [position for position in group if position.instrument.kind == "option"]
    linear = sum(dollars(position.value) for position in group if position.instrument.kind != "option")
    scenarios = stresses("/" in underlying)
    moves = np.array([scenario.spot_change for scenario in scenarios])
    profits = linear * moves
    if options:
        outcomes = risk.stress(
            _book(options), spot=np.array([_spot(options)]), rate=_rate(options), scenarios=scenarios
        )
        profits = profits + np.array([outcome.profit_and_loss for outcome in outcomes])
    worst = int(np.argmin(profits))
    contracts = sum(abs(float(position.quantity)) for position in options)
    loss, least = max(-float(profits[worst]), 0.0), CONTRACT_MINIMUM * contracts
    return Need(underlying, money(max(loss, least)), scenarios[worst].name if loss >= least else "minimum a contract")


def stresses(crypto: bool) -> tuple[risk.Scenario, ...]:
    """Return the grid: moves of the price to both sides, each at three moves of volatility."""
    reach = CRYPTO_MOVE if crypto else EQUITY_MOVE
    return tuple(
        risk.Scenario(
            name=f"spot {move:+.0%}, volatility {100 * volatility:+.0f} points",
            spot_change=move,
            volatility_change=volatility,
        )
        for move in np.linspace(-reach, reach, 2 * STEPS + 1).round(6).tolist()
        for volatility in VOLATILITY_MOVES
    )


def _spot(options: Sequence[Position]) -> float:
    valued = options[0].valued
    assert valued is not None
    return valued.spot


def _rate(options: Sequence[Position]) -> float:
    valued = options[0].valued
    assert valued is not None
    return valued.rate


def _stock(position: Position, spot: float) -> strategy.Leg:
    return strategy.Leg(kind="stock", quantity=float(position.quantity), premium=spot)


def _leg(position: Position) -> strategy.Leg:
    instrument, valued = position.instrument, position.valued
    assert instrument.option_type is not None and valued is not None
    return strategy.Leg(
        kind=instrument.option_type,
        quantity=float(position.quantity),
        premium=position.mark,
        strike=instrument.strike,
        multiplier=instrument.multiplier,
        time_to_expiry=valued.years,
        volatility=valued.volatility,
    )


def _book(options: Sequence[Position]) -> risk.Book:
    """Return the options as a book of few sizes; rows that only fill it up hold nothing."""
    legs = [_leg(position) for position in options]
    rows = padded_size(len(legs))

    def column(values: Sequence[float | bool]) -> np.ndarray:
        return np.pad(np.array(values), (0, rows - len(legs)), mode="edge")

    held = np.pad(np.array([leg.shares for leg in legs]), (0, rows - len(legs)))
    return risk.Book(
        underlying=np.zeros(rows, int),
        is_option=np.full(rows, True),
        is_call=column([leg.kind == "call" for leg in legs]),
        shares=held,
        strike=column([float(leg.strike or 0.0) for leg in legs]),
        time_to_expiry=column([float(leg.time_to_expiry or 0.0) for leg in legs]),
        volatility=column([float(leg.volatility or 0.0) for leg in legs]),
    )
