"""One bar of one account, and whole episodes of them.

:func:`step` is the only place where money moves. An interactive episode calls it bar by bar; :func:`run` scans it over
a market. Everything is elementwise: fields may be scalars or batches of any one shape.

The order of events within a bar, all on the traded channel:

1. Funding is paid at the open on the position carried into the bar.
2. If equity at the open is at or below the maintenance margin, the position is liquidated at the open and the waiting
   order lapses.
3. The waiting order is filled at the open plus slippage, cut to the leverage cap.
4. Stop-loss and take-profit of the action are placed if they are on the right side of the open.
5. The adverse extreme of the bar comes first: whichever of stop-loss and liquidation price is nearer is filled at the
   worse of its level and the open. Otherwise, the favourable extreme may fill the take-profit at its level, never
   better. Exits pay slippage and fee like every fill.
6. The account is marked at the close. A flat account that owes money is set to 0: the venue bears the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike

from backtest import account as acc
from backtest.account import Account, Action, Ledger, open_account
from backtest.costs import fill, unit_cost
from backtest.market import Market, bars_last_to_first, check
from backtest.rules import DEFAULT_RULES, Number, Rules, check_rules
from native import where_any
from pricing.signature import checked, labelled

Memory: TypeAlias = Any


class Strategy(NamedTuple):
    """A trading rule that sees one observed bar after the other.

    Attributes
    ----------
    init
        Observed market ``[...]`` (its first bar) -> memory, any pytree of arrays of that shape and float type.
    decide
        ``(memory, observed bar, account) -> (memory, action)``. Called after the close of each bar; the action is
        filled at the next open. Elementwise, so that one strategy plays one market or a batch.
    reads_account
        Whether ``decide`` looks at the account. A sweep plays those that do not much faster; ``decide`` is then given
        the account before the first bar throughout.
    """

    init: Callable[[Market], Memory]
    decide: Callable[[Memory, Market, Account], tuple[Memory, Action]]
    reads_account: bool = True


class Trajectory(NamedTuple):
    """What happened in an episode.

    Attributes
    ----------
    equity
        ``[..., bars + 1]``, quote currency: before the first bar, then at each close.
    position
        ``[..., bars]``, base currency at each close.
    exposure
        ``[..., bars]``, position times close over equity at each close; 0 where equity is 0.
    events
        ``[..., bars]``, flags of ``backtest.account``.
    actions
        Fields ``[..., bars]``: the action that waited at each open.
    account
        Fields ``[...]``: the account after the last bar.
    """

    equity: jax.Array
    position: jax.Array
    exposure: jax.Array
    events: jax.Array
    actions: Action
    account: Account


@checked
def step(state: Account, action: Action, bar: Market, *, rules: Rules) -> Account:
    """Return the account after one bar of the traded channel.

    Parameters
    ----------
    state
        Account after the previous bar, fields ``[...]``.
    action
        The order decided after the previous bar, fields ``[...]``.
    bar
        The bar that the order meets, fields ``[...]``. Must be valid (``backtest.market.check``).
    rules
        Numbers; computed in the float type of ``state``.

    Notes
    -----
    A bad action never moves money: it is refused, counted in ``ledger.refusals`` and flagged in ``events``. For valid
    bars and rules no field of the account but the stops is ever NaN, and equity is never below 0.
    """
    dtype = state.cash.dtype
    rules = Rules(*(jnp.asarray(value, dtype) for value in rules))
    bar = Market(bar.time, *(jnp.asarray(value, dtype) for value in bar[1:]))
    stop, take = acc.stops_of(action)
    state = state._replace(events=jnp.zeros_like(state.events))
    cancelled = jnp.zeros_like(state.cash, bool)
    state, cancelled = where_any(state.position != 0.0, partial(_carried, bar=bar, rules=rules), state, cancelled)
    fills = partial(_fill_order, action=action, bar=bar, rules=rules, cancelled=cancelled)
    state = where_any(action.kind != acc.HOLD, fills, state)
    placed = partial(_place_stops, stop=stop, take=take, bar=bar, cancelled=cancelled)
    state = where_any(~(jnp.isnan(stop) & jnp.isnan(take)), placed, state)
    after: Account = where_any(state.position != 0.0, partial(_exit_inside_bar, bar=bar, rules=rules), state)
    return after._replace(equity=jnp.maximum(after.cash + after.position * bar.close, 0.0))


def _flag(state: Account, condition: jax.Array, flag: int) -> Account:
    return state._replace(events=state.events | jnp.where(condition, jnp.int32(flag), jnp.int32(0)))


def _count(ledger: Ledger, name: str, amount: jax.Array) -> Ledger:
    total = getattr(ledger, name)
    return ledger._replace(**{name: total + amount.astype(total.dtype)})


def _carried(state: Account, cancelled: jax.Array, *, bar: Market, rules: Rules) -> tuple[Account, jax.Array]:
    """Pay funding on the position carried into the bar, and liquidate it where its margin is gone."""
    paid = state.position * bar.open * bar.funding_rate
    state = state._replace(cash=state.cash - paid, ledger=_count(state.ledger, "funding", paid))
    equity = state.cash + state.position * bar.open
    margin = rules.maintenance_margin * jnp.abs(state.position) * bar.open
    broken = (state.position != 0.0) & (equity <= margin)

    def liquidated(state: Account) -> Account:
        state = _exit(state, broken, bar.open, bar.volume, rules, rules.liquidation_fee_bps)
        state = state._replace(ledger=_count(state.ledger, "liquidations", broken))
        return _flag(state, broken, acc.LIQUIDATED | acc.ORDER_CANCELLED)

    return where_any(broken, liquidated, state), broken


def _exit(
    state: Account, where: jax.Array, price: jax.Array, volume: jax.Array, rules: Rules, extra_fee_bps: Number
) -> Account:
    """Close the whole position at ``price`` minus slippage, where asked; book the trade."""
    quantity = jnp.where(where, -state.position, 0.0)
    fill_price, fee = fill(quantity=quantity, price=price, volume=volume, rules=rules, extra_fee_bps=extra_fee_bps)
    cash = jnp.where(where, jnp.maximum(state.cash - quantity * fill_price - fee, 0.0), state.cash)
    ledger = _book_fill(state.ledger, quantity, price, fill_price, fee)
    ledger = _book_trade(ledger, where, cash - state.trade_equity)
    return state._replace(
        cash=cash,
        position=jnp.where(where, 0.0, state.position),
        entry_price=jnp.where(where, 0.0, state.entry_price),
        stop_loss=jnp.where(where, jnp.nan, state.stop_loss),
        take_profit=jnp.where(where, jnp.nan, state.take_profit),
        ledger=ledger,
    )


def _book_fill(ledger: Ledger, quantity: jax.Array, price: jax.Array, fill_price: jax.Array, fee: jax.Array) -> Ledger:
    size = jnp.abs(quantity)
    ledger = _count(ledger, "traded_notional", size * fill_price)
    return _count(ledger, "costs", size * jnp.abs(fill_price - price) + fee)


def _book_trade(ledger: Ledger, closed: jax.Array, profit: jax.Array) -> Ledger:
    won = closed & (profit > 0.0)
    ledger = _count(ledger, "trades", closed)
    ledger = _count(ledger, "wins", won)
    ledger = _count(ledger, "gross_profit", jnp.where(won, profit, 0.0))
    return _count(ledger, "gross_loss", jnp.where(closed & ~won, -profit, 0.0))


def _fill_order(state: Account, *, action: Action, bar: Market, rules: Rules, cancelled: jax.Array) -> Account:
    """Read the order that waits, cut it to the leverage cap, and trade it."""
    held = state.position * bar.open
    equity = jnp.maximum(state.cash + held, 0.0)
    limit = rules.max_leverage * equity
    buys, sells, closes, targets = (action.kind == kind for kind in (acc.BUY, acc.SELL, acc.CLOSE, acc.TARGET))
    sized = ((buys | sells) & (action.size > 0.0) | targets) & jnp.isfinite(action.size)
    refused = ~(sized | closes | (action.kind == acc.HOLD)) & ~cancelled
    amount = action.size * equity
    asked = jnp.where(buys, held + amount, jnp.where(sells, held - amount, amount))
    highest = jnp.where(buys, jnp.maximum(limit, held), limit)
    lowest = jnp.where(sells, jnp.minimum(-limit, held), -limit)
    goal = jnp.where(sells, asked, jnp.minimum(asked, highest))
    goal = jnp.where(buys, goal, jnp.maximum(goal, lowest))
    goal = jnp.where(closes, 0.0, goal)
    active = (sized | closes) & ~cancelled
    state = _flag(state, active & sized & (goal != asked), acc.ORDER_CUT)
    state = _flag(state, refused, acc.ORDER_REFUSED)
    state = state._replace(ledger=_count(state.ledger, "refusals", refused))
    tiny = jnp.abs(goal) < rules.min_notional
    goal = jnp.where(tiny, 0.0, goal)
    small = (goal != 0.0) & (jnp.abs(goal - held) < rules.min_notional) | tiny & (held == 0.0) & ~closes
    state = _flag(state, active & small, acc.ORDER_TOO_SMALL)
    trades = active & ~small & (goal != held)
    after: Account = where_any(trades, partial(_trade_to, goal, trades, bar=bar, rules=rules), state)
    return after


def _trade_to(goal: jax.Array, trades: jax.Array, state: Account, *, bar: Market, rules: Rules) -> Account:
    """Trade to a position worth ``goal`` at the open, where asked; its stops begin anew with a new position."""
    old = state.position
    new = jnp.where(trades, jnp.where(goal == 0.0, 0.0, goal / bar.open), old)
    quantity = new - old
    fill_price, fee = fill(quantity=quantity, price=bar.open, volume=bar.volume, rules=rules)
    cash = state.cash - quantity * fill_price - fee
    flips = old * new < 0.0
    closes = trades & (old != 0.0) & ((new == 0.0) | flips)
    opens = trades & (new != 0.0) & ((old == 0.0) | flips)
    # The costs of a reversal belong to the old trade for the part that closes it, to the new trade for the rest.
    each = unit_cost(fill_price=fill_price, price=bar.open, rules=rules)
    equity = state.cash + old * bar.open
    closing_equity = jnp.maximum(equity - jnp.abs(old) * each, 0.0)
    cash = jnp.where(new == 0.0, jnp.maximum(cash, 0.0), cash)
    ledger = _book_fill(state.ledger, quantity, bar.open, fill_price, fee)
    ledger = _book_trade(ledger, closes, closing_equity - state.trade_equity)
    grows = jnp.abs(new) > jnp.abs(old)
    average = (jnp.abs(old) * state.entry_price + jnp.abs(quantity) * fill_price) / jnp.where(grows, jnp.abs(new), 1.0)
    entry = jnp.where(opens, fill_price, jnp.where(grows, average, state.entry_price))
    fresh = closes | opens
    state = state._replace(
        cash=jnp.where(trades, cash, state.cash),
        position=new,
        entry_price=jnp.where(new == 0.0, 0.0, entry),
        stop_loss=jnp.where(fresh, jnp.nan, state.stop_loss),
        take_profit=jnp.where(fresh, jnp.nan, state.take_profit),
        trade_equity=jnp.where(opens, jnp.where(closes, closing_equity, equity), state.trade_equity),
        ledger=ledger,
    )
    return _flag(state, trades, acc.FILLED)


def _place_stops(state: Account, *, stop: jax.Array, take: jax.Array, bar: Market, cancelled: jax.Array) -> Account:
    long, short = state.position > 0.0, state.position < 0.0
    stop_valid = long & _below(stop, bar.open) | short & _above(stop, bar.open)
    take_valid = long & _above(take, bar.open) | short & _below(take, bar.open)
    stop_refused = ~jnp.isnan(stop) & ~stop_valid & ~cancelled
    take_refused = ~jnp.isnan(take) & ~take_valid & ~cancelled
    ledger = _count(_count(state.ledger, "refusals", stop_refused), "refusals", take_refused)
    state = state._replace(
        stop_loss=jnp.where(stop_valid, stop, state.stop_loss),
        take_profit=jnp.where(take_valid, take, state.take_profit),
        ledger=ledger,
    )
    return _flag(_flag(state, stop_refused, acc.STOP_REFUSED), take_refused, acc.TAKE_PROFIT_REFUSED)


def _below(level: jax.Array, price: jax.Array) -> jax.Array:
    return (level > 0.0) & (level < price)


def _above(level: jax.Array, price: jax.Array) -> jax.Array:
    return jnp.isfinite(level) & (level > price)


def _exit_inside_bar(state: Account, *, bar: Market, rules: Rules) -> Account:
    position = state.position
    long, held = position > 0.0, position != 0.0
    # With prices multiplied by the side, lower is always worse: one set of comparisons serves longs and shorts.
    side = jnp.where(long, 1.0, -1.0)
    adverse_price = jnp.where(long, bar.low, bar.high)
    worst, best = side * adverse_price, side * jnp.where(long, bar.high, bar.low)
    stop_level, take_level = side * state.stop_loss, side * state.take_profit
    # Wide enough never to miss what the quotient finds that is taken where something is near.
    slack = 1e-9 if position.dtype == jnp.float64 else 1e-4
    notional = jnp.abs(position) * adverse_price
    near = state.cash + position * adverse_price <= (rules.maintenance_margin + slack) * notional
    close_to = held & (near | (worst <= stop_level) | (best >= take_level))

    def exits(state: Account) -> Account:
        net = jnp.where(held, position - rules.maintenance_margin * jnp.abs(position), 1.0)
        margin_level = side * (-state.cash / net)
        stopped_first = stop_level > margin_level
        level = jnp.where(stopped_first, stop_level, margin_level)
        adverse = held & (worst <= level)
        takes = held & ~adverse & (best >= take_level)
        out = adverse | takes
        price = jnp.where(takes, state.take_profit, side * jnp.minimum(level, side * bar.open))
        liquidated = adverse & ~stopped_first
        extra_fee = jnp.where(liquidated, rules.liquidation_fee_bps, 0.0)
        state = _exit(state, out, jnp.where(out, price, bar.open), bar.volume, rules, extra_fee)
        state = state._replace(ledger=_count(state.ledger, "liquidations", liquidated))
        state = _flag(state, liquidated, acc.LIQUIDATED)
        state = _flag(state, adverse & stopped_first, acc.STOPPED)
        return _flag(state, takes, acc.TOOK_PROFIT)

    after: Account = where_any(close_to, exits, state)
    return after


@checked
def rollout(
    market: Market,
    policy: Strategy | Action,
    *,
    rules: Rules,
    account: Account,
    observed: Market | None = None,
    warmup: int = 0,
) -> Trajectory:
    """Return the trajectory of one episode, or of a batch of them. Pure: may be traced, mapped, differentiated.

    Parameters
    ----------
    market
        The traded channel, ``[bars]`` or ``[batch, bars]``.
    policy
        A strategy; or actions with fields ``[bars]`` / ``[batch, bars]``, the one at index ``t`` waiting when bar
        ``t`` opens.
    rules
        Numbers.
    account
        The account before the first bar, fields ``[]`` or ``[batch]``; its float type is the episode's.
    observed
        What a strategy sees, same shape; the traded channel when omitted. Not read for given actions.
    warmup
        Number of bars at the beginning that a strategy sees before it may trade; what it asked for last in them waits
        at the first bar after them. Not allowed for given actions.

    Returns
    -------
    Trajectory
        Of the bars from ``warmup`` on.
    """
    traded = bars_last_to_first(market)
    if isinstance(policy, Action):
        if warmup:
            raise ValueError(f"warmup must be 0 when actions are given (each has its bar), got {warmup}")
        actions: Action = jax.tree.map(lambda field: jnp.moveaxis(jnp.asarray(field), -1, 0), acc.with_stops(policy))
        last, rows = lax.scan(partial(_given_bar, rules=rules), account, (traded, actions))
    else:
        seen = traded if observed is None else bars_last_to_first(observed)
        seen = Market(seen.time, *(field.astype(account.cash.dtype) for field in seen[1:]))
        memory = policy.init(Market(*(field[0] for field in seen)))
        before = Market(*(field[:warmup] for field in seen))

        def look(carry: tuple[Memory, Action], bar: Market) -> tuple[tuple[Memory, Action], None]:
            memory, decided = _decide(policy, carry[0], bar, account)
            return (memory, acc.last_asked(carry[1], decided)), None

        (memory, waiting), _ = lax.scan(look, (memory, acc.with_stops(acc.hold(account.cash))), before)
        after = tuple(Market(*(field[warmup:] for field in channel)) for channel in (traded, seen))
        body = partial(_decided_bar, strategy=policy, rules=rules)
        (last, _, _), rows = lax.scan(body, (account, memory, waiting), after)
    equity, position, exposure, events, taken = rows
    to_last = partial(jnp.moveaxis, source=0, destination=-1)
    return Trajectory(
        equity=jnp.concatenate([account.equity[..., None], to_last(equity)], axis=-1),
        position=to_last(position),
        exposure=to_last(exposure),
        events=to_last(events),
        actions=jax.tree.map(to_last, taken),
        account=last,
    )


Row: TypeAlias = tuple[jax.Array, jax.Array, jax.Array, jax.Array, Action]


def _row(account: Account, bar: Market, action: Action) -> Row:
    notional = account.position * bar.close.astype(account.cash.dtype)
    exposure = jnp.where(account.equity > 0.0, notional / account.equity, 0.0)
    return account.equity, account.position, exposure, account.events, action


def _decide(strategy: Strategy, memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
    memory, decided = strategy.decide(memory, bar, account)
    return memory, acc.with_stops(decided)


def _given_bar(account: Account, bars: tuple[Market, Action], *, rules: Rules) -> tuple[Account, Row]:
    traded, action = bars
    account = step(account, action, traded, rules=rules)
    return account, _row(account, traded, action)


def _decided_bar(
    carry: tuple[Account, Memory, Action], bars: tuple[Market, Market], *, strategy: Strategy, rules: Rules
) -> tuple[tuple[Account, Memory, Action], Row]:
    account, memory, action = carry
    traded, seen = bars
    account = step(account, action, traded, rules=rules)
    memory, decided = _decide(strategy, memory, seen, account)
    return (account, memory, decided), _row(account, traded, action)


@partial(jax.jit, static_argnames=("strategy", "warmup"))
def _run_strategy(
    market: Market, observed: Market, account: Account, rules: Rules, strategy: Strategy, warmup: int
) -> Trajectory:
    return rollout(market, strategy, rules=rules, account=account, observed=observed, warmup=warmup)


@jax.jit
def _run_actions(market: Market, actions: Action, account: Account, rules: Rules) -> Trajectory:
    return rollout(market, actions, rules=rules, account=account)


@labelled
def run(
    market: Market,
    policy: Strategy | Action,
    rules: Rules = DEFAULT_RULES,
    *,
    observed: Market | None = None,
    warmup: int = 0,
    equity: float = 10_000.0,
    dtype: DTypeLike = jnp.float64,
) -> Trajectory:
    """Check the inputs, open an account in every market of the batch, and play the episode; see :func:`rollout`.

    Example
    -------
    >>> from backtest import episode, simulators, strategies
    >>> import jax
    >>> market = simulators.simulate(jax.random.key(0), bars=500)
    >>> episode.run(market, strategies.always(1.0)).equity.shape
    (501,)

    Raises
    ------
    ValueError
        For an invalid market, rules, starting equity or warm-up, naming it.
    """
    check(market)
    check_rules(rules)
    bars = market.close.shape[-1]
    if not 0 <= warmup < bars:
        raise ValueError(f"warmup must leave at least one of the {bars} bars to trade, got {warmup}")
    account = open_account(equity=equity, shape=market.close.shape[:-1], dtype=dtype)
    if isinstance(policy, Action):
        _check_actions(policy, market.close.shape, warmup)
        played: Trajectory = _run_actions(market, policy, account, rules)
        return played
    seen = market if observed is None else check(observed)
    if seen.close.shape != market.close.shape:
        raise ValueError(f"observed has shape {seen.close.shape}, the traded market has {market.close.shape}")
    trajectory: Trajectory = _run_strategy(market, seen, account, rules, policy, warmup)
    return trajectory


def _check_actions(actions: Action, shape: tuple[int, ...], warmup: int) -> None:
    for name, value in zip(Action._fields, actions, strict=True):
        if value is not None and jnp.shape(value) != shape:
            raise ValueError(f"actions.{name} must have the market's shape {shape}, got {jnp.shape(value)}")
    if warmup:
        raise ValueError(f"warmup must be 0 when actions are given (each has its bar), got {warmup}")


step_bar = jax.jit(step)
"""Compiled :func:`step` for interactive episodes: ``step_bar(state, action, bar, rules=rules)``."""
