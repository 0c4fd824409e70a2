"""Reads the arguments of public functions by their annotations: right ones pass, all others get one clear error.

Every public function of ``pricing`` and ``backtest`` carries one of two decorators. :func:`checked` reads each argument
as its annotation says (see :mod:`pricing.inputs`); :func:`labelled` also gives results back under the index of the
pandas Series that came in. Series that meet must have one index: rows are never paired by position against labels.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar

import jax
import numpy as np
import numpy.typing as npt
from jax.typing import ArrayLike

from pricing import inputs

P = ParamSpec("P")
R = TypeVar("R")
Reader = Callable[[str, Any], Any]

_BY_NAME: dict[str, Reader] = {
    "is_call": inputs.option_kind,
    "is_option": inputs.flags,
    "exceeded": inputs.flags,
    "key": inputs.random_key,
    "dtype": inputs.float_dtype,
}
_OF_THEIR_OWN = ("dividend_amounts", "dividend_times")
"""Arrays that never have one value a label: they belong to all rows."""
_UNLABELLED = frozenset({float, int, bool, str, type(None), np.ndarray, list})
_BY_TYPE: dict[Any, Reader] = {
    jax.Array: inputs.numbers,
    ArrayLike: inputs.numbers,
    npt.ArrayLike: inputs.numbers,
    int: inputs.whole_number,
}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return ``function`` with its arguments read by their annotations.

    It raises ``ValueError`` for an argument that is not what its annotation says, naming it, and for Series with
    different indexes.
    """
    return _decorated(function, labels=False)


def labelled(function: Callable[P, R]) -> Callable[P, R]:
    """Return ``function`` as :func:`checked` does, with results under the index of the Series among its arguments.

    Every array of the result that has one value a label becomes a Series; all else stays as it is, and so does what
    traced code returns. Arrays beside a Series must be single numbers or have its length.
    """
    return _decorated(function, labels=True)


