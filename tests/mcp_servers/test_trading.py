"""The paper account: fills, costs, margin, clock, one trade an order id, and memory across restarts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

from backtest import costs
from lake import sample
from lake.point_in_time import PointInTime
from lake.records import Bars
from mcp_servers import caller, trading
from mcp_servers.access import Grant
from mcp_servers.trading import corporate_actions, fills
from mcp_servers.trading.account import Account
from mcp_servers.trading.day import pass_day
from mcp_servers.trading.desk import Desk, order_of
from mcp_servers.trading.instrument import Instrument
from mcp_servers.trading.money import money
from mcp_servers.trading.orders import Bar, Order, trigger_price
from mcp_servers.trading.position import Position
from mcp_servers.trading.prices import Day

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


def opened(cash: float = 10_000.0) -> Account:
    return Account(money(10_000), money(cash), DAYS[0], DAYS[0])


def waiting(client_order_id: str, **terms: Any) -> Order:
    return order_of(order(client_order_id, order_type="market") | NO_PRICES | terms, placed_on=DAYS[0])


def test_a_market_order_fills_at_the_next_open_with_the_costs_of_the_backtest(act: Callable[..., Any]) -> None:
    act("place_order", **order())
    state = act("advance", days=1)
    slip = float(costs.slippage(quantity=jnp.array(50.0), volume=jnp.array(1e6), rules=fills.SHARES))
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
    assert "10051.72 USD of own money (Regulation T), more than the equity of" in orders["note"][0]
    act("place_order", **order("b", quantity=5_000 // 110))
    act("advance", days=1)
    assert act("list_orders")["state"][1] == "filled"


def test_a_broken_account_is_liquidated_and_never_owes(act: Callable[..., Any]) -> None:
    act("place_order", **order(side="sell", quantity=195))
    act("advance", days=1)
    state = act("advance", to="2020-01-10")
    # Short 195 at 100 with 10,000 of equity: at 120 the loss is 3,900 and equity 6,100 > 25% of 23,400 = 5,850.
    assert state["liquidations"] == 0
    account = opened()
    account.orders["a"] = waiting("a", side="sell", quantity=195)
    pass_day(account, Day(DAYS[1], {"X": Bar(100.0, 100.0, 100.0, 100.0, 1e6)}))
    pass_day(account, Day(DAYS[2], {"X": Bar(130.0, 170.0, 130.0, 170.0, 1e6)}))
    assert account.liquidations == 1
    assert account.positions["X"].quantity == 0
    assert account.cash == 0 == account.equity
    # 195 shares at 70 dollars above the price they were sold at, less the deposit
    assert account.debt_borne / 1e6 == pytest.approx(195 * 70 - 10_000, rel=0.05)


def test_a_short_closed_after_a_gap_beyond_the_equity_leaves_nothing_and_no_debt() -> None:
    account = opened()
    account.orders["a"] = waiting("a", side="sell", quantity=195)
    pass_day(account, Day(DAYS[1], {"X": Bar(100.0, 100.0, 100.0, 100.0, 1e6)}))
    account.orders["b"] = waiting("b", side="buy", quantity=195)
    pass_day(account, Day(DAYS[2], {"X": Bar(170.0, 170.0, 170.0, 170.0, 1e6)}))
    assert account.orders["b"].state == "filled"
    assert account.cash == 0 == account.equity


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
    assert trigger_price(waiting("a", quantity=1, **terms), Bar(100.0, 110.0, 95.0, 102.0, 1e6)) == price


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
    account = opened(cash=0)
    account.positions["X"] = Position(Instrument("X"), Decimal(100), basis=money(9_000), mark=100.0)
    account.orders["a"] = waiting("a", side="sell", quantity=10, order_type="limit", limit_price=120.0)
    corporate_actions.split(account, "X", 2.0, Day(DAYS[1], {}))
    assert account.equity == money(10_000)
    assert (account.positions["X"].quantity, account.positions["X"].average_price) == (200, 45.0)
    assert (account.orders["a"].quantity, account.orders["a"].limit_price) == (20, 60.0)


def test_apple_held_across_its_split_of_2005_keeps_its_value(ask: Ask) -> None:
    server = trading.build_server()
    as_of = date(2005, 3, 31)
    ask(server, "open_account", as_of=as_of, cash=10_000, start="2005-02-18")
    ask(server, "place_order", as_of=as_of, client_order_id="a", ticker="AAPL", side="buy", quantity=100)
    before = ask(server, "advance", as_of=as_of, to="2005-02-25")
    after = ask(server, "advance", as_of=as_of, to="2005-02-28")
    assert before["shares"] == [100] and after["shares"] == [200]
    assert after["equity"] - before["equity"] == pytest.approx(200 * 44.86 - 100 * 88.99)


def test_the_desk_itself_stops_at_the_simulation_date() -> None:
    desk = Desk(make_lake())
    with caller.acting_as(Grant("run", "task", AS_OF, 0)):
        desk.execute({"name": "open", "arguments": {"cash": 10_000.0, "start": "2020-01-06"}})
        desk.execute({"name": "place", "arguments": order() | {"order_type": "market"} | NO_PRICES})
        account = desk.execute({"name": "advance", "arguments": {"to": "2020-02-01"}})
    assert account.clock == AS_OF
    assert account.positions["X"].mark == CLOSES[-1]


def test_a_strike_beyond_all_prices_is_refused_by_name(ask: Ask) -> None:
    server = trading.build_server(lake=make_lake())
    ask(server, "open_account", as_of=AS_OF)
    terms = {"ticker": "IBM", "expiration": "2013-03-15", "strike": 1e308, "option_type": "put", "quantity": 1}
    text = ask(server, "exercise_option", as_of=AS_OF, **terms)
    assert isinstance(text, str) and "strike" in text and "1000000000" in text.replace(",", ""), text
