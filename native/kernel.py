"""An elementwise function of arrays as one compiled loop on processors, and as it is everywhere else."""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from native import library
from native.choice import by_platform
from native.emit import LANES, TYPES, Emitter, Value, word_of

TARGET = "traderbench_elementwise"
_lock = threading.Lock()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function``, which computes elementwise, as one loop.

    On a processor XLA splits what a function computes into many loops with arrays between them; here it is one that
    keeps everything in registers, compiled from the same equations. It is the same in every call: eager or jitted,
    mapped, small or large. Derivatives are those of ``function``. On other devices, and where there is no compiler
    (:func:`native.status`), ``function`` itself is computed.

    Parameters
    ----------
    function
        Of arrays of one shape, or numbers, to a tree of such arrays. Nothing but elementwise operations.

    Returns
    -------
    A function whose results all have the shape that its arguments broadcast to.
    """

    @jax.custom_jvp
    def call(*arguments: Any) -> Any:
        arguments = tuple(map(jnp.asarray, arguments))
        shape = np.broadcast_shapes(*(argument.shape for argument in arguments))

        def portable(*arguments: Any) -> Any:
            return jax.tree.map(lambda result: jnp.broadcast_to(result, shape), function(*arguments))

        if status() != "native":
            return portable(*arguments)
        return by_platform(*arguments, cpu=lambda *given: _loop(function, shape, given), other=portable)

    @call.defjvp
    def derivative(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        return call(*primals), jax.jvp(function, primals, tangents)[1]

    return wraps(function)(call)


def _loop(function: Callable[..., Any], shape: tuple[int, ...], arguments: tuple[jax.Array, ...]) -> Any:
    """Call the loop. Arrays are passed flat, numbers with one element."""
    flat = [
        jnp.broadcast_to(argument, shape).reshape(-1) if argument.shape else argument.reshape(1)
        for argument in arguments
    ]
    compiled = _compiled(function, tuple(str(argument.dtype) for argument in arguments))
    count = int(np.prod(shape))
    results = [jax.ShapeDtypeStruct((count,), dtype) for dtype in compiled.dtypes]
    call = jax.ffi.ffi_call(TARGET, results, vmap_method="broadcast_all")
    found = call(*flat, kernel=np.int64(compiled.number), columns=np.int64(0))
    return jax.tree.unflatten(compiled.tree, [result.reshape(shape) for result in found])


class Compiled(NamedTuple):
    """A loop that is loaded: its number in ``loop.cc``, and what it returns."""

    number: int
    dtypes: tuple[str, ...]
    tree: Any


@cache
def _compiled(function: Callable[..., Any], dtypes: tuple[str, ...]) -> Compiled:
    arguments = [jax.ShapeDtypeStruct((LANES,), dtype) for dtype in dtypes]
    traced, shapes = jax.make_jaxpr(function, return_shape=True)(*arguments)
    leaves, tree = jax.tree.flatten(shapes)
    returned = tuple(str(leaf.dtype) for leaf in leaves)
    return Compiled(registered(traced, dtypes, returned), returned, tree)


def registered(traced: Any, dtypes: tuple[str, ...], returned: tuple[str, ...], *, numbers: int | None = None) -> int:
    """Compile and load the loop of a closed jaxpr; return the number by which ``loop.cc`` knows it.

    ``numbers`` says how many arguments, the first, are numbers in every call; without it each call says which are.
    """
    path = library.build("kernel", _source(traced, dtypes, returned, numbers))
    number = int.from_bytes(hashlib.sha256(path.name.encode()).digest()[:7], "big")
    loaded = library.load(path)
    with _lock:
        _handlers().traderbench_register(ctypes.c_int64(number), ctypes.cast(loaded.loop, ctypes.c_void_p))
    return number


def _source(traced: Any, dtypes: tuple[str, ...], returned: tuple[str, ...], numbers: int | None = None) -> str:
    """Return the loop: whole blocks in place, the rest in a block that is filled up with its first element."""
    word = word_of([*dtypes, *returned])
    emitter = Emitter(word=word)
    results = emitter.emit(traced, [Value(f"in{place}", dtype, True) for place, dtype in enumerate(dtypes)])
    reads = [f"const {TYPES[dtype][0]} in{place} = {_load(dtype, place)};" for place, dtype in enumerate(dtypes)]
    writes = [
        _store(dtype, place, emitter.vector(value))
        for place, (dtype, value) in enumerate(zip(returned, results, strict=True))
    ]
    body = "\n  ".join([*reads, *emitter.lines, *writes])
    sizes = ", ".join(str(np.dtype(dtype).itemsize) for dtype in dtypes)
    out_sizes = ", ".join(str(np.dtype(dtype).itemsize) for dtype in returned)
    step, known = "step", ""
    if numbers is not None:
        step = "STEP"
        known = f", STEP[] = {{{', '.join(str(int(place >= numbers)) for place in range(len(dtypes)))}}}"
    return f"""#define W {64 // word}
#define MASK int{8 * word}_t
#include "lanes.h"
#include "blocks.h"

static constexpr int64_t IN[] = {{{sizes}}}, OUT[] = {{{out_sizes}}}{known};

INLINE void block(const char* const* in, char* const* out) {{
  {body}
}}

extern "C" void loop(int64_t count, const char* const* in, const int64_t* step, char* const* out) {{
  in_blocks(count, IN, in, {step}, OUT, out, block);
}}
"""


def _load(dtype: str, place: int) -> str:
    return f"load_bools(in[{place}])" if dtype == "bool" else f"load<{TYPES[dtype][0]}>(in[{place}])"


def _store(dtype: str, place: int, text: str) -> str:
    return (
        f"store_bools(out[{place}], {text});" if dtype == "bool" else f"store<{TYPES[dtype][0]}>(out[{place}], {text});"
    )


@cache
def status() -> str:
    """Return ``native``, or why functions are computed as they are; found once a process."""
    if os.environ.get("TRADERBENCH_NATIVE", "1") == "0":
        return "switched off by TRADERBENCH_NATIVE=0"
    try:
        _handlers()
    except library.BuildError as error:
        return str(error)
    return "native"


@cache
def _handlers() -> ctypes.CDLL:
    handlers = library.load(library.build("loop", (library.FOLDER / "loop.cc").read_text()))
    capsule = jax.ffi.pycapsule(handlers.TraderbenchElementwise)
    jax.ffi.register_ffi_target(TARGET, capsule, platform="cpu")
    jax.ffi.register_ffi_target_as_batch_partitionable(TARGET)
    return handlers
