"""The tools of the trading simulator."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Annotated

from mcp.server import MCPServer
from pydantic import BaseModel, Field

from lake import sample
from lake.sample import Lake
from mcp_servers import caller, toolset
from mcp_servers.toolset import Effect
from mcp_servers.trading import account as paper
from mcp_servers.trading.account import Account, Order, OrderState, OrderType, Side
from mcp_servers.trading.desk import Desk

WARM_UP_DAY = date(2013, 3, 1)

OrderId = Annotated[
    str, Field(description="Your own id of the order; the same id never trades twice", min_length=1, max_length=64)
]
Price = Annotated[float, Field(description="USD", gt=0, allow_inf_nan=False)]


class AccountState(BaseModel):
    """Money in USD; the columns have one entry a ticker that was ever held."""

    clock: date = Field(description="The account has seen every close up to this day; orders meet the days after it")
    last_day: date = Field(description="Simulation date: the clock stops there")
    cash: float
    equity: float = Field(description="Cash plus positions at the last close")
    gross_exposure: float = Field(description="Sum of absolute position values")
    leverage: float = Field(description="Gross exposure over equity; 0 without equity")
    initial_cash: float
    profit_and_loss: float = Field(description="Equity less initial cash: after fees and slippage")
    realised: float = Field(description="Profit of closed shares, before fees")
    unrealised: float = Field(description="Profit of held shares, before fees")
    fees: float
    liquidations: int
    waiting_orders: list[str] = Field(description="Client order ids")
    ticker: list[str]
    shares: list[float] = Field(description="> 0 long, < 0 short")
    average_price: list[float]
    last_price: list[float]
    position_realised: list[float]
    position_unrealised: list[float]


class OrderReport(BaseModel):
    """An order and what became of it."""

    client_order_id: str
    ticker: str
    side: Side
    quantity: float = Field(description="Shares")
    order_type: OrderType
    limit_price: float | None = Field(description="USD")
    stop_price: float | None = Field(description="USD")
    placed_on: date
    state: OrderState
    filled_on: date | None
    fill_price: float | None = Field(description="USD a share, slippage included")
    fee: float = Field(description="USD")
    note: str = Field(description="Why it was rejected or cancelled, or what it waits for")


class OrderColumns(BaseModel):
    """Columns; one entry an order, in the order of placing. Shares; prices in USD a share, fees in USD."""

    client_order_id: list[str]
    ticker: list[str]
    side: list[Side]
    quantity: list[float]
    order_type: list[OrderType]
    limit_price: list[float | None]
    stop_price: list[float | None]
    placed_on: list[date]
    state: list[OrderState]
    filled_on: list[date | None]
    fill_price: list[float | None]
    fee: list[float]
    note: list[str]


class Performance(BaseModel):
    """The account's history; columns have one entry a day that mattered to it."""

    total_return: float = Field(description="Decimal, after costs")
    max_drawdown: float = Field(description="Largest fall from a running maximum of equity, positive decimal")
    filled_orders: int
    turnover: float = Field(description="Traded notional over initial cash")
    fees: float = Field(description="USD")
    day: list[date]
    equity: list[float] = Field(description="USD at the close")


def _state(account: Account) -> AccountState:
    positions = account.positions
    return AccountState(
        clock=account.clock,
        last_day=caller.as_of(),
        cash=account.cash,
        equity=account.equity,
        gross_exposure=account.gross_exposure,
        leverage=account.gross_exposure / account.equity if account.equity > 0.0 else 0.0,
        initial_cash=account.initial_cash,
        profit_and_loss=account.equity - account.initial_cash,
        realised=sum(position.realised for position in positions.values()),
        unrealised=sum(position.unrealised for position in positions.values()),
        fees=sum(position.fees for position in positions.values()),
        liquidations=account.liquidations,
        waiting_orders=[order.client_order_id for order in account.waiting()],
        ticker=list(positions),
        shares=[position.shares for position in positions.values()],
        average_price=[position.average_price for position in positions.values()],
        last_price=[position.mark for position in positions.values()],
        position_realised=[position.realised for position in positions.values()],
        position_unrealised=[position.unrealised for position in positions.values()],
    )


