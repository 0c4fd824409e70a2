"""A fold over the rows of a table, for many lanes at once: one compiled loop on processors, a scan elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core

from native.choice import by_platform
from native.emit import LANES
from native.kernel import TARGET, kernel, registered, status


def folded(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return the fold of ``step``, which goes from one row of a table to the next, elementwise over lanes.

    It is ``jax.lax.scan`` over rows, and that it stays for derivatives, on other devices and without a compiler
    (:func:`native.status`). On a processor the scan is within the loop: some lanes pass all rows before the next lanes
    do, in cache, and what is computed of a row's numbers alone is computed once. Inside ``jit`` and ``vmap`` as any
    function, and the same bits in every call.

    Parameters
    ----------
    step
        ``(state, row, picked, lanes) -> state``, trees of arrays with one number a lane. Those of ``row`` are single
        numbers. Nothing but elementwise operations.

    Returns
    -------
    A function of ``state``, with which it begins, ``[lanes]``, and by name ``rows``, the rows' numbers, ``[rows]``;
    ``lines``, arrays ``[lines, lanes]``, and ``which`` of the lines a row gets as ``picked``, ``[rows]`` (an index
    beyond the ends is taken for the nearest, as jax does); ``lanes``, what all rows get, ``[lanes]`` or one number. It
    returns a tree like ``state``.
    """

    @jax.custom_jvp
    def call(*arguments: Any) -> Any:
        if status() != "native":
            return _scan(step, *arguments)
        return by_platform(*arguments, cpu=partial(_loop, step), other=partial(_scan, step))

    @call.defjvp
    def derivative(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        return call(*primals), jax.jvp(partial(_scan, step), primals, tangents)[1]

    def fold(state: Any, *, rows: Any, which: Any, lines: Any, lanes: Any) -> Any:
        state, rows, which, lines, lanes = jax.tree.map(jnp.asarray, (state, rows, which, lines, lanes))
        last = _require_shapes(state, rows, which, lines, lanes) - 1
        return call(state, rows, jnp.clip(which, 0, last).astype(jnp.int32), lines, lanes)

    return fold


def _require_shapes(state: Any, rows: Any, which: jax.Array, lines: Any, lanes: Any) -> int:
    """Return the number of lines."""
    count = next((leaf.shape for leaf in jax.tree.leaves(state)), ())
    several = next((leaf.shape[:1] for leaf in jax.tree.leaves(lines)), (1,))
    if len(count) != 1:
        raise ValueError(f"state must have shape [lanes], got {count}")
    if which.ndim != 1 or not jnp.issubdtype(which.dtype, jnp.integer):
        raise ValueError(f"which must be whole numbers of shape [rows], got {which.dtype} of shape {which.shape}")
    if several in ((), (0,)):
        raise ValueError(f"lines must have shape [lines, lanes] with at least one line, got {several}")
    fitting = {
        "state": (state, [count]),
        "rows": (rows, [which.shape]),
        "lines": (lines, [several + count]),
        "lanes": (lanes, [count, ()]),
    }
    for name, (tree, shapes) in fitting.items():
        wrong = [leaf.shape for leaf in jax.tree.leaves(tree) if leaf.shape not in shapes]
        if wrong:
            raise ValueError(f"{name} must have shape {' or '.join(map(str, shapes))}, got {wrong[0]}")
    return int(several[0])


def _scan(step: Callable[..., Any], state: Any, rows: Any, which: Any, lines: Any, lanes: Any) -> Any:
    def one(state: Any, row: Any) -> tuple[Any, None]:
        numbers, line = row
        return step(state, numbers, jax.tree.map(lambda array: array[line], lines), lanes), None

    return lax.scan(one, state, (rows, which))[0]


def _loop(step: Callable[..., Any], state: Any, rows: Any, which: Any, lines: Any, lanes: Any) -> Any:
    """Call the loop in the order that ``loop.cc`` wants: what has a number a row, the state, the rest."""
    after, tree = jax.tree.flatten(jax.eval_shape(partial(_scan, step), state, rows, which, lines, lanes))
    leaves, given = jax.tree.flatten((state, rows, lines, lanes))
    shared = (
        _all(False, state),
        _all(True, rows),
        _all(False, lines),
        jax.tree.map(lambda leaf: leaf.ndim == 0, lanes),
    )
    single = jax.tree.leaves(shared)
    kinds = tuple((str(leaf.dtype), leaf.weak_type, one) for leaf, one in zip(leaves, single, strict=True))
    written = _written(step, given, kinds)
    numbers = [jnp.broadcast_to(leaf, which.shape) for leaf, one in zip(leaves, single, strict=True) if one]
    columns = [which, *written.once(*numbers)]
    rest = [leaf for leaf, one in zip(leaves, single, strict=True) if not one]
    results = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in after]
    call = jax.ffi.ffi_call(TARGET, results, vmap_method="broadcast_all")
    found = call(*columns, *rest, kernel=np.int64(written.number), columns=np.int64(len(columns)))
    return jax.tree.unflatten(tree, found)


def _all(answer: bool, tree: Any) -> Any:
    return jax.tree.map(lambda _: answer, tree)


class Written(NamedTuple):
    """A step whose loop is loaded: its number in ``loop.cc``, and what it wants to know of the rows."""

    number: int
    once: Callable[..., list[jax.Array]]


@cache
def _written(step: Callable[..., Any], given: Any, kinds: tuple[tuple[str, bool, bool], ...]) -> Written:
    likes = [jax.ShapeDtypeStruct(() if one else (LANES,), dtype, weak_type=weak) for dtype, weak, one in kinds]
    traced, after = jax.make_jaxpr(
        lambda *leaves: jax.tree.leaves(step(*jax.tree.unflatten(given, leaves))), return_shape=True
    )(*likes)
    once, loop = _split(traced, [one for _, _, one in kinds])
    numbers = len(once.jaxpr.outvars)
    read = tuple(str(variable.aval.dtype) for variable in loop.jaxpr.invars)
    number = registered(loop, read, tuple(str(leaf.dtype) for leaf in after), numbers=numbers)
    return Written(number, kernel(jax.vmap(core.jaxpr_as_fun(once))) if numbers else lambda *_: [])


def _split(traced: Any, single: Sequence[bool]) -> tuple[Any, Any]:
    """Return what a step computes of single numbers, and what it computes of that and of the lanes."""
    jaxpr = traced.jaxpr
    ours = [variable for variable, one in zip(jaxpr.invars, single, strict=True) if one]
    theirs = [variable for variable, one in zip(jaxpr.invars, single, strict=True) if not one]
    known = set(ours)
    once, rest = [], []
    for equation in jaxpr.eqns:
        read = _variables(equation.invars)
        if read and known.issuperset(read) and all(out.aval.shape == () for out in equation.outvars):
            once.append(equation)
            known.update(equation.outvars)
        else:
            rest.append(equation)
    wanted = _variables([*(atom for equation in rest for atom in equation.invars), *jaxpr.outvars])
    between = list(dict.fromkeys(variable for variable in wanted if variable in known))
    nameless = jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    before = jaxpr.replace(invars=ours, outvars=between, eqns=once, debug_info=nameless)
    after = jaxpr.replace(invars=[*between, *theirs], eqns=rest, debug_info=nameless)
    return core.ClosedJaxpr(before, traced.consts), core.ClosedJaxpr(after, traced.consts)


def _variables(atoms: Sequence[Any]) -> list[Any]:
    return [atom for atom in atoms if not isinstance(atom, core.Literal)]
