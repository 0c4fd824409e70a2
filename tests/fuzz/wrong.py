"""Other forms of a right argument, and arguments that are wrong whatever the function."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

Random = np.random.Generator
LABELS = ("c", "a", "b", "e", "d")
NO_NUMBERS: tuple[Any, ...] = (
    "100",
    b"100",
    None,
    True,
    1j,
    Decimal("100"),
    datetime.date(2026, 1, 1),
    np.datetime64("2026-01-01"),
    pd.NaT,
    pd.NA,
    [1.0, None],
    [1.0, "2"],
    [True, 2.0],
    [[1.0, 2.0], [3.0]],
    {"a": 1.0},
    {1.0},
    object(),
    np.array([True, False]),
    np.array(["1", "2"]),
    np.array([1.0, 2.0], np.float16),
    np.array([1.0, 2.0], complex),
    np.array([1.0, 2.0], object),
    np.ma.masked_array([1.0, 2.0], [False, True]),
    pd.DataFrame({"x": [1.0, 2.0]}),
    pd.Series([1.0, None], dtype=object),
    pd.Series(["1", "2"]),
    pd.Series([True, False]),
    10**400,
    len,
)
NO_KINDS: tuple[Any, ...] = (
    -1,
    2,
    0.5,
    np.nan,
    None,
    "",
    "calls",
    "true",
    b"call",
    1j,
    [1, -1],
    ["call", None],
    ["call", "x"],
    np.array([0.0, np.nan]),
    np.array(["call", True, 3], object),
    pd.Series([True, None]),
    pd.Series(["put", None]),
    pd.DataFrame({"is_call": [True]}),
    np.ma.masked_array([True, False], [False, True]),
)
NO_ONE_NUMBER: tuple[Any, ...] = (*NO_NUMBERS, np.nan, np.inf, -np.inf, [1.0, 2.0], np.ones(3), pd.Series([1.0, 2.0]))
NO_COUNTS: tuple[Any, ...] = (*NO_NUMBERS, np.nan, 3.0, 2.5, -7, 0, [3], np.ones(3), "3")
NO_RECORDS: tuple[Any, ...] = (None, "x", 1.0, (), (1.0, 2.0), {}, object(), np.ones(3), pd.DataFrame({"x": [1.0]}))


ANY_WHOLE_NUMBER = ("index", "seed", "start")
"""Arguments for which 0 and numbers below it are right."""


def other_form(rng: Random, name: str, value: Any) -> Any:
    """The same numbers in another dress that must give the same answer."""
    if name == "key":
        return value
    if isinstance(value, bool):
        return (
            [value, int(value), np.bool_(value), "C" if value else "Put"][rng.integers(4)]
            if name == "is_call"
            else value
        )
    if isinstance(value, np.ndarray) and value.dtype == bool and name == "is_call":
        words = np.where(value, "call", "put")
        upper = [("C" if each else "P") for each in value.flat] if value.ndim == 1 else value
        forms = [value.astype(int), value.astype(float), words, words.astype(object), upper, jnp.asarray(value)]
        return forms[rng.integers(len(forms))]
    if isinstance(value, np.ndarray):
        forms = [value.tolist(), jnp.asarray(value), np.asfortranarray(value), value[::-1][::-1]]
        return forms[rng.integers(len(forms))]
    if isinstance(value, float):
        return [np.float64(value), np.array(value), jnp.asarray(value), value][rng.integers(4)]
    if isinstance(value, int):
        return [np.int64(value), np.array(value), value][rng.integers(3)]
    return value


def under_labels(arguments: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Arrays of one length as Series of one shuffled index."""
    sizes = {v.shape for v in arguments.values() if isinstance(v, np.ndarray)}
    if len(sizes) != 1 or (size := sizes.pop()) not in ((3,), (5,)):
        return arguments
    index = list(rng.permutation(LABELS[: size[0]]))
    return {n: pd.Series(v, index=index) if isinstance(v, np.ndarray) else v for n, v in arguments.items()}


def wrong_for(rng: Random, name: str, value: Any, *, annotation: str, beside: bool) -> Any:
    """A value that the function may not take in place of ``value``, by what its signature says of the argument.

    ``beside`` is whether another argument is an array, which eleven numbers then does not fit.
    """
    if name == "is_call":
        pool = NO_KINDS
    elif name == "key":
        pool = (*NO_RECORDS, 0, jax.random.split(jax.random.key(0), 2))
    elif isinstance(value, bool):
        pool = (None, "yes", 1, 0.0, np.nan)
    elif isinstance(value, int):
        pool = NO_COUNTS if annotation.startswith("int") else NO_NUMBERS
    elif isinstance(value, np.ndarray):
        if value.dtype == bool:
            pool = (None, "x", 2.0, np.nan, [True, None], ["a", "b"], 1j)
        else:
            pool = (*NO_NUMBERS, np.ones(11)) if beside else NO_NUMBERS
    elif isinstance(value, float):
        pool = NO_ONE_NUMBER if annotation.startswith("float") and "jax.Array" not in annotation else NO_NUMBERS
    elif isinstance(value, str):
        pool = (None, "no such thing", 1.0, b"x", [], {})
    else:
        pool = NO_RECORDS
    if annotation.startswith("Sequence"):
        pool = tuple(each for each in pool if type(each) is not tuple or each)
    if name in ANY_WHOLE_NUMBER:
        pool = tuple(each for each in pool if type(each) is not int or abs(each) > 99)
    pool = tuple(each for each in pool if each is not None or "None" not in annotation)
    return pool[rng.integers(len(pool))]
