"""What every kernel does with its arguments first: one dtype, one shape, no impossible values."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike


def is_traced(value: object) -> bool:
    """Whether a value is known only when the compiled program runs."""
    return isinstance(value, jax.core.Tracer)


def broadcast(named: Mapping[str, ArrayLike], is_call: ArrayLike) -> tuple[ArrayLike, ...]:
    """Bring named numbers to one float dtype and all arguments to one shape.

    The dtype is float64 unless the arrays among the numbers are float32. Values that are not on a device stay in numpy,
    where small ones cost least.

    Returns
    -------
    The numbers in their order, then ``is_call`` as booleans.
    """
    values = [value if isinstance(value, jax.Array | float | int) else np.asarray(value) for value in named.values()]
    dtype = jnp.result_type(*values)
    if not jnp.issubdtype(dtype, jnp.floating):
        dtype = jnp.dtype("float64")
    if dtype not in (jnp.float32, jnp.float64):
        raise ValueError(f"{', '.join(named)}: dtype must be float32 or float64, got {dtype}")
    try:
        shape = np.broadcast_shapes(np.shape(is_call), *(np.shape(value) for value in values))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(value)}" for name, value in {**named, "is_call": is_call}.items())
        raise ValueError(f"shapes do not broadcast: {shapes}") from None
    return (*(_shaped(value, dtype, shape) for value in values), _shaped(is_call, jnp.dtype(bool), shape))


def _shaped(value: ArrayLike, dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> ArrayLike:
    if isinstance(value, jax.Array):
        return jnp.broadcast_to(value.astype(dtype), shape)
    return np.broadcast_to(np.asarray(value, dtype), shape)


def require(name: str, value: ArrayLike, *, at_least: float | None = None, above: float | None = None) -> None:
    """Raise ``ValueError`` when a known value is infinite or below its bound. NaN means missing and passes."""
    if is_traced(value):
        return
    array = np.asarray(value, dtype=float)
    bad = np.isinf(array)
    wanted = "finite"
    if at_least is not None:
        bad |= array < at_least
        wanted = f"finite and >= {at_least:g}"
    if above is not None:
        bad |= array <= above
        wanted = f"finite and > {above:g}"
    if bad.any():
        raise ValueError(f"{name} must be {wanted}, got {array[bad].flat[0]!r}")
