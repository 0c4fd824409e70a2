"""What every function does with its arguments first: one dtype, one shape, no impossible values.

Arguments are read by :mod:`pricing.signature`; what is refused here is refused with one ``ValueError`` that names it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from numpy.typing import NDArray

_KINDS: dict[object, bool] = {"call": True, "c": True, "put": False, "p": False, True: True, False: False}
_KIND_WANTED = "True, 1, 'call' or 'c' for a call and False, 0, 'put' or 'p' for a put"
_LARGEST_INTEGER = 2**63 - 1
_FLOAT64, _BOOL = np.dtype(np.float64), np.dtype(np.bool_)


def is_traced(value: object) -> bool:
    """Whether a value is known only when the compiled program runs."""
    return isinstance(value, jax.core.Tracer)


def numbers(name: str, value: Any) -> ArrayLike:
    """Return ``value`` as it is when it is numbers on a device or one plain number, else as a numpy array.

    Integers, float64 and float32 are numbers, alone, in arrays, in (nested) lists and in a pandas Series. NaN is one.
    Booleans, text, dates, complex and half-precision numbers, masked arrays, DataFrames and None are not.
    """
    if type(value) is float or (type(value) is np.ndarray and value.dtype == np.float64):
        return value
    if isinstance(value, jax.Array):
        if value.dtype in (np.float64, np.float32) or jnp.issubdtype(value.dtype, np.integer):
            return value
        raise ValueError(f"{name} must be numbers (float64, float32 or integers), got dtype {value.dtype}")
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= _LARGEST_INTEGER else _large(name, value)
    array = _plain(name, value, "numbers")
    if array.dtype.kind in "iu" or array.dtype in (np.float64, np.float32):
        if isinstance(value, list | tuple) and any(isinstance(v, bool | np.bool_) for v in _flat(value)):
            raise ValueError(f"{name} must be numbers, got a boolean among them")
        return array
    raise ValueError(f"{name} must be numbers (float64, float32 or integers), got {_shown(array)}")


def option_kind(name: str, value: Any) -> ArrayLike:
    """Return which options are calls, as booleans of the shape of ``value``.

    Booleans, the numbers 0 and 1, and the words ``call`` / ``put`` or ``c`` / ``p`` in any case are read, alone or in
    arrays; all else is refused, NaN and -1 too. In traced code, where values cannot be looked at, only booleans are.
    """
    if isinstance(value, bool | np.bool_):
        return value
    if isinstance(value, jax.Array):
        if value.dtype == bool:
            return value
        if is_traced(value):
            raise ValueError(
                f"{name} must be boolean in traced code, where its values cannot be checked, got {value.dtype}: "
                "compare before (for example kind == 1)"
            )
    array = _plain(name, value, _KIND_WANTED)
    if array.dtype == bool:
        return array
    if array.dtype.kind in "iuf":
        calls = np.asarray(array == 1)
        known = calls | (array == 0)
    elif array.dtype.kind == "U":
        lower = np.char.lower(array)
        calls = (lower == "call") | (lower == "c")
        known = calls | (lower == "put") | (lower == "p")
    else:
        read = [_kind_of(each) for each in array.flat]
        calls = np.array([bool(each) for each in read], bool).reshape(array.shape)
        known = np.array([each is not None for each in read], bool).reshape(array.shape)
    if not known.all():
        raise ValueError(f"{name} must be {_KIND_WANTED}, got {brief(array[~known].tolist()[0])}")
    return calls


def _kind_of(value: object) -> bool | None:
    try:
        return _KINDS.get(value.lower() if isinstance(value, str) else value)
    except TypeError:
        return None


def flags(name: str, value: Any) -> ArrayLike:
    """Return booleans of the shape of ``value``, which holds booleans or the numbers 0 and 1; all else is refused."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, jax.Array) and value.dtype == bool):
        return value
    array = _plain(name, value, "booleans")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be booleans, got {_shown(array)}")
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        raise ValueError(f"{name} must be booleans or 0 and 1, got {brief(array[wrong].tolist()[0])}")
    return array.astype(bool)


def number(name: str, value: Any, *, default: object = None) -> Any:
    """Return one finite number (or ``default``, which may be none); numbers of numpy and jax as plain ones."""
    if type(value) is float and math.isfinite(value):
        return value
    read = numbers(name, value)
    if np.ndim(read) != 0:
        raise ValueError(f"{name} must be one number, got shape {np.shape(read)}")
    if is_traced(read):
        return read
    plain = np.asarray(read).item()
    if not math.isfinite(plain) and repr(plain) != repr(default):
        raise ValueError(f"{name} must be one finite number, got {plain!r}")
    return plain


def whole_number(name: str, value: Any) -> int:
    """Return one whole number, of an integer type."""
    if isinstance(value, np.integer) or (type(value) is int and abs(value) <= _LARGEST_INTEGER):
        return int(value)
    if isinstance(value, jax.Array | np.ndarray) and not is_traced(value) and np.ndim(value) == 0:
        plain = np.asarray(value)
        if plain.dtype.kind in "iu":
            return int(plain)
    raise ValueError(f"{name} must be a whole number, got {brief(value)}")


def float_dtype(name: str, value: Any) -> Any:
    """Return ``value`` when it names float64 or float32."""
    try:
        known = np.dtype(value) in (np.float64, np.float32)
    except TypeError:
        known = False
    if value is None or not known:
        raise ValueError(f"{name} must be float64 or float32, got {brief(value)}")
    return value


