"""Playing episodes on the engine's own step, and measuring what a score needs to know of each bar."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from backtest.account import HOLD, Account, Action
from backtest.episode import step
from backtest.market import Market
from backtest.rules import Rules

START_EQUITY = 10_000.0
"""Of every account."""


class Measured(NamedTuple):
    """What one bar did to an account, as fractions of its equity before it. Fields ``[...]``.

    Attributes
    ----------
    timing
        First-order log growth before costs and funding, per unit of the largest exposure so far: exposure times
        log-return of the traded price. Unlike the growth itself it has no part that depends on size alone (half of
        squared exposure times variance). What a gap left is divided by the largest exposure before the gap, the rest
        by the largest up to the bar's open: numbers known before the returns that they divide.
    exposure
        Notional over equity right after the order was filled, signed.
    largest
        Largest absolute exposure of the episode up to and including this bar's open.
    cost
        Fees and slippage paid, >= 0.
    equity
        At the close, quote currency.
    """

    timing: jax.Array
    exposure: jax.Array
    largest: jax.Array
    cost: jax.Array
    equity: jax.Array


class Played(NamedTuple):
    """Where an episode stands.

    Attributes
    ----------
    account
        After the last bar.
    close
        Last traded close, quote currency.
    largest
        Largest absolute exposure so far.
    """

    account: Account
    close: jax.Array
    largest: jax.Array


def measured_step(state: Played, action: Action, bar: Market, *, rules: Rules) -> tuple[Played, Measured]:
    """Return the state after one traded bar, and its measures. Elementwise; fields ``[...]``."""
    account = state.account
    at_open = bar._replace(high=bar.open, low=bar.open, close=bar.open)
    filled = step(account, action, at_open, rules=rules)
    after = step(account, action, bar, rules=rules)

    equity = account.equity
    solvent = equity > 0.0
    base = jnp.where(solvent, equity, 1.0)
    cost = after.ledger.costs - account.ledger.costs
    funding = after.ledger.funding - account.ledger.funding
    gross = after.equity - equity + cost + funding
    overnight = account.position * (bar.open - state.close)
    # What a gap left is what the bar is played with: a held position earns its log return, gap or not.
    opened = jnp.where(base + overnight > 0.0, base + overnight, base)
    gap = first_order(overnight, bar.open / state.close) / base
    within = first_order(gross - overnight, bar.close / bar.open) / opened
    worth = jnp.where(filled.equity > 0.0, filled.equity, 1.0)
    exposure = jnp.where(filled.equity > 0.0, filled.position * bar.open / worth, 0.0)
    largest = jnp.maximum(state.largest, jnp.abs(exposure))
    measured = Measured(
        timing=jnp.where(solvent, per_unit(gap, state.largest) + per_unit(within, largest), 0.0),
        exposure=exposure,
        largest=largest,
        cost=jnp.where(solvent, cost / base, 0.0),
        equity=after.equity,
    )
    return Played(after, bar.close, largest), measured


def per_unit(growth: jax.Array, largest: jax.Array) -> jax.Array:
    """Return growth over the largest exposure; where there was no exposure there was no growth."""
    return growth / jnp.where(largest > 0.0, largest, 1.0)


def joined(parts: list[Measured]) -> Measured:
    """Return the measures of consecutive stretches as one, numpy fields ``[bars, episodes]``."""
    fields: list[Any] = [np.concatenate(field) for field in zip(*jax.device_get(parts), strict=True)]
    return Measured(*fields)


def first_order(profit: jax.Array, price_ratio: jax.Array) -> jax.Array:
    """Return ``position * ln(ratio)`` for a ``profit`` of ``position * (ratio - 1)``: long and short count alike."""
    log_return = jnp.log(price_ratio)
    safe = jnp.where(log_return == 0.0, 1.0, log_return)
    return profit * jnp.where(log_return == 0.0, 1.0, safe / jnp.expm1(safe))


@jax.jit
def play(state: Played, action: Action, bars: Market, rules: Rules) -> tuple[Played, Measured]:
    """Play ``bars`` with one order that is filled at the open of the first.

    Parameters
    ----------
    state
        Fields ``[episodes]``.
    action
        Fields ``[episodes]``.
    bars
        Traded bars, fields ``[bars, episodes]``.
    rules
        Numbers.

    Returns
    -------
    state, measured
        Fields ``[episodes]`` and ``[bars, episodes]``.
    """
    later = Action(jnp.full_like(action.kind, HOLD), jnp.zeros_like(action.size), None, None)
    state, first = measured_step(state, action, Market(*(field[0] for field in bars)), rules=rules)
    rest = Market(*(field[1:] for field in bars))
    state, others = lax.scan(lambda carry, bar: measured_step(carry, later, bar, rules=rules), state, rest)
    return state, Measured(*(jnp.concatenate([one[None], many]) for one, many in zip(first, others, strict=True)))
