"""The end of an option: exercise, assignment, expiry. Delivery is in shares.

An exercised option is closed at its exercise value and the shares change hands at the price of the day: together that
is the strike, paid or received, and each of the two keeps the profit that is its own.
"""

from __future__ import annotations

from decimal import Decimal

from mcp_servers.trading.account import Account
from mcp_servers.trading.fills import cancel
from mcp_servers.trading.instrument import Instrument
from mcp_servers.trading.position import Position
from mcp_servers.trading.prices import Day

AUTOMATIC = 0.01
"""USD in the money from which an expiring option is exercised (OCC: exercise by exception)."""


def exercise(account: Account, position: Position, quantity: Decimal, spot: float, day: Day, what: str) -> None:
    """Exercise a signed quantity of a position (> 0 held, < 0 sold and assigned) with the share at ``spot``."""
    instrument = position.instrument
    assert instrument.strike is not None
    per_share = spot - instrument.strike if instrument.option_type == "call" else instrument.strike - spot
    shares = quantity * Decimal(repr(instrument.multiplier)) * (1 if instrument.option_type == "call" else -1)
    stock = account.position(Instrument(instrument.ticker))
    if not stock.quantity:
        stock.mark = spot
    paid = position.trade(-quantity, per_share) + stock.trade(shares, spot)
    account.cash += paid
    account.note(day.date, what, instrument.name, quantity, paid)


def before_the_dividend(account: Account, ticker: str, amount: float, day: Day) -> None:
    """Assign sold calls whose time value at the close before is less than the dividend: their holders take it."""
    for position in list(account.held()):
        instrument, valued = position.instrument, position.valued
        if instrument.ticker != ticker or instrument.option_type != "call" or valued is None:
            continue
        inside = instrument.exercise_value(valued.spot)
        if position.quantity < 0 and valued.american and 0.0 < inside and position.mark - inside < amount:
            exercise(account, position, position.quantity, valued.spot, day, "assigned before the dividend")


def assign_early(account: Account, day: Day) -> None:
    """Assign sold American options that are quoted at no more than their exercise value: nothing keeps a holder."""
    for position in list(account.held()):
        instrument, quote = position.instrument, day.quotes.get(position.instrument.name)
        if quote is None or position.quantity > 0 or not quote.valued.american or quote.valued.years <= 0.0:
            continue
        inside = instrument.exercise_value(quote.valued.spot)
        if inside > 0.0 and quote.mid <= inside:
            exercise(account, position, position.quantity, quote.valued.spot, day, "assigned early")


def expire(account: Account, day: Day) -> None:
    """Settle what has expired, at the close of its last day: exercised where it is in the money, gone where not."""
    for position in list(account.held()):
        instrument, valued = position.instrument, position.valued
        if instrument.expiration is None or instrument.expiration > day.date or valued is None:
            continue
        if instrument.exercise_value(valued.spot) >= AUTOMATIC:
            what = "exercised at expiry" if position.quantity > 0 else "assigned at expiry"
            exercise(account, position, position.quantity, valued.spot, day, what)
        else:
            quantity = position.quantity
            account.cash += position.trade(-quantity, 0.0)
            account.note(day.date, "expired worthless", instrument.name, quantity, 0)
    for order in account.orders.values():
        last = order.instrument.expiration
        if last is not None and last <= day.date and order.state in ("waiting", "held"):
            cancel(account, order, f"the option expired on {last}")


def settlement(instrument: Instrument, spot: float) -> float:
    """Return the mark of an option on its last day."""
    value = instrument.exercise_value(spot)
    return value if value >= AUTOMATIC else 0.0
