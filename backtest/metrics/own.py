"""Measures in a Python file of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import jax
import jax.numpy as jnp

from backtest import naming, tally
from backtest.account import open_account
from backtest.metrics.measures import Measure
from backtest.naming import Parameters

LANES = 3


def from_file(name: str, text: str, parameters: Parameters = ()) -> Measure:
    """Return the measure that ``path/to/mine.py:name`` stands for in a file of this text, with its parameters.

    It is a function of ``backtest.metrics.Statistics`` that returns one number for each episode. The same one comes
    back for the same arguments, so that it is compiled once.

    Raises
    ------
    ValueError
        In one line: when the file or the name is missing, it is no function, or a parameter is unknown or missing.
    """
    return _made(name, text, parameters, tuple(type(value) for _, value in parameters))


@lru_cache(maxsize=256)
def _made(name: str, text: str, parameters: Parameters, kinds: tuple[type, ...]) -> Measure:
    del kinds
    function = naming.attribute_of(name, text, what="metric", kind=Callable)
    if not callable(function):
        raise ValueError(
            f"metric {name!r} is a {type(function).__name__}; a function of backtest.metrics.Statistics is"
        )
    naming.check_parameters("metric", name, function, dict(parameters), first=1)
    return partial(function, **dict(parameters)) if parameters else function


def check(name: str, measure: Measure) -> None:
    """Trace a measure, or raise ``ValueError`` when that fails or it does not give one number for each episode."""

    def measured() -> jax.Array:
        account = open_account(shape=(LANES,))
        sums = tally.add(tally.start(account), account, account.equity)
        return measure(tally.statistics(sums, account.ledger, bars=2, bars_per_year=8760.0))

    try:
        value = jax.eval_shape(measured)
    except Exception as error:
        hint = " (a sweep stores no path: returns is None)" if "NoneType" in str(error) else ""
        raise ValueError(f"metric {name!r} fails: {naming.said(error)}{hint}") from error
    if getattr(value, "shape", None) != (LANES,) or not jnp.issubdtype(value.dtype, jnp.floating):
        given = f"{value.dtype}{list(value.shape)}" if hasattr(value, "shape") else f"a {type(value).__name__}"
        raise ValueError(f"metric {name!r}: for {LANES} episodes it must give float64[{LANES}], got {given}")