def requires(check: Callable[..., None]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that first calls ``check`` with the same arguments: for functions that are compiled whole.

    Arguments that a caller leaves out stay left out, so that their defaults stay constants of the compiled program.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def required(*args: P.args, **kwargs: P.kwargs) -> R:
            check(*args, **kwargs)
            return function(*args, **kwargs)

        return required

    return decorate


def relabelled(answer: Any, like: Any, *, first: int) -> Any:
    """Return ``answer`` under the labels of ``like`` from ``first`` on where that is a Series, else as it is."""
    return _under(like.index[first:], type(like), answer) if inputs.is_series(like) else answer


def read_fields(record: Any) -> None:
    """Read the fields of a frozen dataclass, for its ``__post_init__``."""
    for name, reader in _plan(typing.cast(Callable[..., Any], type(record))).items():
        object.__setattr__(record, name, reader(name, getattr(record, name)))


def _decorated(function: Callable[P, R], *, labels: bool) -> Callable[P, R]:
    names = tuple(inspect.signature(function).parameters)
    call: Callable[..., R] = function

    @functools.wraps(function)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        plan = _plan(function)
        given: dict[str, Any] = {**dict(zip(names, args, strict=False)), **kwargs} if args else kwargs
        series = _series_in(given)
        read = {name: plan[name](name, value) if name in plan else value for name, value in given.items()}
        if args:
            positional = (*(read[name] for name in names[: len(args)]), *args[len(names) :])
            by_name = {name: read[name] for name in kwargs}
        else:
            positional, by_name = (), read
        index = _common_index(series) if series else ()
        if series and labels:
            _require_fit(read, next(iter(series)), len(index))
        try:
            answer = call(*positional, **by_name)
        except (TypeError, ValueError) as error:
            _name_shapes(read, error)
            raise
        if not series:
            return answer
        return _under(index, type(next(iter(series.values()))), answer) if labels else answer

    return reading


@functools.cache
def _plan(owner: Callable[..., Any]) -> dict[str, Reader]:
    """How each argument of a function, or each field of a record, is read; those that may be anything are left out."""
    plain = inspect.unwrap(owner)
    hints = typing.get_type_hints(plain)
    found: dict[str, Reader] = {}
    for name, parameter in inspect.signature(plain).parameters.items():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        reader = _BY_NAME.get(name) or _reader(hints.get(name), parameter.default)
        if reader is not None and not variadic:
            found[name] = reader
    return found


def _reader(hint: Any, default: object = None) -> Reader | None:
    if hint is float:
        return functools.partial(inputs.number, default=default)
    if hint in _BY_TYPE:
        return _BY_TYPE[hint]
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind in (typing.Union, types.UnionType):
        return _union_reader(parts, default)
    if kind is Literal:
        return functools.partial(_one_of, parts)
    if kind is np.ndarray or (isinstance(hint, TypeVar) and jax.Array in hint.__constraints__):
        return inputs.numbers
    if kind is Callable or kind is typing.get_origin(Callable[[], None]):
        return _function
    if kind in (Sequence, list) and isinstance(parts[0], type):
        return inputs.numbers if parts[0] in (float, int) else functools.partial(_all_of, parts[0])
    if isinstance(hint, type):
        return functools.partial(_record if hasattr(hint, "_fields") else _instance, hint)
    return None


def _union_reader(parts: tuple[Any, ...], default: object) -> Reader | None:
    rest = tuple(part for part in parts if part is not types.NoneType)
    if len(rest) == 1:
        reader = _reader(rest[0], default)
    elif jax.Array in rest or all(part in (int, Sequence[int], Sequence[float]) for part in rest):
        reader = inputs.numbers
    elif any(_reader(part) is _function for part in rest):
        reader = functools.partial(_number_or_function, default)
    elif all(isinstance(part, type) for part in rest):
        reader = functools.partial(_either, rest)
    else:
        return None
    return reader if reader is None or len(rest) == len(parts) else functools.partial(_optional, reader)


def _optional(reader: Reader, name: str, value: Any) -> Any:
    return None if value is None else reader(name, value)


def _number_or_function(default: object, name: str, value: Any) -> Any:
    return value if callable(value) else inputs.number(name, value, default=default)


def _record(cls: Callable[..., Any], name: str, value: Any) -> Any:
    _instance(typing.cast(type, cls), name, value)
    plan = _plan(cls)
    read = {
        field: plan[field](f"{name}.{field}", part)
        for field, part in zip(value._fields, value, strict=True)
        if field in plan
    }
    changed = {field: part for field, part in read.items() if part is not getattr(value, field)}
    return value._replace(**changed) if changed else value


def _either(wanted: tuple[type, ...], name: str, value: Any) -> Any:
    _instance(wanted, name, value)
    return _record(type(value), name, value) if hasattr(value, "_fields") else value


def _instance(wanted: type | tuple[type, ...], name: str, value: Any) -> Any:
    if not isinstance(value, wanted):
        names = " or ".join(each.__name__ for each in (wanted if isinstance(wanted, tuple) else (wanted,)))
        raise ValueError(f"{name} must be a {names}, got {inputs.brief(value)}")
    return value


def _all_of(wanted: type, name: str, value: Any) -> Any:
    if isinstance(value, str | wanted) or not isinstance(value, Sequence | np.ndarray):
        raise ValueError(f"{name} must be a list of {wanted.__name__}, got {inputs.brief(value)}")
    parts = list(value) if isinstance(value, np.ndarray) else value
    for place, part in enumerate(parts):
        _instance(wanted, f"{name}[{place}]", part)
    return parts


def _one_of(wanted: tuple[Any, ...], name: str, value: Any) -> Any:
    for each in wanted:
        if isinstance(value, type(each)) and value == each:
            return each
    raise ValueError(f"{name} must be {' or '.join(map(repr, wanted))}, got {inputs.brief(value)}")


def _function(name: str, value: Any) -> Any:
    if not callable(value):
        raise ValueError(f"{name} must be a function, got {inputs.brief(value)}")
    return value


def _series_in(given: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Series among the arguments and among the fields of their records, by name."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if type(value) in _UNLABELLED or isinstance(value, jax.Array):
            continue
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            found |= _series_in(dict(zip(value._fields, value, strict=True)), f"{prefix}{name}.")
        elif inputs.is_series(value):
            found[f"{prefix}{name}"] = value
    return found


def _common_index(series: Mapping[str, Any]) -> Any:
    (first, leader), *others = series.items()
    for name, other in others:
        if not leader.index.equals(other.index):
            labels = [inputs.brief(list(each.index[:3])) for each in (leader, other)]
            raise ValueError(
                f"{first} and {name} must have the same index in the same order, got {len(leader)} labels beginning "
                f"{labels[0]} and {len(other)} beginning {labels[1]}: align them first, or pass .to_numpy()"
            )
    return leader.index


def _name_shapes(read: Mapping[str, Any], error: Exception) -> None:
    """Raise a clear error in the place of one of numpy or jax about arrays that do not fit each other."""
    shapes = {name: np.shape(value) for name, value in read.items() if isinstance(value, np.ndarray | jax.Array)}
    if "shape" not in str(error) or any(name in str(error) for name in shapes):
        return
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes do not broadcast: {listed}") from None


def _require_fit(read: Mapping[str, Any], leader: str, labels: int) -> None:
    for name, value in read.items():
        shape = np.shape(value) if isinstance(value, np.ndarray | jax.Array) else ()
        if name not in _OF_THEIR_OWN and shape not in ((), (1,), (labels,)):
            raise ValueError(
                f"{name} must be one number or have the {labels} values of the Series {leader}, got shape {shape}: "
                f"pass {leader}.to_numpy() where shapes are to broadcast"
            )


def _under(index: Any, cls: type, answer: Any) -> Any:
    if isinstance(answer, tuple):
        parts = [_under(index, cls, part) for part in answer]
        return type(answer)(*parts) if hasattr(answer, "_fields") else tuple(parts)
    if isinstance(answer, np.ndarray | jax.Array) and not inputs.is_traced(answer) and answer.shape == (len(index),):
        return cls(np.asarray(answer), index=index)
    return answer
