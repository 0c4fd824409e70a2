"""The form every indicator has: a memory, and one update a bar.

The same update runs inside the scan of an episode and, through :func:`over`, along a whole market, so an indicator
cannot see further than the bar it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from backtest.market import Market, bars_last_to_first, require_shapes
from pricing.signature import labelled

Memory: TypeAlias = Any


class Indicator(NamedTuple):
    """An indicator in streaming form, elementwise over a batch of markets.

    Attributes
    ----------
    init
        First bar, fields ``[...]`` -> memory. The first bar is given to ``update`` again.
    update
        ``(memory, bar) -> (memory, value)``; value is an array ``[...]`` or a NamedTuple of such. NaN until enough
        bars were seen.
    """

    init: Callable[[Market], Memory]
    update: Callable[[Memory, Market], tuple[Memory, Any]]


@labelled
def over(indicator: Indicator, market: Market) -> Any:
    """Return the indicator at every bar of a market, arrays ``[bars]`` or ``[batch, bars]``.

    Series, where the fields of the market are pandas Series. ``ValueError`` for fields of different shapes.
    """
    require_shapes(market)
    bars = bars_last_to_first(Market(*(jnp.asarray(field, jnp.float64) for field in market)))
    first = Market(*(field[0] for field in bars))
    _, values = lax.scan(indicator.update, indicator.init(first), bars)
    return jax.tree.map(lambda value: jnp.moveaxis(value, 0, -1), values)


class Smoothed(NamedTuple):
    """Wilder's average: a plain mean of the first ``window`` values, then exponential with weight ``1 / window``."""

    mean: jax.Array
    seen: jax.Array


def smoothed(like: jax.Array) -> Smoothed:
    """Return the average of nothing."""
    return Smoothed(jnp.zeros_like(like), jnp.zeros((), like.dtype))


def smooth(memory: Smoothed, value: jax.Array, window: int) -> Smoothed:
    """Return the average with one more value."""
    count = jnp.minimum(memory.seen + 1.0, float(window))
    return Smoothed(memory.mean + (value - memory.mean) / count, count)


def ready(memory: Smoothed, window: int) -> jax.Array:
    """Return the average, NaN before ``window`` values were seen."""
    return jnp.where(memory.seen >= float(window), memory.mean, jnp.nan)


def at_least(name: str, value: float, lowest: int = 1) -> int:
    """Return a window length, or raise ``ValueError`` naming it."""
    if not isinstance(value, int) or value < lowest:
        raise ValueError(f"{name} must be a whole number of bars, at least {lowest}, got {value!r}")
    return value
