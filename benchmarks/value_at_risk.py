"""Goal G4: full revaluation of an option book in many scenarios, float64 and float32."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import harness
import numpy as np

OURS, NARROW, FLOOR, NUMPY = "ours", "ours, float32", "C floor, 2 threads", "numpy_scipy_value_at_risk"
WHOLE, STEPS = "draw to quantile, one program", "draw to quantile, numpy between"
POSITIONS, UNDERLYINGS = 100, 4


def draw(scenarios: int) -> dict[str, object]:
    rng = np.random.default_rng(2)
    return {
        "spot": 100.0 * np.exp(rng.normal(0.0, 0.03, (scenarios, UNDERLYINGS))),
        "rate": 0.03,
        "underlying": rng.integers(0, UNDERLYINGS, POSITIONS),
        "sign": np.where(rng.random(POSITIONS) < 0.5, 1.0, -1.0),
        "shares": rng.normal(0.0, 500.0, POSITIONS),
        "strike": rng.uniform(70.0, 130.0, POSITIONS),
        "time": rng.uniform(0.05, 1.0, POSITIONS),
        "volatility": rng.uniform(0.15, 0.5, POSITIONS),
    }


def ours_book(x: dict[str, object]):
    from pricing import risk

    return risk.Book(
        underlying=x["underlying"],
        is_option=np.ones(POSITIONS, bool),
        is_call=x["sign"] > 0,
        shares=x["shares"],
        strike=x["strike"],
        time_to_expiry=x["time"],
        volatility=x["volatility"],
    )


def ours(x: dict[str, object], dtype: type):
    import jax

    from pricing import risk

    book, spot = ours_book(x), x["spot"].astype(dtype)
    return lambda: np.asarray(jax.block_until_ready(risk.revalue(book, spot=spot, rate=x["rate"])))


def drawn(x: dict[str, object], scenarios: int):
    """Return the whole of a Monte Carlo value at risk, in one program and with numpy between its steps."""
    import jax

    from pricing import risk

    book = ours_book(x)
    law = {"volatility": np.full(UNDERLYINGS, 0.3), "correlation": np.eye(UNDERLYINGS), "scenarios": scenarios}
    spot, key = np.full(UNDERLYINGS, 100.0), jax.random.key(1)

    def whole() -> np.ndarray:
        return np.asarray(risk.simulated_risk(key, book, spot=spot, rate=x["rate"], **law).value_at_risk.value)

    def in_steps() -> np.ndarray:
        returns = np.asarray(risk.simulate_log_returns(key, years=1 / 252, **law))
        then = risk.revalue(book, spot=spot * np.exp(returns), rate=x["rate"], years_passed=1 / 252)
        profits = np.asarray(then) - float(risk.revalue(book, spot=spot, rate=x["rate"]))
        risk.expected_shortfall(profits)
        return np.asarray(risk.value_at_risk(profits).value)

    return {WHOLE: whole, STEPS: in_steps}


def floor(x: dict[str, object], threads: int):
    library = harness.compile_c(
        Path(__file__).with_name("floors.c").read_text(),
        flags=["-O3", "-march=native", "-ffast-math", "-mprefer-vector-width=512"],
    )
    if library is None:
        return None
    parts = [np.ascontiguousarray(part.T) for part in np.array_split(x["spot"], threads)]
    index = x["underlying"].astype(np.int64)
    pool = ThreadPoolExecutor(threads)

    def at(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def part(spot: np.ndarray) -> np.ndarray:
        total, logs = np.empty(spot.shape[1]), np.log(spot)
        library.revalue(
            ctypes.c_int64(spot.shape[1]),
            ctypes.c_int64(POSITIONS),
            ctypes.c_int64(UNDERLYINGS),
            at(spot),
            at(logs),
            ctypes.c_double(x["rate"]),
            at(index),
            *(at(x[name]) for name in ("sign", "shares", "strike", "time", "volatility")),
            at(total),
        )
        return total

    return lambda: np.concatenate(list(pool.map(part, parts)))


def main() -> None:
    options = harness.arguments(__doc__)
    scenarios = options.size // 8
    x = draw(scenarios)
    peers = harness.Peers(options.peers_python)
    contestants = {OURS: ours(x, np.float64), NARROW: ours(x, np.float32)}
    call = floor(x, 2)
    if call:
        contestants[FLOOR] = call
    contestants |= peers.calls([NUMPY], x)
    truth = contestants[OURS]()
    scale = np.abs(truth).max()
    facts = {
        name: {
            "max_error": float(
                np.abs(np.asarray(peers.result(call) if name == NUMPY else call()) - truth).max() / scale
            )
        }
        for name, call in contestants.items()
    }
    results = harness.alternate(contestants, work=scenarios * POSITIONS, rounds=options.rounds, facts=facts)
    peers.close()
    print(harness.table(results, reference=OURS))
    whole = harness.alternate(drawn(x, scenarios), work=scenarios * POSITIONS, rounds=options.rounds)
    print(harness.table(whole, reference=WHOLE))
    goals = {}
    if NUMPY in facts:
        goals["G4 numpy"] = harness.goal(
            "float64 over numpy+scipy", reached=harness.ratio(results, NUMPY, OURS), wanted=8
        )
        goals["G4 float32"] = harness.goal(
            "float32 over numpy+scipy", reached=harness.ratio(results, NUMPY, NARROW), wanted=15
        )
    if FLOOR in facts:
        goals["G4 C"] = harness.goal(
            "time over C", reached=1 / harness.ratio(results, FLOOR, OURS), wanted=1.7, at_most=True
        )
    harness.record(
        "value_at_risk", [*results, *whole], goals=goals, notes={"scenarios": scenarios, "positions": POSITIONS}
    )


if __name__ == "__main__":
    main()
