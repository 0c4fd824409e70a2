"""Orders: their terms, when a bar or a quote makes them trade, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypeAlias

from mcp_servers.trading.instrument import Instrument

Side: TypeAlias = Literal["buy", "sell"]
OrderType: TypeAlias = Literal["market", "limit", "stop", "bracket"]
OrderState: TypeAlias = Literal["held", "waiting", "filled", "rejected", "cancelled"]

TAKE_PROFIT, STOP_LOSS = "take_profit", "stop_loss"


class Bar(NamedTuple):
    """One day of a share or a coin: prices in USD, volume in shares or coins."""

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
        Shares, contracts or coins, > 0; ``side`` says the direction.
    limit_price, stop_price
        USD a share or coin.
    placed_on
        Day after whose close it was placed; it meets the days that follow.
    parent, rival
        Of the two exits of a bracket: the id of the entry, and of the other exit. They are held until the entry fills.
    filled_quantity, paid
        So far, and quantity times price of that, USD a share.
    filled_on, fee
        Day of the last fill; fees of all fills, millionths of a dollar.
    note
        Why it was rejected or cancelled, or what it waits for.
    terms
        What the agent gave, to know the same order when it comes again.
    """

    client_order_id: str
    instrument: Instrument
    side: Side
    quantity: Decimal
    order_type: OrderType
    limit_price: float | None
    stop_price: float | None
    placed_on: date
    take_profit_price: float | None = None
    stop_loss_price: float | None = None
    state: OrderState = "waiting"
    parent: str | None = None
    rival: str | None = None
    filled_quantity: Decimal = Decimal(0)
    paid: float = 0.0
    filled_on: date | None = None
    fee: int = 0
    note: str = ""
    terms: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sign(self) -> int:
        """1 for a purchase, -1 for a sale."""
        return 1 if self.side == "buy" else -1

    @property
    def left(self) -> Decimal:
        """What is still to be filled."""
        return self.quantity - self.filled_quantity

    @property
    def fill_price(self) -> float | None:
        """Average price of the fills, USD; None before the first."""
        return self.paid / float(self.filled_quantity) if self.filled_quantity else None

    @property
    def is_limited(self) -> bool:
        """Whether it never trades beyond its limit; the entry of a bracket may be a limit order."""
        return self.limit_price is not None

    def cancel(self, reason: str) -> None:
        """End an order that waits or is held; what was filled stays."""
        self.state, self.note = "cancelled", reason


def exits(entry: Order) -> tuple[Order, Order]:
    """Return the exits of a bracket, held until the entry fills: a limit order and a stop order the other way."""
    names = {kind: f"{entry.client_order_id}:{kind}" for kind in (TAKE_PROFIT, STOP_LOSS)}
    side: Side = "sell" if entry.side == "buy" else "buy"

    def held(kind: str, order_type: OrderType, rival: str) -> Order:
        return Order(
            names[kind], entry.instrument, side, Decimal(0), order_type,
            entry.take_profit_price if kind == TAKE_PROFIT else None,
            entry.stop_loss_price if kind == STOP_LOSS else None,
            entry.placed_on, state="held", parent=entry.client_order_id, rival=names[rival],
            note="waits for the entry",
        )  # fmt: skip

    # a bar that reaches both does not tell which came first: the stop goes before, which is the worse of the two
    return held(STOP_LOSS, "stop", TAKE_PROFIT), held(TAKE_PROFIT, "limit", STOP_LOSS)


def trigger_price(order: Order, bar: Bar) -> float | None:
    """Return the price before slippage at which the order trades in this bar, or None.

    A market order trades at the open; a limit order at the better of open and limit, when the price trades through
    the limit; a stop order at the worse of open and stop, when the price reaches the stop.
    """
    buys = order.side == "buy"
    if order.limit_price is not None:
        if buys:
            return min(bar.open, order.limit_price) if bar.low < order.limit_price else None
        return max(bar.open, order.limit_price) if bar.high > order.limit_price else None
    if order.stop_price is not None:
        if order.filled_quantity:
            return bar.open  # it was reached on an earlier day: what is left is a market order
        if buys:
            return max(bar.open, order.stop_price) if bar.high >= order.stop_price else None
        return min(bar.open, order.stop_price) if bar.low <= order.stop_price else None
    return bar.open


def quoted_price(order: Order, bid: float | None, ask: float | None) -> float | None:
    """Return the side of a quote at which the order trades, or None: options trade at the quotes of the close.

    A limit order trades when the quote is no worse than its limit, a stop order when the quote has reached its stop.
    """
    buys = order.side == "buy"
    price = ask if buys else bid
    if price is None or price <= 0.0:
        return None
    if order.limit_price is not None:
        return price if (price <= order.limit_price if buys else price >= order.limit_price) else None
    if order.stop_price is not None and not order.filled_quantity:
        return price if (price >= order.stop_price if buys else price <= order.stop_price) else None
    return price


def check_prices(
    order_type: OrderType,
    side: Side,
    *,
    limit_price: float | None,
    stop_price: float | None,
    take_profit_price: float | None,
    stop_loss_price: float | None,
) -> None:
    """Refuse prices that an order type does not take, and a bracket whose exits stand on the wrong sides.

    Raises
    ------
    ValueError
        Naming what the type takes.
    """
    prices = {
        "limit_price": limit_price,
        "stop_price": stop_price,
        "take_profit_price": take_profit_price,
        "stop_loss_price": stop_loss_price,
    }
    given = {name for name, price in prices.items() if price is not None}
    wanted, words = _TAKES[order_type]
    optional = {"limit_price"} if order_type == "bracket" else set()
    if given - optional != wanted:
        raise ValueError(f"a {order_type} order takes {words}; given: {', '.join(sorted(given)) or 'none'}")
    if take_profit_price is None or stop_loss_price is None:
        return
    entry = (take_profit_price + stop_loss_price) / 2.0 if limit_price is None else limit_price
    below, above = (stop_loss_price, take_profit_price) if side == "buy" else (take_profit_price, stop_loss_price)
    if not below < entry < above:
        place = "the entry" if limit_price is None else f"limit_price={limit_price:g}"
        raise ValueError(
            f"a bracket that {side}s has its profit {'above' if side == 'buy' else 'below'} and its stop on the other "
            f"side of {place}; got take_profit_price={take_profit_price:g}, stop_loss_price={stop_loss_price:g}"
        )


_TAKES: dict[OrderType, tuple[set[str], str]] = {
    "market": (set(), "neither limit_price nor stop_price, nor exits"),
    "limit": ({"limit_price"}, "limit_price only"),
    "stop": ({"stop_price"}, "stop_price only"),
    "bracket": (
        {"take_profit_price", "stop_loss_price"},
        "take_profit_price and stop_loss_price, and limit_price where the entry is a limit order",
    ),
}
