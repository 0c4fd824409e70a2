"""A declarative strategy as a trading rule of the engine."""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from backtest import indicators
from backtest.account import CLOSE, HOLD, TARGET, Account, Action
from backtest.episode import Memory, Strategy
from backtest.indicators import Indicator
from backtest.market import Market
from evaluators.crypto.strategy_rules import PRICES, Condition, StrategySpec

VOLATILITY_WINDOW = 48


class _Memory(NamedTuple):
    """Memories of the indicators, and both sides of every condition at the bar before."""

    indicators: tuple[Any, ...]
    before: tuple[tuple[jax.Array, jax.Array], ...]


@lru_cache(maxsize=256)
def program(spec: StrategySpec, *, bars_per_year: float) -> Strategy:
    """Return the rule that plays ``spec``; equal specs share one rule and so one compilation."""
    made: list[Indicator] = [getattr(indicators, kind)(**dict(parameters)) for _, kind, parameters in spec.indicators]
    names = [name for name, _, _ in spec.indicators]
    if spec.volatility_target is not None:
        made.append(indicators.realised_volatility(VOLATILITY_WINDOW, bars_per_year))
    conditions = [*spec.enter_long, *spec.exit_long, *spec.enter_short, *spec.exit_short]

    def init(bar: Market) -> Memory:
        nothing = jnp.full_like(bar.close, jnp.nan)
        return _Memory(tuple(each.init(bar) for each in made), tuple((nothing, nothing) for _ in conditions))

    def decide(memory: _Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        updated = [each.update(state, bar) for each, state in zip(made, memory.indicators, strict=True)]
        values = dict(zip(names, [value for _, value in updated], strict=False))
        sides = tuple((_operand(c.left, values, bar), _operand(c.right, values, bar)) for c in conditions)
        fired = [_holds(c, now, then) for c, now, then in zip(conditions, sides, memory.before, strict=True)]
        size = jnp.full_like(bar.close, spec.size)
        if spec.volatility_target is not None:
            volatility = updated[-1][1]
            size = jnp.where(volatility > 0.0, jnp.minimum(size, spec.volatility_target / volatility), 0.0)
        order = _order(spec, fired, size, bar, account)
        return _Memory(tuple(state for state, _ in updated), sides), order

    return Strategy(init=init, decide=decide)


def _operand(operand: float | tuple[str, str], values: dict[str, Any], bar: Market) -> jax.Array:
    if isinstance(operand, float):
        return jnp.full_like(bar.close, operand)
    name, part = operand
    if name in PRICES:
        price: jax.Array = getattr(bar, name)
        return price
    value: jax.Array = getattr(values[name], part) if part else values[name]
    return value


def _holds(condition: Condition, now: tuple[jax.Array, jax.Array], then: tuple[jax.Array, jax.Array]) -> jax.Array:
    """Return whether a condition holds; never while an operand is not known yet (NaN)."""
    left, right = now
    match condition.op:
        case ">":
            return left > right
        case "<":
            return left < right
        case ">=":
            return left >= right
        case "<=":
            return left <= right
        case "crosses_above":
            return (left > right) & (then[0] <= then[1])
        case "crosses_below":
            return (left < right) & (then[0] >= then[1])


def _order(spec: StrategySpec, fired: list[jax.Array], size: jax.Array, bar: Market, account: Account) -> Action:
    """Return what the four rules ask for; an entry against an open position reverses it."""
    never = jnp.zeros(bar.close.shape, bool)
    groups, first = [], 0
    for rules in (spec.enter_long, spec.exit_long, spec.enter_short, spec.exit_short):
        part = fired[first : first + len(rules)]
        groups.append(reduce(jnp.logical_and, part) if part else never)
        first += len(rules)
    enter_long, exit_long, enter_short, exit_short = groups
    long, short = account.position > 0.0, account.position < 0.0
    side = jnp.where(enter_long & ~long, 1.0, jnp.where(enter_short & ~short, -1.0, 0.0))
    enters = (side != 0.0) & (size > 0.0)
    leaves = ~enters & (long & exit_long | short & exit_short)
    unset = jnp.full_like(bar.close, jnp.nan)
    stop = unset if spec.stop_loss is None else bar.close * (1.0 - side * spec.stop_loss)
    take = unset if spec.take_profit is None else bar.close * (1.0 + side * spec.take_profit)
    return Action(
        kind=jnp.where(enters, TARGET, jnp.where(leaves, CLOSE, HOLD)).astype(jnp.int32),
        size=jnp.where(enters, side * size, 0.0),
        stop_loss=jnp.where(enters, stop, jnp.nan),
        take_profit=jnp.where(enters & (take > 0.0), take, jnp.nan),
    )
