"""The paper account: fills, costs, margin, clock, one trade an order id, and memory across restarts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backtest import costs
from lake import sample
from lake.point_in_time import PointInTime
from lake.records import Bars
from mcp_servers import caller, trading
from mcp_servers.access import Grant
from mcp_servers.trading import account as paper
from mcp_servers.trading.account import Account, Bar, Order
from mcp_servers.trading.desk import Desk

Ask = Callable[..., Any]
DAYS = [date(2020, 1, day) for day in (6, 7, 8, 9, 10)]
AS_OF = DAYS[-1]
CLOSES = (100.0, 110.0, 90.0, 95.0, 120.0)
NO_PRICES = {"limit_price": None, "stop_price": None}


def make_lake(*, splits_on: str = "X") -> sample.Lake:
    """A lake with one share whose bars open at the close before, and a day that nobody may see."""
    days = (*DAYS, date(2020, 1, 13))
    closes = (*CLOSES, 666.0)
    opens = (100.0, *closes[:-1])
    table = Bars(
        days,
        opens,
        tuple(max(pair) + 1 for pair in zip(opens, closes, strict=True)),
        tuple(min(pair) - 1 for pair in zip(opens, closes, strict=True)),
        closes,
        (1e6,) * len(days),
    )
    return replace(sample.embedded(), bars=PointInTime("fixture", lambda: {splits_on: table}))


@pytest.fixture
def act(ask: Ask) -> Callable[..., Any]:
    server = trading.build_server(lake=make_lake())

    def call(tool: str, **arguments: Any) -> Any:
        return ask(server, tool, as_of=AS_OF, **arguments)

    call("open_account", cash=10_000, start="2020-01-06")
    return call


def order(client_order_id: str = "a", **changes: Any) -> dict[str, Any]:
    return {"client_order_id": client_order_id, "ticker": "X", "side": "buy", "quantity": 50} | changes


def test_a_market_order_fills_at_the_next_open_with_the_costs_of_the_backtest(act: Callable[..., Any]) -> None:
    act("place_order", **order())
    state = act("advance", days=1)
    slip = float(costs.slippage(quantity=jnp.array(50.0), volume=jnp.array(1e6), rules=paper.RULES))
    price = 100.0 * (1 + slip)
    assert slip > 1e-4
    assert state["average_price"] == [pytest.approx(price)]
    assert state["fees"] == pytest.approx(50 * price * 1e-4)
    assert state["cash"] == pytest.approx(10_000 - 50 * price * (1 + 1e-4))
    assert state["equity"] == pytest.approx(state["cash"] + 50 * 110.0)


def test_profit_is_realised_plus_unrealised_less_fees(act: Callable[..., Any]) -> None:
    act("place_order", **order("a"))
    act("advance", days=1)
    act("place_order", **order("b", side="sell", quantity=80))
    act("advance", days=1)
    act("place_order", **order("c", quantity=10))
    state = act("advance", to="2020-01-09")
    assert state["shares"] == [-20]
    assert state["profit_and_loss"] == pytest.approx(state["realised"] + state["unrealised"] - state["fees"])
    assert state["position_realised"][0] == pytest.approx(50 * 10 + 10 * 20, rel=0.01)


def test_the_same_client_order_id_never_trades_twice(act: Callable[..., Any]) -> None:
    act("place_order", **order())
    act("advance", days=1)
    again = act("place_order", **order())
    assert again["state"] == "filled"
    assert act("advance", days=1)["shares"] == [50]
    assert "was used for another order" in act("place_order", **order(quantity=51))


def test_time_never_passes_the_simulation_date(act: Callable[..., Any]) -> None:
    act("place_order", **order())
    assert "is after the simulation date 2020-01-10" in act("advance", to="2020-01-13")
    assert "4 days are left" in act("advance", days=5)
    state = act("advance", to="2020-01-10")
    assert state["last_price"] == [120.0]
    act("place_order", **order("late"))
    assert act("list_orders")["state"] == ["filled", "waiting"]
    assert "time does not run backwards" in act("advance", to="2020-01-07")


def test_an_order_that_needs_too_much_leverage_is_rejected_with_the_reason(act: Callable[..., Any]) -> None:
    act("place_order", **order(quantity=201))
    act("advance", days=1)
    orders = act("list_orders")
    assert orders["state"] == ["rejected"]
    assert "more than 2 times the equity" in orders["note"][0]
    act("place_order", **order("b", quantity=5_000 // 110))
    act("advance", days=1)
    assert act("list_orders")["state"][1] == "filled"


def test_a_broken_account_is_liquidated_and_never_owes(act: Callable[..., Any]) -> None:
    act("place_order", **order(side="sell", quantity=195))
    act("advance", days=1)
    state = act("advance", to="2020-01-10")
    # Short 195 at 100 with 10,000 of equity: at 120 the loss is 3,900 and equity 6,100 > 25% of 23,400 = 5,850.
    assert state["liquidations"] == 0
    account = Account(10_000.0, 10_000.0, DAYS[0], DAYS[0])
    account.orders["a"] = Order("a", "X", "sell", 195.0, "market", None, None, DAYS[0])
    paper.pass_day(account, DAYS[1], {"X": Bar(100.0, 100.0, 100.0, 100.0, 1e6)})
    paper.pass_day(account, DAYS[2], {"X": Bar(130.0, 170.0, 130.0, 170.0, 1e6)})
    assert account.liquidations == 1
    assert account.positions["X"].shares == 0.0
    assert account.cash == 0.0 and account.equity == 0.0


def test_a_short_closed_after_a_gap_beyond_the_equity_leaves_nothing_and_no_debt() -> None:
    account = Account(10_000.0, 10_000.0, DAYS[0], DAYS[0])
    account.orders["a"] = Order("a", "X", "sell", 195.0, "market", None, None, DAYS[0])
    paper.pass_day(account, DAYS[1], {"X": Bar(100.0, 100.0, 100.0, 100.0, 1e6)})
    account.orders["b"] = Order("b", "X", "buy", 195.0, "market", None, None, DAYS[1])
    paper.pass_day(account, DAYS[2], {"X": Bar(170.0, 170.0, 170.0, 170.0, 1e6)})
    assert account.orders["b"].state == "filled"
    assert account.cash == 0.0 == account.equity


@pytest.mark.parametrize(
    ("terms", "price"),
    # Bar: open 100, high 110, low 95.
    [
        ({"side": "buy", "order_type": "limit", "limit_price": 98.0}, 98.0),
        ({"side": "buy", "order_type": "limit", "limit_price": 105.0}, 100.0),
        ({"side": "buy", "order_type": "limit", "limit_price": 95.0}, None),
        ({"side": "sell", "order_type": "limit", "limit_price": 109.0}, 109.0),
        ({"side": "sell", "order_type": "limit", "limit_price": 110.0}, None),
        ({"side": "buy", "order_type": "stop", "stop_price": 104.0}, 104.0),
        ({"side": "buy", "order_type": "stop", "stop_price": 99.0}, 100.0),
        ({"side": "sell", "order_type": "stop", "stop_price": 96.0}, 96.0),
        ({"side": "sell", "order_type": "stop", "stop_price": 103.0}, 100.0),
        ({"side": "sell", "order_type": "stop", "stop_price": 94.0}, None),
    ],
)
def test_limit_orders_trade_at_their_price_or_better_and_stops_at_theirs_or_worse(
    terms: dict[str, Any], price: float | None
) -> None:
    defaults: dict[str, Any] = {"limit_price": None, "stop_price": None}
    waiting = Order(client_order_id="a", ticker="X", quantity=1.0, placed_on=DAYS[0], **(defaults | terms))
    assert paper.trigger_price(waiting, Bar(100.0, 110.0, 95.0, 102.0, 1e6)) == price


def test_an_order_type_takes_exactly_its_own_price(act: Callable[..., Any]) -> None:
    assert "a limit order takes limit_price only" in act("place_order", **order(order_type="limit"))
    assert "a market order takes neither" in act("place_order", **order(limit_price=3))


def test_a_waiting_order_can_be_cancelled_and_a_filled_one_cannot(act: Callable[..., Any]) -> None:
    act("place_order", **order("a"))
    assert act("cancel_order", client_order_id="a")["state"] == "cancelled"
    act("place_order", **order("b"))
    act("advance", days=1)
    assert "is filled and cannot be cancelled" in act("cancel_order", client_order_id="b")
    assert "this account has: a, b" in act("cancel_order", client_order_id="c")


def test_there_is_one_account_a_task(act: Callable[..., Any]) -> None:
    assert act("open_account", cash=10_000, start="2020-01-06")["clock"] == "2020-01-06"
    assert "has an account already" in act("open_account", cash=20_000, start="2020-01-06")


def test_an_account_is_rebuilt_from_the_journal_after_a_restart(ask: Ask, tmp_path: Path) -> None:
    first = trading.build_server(state_dir=tmp_path, lake=make_lake())
    ask(first, "open_account", as_of=AS_OF, cash=10_000, start="2020-01-06")
    ask(first, "place_order", as_of=AS_OF, **order())
    before = ask(first, "advance", as_of=AS_OF, days=2)
    ask(first, "place_order", as_of=AS_OF, **order("b", side="sell"))
    with (tmp_path / "accounts.jsonl").open("a", encoding="utf-8") as journal:
        journal.write('{"run_id": "run", "task_')  # killed in the middle of a line
    second = trading.build_server(state_dir=tmp_path, lake=make_lake())
    after = ask(second, "get_account", as_of=AS_OF)
    assert after == before | {"waiting_orders": ["b"]}
    assert ask(second, "place_order", as_of=AS_OF, **order())["state"] == "filled"
    ask(second, "cancel_order", as_of=AS_OF, client_order_id="b")
    third = trading.build_server(state_dir=tmp_path, lake=make_lake())
    assert ask(third, "get_account", as_of=AS_OF) == before


def test_a_split_changes_shares_and_price_but_not_the_equity() -> None:
    account = Account(10_000.0, 0.0, DAYS[0], DAYS[0])
    account.positions["X"] = paper.Position(shares=100.0, average_price=90.0, mark=100.0)
    account.orders["a"] = Order("a", "X", "sell", 10.0, "limit", 120.0, None, DAYS[0])
    paper.split(account, "X", 2.0)
    assert account.equity == 10_000.0
    assert (account.positions["X"].shares, account.positions["X"].average_price) == (200.0, 45.0)
    assert (account.orders["a"].quantity, account.orders["a"].limit_price) == (20.0, 60.0)


def test_apple_held_across_its_split_of_2005_keeps_its_value(ask: Ask) -> None:
    server = trading.build_server()
    as_of = date(2005, 3, 31)
    ask(server, "open_account", as_of=as_of, cash=10_000, start="2005-02-18")
    ask(server, "place_order", as_of=as_of, client_order_id="a", ticker="AAPL", side="buy", quantity=100)
    before = ask(server, "advance", as_of=as_of, to="2005-02-25")
    after = ask(server, "advance", as_of=as_of, to="2005-02-28")
    assert before["shares"] == [100] and after["shares"] == [200]
    assert after["equity"] - before["equity"] == pytest.approx(200 * 44.86 - 100 * 88.99)


@given(
    quantities=st.lists(st.floats(-50, 50).filter(lambda value: abs(value) > 1), min_size=1, max_size=8),
    prices=st.lists(st.floats(10, 200), min_size=8, max_size=8),
)
def test_no_sequence_of_fills_creates_money(quantities: list[float], prices: list[float]) -> None:
    position = paper.Position()
    paid = 0.0
    for quantity, price in zip(quantities, prices, strict=False):
        position.trade(quantity, price, 0.0)
        paid += quantity * price
    position.mark = prices[-1]
    profit = position.shares * position.mark - paid
    assert position.realised + position.unrealised == pytest.approx(profit, rel=1e-9, abs=1e-6)


def test_the_desk_itself_stops_at_the_simulation_date() -> None:
    desk = Desk(make_lake())
    with caller.acting_as(Grant("run", "task", AS_OF, 0)):
        desk.execute({"name": "open", "arguments": {"cash": 10_000.0, "start": "2020-01-06"}})
        desk.execute({"name": "place", "arguments": order() | {"order_type": "market"} | NO_PRICES})
        account = desk.execute({"name": "advance", "arguments": {"to": "2020-02-01"}})
    assert account.clock == AS_OF
    assert account.positions["X"].mark == CLOSES[-1]
