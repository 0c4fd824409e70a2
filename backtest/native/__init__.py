"""The account step in C++, for processors, compiled on first use where there is a compiler.

It computes what ``backtest.episode.step`` and ``backtest.tally.add`` compute, several times faster, because a block of
accounts stays in vector registers while many bars pass. Without a compiler, on an accelerator, or with
``TRADERBENCH_NATIVE=0`` the callers use those two instead; :func:`status` says which and why.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from backtest.account import Account, Ledger
from backtest.rules import Rules
from backtest.tally import Tally

SOURCE = Path(__file__).with_name("account.cc")
FLAGS = ("-O2", "-march=native", "-std=c++17", "-shared", "-fPIC", "-fno-math-errno", "-fno-trapping-math")
TARGETS = {"float64": ("traderbench_account_f64", "AccountF64"), "float32": ("traderbench_account_f32", "AccountF32")}
ACCOUNT_ROWS = ("cash", "position", "entry_price", "stop_loss", "take_profit", "equity", "trade_equity", "events")
TALLY_ROWS = Tally._fields[Tally._fields.index("inverse") :]


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
        for name, symbol in TARGETS.values():
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, symbol)), platform="cpu")
    except (OSError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None) or str(error)
        return f"it could not be built: {detail.strip().splitlines()[0]}"
    return "native"


def _built(compiler: str) -> Path:
    """Return the compiled library, from the cache where it is there already."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    parts = (SOURCE.read_text(), version, jax.__version__, _processor(), *FLAGS)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "traderbench"
    path = folder / f"account-{digest}.so"
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
    candles: tuple[jax.Array, ...],
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
        Open, high, low, close, volume and funding rate, ``[bars, lanes]``, or ``[bars, 1]`` for one market shared by
        all accounts.
    market_return
        Shaped like the candles; see ``backtest.tally.add``. None makes ``Tally.market_product`` NaN.
    kind, size, stop_loss, take_profit
        The orders that wait at each open, ``[some bars, lanes]``; a stop is None when no order has one.
    first
        The bar that meets the first of the orders. Candles are read where they lie, so a chunk of orders costs no copy.
    """
    lanes, width = state.shape[1], 64 // state.dtype.itemsize
    if lanes < width:
        more = partial(_widened, lanes=lanes, width=width)
        after = advance(
            more(state),
            candles=tuple(more(field) for field in candles),
            market_return=more(market_return),
            kind=more(kind),
            size=more(size),
            stop_loss=more(stop_loss),
            take_profit=more(take_profit),
            rules=rules,
            first=first,
        )
        return after[:, :lanes]
    dtype = state.dtype
    name, _ = TARGETS[dtype.name]
    none = jnp.zeros((0, 0), dtype)
    call = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(state.shape, dtype), vmap_method="sequential")
    stops = (none if each is None else each.astype(dtype) for each in (stop_loss, take_profit))
    start = jnp.asarray(first, jnp.int32)
    numbers = jnp.stack([jnp.asarray(value, dtype) for value in rules])
    columns = [none if field is None else field.astype(dtype) for field in (*candles, market_return)]
    result: jax.Array = call(state, *columns, kind.astype(jnp.int32), size.astype(dtype), *stops, numbers, start)
    return result


def _widened(field: Any, *, lanes: int, width: int) -> Any:
    """Return ``[bars, lanes]`` with its last lane repeated up to a full vector register; other shapes as they are."""
    if field is None or field.shape[1] != lanes:
        return field
    return jnp.concatenate([field, jnp.repeat(field[:, -1:], width - lanes, axis=1)], axis=1)
