"""What the tools of the trading simulator answer with, and how an account is told in it."""

from __future__ import annotations

from datetime import date

from pydantic import BaseModel, Field

from mcp_servers import caller
from mcp_servers.trading import attribution, margin
from mcp_servers.trading.account import Account, MarginRule
from mcp_servers.trading.instrument import Kind
from mcp_servers.trading.money import dollars
from mcp_servers.trading.orders import Order, OrderState, OrderType, Side


class AccountState(BaseModel):
    """Money in USD; the columns have one entry an instrument that was ever held."""

    clock: date = Field(description="The account has seen every close up to this day; orders meet the days after it")
    last_day: date = Field(description="Simulation date: the clock stops there")
    cash: float
    equity: float = Field(description="Cash plus positions at the last close")
    gross_exposure: float = Field(description="Sum of absolute position values")
    leverage: float = Field(description="Gross exposure over equity; 0 without equity")
    initial_cash: float
    profit_and_loss: float = Field(description="Equity less initial cash: after fees and slippage")
    realised: float = Field(description="Profit of what was closed, before fees")
    unrealised: float = Field(description="Profit of what is held, before fees")
    income: float = Field(description="Dividends and funding received, less those paid")
    fees: float
    debt_borne: float = Field(description="What was owed after everything was closed, and the broker bore")
    margin: MarginRule
    maintenance_margin: float = Field(description="Equity below it makes the broker close everything at a close")
    liquidations: int
    waiting_orders: list[str] = Field(description="Client order ids")
    ticker: list[str] = Field(description="Options by their exchange symbol")
    kind: list[Kind]
    shares: list[float] = Field(description="Shares, contracts or coins; > 0 long, < 0 short")
    average_price: list[float] = Field(description="USD a share or coin")
    last_price: list[float] = Field(description="USD a share or coin: last close, of options the mid quote")
    market_value: list[float]
    position_realised: list[float]
    position_unrealised: list[float]
    position_income: list[float]


class OrderReport(BaseModel):
    """An order and what became of it."""

    client_order_id: str
    ticker: str = Field(description="Options by their exchange symbol")
    side: Side
    quantity: float = Field(description="Shares, contracts or coins")
    order_type: OrderType
    limit_price: float | None = Field(description="USD")
    stop_price: float | None = Field(description="USD")
    placed_on: date
    state: OrderState = Field(description="held: an exit whose entry has not filled")
    filled_quantity: float = Field(description="So far: a thin market fills an order over several days")
    filled_on: date | None = Field(description="Day of the last fill")
    fill_price: float | None = Field(description="Average, USD a share or coin, slippage included")
    fee: float = Field(description="USD")
    note: str = Field(description="Why it was rejected or cancelled, or what it waits for")


class OrderColumns(BaseModel):
    """Columns; one entry an order, in the order of placing. Prices in USD a share or coin, fees in USD."""

    client_order_id: list[str]
    ticker: list[str]
    side: list[Side]
    quantity: list[float] = Field(description="Shares, contracts or coins")
    order_type: list[OrderType]
    limit_price: list[float | None]
    stop_price: list[float | None]
    placed_on: list[date]
    state: list[OrderState]
    filled_quantity: list[float]
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


class ProfitBySource(BaseModel):
    """USD; one entry an instrument that was ever held. The sources, from `delta` on, add up to `profit` exactly."""

    clock: date
    ticker: list[str]
    realised: list[float]
    unrealised: list[float]
    profit: list[float] = Field(description="Realised and unrealised, income, less fees")
    delta: list[float] = Field(description="Of shares and coins, the whole move of the price")
    gamma: list[float]
    theta: list[float]
    vega: list[float]
    rho: list[float]
    vanna: list[float]
    volga: list[float]
    unexplained: list[float] = Field(description="Moves of an option's price that its Greeks do not explain")
    trading: list[float] = Field(description="Fills and exercises at other prices than the mark of their day")
    income: list[float] = Field(description="Dividends and funding")
    fees: list[float] = Field(description="Negative")


class AccountEvents(BaseModel):
    """Columns; one entry a dividend, funding, split, exercise, assignment or expiry, in order."""

    day: list[date]
    event: list[str]
    ticker: list[str]
    quantity: list[float] = Field(description="Shares, contracts or coins that it happened to; < 0 short")
    cash: list[float] = Field(description="USD received, < 0 paid")


class MarginReport(BaseModel):
    """Own money that the positions need, USD; columns have one entry an underlying."""

    margin: MarginRule
    equity: float
    initial: float = Field(description="Equity after an order that adds to a position must not be below it")
    maintenance: float = Field(description="Equity below it makes the broker close everything at a close")
    excess: float = Field(description="Equity less initial margin")
    underlying: list[str]
    needed: list[float] = Field(description="Initial margin")
    worst: list[str] = Field(description="The stress that it comes from, or the rule")
    value: list[float] = Field(description="Positions at their marks")