def _report(order: Order) -> OrderReport:
    fields = {name: getattr(order, name) for name in OrderReport.model_fields}
    if order.state == "waiting":
        fields["note"] = "waits for the days after the clock: call advance"
    return OrderReport(**fields)


def _require_prices(order_type: OrderType, limit_price: float | None, stop_price: float | None) -> None:
    wanted = {"market": (False, False), "limit": (True, False), "stop": (False, True)}[order_type]
    given = (limit_price is not None, stop_price is not None)
    if given != wanted:
        needs = {"market": "neither limit_price nor stop_price", "limit": "limit_price only", "stop": "stop_price only"}
        raise ValueError(f"a {order_type} order takes {needs[order_type]}")


def _max_drawdown(equity: list[float]) -> float:
    peak, worst = equity[0], 0.0
    for value in equity:
        peak = max(peak, value)
        worst = max(worst, 1.0 - value / peak)
    return worst


class TradingTools:
    """The tools, over the accounts of one desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def open_account(
        self,
        cash: Annotated[float, Field(description="USD", ge=1_000, le=1e9, allow_inf_nan=False)] = 100_000.0,
        start: Annotated[
            date | None, Field(description="First day of the clock, ISO; default: 90 days before the simulation date")
        ] = None,
    ) -> AccountState:
        """Open this task's paper account. There is one; opening it again in the same way returns it.

        Money is USD; positions are shares, > 0 long and < 0 short.
        """
        if start is not None:
            caller.require_known(start, "start")
        with self._desk.lock:
            arguments = {"cash": cash, "start": start and start.isoformat()}
            return _state(self._desk.execute({"name": "open", "arguments": arguments}))

    def get_account(self) -> AccountState:
        """Return cash, equity, profit and positions. Money is USD; positions are shares, > 0 long and < 0 short."""
        with self._desk.lock:
            return _state(self._desk.account())

    def place_order(
        self,
        client_order_id: OrderId,
        ticker: Annotated[str, Field(description="Ticker, for example SIM-TECH")],
        side: Annotated[Side, Field(description="buy or sell; selling what is not held goes short")],
        quantity: Annotated[float, Field(description="Shares", gt=0, le=1e9, allow_inf_nan=False)],
        order_type: Annotated[
            OrderType,
            Field(
                description="market: next open plus slippage; limit: when the price trades through it; stop: when it "
                "is reached, at the worse of stop and open plus slippage"
            ),
        ] = "market",
        limit_price: Price | None = None,
        stop_price: Price | None = None,
    ) -> OrderReport:
        """Place an order. It meets the trading days after the account's clock: call advance to let them pass.

        Quantities are shares; prices are USD a share, fees USD.
        """
        _require_prices(order_type, limit_price, stop_price)
        arguments = {
            "client_order_id": client_order_id,
            "ticker": ticker.upper(),
            "side": side,
            "quantity": quantity,
            "order_type": order_type,
            "limit_price": limit_price,
            "stop_price": stop_price,
        }
        with self._desk.lock:
            return _report(self._desk.execute({"name": "place", "arguments": arguments}).orders[client_order_id])

    def cancel_order(self, client_order_id: OrderId) -> OrderReport:
        """Cancel an order that waits. Quantities are shares; prices are USD a share, fees USD."""
        with self._desk.lock:
            account = self._desk.execute({"name": "cancel", "arguments": {"client_order_id": client_order_id}})
            return _report(account.orders[client_order_id])

    def list_orders(self) -> OrderColumns:
        """List every order of the account. Quantities are shares; prices are USD a share, fees USD."""
        with self._desk.lock:
            reports = [_report(order) for order in self._desk.account().orders.values()]
        columns = {name: [getattr(report, name) for report in reports] for name in OrderColumns.model_fields}
        return OrderColumns(**columns)

    def advance(
        self,
        days: Annotated[int | None, Field(description="Calendar days to let pass; give this or `to`", ge=1)] = None,
        to: Annotated[date | None, Field(description="Day up to which time passes, ISO, its close included")] = None,
    ) -> AccountState:
        """Let time pass on the account: orders are filled, positions marked. Never beyond the simulation date.

        Money is USD; positions are shares, > 0 long and < 0 short.
        """
        with self._desk.lock:
            account = self._desk.account()
            if (days is None) == (to is None):
                raise ValueError("give either days or to")
            if days is not None:
                left = (caller.as_of() - account.clock).days
                if days > left:
                    raise ValueError(f"the clock stands on {account.clock} and {left} days are left; got days={days}")
            target = to or account.clock + timedelta(days=days or 0)
            caller.require_known(target, "to")
            if target < account.clock:
                raise ValueError(f"to={target} is before the clock, {account.clock}; time does not run backwards")
            return _state(self._desk.execute({"name": "advance", "arguments": {"to": target.isoformat()}}))

    def get_performance(self) -> Performance:
        """Return total return, drawdown, turnover and the equity curve.

        Return and drawdown are decimals: 0.01 is 1%. Turnover is in initial cash; equity and fees are USD.
        """
        with self._desk.lock:
            account = self._desk.account()
            filled = [order for order in account.orders.values() if order.state == "filled"]
            equity = [value for _, value in account.curve]
            return Performance(
                total_return=account.equity / account.initial_cash - 1.0,
                max_drawdown=_max_drawdown(equity),
                filled_orders=len(filled),
                turnover=sum(order.quantity * (order.fill_price or 0.0) for order in filled) / account.initial_cash,
                fees=sum(position.fees for position in account.positions.values()),
                day=[day for day, _ in account.curve],
                equity=equity,
            )


def warm_up() -> None:
    """Compile what fills need, on an account that nobody sees."""
    tools = TradingTools(Desk(sample.embedded()))
    with caller.acting_as(caller.standalone_grant(WARM_UP_DAY)):
        tools.open_account()
        tools.place_order("bought", "AAPL", "buy", 10.0)
        tools.place_order("sold", "SIM-TECH", "sell", 10.0)
        tools.advance(days=7)


def build_server(*, state_dir: Path | None = None, lake: Lake | None = None) -> MCPServer:
    """Return the server over ``lake`` (the embedded sample by default).

    Parameters
    ----------
    state_dir
        Folder of the journal from which accounts are rebuilt after a restart; None keeps them in memory.
    """
    tools = TradingTools(Desk(lake or sample.embedded(), None if state_dir is None else state_dir / "accounts.jsonl"))
    return toolset.build(
        "trading",
        title="Trading Simulator",
        instructions=(
            "A paper account on daily prices before the simulation date. Orders placed after a close meet the "
            f"following days. Fills pay {paper.SLIPPAGE_BPS:g} bp half spread, square-root impact of "
            f"{paper.IMPACT_BPS:g} bps at a day's volume and {paper.FEE_BPS:g} bp fee. Gross exposure is capped at "
            f"{paper.MAX_LEVERAGE:g} times equity; the account is liquidated at {paper.MAINTENANCE_MARGIN:.0%} "
            "maintenance margin. Short positions pay no borrowing fee and cash earns no interest. Splits are applied; "
            "dividends are not paid."
        ),
        tools=(
            tools.open_account,
            tools.get_account,
            tools.place_order,
            tools.cancel_order,
            tools.list_orders,
            tools.advance,
            tools.get_performance,
        ),
        changing={
            "open_account": Effect(destructive=False, idempotent=True),
            "place_order": Effect(destructive=False, idempotent=True),
            "cancel_order": Effect(destructive=True, idempotent=True),
            "advance": Effect(destructive=True, idempotent=False),
        },
    )
