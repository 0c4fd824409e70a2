"""The last values of a series, and what is made of them: in a loop a few operations a value, whatever the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


class Ring(NamedTuple):
    """The last values of a series, ``[window, ...]``, in no particular order; NaN where there were none yet."""

    values: jax.Array
    slot: jax.Array


def ring(like: jax.Array, window: int) -> Ring:
    """Return an empty ring for values shaped like ``like``."""

    def native_ring(like: jax.Array) -> Ring:
        return Ring(jnp.full((window, *like.shape), jnp.nan, like.dtype), jnp.zeros((), jnp.int32))

    empty: Ring = jax.jit(native_ring)(like)
    return empty


@jax.jit
def _native_push(values: jax.Array, slot: jax.Array, value: jax.Array) -> Ring:
    window = values.shape[0]
    return Ring(lax.dynamic_update_index_in_dim(values, value, slot, 0), (slot + 1) % window)


def push(memory: Ring, value: jax.Array) -> Ring:
    """Return the ring with its oldest value replaced."""
    longer: Ring = _native_push(*memory, value)
    return longer


@jax.jit
def _native_sum(values: jax.Array) -> jax.Array:
    return _fold(values, jnp.add)


@jax.jit
def _native_least(values: jax.Array) -> jax.Array:
    return _fold(values, jnp.minimum)


@jax.jit
def _native_greatest(values: jax.Array) -> jax.Array:
    return _fold(values, jnp.maximum)


@jax.jit
def _native_squares(values: jax.Array, centre: jax.Array) -> jax.Array:
    return _fold((values - centre[None]) ** 2, jnp.add)


def mean_of(memory: Ring) -> jax.Array:
    """Return the mean of the values; NaN until the ring is full."""
    total: jax.Array = _native_sum(memory.values)
    return total / memory.values.shape[0]


def least_of(memory: Ring) -> jax.Array:
    """Return the smallest of the values; NaN until the ring is full."""
    least: jax.Array = _native_least(memory.values)
    return least


def greatest_of(memory: Ring) -> jax.Array:
    """Return the greatest of the values; NaN until the ring is full."""
    greatest: jax.Array = _native_greatest(memory.values)
    return greatest


def squares_of(memory: Ring, centre: jax.Array) -> jax.Array:
    """Return the sum of the squared distances of the values from ``centre``; NaN until the ring is full."""
    squares: jax.Array = _native_squares(memory.values, centre)
    return squares


def _fold(values: jax.Array, combine: Callable[[jax.Array, jax.Array], jax.Array]) -> jax.Array:
    """Return the rows of ``[window, ...]`` combined into one, by halves.

    A tree of whole rows is one vector loop for the compiler, about twice as fast as its reduction over the first axis;
    sums are the more accurate for it.
    """
    rest: list[jax.Array] = []
    while values.shape[0] > 1:
        half = values.shape[0] // 2
        if values.shape[0] % 2:
            rest.append(values[-1])
        values = combine(values[:half], values[half : 2 * half])
    return reduce(combine, rest, values[0])


class RingValue(NamedTuple):
    """A ring in traced code: its name in C++ and how often it was pushed; ``name`` is empty for a new one."""

    name: str
    window: int
    dtype: str
    pushes: int = 0


class SlotValue(NamedTuple):
    """The slot of a ring, which C++ keeps by itself."""

    ring: RingValue


Written = Callable[[Any, Any, list[Any]], list[Any]]


def _write_ring(emitter: Any, equation: Any, arguments: list[Any]) -> list[Any]:
    values = equation.outvars[0].aval
    new = RingValue("", values.shape[0], str(values.dtype))
    return [new, SlotValue(new)]


def _write_push(emitter: Any, equation: Any, arguments: list[Any]) -> list[Any]:
    memory, _, value = arguments
    _require_ring(emitter, memory)
    emitter.lines.append(f"{memory.name}.push({emitter.vector(value)});")
    pushed = memory._replace(pushes=memory.pushes + 1)
    emitter.rings[memory.name] = pushed
    return [pushed, SlotValue(pushed)]


def _require_ring(emitter: Any, memory: Any) -> None:
    if not isinstance(memory, RingValue) or emitter.rings.get(memory.name) != memory:
        raise emitter.refused("a ring is used in another way than pushed, read and kept")


def _read(what: str) -> Written:
    def write(emitter: Any, equation: Any, arguments: list[Any]) -> list[Any]:
        memory, *more = arguments
        _require_ring(emitter, memory)
        emitter.uses.setdefault(memory.name, set()).add(what)
        text = f"{memory.name}.{what}({', '.join(emitter.vector(value) for value in more)})"
        return [emitter.of(text, memory.dtype)]

    return write


MARKS: dict[str, Written] = {
    "native_ring": _write_ring,
    "_native_push": _write_push,
    "_native_sum": _read("sum"),
    "_native_least": _read("least"),
    "_native_greatest": _read("greatest"),
    "_native_squares": _read("squares"),
}
