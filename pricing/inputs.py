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


def floats(named: Mapping[str, ArrayLike]) -> list[jax.Array]:
    """Bring named arguments to one float dtype (float64 unless an array is float32) and one shape."""
    values = [value if isinstance(value, jax.Array | float | int) else np.asarray(value) for value in named.values()]
    dtype = jnp.result_type(*values)
    if not jnp.issubdtype(dtype, jnp.floating):
        dtype = jnp.dtype("float64")
    if dtype not in (jnp.float32, jnp.float64):
        raise ValueError(f"{', '.join(named)}: dtype must be float32 or float64, got {dtype}")
    try:
        shape = jnp.broadcast_shapes(*(np.shape(value) for value in values))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(value)}" for name, value in named.items())
        raise ValueError(f"shapes do not broadcast: {shapes}") from None
    return [jnp.broadcast_to(jnp.asarray(value, dtype), shape) for value in values]


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
