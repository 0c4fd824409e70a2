"""The accounts of all tasks: commands in, one at a time, written through to a journal that rebuilds them."""

from __future__ import annotations

import threading
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from lake import adjusting
from lake.sample import Lake
from mcp_servers import caller
from mcp_servers.access import Grant
from mcp_servers.journal import Journal
from mcp_servers.trading import account as paper
from mcp_servers.trading.account import Account, Bar, Order

Owner: TypeAlias = tuple[str, str]
Command: TypeAlias = dict[str, Any]
DEFAULT_LEAD = timedelta(days=90)
FRESH = timedelta(days=7)
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
        self._lake = lake
        self._journal = Journal(journal)
        self.lock = threading.RLock()
        self._accounts: dict[Owner, Account] = {}
        self._past: dict[Owner, list[Command]] = {}
        for entry in self._journal.entries():
            self._past.setdefault((entry["run_id"], entry["task_id"]), []).append(entry["command"])

    def _owner(self) -> Owner:
        grant = caller.current().grant
        return grant.run_id, grant.task_id

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
            self._place(account, **arguments)
        elif name == "cancel":
            _cancel(account, **arguments)
        else:
            self._advance(account, grant, **arguments)

    def _open(self, owner: Owner, grant: Grant, *, cash: float, start: str | None) -> Account:
        day = date.fromisoformat(start) if start else grant.as_of - DEFAULT_LEAD
        open_already = self._accounts.get(owner)
        if open_already is None:
            return Account(initial_cash=cash, cash=cash, opened_on=day, clock=day, curve=[(day, cash)])
        if (open_already.opened_on, open_already.initial_cash) == (day, cash):
            return open_already
        raise ValueError(
            f"this task has an account already, opened on {open_already.opened_on} with "
            f"{open_already.initial_cash:.2f} USD; there is one a task"
        )

    def _place(self, account: Account, **fields: Any) -> None:
        order = Order(**fields, placed_on=account.clock)
        twin = account.orders.get(order.client_order_id)
        if twin is not None:
            if _terms(twin) != _terms(order):
                raise ValueError(
                    f"client_order_id {order.client_order_id!r} was used for another order "
                    f"({twin.side} {twin.quantity:g} {twin.ticker}, {twin.order_type}); take a new id"
                )
            return
        if len(account.orders) >= MAX_ORDERS:
            raise ValueError(f"an account takes {MAX_ORDERS} orders and this one has them all")
        last = self._lake.bars_of(order.ticker, as_of=account.clock)[0].known_on[-1]
        if account.clock - last > FRESH:
            raise ValueError(
                f"{order.ticker} is not traded any more on {account.clock}: its last price is of {last}; the simulated "
                "markets (SIM-...) are traded on every weekday"
            )
        account.orders[order.client_order_id] = order

    def _advance(self, account: Account, grant: Grant, *, to: str) -> None:
        target = min(date.fromisoformat(to), grant.as_of)
        while account.clock < target:
            day = self._next_day(account, target)
            if day is None:
                account.clock = target
                return
            self._pass(account, day)

    def _next_day(self, account: Account, target: date) -> date | None:
        """Return the next day up to ``target`` with a bar that matters to the account."""
        following = []
        for ticker in account.tickers():
            days = self._lake.bars_of(ticker, as_of=target)[0].known_on
            following += [day for day in days[-(target - account.clock).days - 1 :] if day > account.clock][:1]
        return min(following, default=None)

    def _pass(self, account: Account, day: date) -> None:
        bars = {}
        for ticker in account.tickers():
            known = self._lake.bars_of(ticker, as_of=day)[0]
            if known.known_on[-1] == day:
                paper.split(account, ticker, adjusting.ratio_on(self._lake, ticker, day))
                bars[ticker] = Bar(known.open[-1], known.high[-1], known.low[-1], known.close[-1], known.volume[-1])
        paper.pass_day(account, day, bars)


def _terms(order: Order) -> tuple[Any, ...]:
    return (order.ticker, order.side, order.order_type, order.quantity, order.limit_price, order.stop_price)


def _cancel(account: Account, *, client_order_id: str) -> None:
    order = account.orders.get(client_order_id)
    if order is None:
        raise ValueError(f"no order {client_order_id!r}; this account has: {', '.join(account.orders) or 'none'}")
    if order.state == "waiting":
        order.state, order.note = "cancelled", "by the agent"
    elif order.state != "cancelled":
        raise ValueError(f"order {client_order_id!r} is {order.state} and cannot be cancelled")
