"""The accounts of all tasks: commands in, one at a time, written through to a journal that rebuilds them."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from lake.sample import Lake
from mcp_servers import caller
from mcp_servers.access import Grant, Owner
from mcp_servers.journal import Journal
from mcp_servers.trading import attribution, fills, lifecycle, margin
from mcp_servers.trading.account import Account, MarginRule
from mcp_servers.trading.day import pass_day
from mcp_servers.trading.instrument import OptionType, instrument_of
from mcp_servers.trading.market import Market
from mcp_servers.trading.money import dollars, money, quantity_of
from mcp_servers.trading.orders import Order, exits
from mcp_servers.trading.prices import Day

Command: TypeAlias = dict[str, Any]
DEFAULT_LEAD = timedelta(days=90)
MAX_ORDERS = 2000


class Desk:
    """Paper accounts by task; safe for threads.

    A command that succeeds is appended to the journal before the agent gets its answer. After a restart of the process
    an account is rebuilt by replaying its commands, which is exact because fills depend on the lake alone.

    Parameters
    ----------
    lake
        Prices.
    journal
        JSON-lines file, or None to keep accounts in memory only.
    """

    def __init__(self, lake: Lake, journal: Path | None = None) -> None:
        self._market = Market(lake)
        self._journal = Journal(journal)
        self.lock = threading.RLock()
        self._accounts: dict[Owner, Account] = {}
        self._past: dict[Owner, list[Command]] = {}
        for entry in self._journal.entries():
            self._past.setdefault((entry["run_id"], entry["task_id"]), []).append(entry["command"])

    def _owner(self) -> Owner:
        return caller.current().grant.owner

    def account(self) -> Account:
        """Return the caller's account; ``ValueError`` when none is open."""
        owner = self._owner()
        with self.lock:
            for command in self._past.pop(owner, ()):
                self._apply(owner, caller.current().grant, command)
            if owner not in self._accounts:
                raise ValueError("no account is open for this task; call open_account first")
            return self._accounts[owner]

    def execute(self, command: Command) -> Account:
        """Carry out a command of the caller, journal it, and return the account."""
        owner, grant = self._owner(), caller.current().grant
        with self.lock:
            if owner in self._past:
                self.account()
            self._apply(owner, grant, command)
            self._journal.append({"run_id": owner[0], "task_id": owner[1], "command": command})
            return self._accounts[owner]

    def _apply(self, owner: Owner, grant: Grant, command: Command) -> None:
        name, arguments = command["name"], command["arguments"]
        if name == "open":
            self._accounts[owner] = self._open(owner, grant, **arguments)
            return
        if owner not in self._accounts:
            raise ValueError("no account is open for this task; call open_account first")
        account = self._accounts[owner]
        if name == "place":
            self._place(account, grant, **arguments)
        elif name == "cancel":
            _cancel(account, **arguments)
        elif name == "exercise":
            _exercise(account, **arguments)
        else:
            self._advance(account, grant, **arguments)

    def _open(
        self, owner: Owner, grant: Grant, *, cash: float, start: str | None, margin: MarginRule = "regulation_t"
    ) -> Account:
        day = date.fromisoformat(start) if start else grant.as_of - DEFAULT_LEAD
        open_already, deposit = self._accounts.get(owner), money(cash)
        if open_already is None:
            return Account(deposit, deposit, opened_on=day, clock=day, margin_rule=margin, curve=[(day, deposit)])
        if (open_already.opened_on, open_already.deposit, open_already.margin_rule) == (day, deposit, margin):
            return open_already
        raise ValueError(
            f"this task has an account already, opened on {open_already.opened_on} with "
            f"{dollars(open_already.deposit):.2f} USD and margin={open_already.margin_rule}; there is one a task"
        )

    def _place(self, account: Account, grant: Grant, **terms: Any) -> None:
        twin = account.orders.get(terms["client_order_id"])
        if twin is not None:
            if twin.terms != terms:
                raise ValueError(
                    f"client_order_id {twin.client_order_id!r} was used for another order "
                    f"({twin.side} {float(twin.quantity):g} {twin.instrument.name}, {twin.order_type}); take a new id"
                )
            return
        order = order_of(terms, placed_on=account.clock)
        held = account.positions.get(order.instrument.name)
        self._market.require_tradable(
            order.instrument, on=account.clock, last=grant.as_of, held=held is not None and bool(held.quantity)
        )
        placed = (order, *exits(order)) if order.order_type == "bracket" else (order,)
        taken = [each.client_order_id for each in placed if each.client_order_id in account.orders]
        if taken:
            raise ValueError(f"an order {taken[0]!r}, as an exit of this bracket is called, is there; take a new id")
        if len(account.orders) + len(placed) > MAX_ORDERS:
            raise ValueError(f"an account takes {MAX_ORDERS} orders and this one has {len(account.orders)}")
        account.orders |= {each.client_order_id: each for each in placed}

    def _advance(self, account: Account, grant: Grant, *, to: str) -> None:
        target = min(date.fromisoformat(to), grant.as_of)
        while account.clock < target:
            instruments = account.instruments()
            day = self._market.next_day(instruments, after=account.clock, upto=target, last=grant.as_of)
            if day is None:
                account.clock = target
                return
            pass_day(account, self._market.day(instruments, on=day, last=grant.as_of))


