"""One function in two forms: for processors, and for every other device. Which it is, the compiled program decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

_choice = Primitive("native_choice")
_choice.multiple_results = True


def by_platform(*arguments: Any, cpu: Callable[..., Any], other: Callable[..., Any]) -> Any:
    """Return ``cpu(*arguments)`` where the program runs on a processor, and ``other(*arguments)`` elsewhere.

    As ``jax.lax.platform_dependent``, but only the form that is compiled is traced: the other one may be long. Both
    give trees of the same shapes. May be jitted and mapped; the caller gives the derivative (``jax.custom_jvp``).
    """
    leaves, tree = jax.tree.flatten(arguments)
    leaves = [jnp.asarray(leaf) for leaf in leaves]
    shapes = jax.eval_shape(cpu, *arguments)
    out_leaves, out_tree = jax.tree.flatten(shapes)

    def flat(function: Callable[..., Any]) -> Callable[..., list[Any]]:
        return lambda *given: jax.tree.leaves(function(*jax.tree.unflatten(tree, given)))

    avals = tuple(jax.core.ShapedArray(leaf.shape, leaf.dtype) for leaf in out_leaves)
    results = _choice.bind(*leaves, cpu=flat(cpu), other=flat(other), avals=avals)
    return jax.tree.unflatten(out_tree, results)


def _shapes(*arguments: Any, avals: tuple[Any, ...], **_: Any) -> tuple[Any, ...]:
    return avals


def _eager(*arguments: Any, **parameters: Any) -> Any:
    return jax.jit(lambda *given: _choice.bind(*given, **parameters))(*arguments)


def _mapped(arguments: Any, axes: Any, *, cpu: Any, other: Any, avals: Any) -> Any:
    size = next(argument.shape[axis] for argument, axis in zip(arguments, axes, strict=True) if axis is not None)
    rows = tuple(jax.core.ShapedArray((size, *aval.shape), aval.dtype) for aval in avals)
    mapped = (jax.vmap(function, in_axes=tuple(axes), axis_size=size) for function in (cpu, other))
    results = _choice.bind(*arguments, cpu=next(mapped), other=next(mapped), avals=rows)
    return results, (0,) * len(rows)


def _lowered(which: str) -> Callable[..., Any]:
    def function(*arguments: Any, **parameters: Any) -> Any:
        return parameters[which](*arguments)

    lower: Callable[..., Any] = mlir.lower_fun(function, multiple_results=True)
    return lower


_choice.def_abstract_eval(_shapes)
_choice.def_impl(_eager)
batching.primitive_batchers[_choice] = _mapped
mlir.register_lowering(_choice, _lowered("other"))
mlir.register_lowering(_choice, _lowered("cpu"), platform="cpu")
