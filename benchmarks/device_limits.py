"""Bytes and operations of a unit of work, counted by XLA, and the shortest time that a card could take for them.

Nothing here is measured. The counts are XLA's (``cost_analysis()``) of the portable form, which is what runs on a card;
the times follow from the maker's data sheets.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

os.environ["TRADERBENCH_NATIVE"] = "0"
os.environ["JAX_PLATFORMS"] = "cpu"

import harness
import jax
import numpy as np

from backtest import batch, simulators, strategies, tally
from backtest.account import open_account
from backtest.market import Market, bars_last_to_first
from backtest.rules import DEFAULT_RULES
from pricing import black_scholes, implied_volatility
from pricing.risk import book

LANES = 1 << 14
OPERATIONS_OF_A_FUNCTION = 25.0
"""What exp, log, sqrt or a division by them counts as: a double-precision exp is about as many instructions."""


class Card(NamedTuple):
    """What the maker says of a card: bytes and operations a second, outside tensor cores."""

    bandwidth: float
    float64: float
    float32: float


CARDS = {"H100 SXM": Card(3.35e12, 34e12, 67e12), "H200 SXM": Card(4.8e12, 34e12, 67e12)}
"""NVIDIA H100 Tensor Core GPU data sheet, and NVIDIA H200 Tensor Core GPU data sheet."""


@dataclass(frozen=True)
class Work:
    """A program that does ``units`` units of work.

    Attributes
    ----------
    least_bytes
        What a unit cannot do without: inputs and results.
    state_bytes
        Of what a step hands on to the next; a scan on a card reads and writes it every time.
    """

    name: str
    unit: str
    program: Callable[..., Any]
    arguments: tuple[Any, ...]
    units: int
    least_bytes: float
    dtype: str = "float64"
    state_bytes: float = 0.0


class Count(NamedTuple):
    """What one unit of work is: elementary operations, exp and log and the like, bytes read and written."""

    operations: float
    functions: float
    bytes: float


def counts(work: Work) -> dict[str, Count]:
    """Return a unit of work as it is written, each value computed once and kept, and as XLA compiled it.

    The compiler repeats operations where that saves it from writing a value to memory, and writes others.
    """
    lowered = jax.jit(work.program).lower(*work.arguments)
    written, compiled = (
        [cost[name] / work.units for name in ("flops", "transcendentals", "bytes accessed")]
        for cost in (lowered.cost_analysis(), lowered.compile().cost_analysis())
    )
    least = Count(*written)._replace(bytes=work.least_bytes)
    found = {"at the least": least}
    if work.state_bytes:
        found["and its state, read and written"] = least._replace(bytes=work.least_bytes + 2.0 * work.state_bytes)
    return found | {"as compiled": Count(*compiled)}


def seconds(counted: Count, card: Card, dtype: str) -> float:
    """Return the time of a unit: that of its bytes or that of its operations, whichever is longer."""
    operations = counted.operations + OPERATIONS_OF_A_FUNCTION * counted.functions
    return max(counted.bytes / card.bandwidth, operations / getattr(card, dtype))


def chain(dtype: str) -> Work:
    rng = np.random.default_rng(1)
    columns = [rng.uniform(low, high, LANES).astype(dtype) for low, high in RANGES]
    arguments = (*columns, rng.random(LANES) < 0.5)
    program = black_scholes._price_and_greeks
    width = np.dtype(dtype).itemsize
    return Work(f"price and five Greeks, {dtype}", "option", program, arguments, LANES, 12 * width + 1, dtype)


RANGES = ((90.0, 110.0), (50.0, 150.0), (0.05, 2.0), (0.0, 0.05), (0.1, 0.6), (0.0, 0.03))


def inversion() -> Work:
    options = chain("float64")
    spot, strike, time, rate, _, dividend_yield, is_call = options.arguments
    price = black_scholes._price(*options.arguments)

    def solve(*columns: jax.Array) -> Any:
        names = ("price", "spot", "strike", "time_to_expiry", "rate", "dividend_yield", "is_call")
        return implied_volatility.solve(**dict(zip(names, columns, strict=True)))

    arguments = (price, spot, strike, time, rate, dividend_yield, is_call)
    return Work("implied volatility, float64", "option", solve, arguments, LANES, 6 * 8 + 1 + 8 + 4)


def revaluation(dtype: str) -> Work:
    """One position in every scenario; the scan over positions is counted once, which is what a unit is."""
    rng = np.random.default_rng(2)
    one = (np.zeros(1, np.int32), *(np.ones(1, dtype) * value for value in (1.0, 100.0, 95.0, 0.5, 0.3)))
    spot = rng.uniform(80.0, 120.0, (1, LANES)).astype(dtype)
    numbers = [np.asarray(value, dtype) for value in (0.03, 0.0, 0.0, 0.004)]
    program = partial(book.revalue_options.__wrapped__, book.Options(*one))
    name = f"one position in one scenario, {dtype}"
    width = np.dtype(dtype).itemsize
    return Work(name, "revaluation", lambda *given: program(*given, None), (spot, *numbers), LANES, 2 * width, dtype)


def bar_step(dtype: str) -> Work:
    """One bar of one account: order, fills, costs, stops, every sum. The scan over bars is counted once."""
    played = (strategies.get("moving_average_cross", fast=12, slow=26, stop=0.03),)
    keys = jax.random.split(jax.random.key(0), LANES)
    market = jax.jit(jax.vmap(lambda key: simulators.simulate(key, bars=2)))(keys)
    market = Market(*(field.astype(dtype) for field in market))
    account = open_account(shape=(LANES,), dtype=dtype)
    start = batch._look(market, played, account, 0)
    lanes = tuple((account, memory, order, tally.start(account)) for memory, order in start)
    bars = bars_last_to_first(market)
    bar = Market(*(field[1] for field in bars))

    def program(lanes: Any, bar: Market) -> Any:
        return batch._bar(lanes, (bar, bar), strategies=played, rules=DEFAULT_RULES)[0]

    name = f"one bar of one account, 12/26 cross with a stop, {dtype}"
    state = sum(leaf.nbytes for leaf in jax.tree.leaves(lanes)) / LANES
    return Work(name, "bar-step", program, (lanes, bar), LANES, 6 * np.dtype(dtype).itemsize, dtype, state)


def main() -> None:
    works = [
        chain("float64"),
        chain("float32"),
        inversion(),
        revaluation("float64"),
        revaluation("float32"),
        bar_step("float64"),
        bar_step("float32"),
    ]
    heads = ["work (unit)", "operations", "functions", "bytes"]
    heads += [f"{card}, {unit}" for card in CARDS for unit in ("ns a unit", "billion units/s")]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    record = []
    for work in works:
        for form, counted in counts(work).items():
            times = {card: seconds(counted, figures, work.dtype) * 1e9 for card, figures in CARDS.items()}
            cells = [f"{work.name} ({work.unit}), {form}", f"{counted.operations:.0f}", f"{counted.functions:.0f}"]
            cells.append(f"{counted.bytes:.0f}")
            cells += [text for time in times.values() for text in (f"{time:.3f}", f"{1.0 / time:.1f}")]
            print("| " + " | ".join(cells) + " |")
            record.append({"work": work.name, "form": form, **counted._asdict(), "nanoseconds": times})
    harness.RESULTS.mkdir(exist_ok=True)
    content = {"benchmark": "device_limits", "computed": True, "jax": jax.__version__, "results": record}
    (harness.RESULTS / "device_limits.json").write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
