"""Accounts and reference strategies in C++, for processors, compiled on first use where there is a compiler.

It computes what ``backtest.episode.step``, ``backtest.tally.add`` and ``backtest.strategies`` compute, several times
faster, because a block of accounts stays in vector registers while many bars pass. Without a compiler, on an
accelerator, or with ``TRADERBENCH_NATIVE=0`` the callers use those instead; :func:`status` says which and why.

``play.cc`` holds the two calls, ``account.h`` the account, ``strategies.h`` the strategies, ``windows.h`` what they
remember, ``candles.h`` the bars and ``registers.h`` the vectors.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp

from backtest.account import Account, Ledger
from backtest.market import Market
from backtest.rules import Rules
from backtest.tally import Tally

SOURCE = Path(__file__).with_name("play.cc")
FLAGS = ("-O2", "-march=native", "-std=c++17", "-shared", "-fPIC", "-fno-math-errno", "-fno-trapping-math")
SYMBOLS = ("AdvanceF64", "AdvanceF32", "EpisodeF64", "EpisodeF32")
SUFFIX = {"float64": "F64", "float32": "F32"}
ACCOUNT_ROWS = ("cash", "position", "entry_price", "stop_loss", "take_profit", "equity", "trade_equity", "events")
TALLY_ROWS = Tally._fields[Tally._fields.index("inverse") :]
RULES = (
    "flat",
    "buy_and_hold",
    "always",
    "random_walker",
    "moving_average_cross",
    "macd",
    "donchian_breakout",
    "rsi_reversal",
    "rsi_divergence",
    "grid",
    "bollinger_reversal",
    "volatility_target",
    "carry",
)
"""Strategies that ``strategies.h`` knows, in the order of its ``make``."""


class Rule(NamedTuple):
    """A reference strategy as C++ is told of it.

    Attributes
    ----------
    name
        One of :data:`RULES`.
    parameters
        Those of its factory in ``backtest.strategies``, in their order.
    stop
        See ``backtest.strategies.with_stop``; NaN for none.
    """

    name: str
    parameters: tuple[float, ...] = ()
    stop: float = math.nan


def available() -> bool:
    """Return whether batched accounts run in C++ here."""
    return status() == "native"


def status() -> str:
    """Return ``native``, or why the portable form is used."""
    if os.environ.get("TRADERBENCH_NATIVE", "1") == "0":
        return "switched off by TRADERBENCH_NATIVE=0"
    if jax.default_backend() != "cpu":
        return f"not for the backend {jax.default_backend()}"
    return _load()


@cache
def _load() -> str:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        return f"there is no {os.environ.get('CXX', 'g++')}"
    try:
        path = _built(compiler)
        library = ctypes.CDLL(str(path))
        for symbol in SYMBOLS:
            jax.ffi.register_ffi_target(_target(symbol), jax.ffi.pycapsule(getattr(library, symbol)), platform="cpu")
    except (OSError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None) or str(error)
        return f"it could not be built: {detail.strip().splitlines()[0]}"
    return "native"


def _target(symbol: str) -> str:
    return f"traderbench_{symbol}"


def _built(compiler: str) -> Path:
    """Return the compiled library, from the cache where it is there already."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    sources = [each.read_text() for each in sorted(SOURCE.parent.glob("*.[ch]*"))]
    parts = (*sources, version, jax.__version__, _processor(), *FLAGS)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "traderbench"
    path = folder / f"backtest-{digest}.so"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = Path(scratch) / path.name
            command = [compiler, *FLAGS, "-isystem", jax.ffi.include_dir(), str(SOURCE), "-o", str(made)]
            subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
            os.replace(made, path)
    return path


def _processor() -> str:
    """Return what ``-march=native`` depends on, so that a cache on a shared disk serves several machines."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.exists() else []
    return platform.machine() + next((line for line in lines if line.startswith(("flags", "Features"))), "")


def pack(account: Account, tally: Tally) -> jax.Array:
    """Return the state of accounts ``[lanes]`` as ``[rows, lanes]``."""
    dtype = account.cash.dtype
    fields = [getattr(account, name) for name in ACCOUNT_ROWS]
    fields += [*account.ledger, *(getattr(tally, name) for name in TALLY_ROWS)]
    return jnp.stack([field.astype(dtype) for field in fields])


def unpack(rows: jax.Array, *, bars: jax.Array, initial: jax.Array) -> tuple[Account, Tally]:
    """Return the record form of a packed state; ``bars`` and ``initial`` are the tally's fields that never change."""
    split = len(ACCOUNT_ROWS)
    named = dict(zip(ACCOUNT_ROWS, rows[:split], strict=True))
    ledger = Ledger(*rows[split : split + len(Ledger._fields)])
    sums = dict(zip(TALLY_ROWS, rows[split + len(Ledger._fields) :], strict=True))
    account = Account(**(named | {"events": named["events"].astype(jnp.int32)}), ledger=ledger)
    return account, Tally(bars=bars, initial=initial, equity=account.equity, **sums)


