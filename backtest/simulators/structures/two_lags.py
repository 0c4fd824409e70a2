"""The returns of two earlier bars, added or subtracted."""

from __future__ import annotations

from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from backtest.simulators.structures.contract import Bar, Signal, Structure, Traits, firm, open_signal

Older: TypeAlias = tuple[jax.Array, jax.Array, jax.Array, jax.Array]
"""Of the bars before this one, the newest first."""
APART = 3
"""Variants 0, 1, 2 add a return 2, 3 or 4 bars older; 3, 4, 5 subtract it."""


def _init() -> Older:
    zero = jnp.zeros((), jnp.float32)
    return zero, zero, zero, zero


def _step(older: Older, bar: Bar, traits: Traits, lean: jax.Array) -> tuple[Older, Signal]:
    now = firm(lax.erf(bar.surprise))
    apart = traits.choice % APART
    other = jnp.where(apart == 0, older[1], jnp.where(apart == 1, older[2], older[3]))
    together = jnp.clip(now + jnp.where(traits.choice < APART, other, -other), -1.0, 1.0)
    return (now, *older[:-1]), open_signal(together)


TWO_LAGS = Structure(_init, _step, parity="odd", lags=(5, 6), choices=2 * APART, spread=0.78)
