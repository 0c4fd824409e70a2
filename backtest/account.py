"""What an account is, and what may be asked of it."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike, DTypeLike

from pricing.signature import checked

HOLD, BUY, SELL, CLOSE, TARGET = range(5)
"""Kinds of action; see :class:`Action`."""

ORDER_REFUSED = 1
"""The size was not a positive finite number (for TARGET: not finite), or the kind was unknown: nothing was traded."""
ORDER_CUT = 2
"""The order was cut down to the leverage cap."""
ORDER_TOO_SMALL = 4
"""The order was below the minimum notional and did not close the position: nothing was traded."""
STOP_REFUSED = 8
"""The stop-loss was not on the losing side of the bar's open, or there was no position: it was not placed."""
TAKE_PROFIT_REFUSED = 16
"""The take-profit was not on the winning side of the bar's open, or there was no position: it was not placed."""
FILLED = 32
"""The order was traded at the open."""
STOPPED = 64
"""The stop-loss was hit."""
TOOK_PROFIT = 128
"""The take-profit was hit."""
LIQUIDATED = 256
"""The position was taken away because equity fell to the maintenance margin."""
ORDER_CANCELLED = 512
"""The position was liquidated at the open, before the order could be traded: the order lapsed."""

Flags: TypeAlias = jax.Array


class Action(NamedTuple):
    """An order that waits for the open of the next bar.

    Attributes
    ----------
    kind
        ``HOLD`` nothing; ``BUY`` / ``SELL`` an order of ``size`` times equity; ``CLOSE`` the whole position;
        ``TARGET`` trade to a position of ``size`` times equity (signed). int32, shape ``[...]``.
    size
        Notional as a fraction of equity at the open. > 0 for BUY and SELL; any finite number for TARGET; not read
        otherwise.
    stop_loss, take_profit
        Prices; NaN leaves what is in place. A strategy that never gives any returns None for both.
    """

    kind: jax.Array
    size: jax.Array
    stop_loss: jax.Array | None
    take_profit: jax.Array | None


class Ledger(NamedTuple):
    """Running totals of an account. A trade runs from flat to flat, or to a reversal; its profit is after all costs.

    Attributes
    ----------
    trades, wins
        Closed trades, and those of them with a profit > 0. Counts, in the account's float type.
    gross_profit, gross_loss
        Sum of profits of winning trades and of losses (>= 0) of the others, quote currency.
    traded_notional
        Sum of absolute traded notional at fill prices, quote currency.
    costs
        Fees, slippage and liquidation fees paid, quote currency.
    funding
        Funding paid (negative: received), quote currency.
    refusals
        Orders, stops and take-profits that were refused. Count.
    liquidations
        Count.
    """

    trades: jax.Array
    wins: jax.Array
    gross_profit: jax.Array
    gross_loss: jax.Array
    traded_notional: jax.Array
    costs: jax.Array
    funding: jax.Array
    refusals: jax.Array
    liquidations: jax.Array


class Account(NamedTuple):
    """One margin account in one market, or a batch of them. Every field has the same shape ``[...]``.

    Attributes
    ----------
    cash
        Quote currency, such that equity is ``cash + position * price``; negative when borrowed.
    position
        Base currency, negative when short.
    entry_price
        Average fill price of the open position, 0 when flat.
    stop_loss, take_profit
        Prices in force, NaN when there is none.
    equity
        At the close of the last bar, quote currency, >= 0.
    trade_equity
        Equity just before the open trade was opened; what its profit is counted from.
    events
        What happened in the last bar: sum of the flags of this file. int32.
    ledger
        Running totals.
    """

    cash: jax.Array
    position: jax.Array
    entry_price: jax.Array
    stop_loss: jax.Array
    take_profit: jax.Array
    equity: jax.Array
    trade_equity: jax.Array
    events: Flags
    ledger: Ledger


