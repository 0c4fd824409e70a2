"""How orders are filled: against bars and quotes, in part where the market is thin, and not without margin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal

import jax.numpy as jnp

from backtest import costs
from backtest.rules import Rules
from mcp_servers.trading import margin
from mcp_servers.trading.account import Account
from mcp_servers.trading.instrument import Instrument, Kind
from mcp_servers.trading.money import dollars, money, quantity_of
from mcp_servers.trading.orders import Order, quoted_price, trigger_price
from mcp_servers.trading.position import Position, Valued
from mcp_servers.trading.prices import Day

PARTICIPATION = 0.25
"""Largest part of a day's volume that an order gets."""
QUOTED_CONTRACTS = 10
"""Contracts for which a quote of an option is good however little was traded."""
OPTION_FEE = 0.65
"""USD a contract."""

SHARES = Rules(
    fee_bps=1.0, slippage_bps=1.0, impact_bps=50.0, max_leverage=2.0, maintenance_margin=0.25,
    liquidation_fee_bps=10.0, min_notional=10.0,
)  # fmt: skip
"""US shares at a broker."""
CRYPTO = Rules(fee_bps=5.0, slippage_bps=1.0, impact_bps=50.0, liquidation_fee_bps=50.0, min_notional=10.0)
"""Coins and perpetual futures on a large exchange."""
RULES: dict[Kind, Rules] = {"share": SHARES, "coin": CRYPTO, "perpetual": CRYPTO}


def meet(account: Account, day: Day) -> None:
    """Let the waiting orders meet a day: shares and coins its bar, in the order of placing, then options its quotes."""
    # an order may be cancelled by one before it
    for order in _in_turn(account):
        if order.state != "waiting":
            continue
        if order.instrument.kind == "option":
            _meet_quote(account, order, day)
        else:
            _meet_bar(account, order, day)


def _in_turn(account: Account) -> Iterator[Order]:
    waiting = account.waiting()
    yield from (order for order in waiting if order.instrument.kind != "option")
    yield from (order for order in waiting if order.instrument.kind == "option")


def slipped(instrument: Instrument, quantity: float, price: float, volume: float, *, forced: bool) -> tuple[float, int]:
    """Return fill price and fee of a signed quantity at a price before slippage, by the costs of ``backtest``."""
    rules = RULES[instrument.kind]
    fill_price, fee = costs.fill(
        quantity=jnp.asarray(quantity),
        price=jnp.asarray(price),
        volume=jnp.asarray(volume),
        rules=rules,
        extra_fee_bps=rules.liquidation_fee_bps if forced else 0.0,
    )
    return float(fill_price), money(float(fee))


def _meet_bar(account: Account, order: Order, day: Day) -> None:
    bar = day.bars.get(order.instrument.ticker)
    price = None if bar is None else trigger_price(order, bar)
    if bar is None or price is None:
        return
    quantity = min(order.left, quantity_of(PARTICIPATION * bar.volume))
    if quantity <= 0:
        order.note = f"nothing was traded on {day.date}"
        return
    rules, signed = RULES[order.instrument.kind], float(order.sign * quantity)
    if order.is_limited:  # never beyond its limit; it pays the fee alone
        fee = money(float(costs.fee(notional=jnp.asarray(abs(signed) * price), rules=rules)))
    else:
        price, fee = slipped(order.instrument, signed, price, bar.volume, forced=False)
    _fill(account, order, quantity, price, fee, day)


def _meet_quote(account: Account, order: Order, day: Day) -> None:
    quote = day.quotes.get(order.instrument.name)
    price = None if quote is None else quoted_price(order, quote.bid, quote.ask)
    if quote is None or price is None:
        order.note = f"no quote of {day.date} at which it trades"
        return
    good_for = max(Decimal(QUOTED_CONTRACTS), quantity_of(PARTICIPATION * quote.volume).to_integral_value(ROUND_FLOOR))
    quantity = min(order.left, good_for)
    _fill(account, order, quantity, price, money(OPTION_FEE * float(quantity)), day, quote.valued)


def _fill(
    account: Account, order: Order, quantity: Decimal, price: float, fee: int, day: Day, valued: Valued | None = None
) -> None:
    positions, name, cash = account.positions, order.instrument.name, account.cash
    before = replace(positions[name]) if name in positions else None
    position = account.position(order.instrument)
    position.mark, position.valued = price, valued
    owed, held = margin.requirement(account, "initial"), position.quantity
    account.cash += position.trade(order.sign * quantity, price) - fee
    position.fees += fee
    if refusal := _refusal(account, order, position, held=held, owed=owed, price=price):
        account.cash = cash
        if before is None:
            del positions[name]
        else:
            positions[name] = before
        order.state, order.note = "rejected", refusal
        _end_exits(account, order, "the entry was rejected")
        return
    order.filled_quantity += quantity
    order.paid += float(quantity) * price
    order.fee += fee
    order.filled_on = day.date
    order.state = "waiting" if order.left else "filled"
    order.note = f"{float(order.left):g} left: the market was thin on {day.date}" if order.left else ""
    _follow(account, order, quantity)


def _refusal(account: Account, order: Order, after: Position, *, held: Decimal, owed: int, price: float) -> str:
    """Return why the broker does not take a fill that was booked for trial, or nothing.

    ``held`` and ``owed`` are the quantity and the margin needed before it.
    """
    instrument = order.instrument
    if instrument.kind != "option" and after.quantity:
        value, least = float(order.quantity) * price, float(RULES[instrument.kind].min_notional)
        if value < least:
            return f"the order is worth {value:.2f} USD, the least is {least:.2f}"
    if instrument.kind == "coin" and after.quantity < 0:
        return f"{instrument.ticker} cannot be sold short; {float(held):g} are held"
    needed, equity = margin.requirement(account, "initial"), account.equity
    shrinks = abs(after.quantity) <= abs(held) and held * after.quantity >= 0
    if needed > equity and not (shrinks and needed <= owed):
        return (
            f"it would need {dollars(needed):.2f} USD of own money ({margin.NAMES[account.margin_rule]}), more than "
            f"the equity of {dollars(equity):.2f} USD"
        )
    return ""


def _follow(account: Account, order: Order, quantity: Decimal) -> None:
    """Arm the exits of an entry with what was filled; shrink the other exit by what this one closed."""
    for name in (f"{order.client_order_id}:{kind}" for kind in ("take_profit", "stop_loss")):
        if (leg := account.orders.get(name)) is not None and leg.parent == order.client_order_id:
            leg.quantity += quantity
            leg.state, leg.note = "waiting", ""
            leg.placed_on = order.filled_on or leg.placed_on
    rival = account.orders.get(order.rival or "")
    if rival is not None and rival.state in ("waiting", "held"):
        rival.quantity -= quantity
        if rival.left <= 0:
            rival.cancel("the other exit closed the position")


def _end_exits(account: Account, order: Order, reason: str) -> None:
    for other in account.orders.values():
        if other.parent == order.client_order_id and other.state == "held":
            other.cancel(reason)


def cancel(account: Account, order: Order, reason: str) -> None:
    """Cancel an order that waits or is held, and the exits that have nothing to close."""
    order.cancel(reason)
    _end_exits(account, order, "the entry was cancelled")