def advance(
    state: jax.Array,
    *,
    candles: Market,
    market_return: jax.Array | None,
    kind: jax.Array,
    size: jax.Array,
    stop_loss: jax.Array | None = None,
    take_profit: jax.Array | None = None,
    rules: Rules,
    first: jax.Array | int = 0,
) -> jax.Array:
    """Return the packed state after some bars; pure, for use within ``jit``.

    Parameters
    ----------
    state
        ``[rows, lanes]``, from :func:`pack`.
    candles
        Fields ``[lanes, bars]``, or ``[1, bars]`` for one market shared by all accounts.
    market_return
        ``[1, bars]``, for one shared market; see ``backtest.tally.add``. None makes ``Tally.market_product`` NaN.
    kind, size, stop_loss, take_profit
        The orders that wait at each open, ``[some bars, lanes]``; a stop is None when no order has one.
    first
        The bar that meets the first of the orders.
    """
    lanes, width = state.shape[1], 64 // state.dtype.itemsize
    if lanes < width:
        fill = width - lanes
        shared = candles.close.shape[0] == 1
        after = advance(
            _widened(state, fill, axis=1),
            candles=candles if shared else Market(*(_widened(field, fill, axis=0) for field in candles)),
            market_return=market_return,
            kind=_widened(kind, fill, axis=1),
            size=_widened(size, fill, axis=1),
            stop_loss=None if stop_loss is None else _widened(stop_loss, fill, axis=1),
            take_profit=None if take_profit is None else _widened(take_profit, fill, axis=1),
            rules=rules,
            first=first,
        )
        return after[:, :lanes]
    dtype = state.dtype
    target = _target("Advance" + SUFFIX[dtype.name])
    call = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct(state.shape, dtype), vmap_method="sequential")
    none = jnp.zeros((0, 0), dtype)
    stops = (none if each is None else each.astype(dtype) for each in (stop_loss, take_profit))
    returns = jnp.zeros((0, 0)) if market_return is None else market_return
    columns = [jnp.asarray(field, jnp.float64) for field in (*candles[1:], returns)]
    numbers, start = jnp.stack([jnp.asarray(value, dtype) for value in rules]), jnp.asarray(first, jnp.int32)
    result: jax.Array = call(state, *columns, kind.astype(jnp.int32), size.astype(dtype), *stops, numbers, start)
    return result


def play(
    state: jax.Array, traded: Market, observed: Market, strategies: Sequence[Rule], *, rules: Rules, warmup: int
) -> jax.Array:
    """Return the packed states ``[strategies, rows, lanes]`` after whole episodes; pure, for use within ``jit``.

    Parameters
    ----------
    state
        ``[rows, lanes]``, from :func:`pack`; every strategy starts from it, in its float type.
    traded, observed
        Fields ``[lanes, bars]``, float64.
    strategies
        They pass by in this order, a block of accounts and a chunk of bars at a time: candles are read once for all.
    warmup
        As in ``backtest.batch.play``.
    """
    dtype = state.dtype
    longest = max(len(each.parameters) for each in strategies)
    rows = [
        (RULES.index(each.name), each.stop, *each.parameters, *[0.0] * (longest - len(each.parameters)))
        for each in strategies
    ]
    shape = jax.ShapeDtypeStruct((len(strategies), *state.shape), dtype)
    call = jax.ffi.ffi_call(_target("Episode" + SUFFIX[dtype.name]), shape, vmap_method="sequential")
    seen = (observed.high, observed.low, observed.close, observed.funding_rate)
    columns = [jnp.asarray(field, jnp.float64) for field in (*traded[1:], *seen)]
    numbers = jnp.stack([jnp.asarray(value, dtype) for value in rules])
    result: jax.Array = call(state, *columns, numbers, jnp.asarray(rows, jnp.float64), jnp.int32(warmup))
    return result


def _widened(field: jax.Array, count: int, *, axis: int) -> jax.Array:
    """Return ``field`` with its last lane repeated ``count`` times more."""
    last = jax.lax.slice_in_dim(field, field.shape[axis] - 1, field.shape[axis], axis=axis)
    return jnp.concatenate([field, jnp.repeat(last, count, axis=axis)], axis=axis)
