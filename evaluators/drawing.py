"""How datasets draw: one random stream a task, so that a longer draw begins with a shorter one."""

from __future__ import annotations

import gc
import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")
Name = TypeVar("Name", bound=str)


@contextmanager
def without_collection() -> Iterator[None]:
    """Stop the collector of cycles for the time; as a decorator, too.

    What is drawn stays, and the collector would pass over all of it time and again: a tenth to a fifth of a long draw.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def stream(*parts: object) -> random.Random:
    """Return the random stream named by ``parts``: the same parts, the same stream, on every platform."""
    return random.Random(_named(parts))


def _named(parts: Iterable[object]) -> str:
    return "\x1f".join(str(part) for part in parts)


def task_id(*parts: object, show: Sequence[int]) -> str:
    """Return an id that names ``parts``: those at the places in ``show`` in words, all of them in a digest."""
    digest = hashlib.sha256(_named(parts).encode()).hexdigest()[:10]
    return "-".join([*(str(parts[place]) for place in show), digest])


def rotation(items: Sequence[T], *, index: int, name: Sequence[object]) -> T:
    """Return the item for task ``index`` when every block of ``len(items)`` tasks is one shuffle of the items."""
    block, place = divmod(index, len(items))
    return items[_shuffled(len(items), _named((*name, "rotation", block)))[place]]


@lru_cache(maxsize=1024)
def _shuffled(count: int, name: str) -> tuple[int, ...]:
    order = list(range(count))
    random.Random(name).shuffle(order)
    return tuple(order)


def chosen(name: str, given: Sequence[str] | None, allowed: Sequence[Name]) -> tuple[Name, ...]:
    """Return the values of the list option ``name`` in the order of ``allowed``; all of them when it is not given."""
    if given is None:
        return tuple(allowed)
    if not given:
        raise ValueError(f"{name} must be a non-empty list out of {', '.join(allowed)}, got {given!r}")
    for value in given:
        if value not in allowed:
            raise ValueError(f"{name}: unknown value {value!r}; allowed: {', '.join(allowed)}")
    return tuple(value for value in allowed if value in given)
