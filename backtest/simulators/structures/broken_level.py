"""How far a close of some bars ago went beyond the highest or lowest of the closes before it."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.simulators.structures.contract import Bar, Signal, Structure, Traits, open_signal

CLOSES = 4
"""Closes whose highest and lowest are the levels: of so few, more than half of all bars break one."""
FAR = 0.3
"""Distance, in usual moves, from which on a break counts in full."""


def _init() -> jax.Array:
    return jnp.zeros(CLOSES, jnp.float32)


def _step(closes: jax.Array, bar: Bar, traits: Traits, lean: jax.Array) -> tuple[jax.Array, Signal]:
    above = jnp.maximum(bar.level - closes.max(), 0.0)
    below = jnp.maximum(closes.min() - bar.level, 0.0)
    distance = jnp.clip((above - below) / (FAR * bar.usual), -1.0, 1.0)
    return jnp.concatenate([bar.level[None], closes[:-1]]), open_signal(distance)


BROKEN_LEVEL = Structure(_init, _step, parity="odd", lags=(3, 4, 5, 6), choices=1, spread=0.69)
