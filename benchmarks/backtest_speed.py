"""Goal G5: backtests with costs, funding, stops, liquidation and all metrics, against peers, a plain loop and C."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import backtest_plain
import harness
import numpy as np

OURS, OWN, PORTABLE, NARROW, ONE = (
    "ours",
    "ours, own strategy",
    "ours, portable",
    "ours, float32",
    "ours, 1 thread",
)
FLOOR, PLAIN, VECTORBT, BACKTESTING = (
    "C floor, 2 threads",
    "plain Python loop",
    "vectorbt_cross",
    "backtesting_py_cross",
)
FEE, SLIP, STOP = 5e-4, 1e-4, 0.03
BARS, LANES, THREADS = 4096, 512, 2
FEW = 48
"""Markets that the slow contestants play; times are compared per bar-step."""


def markets() -> tuple[np.ndarray, ...]:
    """Return open, high, low, close, volume and funding ``[bars, lanes]``."""
    import jax

    from backtest import simulators

    keys = jax.random.split(jax.random.key(0), LANES)
    drawn = jax.vmap(lambda key: simulators.simulate(key, bars=BARS))(keys)
    return tuple(np.ascontiguousarray(np.asarray(field).T) for field in drawn[1:])


def ours(
    columns: tuple[np.ndarray, ...],
    *,
    threads: int,
    dtype: type = np.float64,
    own: bool = False,
    portable: bool = False,
):
    """Return a call that plays all markets and gives all measures, from some Python threads.

    ``own`` plays a strategy that the project does not know, ``portable`` everything in XLA.
    """
    import jax
    import jax.numpy as jnp

    from backtest import batch, strategies, tally
    from backtest.account import open_account
    from backtest.market import Market
    from backtest.metrics.measures import summarise
    from backtest.rules import DEFAULT_RULES

    cross = strategies.get("moving_average_cross", fast=12, slow=26, stop=STOP)
    played = (own_cross() if own else cross,)
    time = jnp.arange(BARS) * 3600.0
    parts = [Market(time, *(jnp.asarray(c.T) for c in cut)) for cut in _cut(columns, threads)]

    @jax.jit
    def play(market: Market):
        account = open_account(shape=market.close.shape[:1], dtype=dtype)
        chosen = batch._play_portable if portable else batch.play
        (one,) = chosen(market, market, played, rules=DEFAULT_RULES, account=account, warmup=0)
        return summarise(tally.statistics(one.tally, one.account.ledger, bars=BARS, bars_per_year=8760.0))

    for part in parts:
        jax.block_until_ready(play(part))
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(lambda part: jax.block_until_ready(play(part)), parts))


def own_cross():
    """Return the same rule as a user would write it, from jax.numpy alone."""
    import jax.numpy as jnp

    from backtest.account import HOLD, TARGET, Action
    from backtest.episode import Strategy

    def decide(memory, bar, account):
        fast, slow, before = memory
        fast, slow = fast + 2 / 13 * (bar.close - fast), slow + 2 / 27 * (bar.close - slow)
        side = jnp.sign(fast - slow)
        changed = side != before
        stop = jnp.where(changed & (side != 0), bar.close * (1 - STOP * side), jnp.nan)
        return (fast, slow, side), Action(jnp.where(changed, TARGET, HOLD).astype(jnp.int32), side, stop, None)

    return Strategy(lambda bar: (bar.close, bar.close, jnp.zeros_like(bar.close)), decide)


def _cut(columns: tuple[np.ndarray, ...], threads: int) -> list[tuple[np.ndarray, ...]]:
    pieces = [np.array_split(column, threads, axis=1) for column in columns]
    return [tuple(np.ascontiguousarray(each) for each in piece) for piece in zip(*pieces, strict=True)]


def floor(columns: tuple[np.ndarray, ...]) -> Callable[[], object] | None:
    """Return a call of the C loop over the same markets on two threads, compiled with -ffast-math."""
    library = harness.compile_c(
        Path(__file__).with_name("backtest_floor.c").read_text(),
        flags=["-x", "c++", "-O3", "-march=native", "-ffast-math"],
    )
    if library is None:
        return None
    numbers = [ctypes.c_double(value) for value in (FEE, SLIP, 3.0, 0.005, STOP)]
    parts = _cut(columns, THREADS)
    pool = ThreadPoolExecutor(THREADS)

    def part(piece: tuple[np.ndarray, ...]) -> np.ndarray:
        lanes = piece[0].shape[1]
        state = np.zeros((24, lanes))
        state[0] = state[1] = piece[3][0]
        state[3] = state[6] = state[7] = state[20] = 10_000.0
        arrays = [ctypes.c_void_p(piece[index].ctypes.data) for index in (0, 1, 2, 3, 5)]
        library.backtest(
            ctypes.c_int64(BARS), ctypes.c_int64(lanes), *arrays, *numbers, ctypes.c_void_p(state.ctypes.data)
        )
        return state[7]

    return lambda: list(pool.map(part, parts))


def plain(columns: tuple[np.ndarray, ...]) -> Callable[[], object]:
    """Return a call of the plain Python loop over one market."""
    bars = [tuple(row) for row in np.stack([columns[index][:, 0] for index in (0, 1, 2, 3, 5)], axis=1).tolist()]
    return lambda: backtest_plain.cross(bars, FEE, SLIP, STOP)


class BacktestPeers(harness.Peers):
    """The peers of this benchmark, which live in another file than those of ``pricing``."""

    def __init__(self, python: str) -> None:
        super().__init__(None)
        script = str(Path(__file__).with_name("backtest_peers.py"))
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([python, script], stdin=pipe, stdout=pipe, text=True, bufsize=1)


def main() -> None:
    """Run all contestants in turn, print the table and the goals."""
    options = harness.arguments(__doc__ or "")
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_prefer_vector_width=512")
    import native

    columns = markets()
    contestants: dict[str, Callable[[], object]] = {
        OURS: ours(columns, threads=THREADS),
        ONE: ours(columns, threads=1),
        NARROW: ours(columns, threads=THREADS, dtype=np.float32),
        OWN: ours(columns, threads=THREADS, own=True),
        PORTABLE: ours(columns, threads=THREADS, portable=True),
        PLAIN: plain(columns),
    }
    work = dict.fromkeys((OURS, ONE, NARROW, OWN, PORTABLE, FLOOR), float(BARS * LANES))
    work |= {PLAIN: float(BARS), VECTORBT: float(BARS * FEW), BACKTESTING: float(BARS)}
    compiled = floor(columns)
    if compiled is not None:
        contestants[FLOOR] = compiled
    if options.peers_python:
        few = {name: columns[index][:, :FEW] for index, name in enumerate(("open", "high", "low", "close", "volume"))}
        peers = BacktestPeers(options.peers_python)
        contestants |= peers.calls([VECTORBT, BACKTESTING], {**few, "fee": FEE, "slippage": SLIP})
    timed = harness.alternate(contestants, work=1.0, rounds=options.rounds)
    results = [dataclasses.replace(result, work=work[result.name]) for result in timed]
    by_name = {result.name: result for result in results}
    for result in results:
        rate = 1e3 / result.best_nanoseconds
        times = f"median {result.nanoseconds:10.2f} ns   best {result.best_nanoseconds:10.2f} ns a bar-step"
        print(f"{result.name:24} {times}   {rate:9.2f} million bar-steps/s at best")
    print(f"loops: {native.status()}")
    goals = {}
    for name, wanted in ((VECTORBT, 40.0), (BACKTESTING, 1200.0), (PLAIN, 400.0), (FLOOR, 0.6)):
        if name in by_name:
            reached = by_name[name].best_nanoseconds / by_name[OURS].best_nanoseconds
            goals[name] = harness.goal(f"speed relative to {name}", reached=reached, wanted=wanted)
    notes = {"bars": BARS, "markets": LANES, "threads": THREADS, "account": native.status()}
    print(harness.record("backtest", results, goals=goals, notes=notes))


if __name__ == "__main__":
    main()
