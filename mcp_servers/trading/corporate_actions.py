"""Splits and dividends."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from mcp_servers.trading.account import Account
from mcp_servers.trading.fills import cancel
from mcp_servers.trading.money import quantity_of, worth
from mcp_servers.trading.position import Position
from mcp_servers.trading.prices import Day


def split(account: Account, ticker: str, ratio: float, day: Day) -> None:
    """Turn every share of ``ticker`` into ``ratio`` shares: positions, waiting orders, and what options are on.

    A contract is adjusted as the exchange adjusts one: by a whole ratio to so many contracts, by another to a contract
    on so many shares; the strike is divided in both cases. Waiting orders in its options are cancelled.
    """
    if ratio == 1.0:
        return
    for position in [each for each in account.positions.values() if each.instrument.ticker == ticker]:
        if position.instrument.kind == "option":
            _adjust(position, ratio)
        else:
            position.quantity *= quantity_of(ratio)
        position.mark /= ratio
        if position.quantity:
            account.note(day.date, f"split {ratio:g} for 1", position.instrument.name, position.quantity, 0)
    # closed ones were adjusted too, so that no new name is one of another position
    account.positions = {position.instrument.name: position for position in account.positions.values()}
    for order in account.orders.values():
        if order.instrument.ticker != ticker or order.state not in ("waiting", "held"):
            continue
        if order.instrument.kind == "option":
            cancel(account, order, f"the underlying was split on {day.date}")
            continue
        # the fills so far, too, are in shares of today from here on: their value stays
        order.quantity *= quantity_of(ratio)
        order.filled_quantity *= quantity_of(ratio)
        for name in ("limit_price", "stop_price", "take_profit_price", "stop_loss_price"):
            price = getattr(order, name)
            setattr(order, name, None if price is None else price / ratio)


def _adjust(position: Position, ratio: float) -> None:
    old, strike = position.instrument, position.instrument.strike
    assert strike is not None
    if ratio == int(ratio):
        position.quantity *= Decimal(int(ratio))
        position.instrument = replace(old, strike=strike / ratio)
    else:
        position.instrument = replace(old, strike=strike / ratio, multiplier=old.multiplier * ratio)
    if position.valued is not None:
        valued = position.valued
        position.valued = valued._replace(spot=valued.spot / ratio, half_spread=valued.half_spread / ratio)


def dividend(account: Account, ticker: str, amount: float, day: Day) -> None:
    """Pay a dividend on its ex-date: holders receive it, short sellers owe it."""
    position = account.positions.get(ticker)
    if position is not None and position.quantity:
        cash = worth(position.quantity, amount)
        account.cash += cash
        position.income += cash
        account.note(day.date, f"dividend of {amount:g} a share", ticker, position.quantity, cash)


def funding(account: Account, ticker: str, rate: float, day: Day) -> None:
    """Exchange the day's funding of a perpetual future, on what is held at the close, at the close."""
    position = account.positions.get(ticker)
    if position is not None and position.quantity and rate:
        cash = -worth(position.quantity, position.mark * rate)
        account.cash += cash
        position.income += cash
        account.note(day.date, f"funding of {rate:.6%}", ticker, position.quantity, cash)