def order_of(terms: Command, *, placed_on: date) -> Order:
    """Return the order that an agent's terms describe."""
    expiration = terms.get("expiration")
    instrument = instrument_of(
        terms["ticker"],
        expiration=None if expiration is None else date.fromisoformat(expiration),
        strike=terms.get("strike"),
        option_type=terms.get("option_type"),
    )
    quantity = quantity_of(terms["quantity"])
    if instrument.kind == "option" and quantity != quantity.to_integral_value():
        raise ValueError(f"quantity={float(quantity):g}: options trade in whole contracts")
    return Order(
        terms["client_order_id"],
        instrument,
        terms["side"],
        quantity,
        terms["order_type"],
        terms["limit_price"],
        terms["stop_price"],
        placed_on,
        terms.get("take_profit_price"),
        terms.get("stop_loss_price"),
        terms=terms,
    )


def _cancel(account: Account, *, client_order_id: str) -> None:
    order = account.orders.get(client_order_id)
    if order is None:
        raise ValueError(f"no order {client_order_id!r}; this account has: {', '.join(account.orders) or 'none'}")
    if order.state in ("waiting", "held"):
        fills.cancel(account, order, "by the agent")
        # an exit that was cancelled is not armed again by a later fill of its entry
        order.parent = None
    elif order.state != "cancelled":
        raise ValueError(f"order {client_order_id!r} is {order.state} and cannot be cancelled")


def _exercise(
    account: Account, *, ticker: str, expiration: str, strike: float, option_type: OptionType, quantity: float
) -> None:
    name = instrument_of(ticker, expiration=date.fromisoformat(expiration), strike=strike, option_type=option_type).name
    position = account.positions.get(name)
    if position is None or position.quantity <= 0 or position.valued is None:
        held = ", ".join(each.instrument.name for each in account.held() if each.instrument.kind == "option")
        raise ValueError(f"no {name} is held; options held: {held or 'none'}")
    contracts, spot = quantity_of(quantity), position.valued.spot
    if contracts != contracts.to_integral_value() or contracts > position.quantity:
        raise ValueError(f"quantity={quantity:g}: whole contracts, of the {float(position.quantity):g} held")
    if not position.valued.american:
        raise ValueError(f"{name} is a simulated option: it is European and is exercised on {expiration} by itself")
    if position.instrument.exercise_value(spot) <= 0.0:
        raise ValueError(f"{name} is out of the money with {ticker} at {spot:g}; exercising it would lose money")
    kept = {key: replace(each) for key, each in account.positions.items()}, account.cash, list(account.events)
    lifecycle.exercise(account, position, contracts, spot, Day(account.clock, {}), "exercised")
    if (needed := margin.requirement(account, "initial")) > account.equity:
        message = (
            f"exercising would need {dollars(needed):.2f} USD of own money, more than the equity of "
            f"{dollars(account.equity):.2f} USD; sell the contracts, or exercise fewer"
        )
        account.positions, account.cash, account.events = kept
        raise ValueError(message)
    attribution.attribute(account, ())
