"""A paper account: cash, positions and orders. No clock and no data of its own.

Every sum of money is a whole number of millionths of a dollar (a Python int), and every quantity a decimal number as it
was written. So at every moment, exactly: cash + value of the positions = deposit + realised + unrealised profit +
income - fees + debt that the broker bears; and the profit by source adds up to the profit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal, TypeAlias

from mcp_servers.trading.instrument import Instrument
from mcp_servers.trading.orders import Order
from mcp_servers.trading.position import Position

MarginRule: TypeAlias = Literal["regulation_t", "portfolio"]


@dataclass
class Account:
    """The account of one task. Money is millionths of a dollar.

    Attributes
    ----------
    deposit, cash
        What it was opened with, and what is there.
    opened_on, clock
        The account has seen every close up to ``clock``; orders meet the days after it.
    margin_rule
        How much own money positions need (:mod:`mcp_servers.trading.margin`).
    positions
        By the instrument's name; those that were closed too.
    curve
        ``(day, equity at the close)`` of each day passed.
    liquidations
        Times the broker closed everything.
    debt_borne
        What was owed after everything was closed, and the broker bore.
    events
        Dividends, funding, splits, exercises, assignments and expiries, in order.
    """

    deposit: int
    cash: int
    opened_on: date
    clock: date
    margin_rule: MarginRule = "regulation_t"
    positions: dict[str, Position] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)
    curve: list[tuple[date, int]] = field(default_factory=list)
    liquidations: int = 0
    debt_borne: int = 0
    events: list[tuple[date, str, str, Decimal, int]] = field(default_factory=list)

    @property
    def equity(self) -> int:
        """Cash and positions at their marks."""
        return self.cash + sum(position.value for position in self.positions.values())

    @property
    def gross_exposure(self) -> int:
        """Sum of the absolute market values."""
        return sum(abs(position.value) for position in self.positions.values())

    def held(self) -> Iterator[Position]:
        """Yield the positions that are not closed."""
        return (position for position in list(self.positions.values()) if position.quantity)

    def waiting(self) -> list[Order]:
        """Return the orders that wait, in the order of their placing."""
        return [order for order in self.orders.values() if order.state == "waiting"]

    def instruments(self) -> dict[str, Instrument]:
        """Return the instruments whose prices matter, by name: held, or waited for."""
        found = {position.instrument.name: position.instrument for position in self.held()}
        for order in self.orders.values():
            if order.state in ("waiting", "held"):
                found[order.instrument.name] = order.instrument
        return found

    def position(self, instrument: Instrument) -> Position:
        """Return the position in an instrument, an empty one at first."""
        return self.positions.setdefault(instrument.name, Position(instrument))

    def note(self, day: date, what: str, name: str, quantity: Decimal, cash: int) -> None:
        """Write down something that happened to a position, and the cash that came of it."""
        self.events.append((day, what, name, quantity, cash))
