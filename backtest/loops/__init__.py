"""Episodes as compiled loops: the account's step and every strategy's decisions, written from what jax traces of them.

A block of accounts stays in vector registers while many bars pass, several times faster than XLA, which writes every
value of every bar to memory. Strategies that cannot be written so (:func:`status` says why), and everything on other
devices or without a compiler, are played by ``backtest.episode.step`` in XLA.

``episode.cc`` holds the call, ``candles.h`` what loops read and write; ``writing.py`` writes the loops.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import native
from backtest.account import Account
from backtest.episode import Strategy
from backtest.loops import writing
from backtest.loops.writing import FIELDS, Written
from backtest.market import Market
from backtest.rules import Rules
from backtest.tally import Tally
from native import library
from native.emit import NotElementwise

FOLDER = Path(__file__).parent
LARGEST_CACHE = 4096
_lock = threading.Lock()


class _Player(ctypes.Structure):
    _fields_ = (
        ("begin", ctypes.c_void_p),
        ("decide", ctypes.c_void_p),
        ("memory", ctypes.c_int64),
        ("reads_account", ctypes.c_bool),
        ("has_brackets", ctypes.c_bool),
    )


def status(strategy: Strategy, dtype: Any = jnp.float64) -> str:
    """Return ``native`` where a strategy is played in a compiled loop here, or why not."""
    if native.status() != "native":
        return native.status()
    found = _written(strategy, str(np.dtype(dtype)))
    return found if isinstance(found, str) else "native"


@lru_cache(LARGEST_CACHE)
def _written(strategy: Strategy, dtype: str) -> Written | str:
    """Return the loaded loop of a strategy, or why there is none."""
    try:
        written = writing.strategy(strategy, dtype)
        player = _loaded(written, dtype)
    except NotElementwise as error:
        return str(error)
    with _lock:
        _handlers(dtype).register_strategy(ctypes.c_int64(written.number), ctypes.byref(player))
    return written


def _loaded(written: Written, dtype: str) -> _Player:
    loop = library.load(library.build("strategy", written.source, include=[FOLDER]))
    return _Player(
        begin=ctypes.cast(loop.begin, ctypes.c_void_p),
        decide=ctypes.cast(loop.decide, ctypes.c_void_p),
        memory=ctypes.c_int64.in_dll(loop, "memory_bytes").value,
        reads_account=written.reads_account,
        has_brackets=written.has_brackets,
    )


@cache
def _handlers(dtype: str) -> ctypes.CDLL:
    """Return the loaded calls for one float type, with the account's loop registered."""
    source = writing.heading(dtype) + (FOLDER / "episode.cc").read_text()
    handlers = library.load(library.build("episode", source, include=[FOLDER]))
    jax.ffi.register_ffi_target(_target(dtype), jax.ffi.pycapsule(handlers.PlayEpisode), platform="cpu")
    account = writing.account(dtype)
    loop = library.load(library.build("account", account.source, include=[FOLDER]))
    handlers.register_account(ctypes.c_int64(account.number), ctypes.cast(loop.settle, ctypes.c_void_p))
    return handlers


def _target(dtype: str) -> str:
    return f"traderbench_episode_{dtype}"


def play(
    traded: Market,
    observed: Market,
    account: Account,
    tally: Tally,
    rules: Rules,
    *,
    strategies: Sequence[Strategy],
    warmup: int,
) -> list[tuple[Account, dict[str, jax.Array]]]:
    """Return account and sums of each strategy after whole episodes; pure, for use within ``jit``.

    The sums are the fields of ``backtest.tally.Tally`` but the number of bars and the equity at the start.

    Parameters
    ----------
    traded, observed
        Fields ``[lanes, bars]``.
    account, tally
        Fields ``[lanes]``; every strategy starts from them.
    strategies
        Those of which :func:`status` is ``native``. They pass by in this order, a block of accounts and a chunk of bars
        at a time: candles are read once for all.
    warmup
        As in ``backtest.batch.play``.
    """
    dtype = account.cash.dtype
    found = [written for each in strategies if isinstance(written := _written(each, dtype.name), Written)]
    longest = max([1, *(len(written.numbers) for written in found)])
    numbers = [[*written.numbers, *[0.0] * (longest - len(written.numbers))] for written in found]
    used = 0
    for written in found:
        used |= written.used
    rows, tree = writing.rows(account, tally)
    state = jnp.stack([row.astype(dtype) for row in rows])
    columns = [jnp.asarray(field, jnp.float64) for field in (*traded[1:], *observed[1:])]
    uses_time = used >> FIELDS.index("time") & 1
    time = jnp.broadcast_to(jnp.asarray(observed.time, jnp.float64), observed.close.shape) if uses_time else columns[-1]
    call = jax.ffi.ffi_call(
        _target(dtype.name),
        jax.ShapeDtypeStruct((len(found), *state.shape), dtype),
        vmap_method="sequential",
    )
    states = call(
        state,
        jnp.stack([jnp.asarray(value, dtype) for value in rules]),
        jnp.asarray(numbers, jnp.float64),
        *columns[:6],
        time,
        *columns[6:],
        settle=np.int64(writing.account(dtype.name).number),
        strategies=np.array([written.number for written in found], np.int64),
        used=np.int64(used),
        same=bool(all(one is other for one, other in zip(traded[1:], observed[1:], strict=True))),
        warmup=np.int64(warmup),
    )
    return [writing.unrows(state, rows, tree) for state in states]
