"""Goal G1: price and five Greeks of a chain in float64, against numpy, fast_vollib and a C loop."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import harness
import numpy as np

OURS, FLOOR = "ours", "C floor, 2 threads"


def draw(size: int) -> dict[str, object]:
    rng = np.random.default_rng(0)
    return {
        "spot": 100.0,
        "strike": rng.uniform(60.0, 140.0, size),
        "time": rng.uniform(0.02, 2.0, size),
        "rate": 0.03,
        "volatility": rng.uniform(0.1, 0.6, size),
        "dividend_yield": 0.01,
        "is_call": rng.random(size) < 0.5,
    }


def floor(x: dict[str, object], threads: int):
    library = harness.compile_c(
        Path(__file__).with_name("floors.c").read_text(),
        flags=["-O3", "-march=native", "-ffast-math", "-mprefer-vector-width=512"],
    )
    if library is None:
        return None
    size = len(x["strike"])
    sign = np.where(x["is_call"], 1.0, -1.0)
    edges = [round(size * part / threads) for part in range(threads + 1)]
    pool = ThreadPoolExecutor(threads)

    def call() -> list[np.ndarray]:
        out = [np.empty(size) for _ in range(6)]

        def part(start: int) -> None:
            def at(array: np.ndarray) -> ctypes.c_void_p:
                return ctypes.c_void_p(array.ctypes.data + 8 * edges[start])

            library.chain(
                ctypes.c_int64(edges[start + 1] - edges[start]),
                ctypes.c_double(x["spot"]),
                at(x["strike"]),
                at(x["time"]),
                ctypes.c_double(x["rate"]),
                at(x["volatility"]),
                ctypes.c_double(x["dividend_yield"]),
                at(sign),
                *(at(a) for a in out),
            )

        list(pool.map(part, range(threads)))
        return out

    return call


def main() -> None:
    options = harness.arguments(__doc__)
    import jax

    import native
    from pricing import black_scholes

    x = draw(options.size)
    arguments = {
        "spot": x["spot"],
        "strike": x["strike"],
        "time_to_expiry": x["time"],
        "rate": x["rate"],
        "volatility": x["volatility"],
        "dividend_yield": x["dividend_yield"],
        "is_call": x["is_call"],
    }
    on_device = {name: jax.device_put(value) for name, value in arguments.items()}
    plain = {name: column for name, column in on_device.items()}
    within = jax.jit(lambda columns: black_scholes.price_and_greeks(**columns))
    portable = jax.jit(lambda columns: black_scholes._price_and_greeks(*columns))
    order = ("spot", "strike", "time_to_expiry", "rate", "volatility", "dividend_yield", "is_call")

    def ours() -> object:
        return jax.block_until_ready(black_scholes.price_and_greeks(**on_device))

    def jitted() -> object:
        return jax.block_until_ready(within(plain))

    def xla() -> object:
        return jax.block_until_ready(portable([plain[name] for name in order]))

    peers = harness.Peers(options.peers_python)
    contestants = {OURS: ours, "ours, inside jit": jitted, "ours, XLA only": xla}
    for threads in (2, 1):
        call = floor(x, threads)
        if call:
            contestants[f"C floor, {threads} thread{'s' * (threads > 1)}"] = call
    contestants |= peers.calls(["numpy_scipy_chain", "fast_vollib_numba_chain", "fast_vollib_jax_chain"], x)
    results = harness.alternate(contestants, work=options.size, rounds=options.rounds)
    peers.close()

    print(harness.table(results, reference=OURS))
    goals = {}
    names = [result.name for result in results]
    fast = [harness.ratio(results, name, OURS) for name in names if name.startswith("fast_vollib")]
    if fast:
        goals["G1 fast_vollib"] = harness.goal("faster than fast_vollib's best", reached=min(fast), wanted=5)
    if "numpy_scipy_chain" in names:
        goals["G1 numpy"] = harness.goal(
            "faster than numpy+scipy", reached=harness.ratio(results, "numpy_scipy_chain", OURS), wanted=7
        )
    if FLOOR in names:
        goals["G1 C"] = harness.goal(
            "time over C", reached=1 / harness.ratio(results, FLOOR, OURS), wanted=1.7, at_most=True
        )
    harness.record(
        "chain_price_and_greeks", results, goals=goals, notes={"options": options.size, "loops": native.status()}
    )


if __name__ == "__main__":
    main()
