"""A paper account: cash, positions, orders, and what one trading day does to them. No clock and no data of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal, NamedTuple, TypeAlias

import jax.numpy as jnp

from backtest import costs
from backtest.rules import Rules

Side: TypeAlias = Literal["buy", "sell"]
OrderType: TypeAlias = Literal["market", "limit", "stop"]
OrderState: TypeAlias = Literal["waiting", "filled", "rejected", "cancelled"]

FEE_BPS = 1.0
SLIPPAGE_BPS = 1.0
IMPACT_BPS = 50.0
MAX_LEVERAGE = 2.0
MAINTENANCE_MARGIN = 0.25
LIQUIDATION_FEE_BPS = 10.0
MIN_NOTIONAL = 10.0
RULES = Rules(
    fee_bps=FEE_BPS,
    slippage_bps=SLIPPAGE_BPS,
    impact_bps=IMPACT_BPS,
    max_leverage=MAX_LEVERAGE,
    maintenance_margin=MAINTENANCE_MARGIN,
    liquidation_fee_bps=LIQUIDATION_FEE_BPS,
    min_notional=MIN_NOTIONAL,
)
"""Costs and margin of the simulated broker: US shares on a Regulation T margin account."""


class Bar(NamedTuple):
    """One day of one share: prices in USD, volume in shares."""

    open: float
    high: float
    low: float
    close: float
    volume: float


@dataclass
class Order:
    """An order and what became of it.

    Attributes
    ----------
    quantity
        Shares, > 0; ``side`` says the direction.
    limit_price, stop_price
        USD; of limit and stop orders.
    placed_on
        Day after whose close it was placed; it meets the days that follow.
    filled_on, fill_price, fee
        None and 0 until it is filled. The fill price includes slippage; the fee is in USD.
    note
        Why it was rejected or cancelled.
    """

    client_order_id: str
    ticker: str
    side: Side
    quantity: float
    order_type: OrderType
    limit_price: float | None
    stop_price: float | None
    placed_on: date
    state: OrderState = "waiting"
    filled_on: date | None = None
    fill_price: float | None = None
    fee: float = 0.0
    note: str = ""

    @property
    def signed_quantity(self) -> float:
        """Shares, > 0 for a purchase."""
        return self.quantity if self.side == "buy" else -self.quantity


@dataclass
class Position:
    """Shares of one ticker.

    Attributes
    ----------
    shares
        > 0 long, < 0 short, 0 after the position was closed.
    average_price
        Average fill price of the shares held, USD.
    mark
        Last close, USD.
    realised
        Profit of closed shares before fees, USD.
    fees
        Fees paid, USD.
    """

    shares: float = 0.0
    average_price: float = 0.0
    mark: float = 0.0
    realised: float = 0.0
    fees: float = 0.0

    @property
    def unrealised(self) -> float:
        """Profit of the shares held, against their average price, USD."""
        return self.shares * (self.mark - self.average_price)

    def trade(self, quantity: float, price: float, fee: float) -> None:
        """Book a fill of ``quantity`` signed shares."""
        closing = 0.0
        if self.shares * quantity < 0.0:
            closing = min(abs(self.shares), abs(quantity))
            self.realised += closing * (price - self.average_price) * (1.0 if self.shares > 0.0 else -1.0)
        opening = abs(quantity) - closing
        left = abs(self.shares) - closing
        if opening > 0.0:
            self.average_price = (left * self.average_price + opening * price) / (left + opening)
        self.shares += quantity
        if self.shares == 0.0:
            self.average_price = 0.0
        self.fees += fee


@dataclass
class Account:
    """The account of one task.

    Attributes
    ----------
    initial_cash, cash
        USD.
    opened_on, clock
        The account has seen every close up to ``clock``; orders meet the days after it.
    curve
        ``(day, equity at the close)`` of each day passed.
    liquidations
        Times the broker closed everything.
    """

    initial_cash: float
    cash: float
    opened_on: date
    clock: date
    positions: dict[str, Position] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)
    curve: list[tuple[date, float]] = field(default_factory=list)
    liquidations: int = 0

    @property
    def equity(self) -> float:
        """Cash and positions at their marks, USD."""
        return self.cash + sum(position.shares * position.mark for position in self.positions.values())

    @property
    def gross_exposure(self) -> float:
        """Sum of the absolute market values, USD."""
        return sum(abs(position.shares) * position.mark for position in self.positions.values())

    def waiting(self) -> list[Order]:
        """Return the orders that wait, in the order of their placing."""
        return [order for order in self.orders.values() if order.state == "waiting"]

    def tickers(self) -> set[str]:
        """Return the tickers whose bars matter: held, or waited for."""
        held = {ticker for ticker, position in self.positions.items() if position.shares}
        return held | {order.ticker for order in self.waiting()}


def split(account: Account, ticker: str, ratio: float) -> None:
    """Turn every share of ``ticker`` into ``ratio`` shares, in the position and in the waiting orders."""
    position = account.positions.get(ticker)
    if position is not None:
        position.shares *= ratio
        position.average_price /= ratio
        position.mark /= ratio
    for order in account.waiting():
        if order.ticker == ticker:
            order.quantity *= ratio
            order.limit_price = None if order.limit_price is None else order.limit_price / ratio
            order.stop_price = None if order.stop_price is None else order.stop_price / ratio


def pass_day(account: Account, day: date, bars: dict[str, Bar]) -> None:
    """Let one trading day happen: fill what can be filled, mark at the close, liquidate a broken account."""
    for order in account.waiting():
        if order.ticker in bars:
            _meet(account, order, bars[order.ticker], day)
    for ticker, position in account.positions.items():
        if ticker in bars:
            position.mark = bars[ticker].close
    if account.gross_exposure and account.equity <= MAINTENANCE_MARGIN * account.gross_exposure:
        _liquidate(account, day, bars)
    if not account.gross_exposure:
        # What is owed beyond zero when everything is closed, the broker bears.
        account.cash = max(account.cash, 0.0)
    account.clock = day
    account.curve.append((day, account.equity))


def trigger_price(order: Order, bar: Bar) -> float | None:
    """Return the price before slippage at which the order trades in this bar, or None.

    A market order trades at the open; a limit order at the better of open and limit, when the price trades through
    the limit; a stop order at the worse of open and stop, when the price reaches the stop.
    """
    buys = order.side == "buy"
    if order.order_type == "limit" and order.limit_price is not None:
        if buys:
            return min(bar.open, order.limit_price) if bar.low < order.limit_price else None
        return max(bar.open, order.limit_price) if bar.high > order.limit_price else None
    if order.order_type == "stop" and order.stop_price is not None:
        if buys:
            return max(bar.open, order.stop_price) if bar.high >= order.stop_price else None
        return min(bar.open, order.stop_price) if bar.low <= order.stop_price else None
    return bar.open


def fill_price_and_fee(
    quantity: float, price: float, volume: float, *, extra_fee_bps: float = 0.0
) -> tuple[float, float]:
    """Return fill price and fee of signed shares at a price before slippage, by the costs of ``backtest``."""
    fill_price, fee = costs.fill(
        quantity=jnp.asarray(quantity),
        price=jnp.asarray(price),
        volume=jnp.asarray(volume),
        rules=RULES,
        extra_fee_bps=extra_fee_bps,
    )
    return float(fill_price), float(fee)


def _meet(account: Account, order: Order, bar: Bar, day: date) -> None:
    price = trigger_price(order, bar)
    if price is None:
        return
    quantity = order.signed_quantity
    fill_price, fee = fill_price_and_fee(quantity, price, bar.volume)
    if order.order_type == "limit":
        fill_price = price  # a limit order never trades beyond its limit; it pays the fee alone
        fee = float(costs.fee(notional=jnp.asarray(abs(quantity) * price), rules=RULES))
    refusal = _refusal(account, order, fill_price, fee)
    if refusal:
        order.state, order.note = "rejected", refusal
        return
    account.cash -= quantity * fill_price + fee
    position = account.positions.setdefault(order.ticker, Position(mark=fill_price))
    position.trade(quantity, fill_price, fee)
    position.mark = fill_price
    order.state, order.filled_on, order.fill_price, order.fee = "filled", day, fill_price, fee


def _refusal(account: Account, order: Order, price: float, fee: float) -> str:
    """Return why the broker does not take the order at this price, or nothing."""
    position = account.positions.get(order.ticker, Position())
    before, after = position.shares, position.shares + order.signed_quantity
    if after != 0.0 and order.quantity * price < MIN_NOTIONAL:
        return f"the order is worth {order.quantity * price:.2f} USD, the least is {MIN_NOTIONAL:.2f}"
    if abs(after) <= abs(before) and before * after >= 0.0:
        return ""
    equity = account.equity + before * (price - position.mark) - fee
    gross = account.gross_exposure - abs(before) * position.mark + abs(after) * price
    if gross > MAX_LEVERAGE * equity:
        return (
            f"it would lead to a gross exposure of {gross:.2f} USD, more than {MAX_LEVERAGE:g} times the equity "
            f"of {equity:.2f} USD"
        )
    return ""


def _liquidate(account: Account, day: date, bars: dict[str, Bar]) -> None:
    """Close every position at the close, and cancel what waits."""
    for ticker, position in account.positions.items():
        if position.shares:
            volume = bars[ticker].volume if ticker in bars else 0.0
            quantity = -position.shares
            price, fee = fill_price_and_fee(quantity, position.mark, volume, extra_fee_bps=LIQUIDATION_FEE_BPS)
            account.cash -= quantity * price + fee
            position.trade(quantity, price, fee)
    account.liquidations += 1
    for order in account.waiting():
        order.state, order.note = "cancelled", f"the account was liquidated on {day}"