def state(account: Account) -> AccountState:
    """Return the account as it stands."""
    positions = list(account.positions.values())
    equity, exposure = account.equity, account.gross_exposure

    def total(name: str) -> float:
        return dollars(sum(getattr(position, name) for position in positions))

    return AccountState(
        clock=account.clock,
        last_day=caller.as_of(),
        cash=dollars(account.cash),
        equity=dollars(equity),
        gross_exposure=dollars(exposure),
        leverage=exposure / equity if equity > 0 else 0.0,
        initial_cash=dollars(account.deposit),
        profit_and_loss=dollars(equity - account.deposit),
        realised=total("realised"),
        unrealised=total("unrealised"),
        income=total("income"),
        fees=total("fees"),
        debt_borne=dollars(account.debt_borne),
        margin=account.margin_rule,
        maintenance_margin=dollars(margin.requirement(account, "maintenance")),
        liquidations=account.liquidations,
        waiting_orders=[order.client_order_id for order in account.waiting()],
        ticker=[position.instrument.name for position in positions],
        kind=[position.instrument.kind for position in positions],
        shares=[float(position.quantity) for position in positions],
        average_price=[position.average_price for position in positions],
        last_price=[position.mark for position in positions],
        market_value=[dollars(position.value) for position in positions],
        position_realised=[dollars(position.realised) for position in positions],
        position_unrealised=[dollars(position.unrealised) for position in positions],
        position_income=[dollars(position.income) for position in positions],
    )


def report(order: Order) -> OrderReport:
    """Return an order as it stands."""
    note = order.note
    if order.state == "waiting" and not note:
        note = f"waits for the trading days after {order.placed_on}; call advance"
    return OrderReport(
        client_order_id=order.client_order_id,
        ticker=order.instrument.name,
        side=order.side,
        quantity=float(order.quantity),
        order_type=order.order_type,
        limit_price=order.limit_price,
        stop_price=order.stop_price,
        placed_on=order.placed_on,
        state=order.state,
        filled_quantity=float(order.filled_quantity),
        filled_on=order.filled_on,
        fill_price=order.fill_price,
        fee=dollars(order.fee),
        note=note,
    )


def orders(account: Account) -> OrderColumns:
    """Return every order of an account."""
    reports = [report(order) for order in account.orders.values()]
    return OrderColumns(**{name: [getattr(each, name) for each in reports] for name in OrderColumns.model_fields})


def performance(account: Account) -> Performance:
    """Return what an account has made so far."""
    traded = [order for order in account.orders.values() if order.filled_quantity]
    curve = [dollars(value) for _, value in account.curve]
    return Performance(
        total_return=account.equity / account.deposit - 1.0,
        max_drawdown=_max_drawdown(curve),
        filled_orders=sum(order.state == "filled" for order in traded),
        turnover=sum(order.paid * order.instrument.multiplier for order in traded) / dollars(account.deposit),
        fees=dollars(sum(position.fees for position in account.positions.values())),
        day=[day for day, _ in account.curve],
        equity=curve,
    )


def _max_drawdown(equity: list[float]) -> float:
    peak, worst = equity[0], 0.0
    for value in equity:
        peak = max(peak, value)
        worst = max(worst, 1.0 - value / peak)
    return worst


def by_source(account: Account) -> ProfitBySource:
    """Return where the profit of every position came from."""
    positions = account.positions.values()
    sources = {name: [dollars(position.by_source[name]) for position in positions] for name in attribution.SOURCES}
    return ProfitBySource(
        clock=account.clock,
        ticker=[position.instrument.name for position in positions],
        realised=[dollars(position.realised) for position in positions],
        unrealised=[dollars(position.unrealised) for position in positions],
        profit=[dollars(position.profit) for position in positions],
        **sources,
    )


def events(account: Account) -> AccountEvents:
    """Return what happened to the positions besides trades."""
    rows = account.events
    return AccountEvents(
        day=[day for day, *_ in rows],
        event=[what for _, what, *_ in rows],
        ticker=[name for _, _, name, *_ in rows],
        quantity=[float(quantity) for *_, quantity, _ in rows],
        cash=[dollars(cash) for *_, cash in rows],
    )


def margin_report(account: Account) -> MarginReport:
    """Return what the positions need, and why."""
    found, equity = margin.needs(account, "initial"), account.equity
    initial = sum(need.amount for need in found)
    values = {need.underlying: 0 for need in found}
    for position in account.held():
        values[position.instrument.underlying] += position.value
    return MarginReport(
        margin=account.margin_rule,
        equity=dollars(equity),
        initial=dollars(initial),
        maintenance=dollars(margin.requirement(account, "maintenance")),
        excess=dollars(equity - initial),
        underlying=[need.underlying for need in found],
        needed=[dollars(need.amount) for need in found],
        worst=[need.worst for need in found],
        value=[dollars(values[need.underlying]) for need in found],
    )
