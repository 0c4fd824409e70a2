"""Python, numpy, jax and pandas values as plain JSON values."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import sys
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 100


def _numpy(value: object) -> tuple[bool, object]:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return False, None
    if isinstance(value, numpy.datetime64 | numpy.timedelta64):
        return True, str(value)
    if isinstance(value, numpy.ndarray | numpy.generic):
        return True, value.tolist()
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.Array):
        return True, numpy.asarray(value).tolist()
    return False, None


def _pandas(value: object) -> tuple[bool, object]:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return False, None
    if value is pandas.NA or value is pandas.NaT:
        return True, None
    if isinstance(value, pandas.DataFrame):
        columns = {str(name): value.iloc[:, at].tolist() for at, name in enumerate(value.columns)}
        return True, {"index": value.index.tolist(), "columns": columns}
    if isinstance(value, pandas.Series):
        return True, {"index": value.index.tolist(), "values": value.tolist()}
    if isinstance(value, pandas.Index):
        return True, value.tolist()
    if isinstance(value, pandas.Timedelta | pandas.Period | pandas.Interval):
        return True, str(value)
    return False, None


def _object(value: Mapping[Any, Any]) -> dict[str, Any]:
    encoded = {key if isinstance(key, str) else str(key): encode(item) for key, item in value.items()}
    if len(encoded) < len(value):
        raise TypeError("two keys of a dict are the same as text, which is what JSON keys are")
    return encoded


def values_at_most(raw: bytes) -> int:
    """Return how many values the JSON text ``raw`` holds at most (an empty list or object may count twice).

    It costs a hundredth of reading the text, which may be an attack: a list of empty lists takes 200 times its bytes.
    """
    outside_strings = b"".join(raw.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2])
    return 1 + sum(outside_strings.count(mark) for mark in (b",", b"[", b"{"))


def require_plain(value: Any, *, depth: int = 0) -> None:
    """Raise ``ValueError`` unless ``value``, made of JSON types, can be sent: not too deep, all text Unicode."""
    if depth > MAX_DEPTH:
        raise ValueError(f"the result is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict):
        for key, item in value.items():
            key.encode()
            require_plain(item, depth=depth + 1)
    elif isinstance(value, list):
        for item in value:
            require_plain(item, depth=depth + 1)


def encode(value: Any) -> Any:
    """Return ``value`` as JSON types.

    Arrays become lists, a Series ``{"index", "values"}``, a DataFrame ``{"index", "columns"}``, dates ISO text,
    Decimal and Fraction text (exact), sets sorted lists where they can be sorted. JSON has no NaN and no infinity: they
    become the texts ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``.

    Raises
    ------
    TypeError
        The value, or something in it, has no such form.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return _object(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return encode(value._asdict())
    if isinstance(value, list | tuple | range):
        return [encode(item) for item in value]
    if isinstance(value, set | frozenset):
        return [encode(item) for item in sorted(value, key=lambda item: (str(type(item)), str(item)))]
    for convert in (_numpy, _pandas):
        known, converted = convert(value)
        if known:
            return encode(converted) if converted is not value else str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal | fractions.Fraction | datetime.timedelta | complex):
        return str(value)
    if isinstance(value, int | str):
        return int(value) if isinstance(value, int) else str(value)
    raise TypeError(
        f"a value of type {type(value).__name__} has no JSON form; make result a number, text, list or dict"
    )