@checked
def open_account(*, equity: float = 10_000.0, shape: tuple[int, ...] = (), dtype: DTypeLike = jnp.float64) -> Account:
    """Return flat accounts that hold ``equity`` in quote currency each.

    Raises
    ------
    ValueError
        When equity is not a finite positive number.
    """
    if not (math.isfinite(equity) and equity > 0.0):
        raise ValueError(f"equity must be a finite number above 0, got {equity!r}")
    zero = jnp.zeros(shape, dtype)
    cash = jnp.full(shape, equity, dtype)
    none = jnp.full(shape, jnp.nan, dtype)
    ledger = Ledger(*[zero] * len(Ledger._fields))
    return Account(
        cash=cash,
        position=zero,
        entry_price=zero,
        stop_loss=none,
        take_profit=none,
        equity=cash,
        trade_equity=cash,
        events=jnp.zeros(shape, jnp.int32),
        ledger=ledger,
    )


@checked
def action(
    kind: ArrayLike,
    size: ArrayLike = 0.0,
    *,
    stop_loss: ArrayLike = math.nan,
    take_profit: ArrayLike = math.nan,
    like: jax.Array | None = None,
) -> Action:
    """Return an action whose fields have the shape and float type of ``like``.

    Without ``like`` they are float64 and have the shape to which the arguments broadcast: numbers give one action,
    arrays ``[bars]`` one for each bar.

    Raises
    ------
    ValueError
        When a kind is no whole number, or shapes do not broadcast.
    """
    given = {"kind": kind, "size": size, "stop_loss": stop_loss, "take_profit": take_profit}
    if not jnp.issubdtype(jnp.result_type(kind), jnp.integer):
        raise ValueError(f"kind must be whole numbers (HOLD, BUY, SELL, CLOSE or TARGET), got {jnp.result_type(kind)}")
    shapes = {name: jnp.shape(value) for name, value in given.items()} | ({} if like is None else {"like": like.shape})
    try:
        shape = np.broadcast_shapes(*shapes.values())
    except ValueError:
        shape = None
    if shape is None or (like is not None and shape != like.shape):
        fields = ", ".join(f"{name} {each}" for name, each in shapes.items())
        raise ValueError(f"the fields of an action must broadcast{'' if like is None else ' to like'}, got {fields}")
    dtype = jnp.float64 if like is None else like.dtype
    numbers = (jnp.broadcast_to(jnp.asarray(each, dtype), shape) for each in (size, stop_loss, take_profit))
    return Action(jnp.broadcast_to(jnp.asarray(kind, jnp.int32), shape), *numbers)


@checked
def hold(like: jax.Array) -> Action:
    """Return the action that changes nothing, shaped like an account field, without stops."""
    return Action(jnp.zeros(jnp.shape(like), jnp.int32), jnp.zeros_like(like), None, None)


@checked
def target(exposure: jax.Array) -> Action:
    """Return the action that trades to ``exposure`` (signed multiple of equity), without stops."""
    exposure = jnp.asarray(exposure)
    return Action(jnp.full(exposure.shape, TARGET, jnp.int32), exposure, None, None)


@checked
def stops_of(order: Action) -> tuple[jax.Array, jax.Array]:
    """Return stop-loss and take-profit of an action as arrays, NaN where it has None."""
    none = jnp.full_like(order.size, jnp.nan)
    return (
        none if order.stop_loss is None else order.stop_loss,
        none if order.take_profit is None else order.take_profit,
    )


@checked
def last_asked(before: Action, order: Action) -> Action:
    """Return ``order``, or ``before`` where ``order`` is a hold: what a strategy asked for last."""
    taken: Action = jax.tree.map(partial(jnp.where, order.kind != HOLD), order, before)
    return taken


@checked
def with_stops(order: Action) -> Action:
    """Return the action with arrays for both stops; see :func:`stops_of`."""
    stop_loss, take_profit = stops_of(order)
    return order._replace(stop_loss=stop_loss, take_profit=take_profit)
