"""Placing events: the bars are cut into equal slots and each slot holds at most one event.

Events that never overlap cost one broadcast a bar, however many there are.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Slots(NamedTuple):
    """Where the events are, and where each bar stands relative to the event of its slot.

    Attributes
    ----------
    starts
        ``[events]`` int32, first bar of each slot's event; may lie beyond the last bar in the last slot.
    phase
        ``[bars]`` int32, bars since the start of the slot's event (negative before it).
    events
        Number of slots, one event each.
    every_bars
        Length of a slot.
    """

    starts: jax.Array
    phase: jax.Array
    events: int
    every_bars: int

    def spread(self, values: jax.Array) -> jax.Array:
        """Return for each bar the value of its slot; ``values`` are ``[events]``, the result is ``[bars]``."""
        blocks = jnp.broadcast_to(values[:, None], (self.events, self.every_bars))
        return blocks.reshape(-1)[: self.phase.shape[0]]


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
    offset = jax.random.randint(key, (count,), 0, every_bars - length_bars + 1, jnp.int32)
    starts = jnp.arange(count, dtype=jnp.int32) * every_bars + offset
    unplaced = Slots(starts, jnp.arange(bars, dtype=jnp.int32), count, every_bars)
    return unplaced._replace(phase=unplaced.phase - unplaced.spread(starts))