def random_key(name: str, value: Any) -> jax.Array:
    """Return one random key of jax, typed or as the two words of ``jax.random.PRNGKey``."""
    if isinstance(value, jax.Array):
        typed = jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
        if (typed and value.shape == ()) or (value.dtype == np.uint32 and value.shape == (2,)):
            return value
        raise ValueError(f"{name} must be one random key, got {value.dtype} of shape {value.shape}")
    raise ValueError(f"{name} must be a random key, for example jax.random.key(0), got {brief(value)}")


def is_series(value: object) -> bool:
    """Whether a value is a pandas Series (or looks like one): numbers under labels."""
    return hasattr(type(value), "to_numpy") and hasattr(value, "index") and getattr(value, "ndim", 0) == 1


def _plain(name: str, value: Any, wanted: str) -> NDArray[Any]:
    if value is None:
        raise ValueError(f"{name} must be {wanted}, got None")
    if hasattr(type(value), "to_numpy") and hasattr(value, "columns"):
        raise ValueError(f"{name} must be {wanted}, got a DataFrame: name one column of it, or pass .to_numpy()")
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} must be {wanted}, got a masked array: pass .filled(numpy.nan)")
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{name} must be {wanted}, got a {type(value).__name__} that is no array: {reason}") from None


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [each for part in value for each in _flat(part)]
    return [value]


def _large(name: str, value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be finite, got a whole number of {value.bit_length()} bits") from None


def _shown(array: NDArray[Any]) -> str:
    """Dtype, and the value that explains it."""
    if array.ndim == 0:
        return brief(array.item() if array.dtype.kind in "OUSbc" else array)
    if array.dtype.kind == "O":
        odd = [each for each in array.flat if not isinstance(each, float | int) or isinstance(each, bool)]
        return f"dtype object with {brief(odd[0] if odd else array.flat[0])}" if array.size else "dtype object"
    return f"dtype {array.dtype}" + (f" with {brief(array.flat[0])}" if array.size else "")


def brief(value: object) -> str:
    """One line that shows a value, however long it is."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"a {type(value).__name__} {text[:40]}..."


def broadcast(
    named: Mapping[str, ArrayLike], is_call: ArrayLike, *, numbers_stay: bool = False
) -> tuple[ArrayLike, ...]:
    """Bring named numbers to one float dtype and all arguments to one shape.

    The dtype is float64 unless the arrays among the numbers are float32. Values that are not on a device stay in numpy,
    where small ones cost least. With ``numbers_stay`` one number is not made an array: a loop repeats it without one.

    Returns
    -------
    The numbers in their order, then ``is_call`` as booleans.
    """
    values = [numbers(name, value) for name, value in named.items()]
    dtype = _common_float(values)
    kinds = option_kind("is_call", is_call)
    shapes = [value.shape if hasattr(value, "shape") else () for value in (*values, kinds)]
    try:
        shape = np.broadcast_shapes(*set(shapes))
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in zip((*named, "is_call"), shapes, strict=True))
        raise ValueError(f"shapes do not broadcast: {listed}") from None
    wanted = [() if numbers_stay and own == () else shape for own in shapes]
    with np.errstate(over="ignore"):  # what float32 cannot hold is refused by name
        return (
            *(_shaped(value, dtype, shape) for value, shape in zip(values, wanted[:-1], strict=True)),
            _shaped(kinds, _BOOL, wanted[-1]),
        )


def _common_float(values: Sequence[ArrayLike]) -> np.dtype[np.generic]:
    """Return the dtype of the arrays, whose type plain numbers take; float64 where they are no floats."""
    arrays = [value for value in values if isinstance(value, np.ndarray | jax.Array)]
    dtypes = {array.dtype for array in arrays}
    if not dtypes or dtypes == {_FLOAT64}:
        return _FLOAT64
    dtype = jnp.result_type(*arrays)
    return dtype if jnp.issubdtype(dtype, jnp.floating) else _FLOAT64


def _shaped(value: ArrayLike, dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> ArrayLike:
    if isinstance(value, jax.Array):
        return jnp.broadcast_to(value.astype(dtype), shape)
    array = np.asarray(value, dtype)
    return array if array.shape == shape else np.broadcast_to(array, shape)


def possible(*, at_least_zero: Sequence[jax.Array], finite: Sequence[jax.Array]) -> jax.Array:
    """Whether arguments are finite, and those of the first kind not negative; NaN, which means missing, may pass.

    Elementwise: a kernel returns it beside its results, so that a large batch is looked at where it is read anyhow.
    """
    fine = [~((value < 0.0) | jnp.isposinf(value)) for value in at_least_zero]
    fine += [~jnp.isinf(value) for value in finite]
    return reduce(jnp.logical_and, fine)


def refuse_impossible(fine: jax.Array, look: Callable[[], None]) -> None:
    """Raise what ``look`` raises when some of ``fine``, from :func:`possible`, is False; traced values may pass."""
    if is_traced(fine) or bool(np.asarray(fine).all()):
        return
    look()
    raise ValueError("a number is too large for float32, the type of the arrays beside it")


def require(
    name: str, value: ArrayLike, *, at_least: float | None = None, above: float | None = None, missing: bool = True
) -> None:
    """Raise ``ValueError`` when a known value is infinite or below its bound. NaN, which is ``missing``, may pass."""
    if is_traced(value):
        return
    array = np.asarray(value, dtype=float)
    bad = np.isinf(array) if missing else ~np.isfinite(array)
    wanted = "finite"
    if at_least is not None:
        bad |= array < at_least
        wanted = f"finite and >= {at_least:g}"
    if above is not None:
        bad |= array <= above
        wanted = f"finite and > {above:g}"
    if bad.any():
        raise ValueError(f"{name} must be {wanted}, got {float(array[bad].flat[0])!r}")
