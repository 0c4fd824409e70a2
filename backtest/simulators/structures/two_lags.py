"""The returns of two earlier bars, added or subtracted."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from backtest.simulators.structures.contract import Bar, Signal, Structure, Traits, firm, open_signal

APART = 3
"""Variants ``0 .. APART - 1`` add a return 2, 3 or 4 bars older; the rest subtract it."""


def _init() -> jax.Array:
    return jnp.zeros(APART + 1, jnp.float32)


def _step(older: jax.Array, bar: Bar, traits: Traits, lean: jax.Array) -> tuple[jax.Array, Signal]:
    now = firm(lax.erf(bar.surprise))
    # older[i] is of i + 1 bars before this one
    other = older[1]
    for place in range(2, APART + 1):
        other = jnp.where(traits.choice % APART == place - 1, older[place], other)
    together = jnp.clip(now + jnp.where(traits.choice < APART, other, -other), -1.0, 1.0)
    return jnp.concatenate([now[None], older[:-1]]), open_signal(together)


TWO_LAGS = Structure(_init, _step, parity="odd", lags=(2, 3, 4), choices=2 * APART, spread=0.76)
