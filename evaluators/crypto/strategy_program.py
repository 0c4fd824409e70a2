"""A declarative strategy as a trading rule: of the engine on candles, of a session where a venue shows more."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from backtest import indicators
from backtest.account import CLOSE, HOLD, TARGET, Account, Action
from backtest.episode import Memory, Strategy
from backtest.indicators import Indicator
from backtest.market import YEAR_SECONDS, Market
from backtest.simulators.channels import Channels
from backtest.simulators.public import DAY, HOUR
from evaluators.crypto.columns import BASIS, UNITS
from evaluators.crypto.strategy_formulas import FORMULAS, Formula
from evaluators.crypto.strategy_rules import INDICATORS, PRICES, Condition, Operand, StrategySpec

VOLATILITY_WINDOW = 48


class Seen(NamedTuple):
    """What is shown of a bar, fields ``[...]``.

    Attributes
    ----------
    market
        The observed candle and its funding.
    channels
        What a venue shows beside it; None where there are candles alone.
    """

    market: Market
    channels: Channels | None


class Rule(NamedTuple):
    """A trading rule as ``backtest.episode.Strategy``, of :class:`Seen` in place of a market."""

    init: Callable[[Seen], Memory]
    decide: Callable[[Memory, Seen, Account], tuple[Memory, Action]]


class _Memory(NamedTuple):
    """Memories of the indicators, and both sides of every condition at the bar before."""

    indicators: tuple[Any, ...]
    before: tuple[tuple[jax.Array, jax.Array], ...]


@lru_cache(maxsize=256)
def program(spec: StrategySpec, *, bars_per_year: float) -> Strategy:
    """Return the rule that plays ``spec`` on candles; equal specs share one rule and so one compilation."""
    of_candles = rule(spec, bars_per_year=bars_per_year)
    return Strategy(
        init=lambda bar: of_candles.init(Seen(bar, None)),
        decide=lambda memory, bar, account: of_candles.decide(memory, Seen(bar, None), account),
    )


@lru_cache(maxsize=256)
def rule(spec: StrategySpec, *, bars_per_year: float) -> Rule:
    """Return the rule that plays ``spec``; equal specs share one rule and so one compilation."""
    made: list[Indicator | Formula] = [_made(kind, dict(parameters)) for _, kind, parameters in spec.indicators]
    if spec.volatility_target is not None:
        made.append(indicators.realised_volatility(VOLATILITY_WINDOW, bars_per_year))
    conditions = [*spec.enter_long, *spec.exit_long, *spec.enter_short, *spec.exit_short]
    seconds = YEAR_SECONDS / bars_per_year
    needed = _needed(spec)

    def init(first: Seen) -> Memory:
        close = first.market.close
        nothing = jnp.full_like(close, jnp.nan)
        memories = [each.init(first.market) if isinstance(each, Indicator) else each.init(close) for each in made]
        return _Memory(tuple(memories), tuple((nothing, nothing) for _ in conditions))

    def decide(memory: _Memory, seen: Seen, account: Account) -> tuple[Memory, Action]:
        bar = seen.market
        values: dict[str, Any] = {name: series(name, seen, seconds) for name in needed}
        memories = []
        for (name, kind, parameters), each, state in zip(spec.indicators, made, memory.indicators, strict=False):
            if isinstance(each, Indicator):
                state, values[name] = each.update(state, bar)
            else:
                given: dict[str, Any] = dict(parameters)
                operands = [_operand(given[key], values, bar) for key in FORMULAS[kind].operands]
                read = [values[series] for series in FORMULAS[kind].reads]
                state, values[name] = each.update(state, *operands, *read)
            memories.append(state)
        size = jnp.full_like(bar.close, spec.size)
        if spec.volatility_target is not None:
            state, volatility = made[-1].update(memory.indicators[-1], bar)
            memories.append(state)
            size = jnp.where(volatility > 0.0, jnp.minimum(size, spec.volatility_target / volatility), 0.0)
        sides = tuple((_operand(c.left, values, bar), _operand(c.right, values, bar)) for c in conditions)
        fired = [_holds(c, now, then) for c, now, then in zip(conditions, sides, memory.before, strict=True)]
        order = _order(spec, fired, size, bar, account)
        return _Memory(tuple(memories), sides), order

    return Rule(init, decide)


def _made(kind: str, parameters: dict[str, Any]) -> Indicator | Formula:
    if kind in INDICATORS:
        made: Indicator = getattr(indicators, kind)(**parameters)
        return made
    return FORMULAS[kind].make(**{name: value for name, value in parameters.items() if name in FORMULAS[kind].numbered})


def _needed(spec: StrategySpec) -> list[str]:
    """Return the series that are read: what a loop does not read it should not work out."""
    conditions = (*spec.enter_long, *spec.exit_long, *spec.enter_short, *spec.exit_short)
    operands: list[Any] = [side for each in conditions for side in (each.left, each.right)]
    names: set[str] = set()
    for _, kind, parameters in spec.indicators:
        if kind in FORMULAS:
            operands += [dict(parameters)[key] for key in FORMULAS[kind].operands]
            names.update(FORMULAS[kind].reads)
    own = {name for name, _, _ in spec.indicators}
    return sorted(names | {operand[0] for operand in operands if isinstance(operand, tuple)} - own)


def series(name: str, seen: Seen, seconds: float) -> jax.Array:
    """Return a series of a bar of so many ``seconds``, in the unit in which agents are told it."""
    bar = seen.market
    if name == "move":
        return BASIS * jnp.log(bar.close / bar.open)
    if name == "range":
        return BASIS * jnp.log(bar.high / bar.low)
    if name in ("hour", "next_hour"):
        time = bar.time + (seconds if name == "next_hour" else 0.0)
        return jnp.broadcast_to(jnp.floor((time % DAY) / HOUR), bar.close.shape).astype(bar.close.dtype)
    value: jax.Array
    if name in PRICES:
        value = getattr(bar, name)
        return value
    value = UNITS[name] * getattr(seen.channels, name)
    return value


def _operand(operand: Operand, values: dict[str, Any], bar: Market) -> jax.Array:
    if not isinstance(operand, tuple):
        return jnp.full_like(bar.close, operand)
    name, part = operand
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
    again = long & enter_long | short & enter_short if spec.rebalance else never
    back = again & (size > 0.0)
    leaves = ~enters & ~back & (long & exit_long | short & exit_short)
    unset = jnp.full_like(bar.close, jnp.nan)
    stop = unset if spec.stop_loss is None else bar.close * (1.0 - side * spec.stop_loss)
    take = unset if spec.take_profit is None else bar.close * (1.0 + side * spec.take_profit)
    return Action(
        kind=jnp.where(enters | back, TARGET, jnp.where(leaves, CLOSE, HOLD)).astype(jnp.int32),
        size=jnp.where(enters, side * size, jnp.where(back, jnp.where(long, size, -size), 0.0)),
        stop_loss=jnp.where(enters, stop, jnp.nan),
        take_profit=jnp.where(enters & (take > 0.0), take, jnp.nan),
    )
