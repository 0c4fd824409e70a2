"""Policies without a view: hold, always, flat, random."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
from jax import lax

from backtest.account import HOLD, TARGET, Account, Action, hold, target
from backtest.episode import Memory, Strategy
from backtest.market import Market
from pricing.signature import checked


@cache
def flat() -> Strategy:
    """Never trade."""
    return Strategy(
        init=lambda bar: (),
        decide=lambda memory, bar, account: (memory, hold(account.cash)),
        reads_account=False,
    )


@checked
@cache
def buy_and_hold(exposure: float = 1.0) -> Strategy:
    """Trade once to ``exposure`` (signed multiple of equity) and never again."""

    def init(bar: Market) -> Memory:
        return jnp.zeros(bar.close.shape, jnp.int32)

    def decide(bought: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        order = target(jnp.full_like(account.cash, exposure))
        return jnp.ones_like(bought), order._replace(kind=jnp.where(bought == 0, TARGET, HOLD).astype(jnp.int32))

    return Strategy(init, decide, reads_account=False)


@checked
@cache
def always(exposure: float) -> Strategy:
    """Trade back to ``exposure`` (signed multiple of equity) at every bar: +1 always long, -1 always short."""
    return Strategy(
        init=lambda bar: (),
        decide=lambda memory, bar, account: (memory, target(jnp.full_like(account.cash, exposure))),
        reads_account=False,
    )


@checked
@cache
def random_walker(seed: int = 0, switch_rate: float = 0.05, exposure: float = 1.0) -> Strategy:
    """Trade at random: at each bar, with chance ``switch_rate``, to an exposure uniform on ``[-exposure, exposure]``.

    The draws follow from the seed and the first close, by xorshift (Marsaglia 2003), so that every market of a batch
    has its own and a scan carries one integer a lane.
    """
    if not 0.0 <= switch_rate <= 1.0:
        raise ValueError(f"switch_rate must be in [0, 1], got {switch_rate!r}")
    salt = (seed * 2654435761 + 1) % 2**32

    def init(bar: Market) -> Memory:
        bits = lax.bitcast_convert_type(bar.close.astype(jnp.float32), jnp.uint32)
        mixed = (bits ^ jnp.uint32(salt)) * jnp.uint32(2246822519)
        return jnp.where(mixed == 0, jnp.uint32(1), mixed)

    def decide(memory: Memory, bar: Market, account: Account) -> tuple[Memory, Action]:
        first = _xorshift(memory)
        second = _xorshift(first)
        order = target(exposure * (2.0 * _uniform(second, bar.close) - 1.0))
        switches = _uniform(first, bar.close) < switch_rate
        return second, order._replace(kind=jnp.where(switches, TARGET, HOLD).astype(jnp.int32))

    return Strategy(init, decide, reads_account=False)


def _xorshift(state: jax.Array) -> jax.Array:
    state = state ^ (state << jnp.uint32(13))
    state = state ^ (state >> jnp.uint32(17))
    mixed: jax.Array = state ^ (state << jnp.uint32(5))
    return mixed


def _uniform(bits: jax.Array, like: jax.Array) -> jax.Array:
    value: jax.Array = bits.astype(like.dtype) * 2.0**-32
    return value
