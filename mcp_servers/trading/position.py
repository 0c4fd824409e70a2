"""A position in one instrument: how many, what they cost, what they are worth, and where their profit came from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from mcp_servers.trading.instrument import Instrument
from mcp_servers.trading.money import share_of, worth


class Valued(NamedTuple):
    """The market that an option was last marked in: what its Greeks are taken at.

    Attributes
    ----------
    spot
        Of the underlying, USD.
    volatility, rate
        Per year, decimals.
    years
        To expiry.
    half_spread
        From the mid to bid and ask, USD a share.
    american
        Whether it may be exercised before its expiry.
    """

    spot: float
    volatility: float
    rate: float
    years: float
    half_spread: float
    american: bool


@dataclass
class Position:
    """Shares, contracts or coins of one instrument. Money is millionths of a dollar.

    Attributes
    ----------
    quantity
        > 0 long, < 0 short, 0 after the position was closed.
    basis
        What was paid for the quantity held; negative for what was received for a short one.
    mark
        Price at the last close, USD a share or coin.
    realised
        Profit of what was closed, before fees.
    income
        Dividends and funding, less those paid.
    fees
        Fees paid.
    by_source
        Profit by what made it (:mod:`mcp_servers.trading.attribution`).
    valued
        Of an option: the market of its mark.
    """

    instrument: Instrument
    quantity: Decimal = Decimal(0)
    basis: int = 0
    mark: float = 0.0
    realised: int = 0
    income: int = 0
    fees: int = 0
    by_source: Counter[str] = field(default_factory=Counter)
    valued: Valued | None = None

    @property
    def value(self) -> int:
        """Quantity at the mark, signed."""
        return worth(self.quantity, self.mark, multiplier=self.instrument.multiplier)

    @property
    def unrealised(self) -> int:
        """Profit of what is held."""
        return self.value - self.basis

    @property
    def profit(self) -> int:
        """Realised and unrealised profit, income and fees."""
        return self.realised + self.unrealised + self.income - self.fees

    @property
    def average_price(self) -> float:
        """Average price of what is held, USD a share or coin; 0 where nothing is."""
        units = float(self.quantity) * self.instrument.multiplier
        return self.basis / 1e6 / units if units else 0.0

    def trade(self, quantity: Decimal, price: float) -> int:
        """Book a fill of a signed quantity; return the cash that it brings, negative for a purchase.

        What closes takes its part of the basis along, to the millionth; the whole of it with the last share.
        """
        paid = worth(quantity, price, multiplier=self.instrument.multiplier)
        closing = min(abs(self.quantity), abs(quantity)) if self.quantity * quantity < 0 else Decimal(0)
        if closing:
            taken = share_of(self.basis, closing, abs(self.quantity))
            closed_at = share_of(paid, closing, abs(quantity))
            self.realised -= closed_at + taken
            self.basis += paid - closed_at - taken
        else:
            self.basis += paid
        self.quantity += quantity
        return -paid
