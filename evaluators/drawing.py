"""How datasets draw: one random stream a task, so that a longer draw begins with a shorter one."""

from __future__ import annotations

import difflib
import hashlib
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from evaluators.contract import Json

T = TypeVar("T")


def stream(*parts: object) -> random.Random:
    """Return the random stream named by ``parts``: the same parts, the same stream, on every platform."""
    return random.Random("\x1f".join(str(part) for part in parts))


def task_id(*parts: object, show: Sequence[int]) -> str:
    """Return an id that names ``parts``: those at the places in ``show`` in words, all of them in a digest."""
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()[:10]
    return "-".join([*(str(parts[place]) for place in show), digest])


def rotation(items: Sequence[T], *, index: int, name: Sequence[object]) -> T:
    """Return the item for task ``index`` when every block of ``len(items)`` tasks is one shuffle of the items."""
    block, place = divmod(index, len(items))
    order = list(items)
    stream(*name, "rotation", block).shuffle(order)
    return order[place]


def require_known_options(options: Mapping[str, Json], allowed: Sequence[str]) -> None:
    """Raise ``ValueError`` that names the first unknown key and what is allowed."""
    for key in options:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"unknown option {key!r}; {hint}allowed: {', '.join(allowed) or 'none'}")


def chosen(options: Mapping[str, Json], key: str, allowed: Sequence[str]) -> tuple[str, ...]:
    """Return the values of a list option in the order of ``allowed``; all of them when the option is absent."""
    given = options.get(key)
    if given is None:
        return tuple(allowed)
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(f"{key} must be a non-empty list out of {', '.join(allowed)}, got {given!r}")
    for value in given:
        if value not in allowed:
            raise ValueError(f"{key}: unknown value {value!r}; allowed: {', '.join(allowed)}")
    return tuple(value for value in allowed if value in given)
