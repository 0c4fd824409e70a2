"""Placing events: the bars are cut into equal slots and each slot holds at most one event.

Events that never overlap cost one gather a bar, however many there are.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Slots(NamedTuple):
    """Where each bar stands relative to the event of its slot.

    Attributes
    ----------
    slot
        ``[bars]`` int32, index of the slot that the bar belongs to.
    start
        ``[bars]`` int32, first bar of that slot's event.
    phase
        ``[bars]`` int32, bars since that start (negative before it).
    events
        Number of slots, one event each.
    """

    slot: jax.Array
    start: jax.Array
    phase: jax.Array
    events: int


def place(key: jax.Array, *, bars: int, every_bars: int, length_bars: int) -> Slots:
    """Return one event of ``length_bars`` at a random place within every stretch of ``every_bars`` bars.

    Raises
    ------
    ValueError
        When an event does not fit into its stretch.
    """
    if not 1 <= length_bars <= every_bars:
        raise ValueError(f"length_bars must be between 1 and every_bars={every_bars}, got {length_bars}")
    count = -(-bars // every_bars)
    offset = jax.random.randint(key, (count,), 0, every_bars - length_bars + 1)
    bar = jnp.arange(bars, dtype=jnp.int32)
    slot = bar // every_bars
    start = (slot * every_bars + offset[slot]).astype(jnp.int32)
    return Slots(slot, start, bar - start, count)


def value_at_start(slots: Slots, values: jax.Array) -> jax.Array:
    """Return for each bar the value that ``values`` ``[bars]`` had at the start of the bar's event.

    A start beyond the last bar belongs to no visible event; it reads the last bar's value.
    """
    return values[jnp.minimum(slots.start, values.shape[0] - 1)]
