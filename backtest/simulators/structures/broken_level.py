"""How far an earlier close went beyond the highest or lowest of the closes before it; a fresh break counts most."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from backtest.simulators.structures.contract import Bar, Signal, Structure, Traits, firm, open_signal

FAR = 0.2
"""Distance, in usual moves, from which on a break counts in full."""
STALE = 0.45
"""What is taken off for the break of the bar before: without it breaks follow each other, and so would returns."""


class _Levels(NamedTuple):
    closes: tuple[jax.Array, jax.Array, jax.Array]
    before: jax.Array


def _init() -> _Levels:
    zero = jnp.zeros((), jnp.float32)
    return _Levels((zero, zero, zero), zero)


def _step(levels: _Levels, bar: Bar, traits: Traits, lean: jax.Array) -> tuple[_Levels, Signal]:
    first, second, third = levels.closes
    highest = jnp.maximum(jnp.maximum(first, second), third)
    lowest = jnp.minimum(jnp.minimum(first, second), third)
    beyond = jnp.maximum(bar.level - highest, 0.0) - jnp.maximum(lowest - bar.level, 0.0)
    distance = jnp.clip(beyond / (FAR * bar.usual), -1.0, 1.0)
    fresh = firm(distance - STALE * levels.before)
    return _Levels((bar.level, first, second), distance), open_signal(fresh)


BROKEN_LEVEL = Structure(_init, _step, parity="odd", lags=(3, 4, 5, 6), choices=1, spread=0.765)
