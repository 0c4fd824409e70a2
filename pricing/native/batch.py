"""Hands large batches of concrete arrays to the C loops, split over the cores."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from numpy.typing import NDArray

from pricing.inputs import is_traced
from pricing.native.loading import load

SMALLEST_BATCH = 4096
"""Below this many options a jitted call is as fast, and results stay those of the jitted kernels."""

_ALIGNMENT = 64
_SMALLEST_CHUNK = 1 << 13


class _Column(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("step", ctypes.c_int64))


class Refused(ValueError):
    """Some argument is out of its range; the caller finds and names it."""


def run(
    name: str, columns: Sequence[ArrayLike], is_call: ArrayLike, outputs: Sequence[type]
) -> tuple[jax.Array, ...] | None:
    """Run one C loop over a batch.

    Parameters
    ----------
    name
        Function in ``kernels.c``.
    columns
        Float arguments in the order of the loop.
    is_call
        True for a call, False for a put.
    outputs
        Type of each result array.

    Returns
    -------
    Arrays of the broadcast shape, or None where the loops do not serve: no compiler, another device than a CPU,
    a traced or float32 argument, a small batch, or shapes that do not broadcast.

    Raises
    ------
    Refused
        When an argument is out of its range.
    """
    shape = _batch_shape([*columns, is_call])
    if shape is None or jax.default_backend() != "cpu":
        return None
    library = load()
    if library is None:
        return None
    arrays = [_flat(value, shape, np.float64) for value in columns]
    flags = _flat(is_call, shape, np.uint8)
    count = int(np.prod(shape))
    results = _result_arrays(count, outputs)
    refused = _in_chunks(getattr(library, name), count, arrays, flags, results)
    if refused:
        raise Refused(f"{refused} arguments are out of range")
    return tuple(jnp.from_dlpack(result.reshape(shape)) for result in results)


OPTION = np.dtype(
    [("underlying", np.int64)]
    + [(name, np.float64) for name in ("sign", "shares", "strike", "time_to_expiry", "volatility")]
)
"""Row of :func:`revalue`, as ``kernels.c`` declares it."""


def revalue(
    options: NDArray[np.void], table: NDArray[np.floating], moves: Sequence[float]
) -> NDArray[np.floating] | None:
    """Sum of the values of options in every scenario, by the C loop.

    Parameters
    ----------
    options
        Rows of type :data:`OPTION`.
    table
        Prices, shape ``[scenarios, underlyings]``, float64 or float32.
    moves
        Rate, dividend yield, volatility change, years passed.

    Returns
    -------
    Values, shape ``[scenarios]``, or None where the loops do not serve.
    """
    scenarios = table.shape[0]
    if scenarios * options.size < SMALLEST_BATCH or jax.default_backend() != "cpu":
        return None
    library = load()
    if library is None:
        return None
    function = library.revalue_float if table.dtype == np.float32 else library.revalue_double
    rows = np.ascontiguousarray(np.sort(options, order="underlying", kind="stable"))
    prices, total = np.ascontiguousarray(table), np.zeros(scenarios, table.dtype)
    numbers = np.array(moves, np.float64)
    length = max(-(-scenarios // (2 * (os.cpu_count() or 1))), 512)

    def chunk(start: int) -> None:
        size = min(length, scenarios - start)
        function(
            ctypes.c_int64(size),
            ctypes.c_int64(table.shape[1]),
            ctypes.c_void_p(prices[start:].ctypes.data),
            ctypes.c_int64(rows.size),
            ctypes.c_void_p(rows.ctypes.data),
            ctypes.c_void_p(numbers.ctypes.data),
            ctypes.c_void_p(total[start:].ctypes.data),
        )

    list(_pool().map(chunk, range(0, scenarios, length)))
    return total


def _batch_shape(values: Sequence[ArrayLike]) -> tuple[int, ...] | None:
    """Broadcast shape, or None where the batch is not one for the C loops."""
    if any(is_traced(value) for value in values):
        return None
    if max(np.size(value) for value in values) < SMALLEST_BATCH:
        return None
    if any(getattr(value, "dtype", None) in (np.float32, np.float16, jnp.bfloat16) for value in values):
        return None
    try:
        return np.broadcast_shapes(*(np.shape(value) for value in values))
    except ValueError:
        return None


def _flat(value: ArrayLike, shape: tuple[int, ...], dtype: type) -> NDArray[np.generic]:
    """One number, or a contiguous array of the whole batch."""
    array = np.asarray(value)
    array = array.view(np.uint8) if array.dtype == bool and dtype is np.uint8 else array.astype(dtype, copy=False)
    return array.reshape(-1) if array.size == 1 else np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1)


def _result_arrays(count: int, dtypes: Sequence[type]) -> list[NDArray[np.generic]]:
    """Uninitialised arrays that jax can adopt without copying.

    They share one allocation: numpy asks the system for huge pages for large ones, which makes the first write to fresh
    memory several times cheaper.
    """
    sizes = [-(-count * np.dtype(dtype).itemsize // _ALIGNMENT) * _ALIGNMENT for dtype in dtypes]
    raw = np.empty(sum(sizes) + _ALIGNMENT, np.uint8)
    start, found = -raw.ctypes.data % _ALIGNMENT, list[NDArray[np.generic]]()
    for size, dtype in zip(sizes, dtypes, strict=True):
        found.append(raw[start : start + size].view(dtype)[:count])
        start += size
    return found


def _in_chunks(
    function: Callable[..., int],
    count: int,
    columns: Sequence[NDArray[np.generic]],
    flags: NDArray[np.generic],
    results: Sequence[NDArray[np.generic]],
) -> int:
    # Two chunks a core even out cores of unequal speed.
    length = max(count // (2 * (os.cpu_count() or 1)) // _SMALLEST_CHUNK, 1) * _SMALLEST_CHUNK

    def chunk(start: int) -> int:
        size = min(length, count - start)
        table = (_Column * len(columns))(*(_column(column, start) for column in columns))
        out = (ctypes.c_void_p * len(results))(*(result.ctypes.data + result.itemsize * start for result in results))
        step = int(flags.size > 1)
        calls = ctypes.c_void_p(flags.ctypes.data + step * start)
        return int(function(ctypes.c_int64(size), table, calls, ctypes.c_int64(step), out))

    # ctypes releases the interpreter lock for the length of the call.
    return sum(_pool().map(chunk, range(0, count, length)))


def _column(values: NDArray[np.generic], start: int) -> _Column:
    step = int(values.size > 1)
    return _Column(values.ctypes.data + 8 * step * start, step)


def _pool() -> ThreadPoolExecutor:
    """Threads of this process: a forked child must not wait for its parent's."""
    return _threads_of(os.getpid())


@functools.cache
def _threads_of(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix=f"pricing-{process}")
