"""Functions that a loop writes in a way of its own, and that are plain jax everywhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from native import windows

WHERE_ANY = "native_where_any"


def where_any(condition: jax.Array, change: Callable[..., Any], *state: Any) -> Any:
    """Return ``change(*state)``, which a loop computes only where ``condition`` holds in a block of lanes.

    For what is rare and costs much. Elsewhere than in a loop it is computed always.

    Parameters
    ----------
    condition
        Boolean, shape ``[...]``.
    change
        Gives back its argument (a tuple of them, if several) with other numbers. **Where the condition does not hold it
        has to give back the numbers that it got**: that is what makes both ways equal.
    state
        Trees of arrays.
    """

    def native_where_any(condition: jax.Array, *state: Any) -> Any:
        return change(*state)

    return jax.jit(native_where_any)(condition, *state)


def write_where_any(emitter: Any, equation: Any, arguments: list[Any]) -> list[Any]:
    """Write a branch that most blocks of lanes do not take."""
    count = len(equation.outvars)
    condition, state = arguments[-count - 1], arguments[-count:]
    results = [
        emitter.variable(before, str(out.aval.dtype)) for before, out in zip(state, equation.outvars, strict=True)
    ]
    emitter.lines.append(f"if (any({emitter.vector(condition)})) {{")
    after = emitter.emit(equation.params["jaxpr"], arguments)
    emitter.lines += [f"{result.text} = {emitter.vector(value)};" for result, value in zip(results, after, strict=True)]
    emitter.lines.append("}")
    return results


MARKS = {WHERE_ANY: write_where_any, **windows.MARKS}
