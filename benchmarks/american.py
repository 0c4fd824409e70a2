"""Goal G3: American puts and calls by spectral collocation, against QuantLib's two schemes at equal or lower error.

    python benchmarks/american.py --size 16384

QuantLib prices a sample of the same options (its time grows with their number); both are stated per option. Errors are
against our own solution with 40 collocation points, which agrees with QuantLib's most accurate scheme to 1e-6.
"""

from __future__ import annotations

import harness
import numpy as np

SAMPLE = 1024


def draw(size: int) -> dict[str, np.ndarray]:
    """Spot 100, strike 70 to 130, 10 days to 3 years, rates and yields to 10%, volatility 10% to 60%."""
    rng = np.random.default_rng(1)
    return {
        "spot": np.full(size, 100.0),
        "strike": rng.uniform(70.0, 130.0, size),
        "time_to_expiry": rng.integers(10, 1100, size) / 365.0,
        "rate": rng.uniform(0.005, 0.1, size),
        "volatility": rng.uniform(0.1, 0.6, size),
        "dividend_yield": rng.uniform(0.0, 0.1, size),
        "is_call": rng.random(size) < 0.5,
    }


def quantlib(x: dict[str, np.ndarray], scheme: str):
    """One engine whose quotes are set option by option: the least overhead that Python allows."""
    import QuantLib as ql

    today = ql.Date(1, 1, 2020)
    ql.Settings.instance().evaluationDate = today
    days, calendar = ql.Actual365Fixed(), ql.NullCalendar()
    spot, rate, income, volatility = (ql.SimpleQuote(0.1) for _ in range(4))
    process = ql.BlackScholesMertonProcess(
        ql.QuoteHandle(spot),
        ql.YieldTermStructureHandle(ql.FlatForward(today, ql.QuoteHandle(income), days)),
        ql.YieldTermStructureHandle(ql.FlatForward(today, ql.QuoteHandle(rate), days)),
        ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, calendar, ql.QuoteHandle(volatility), days)),
    )
    engine = ql.QdFpAmericanEngine(process, getattr(ql.QdFpAmericanEngine, scheme)())
    options = []
    for strike, time, is_call in zip(x["strike"], x["time_to_expiry"], x["is_call"], strict=True):
        payoff = ql.PlainVanillaPayoff(ql.Option.Call if is_call else ql.Option.Put, float(strike))
        options.append(ql.VanillaOption(payoff, ql.AmericanExercise(today, today + round(time * 365))))
        options[-1].setPricingEngine(engine)
    rows = np.stack([x[name] for name in ("spot", "rate", "dividend_yield", "volatility")], axis=1).tolist()
    # Setting a quote to another value makes the engine recompute.
    quotes = (spot, rate, income, volatility)

    def call() -> np.ndarray:
        values = []
        for option, row in zip(options, rows, strict=True):
            for quote, value in zip(quotes, row, strict=True):
                quote.setValue(value)
            values.append(option.NPV())
        return np.array(values)

    return call


def main() -> None:
    options = harness.arguments(__doc__ or "")
    from pricing import american

    size = min(options.size, 1 << 14)
    x = draw(size)
    sample = {name: values[:SAMPLE] for name, values in x.items()}
    exact = np.asarray(american.price(**sample, scheme=american.Scheme(40, 40, 40, 60)))
    calls, facts = {}, {}
    for name, scheme in (("fast", american.FAST), ("accurate", american.ACCURATE), ("precise", american.PRECISE)):
        calls[f"ours {name}"] = lambda scheme=scheme: np.asarray(american.price(**x, scheme=scheme))
        facts[f"ours {name}"] = errors(np.asarray(american.price(**x, scheme=scheme))[:SAMPLE] - exact)
    peers = {}
    try:
        for name in ("fast", "accurate"):
            peers[f"QuantLib {name}"] = quantlib(sample, f"{name}Scheme")
            facts[f"QuantLib {name}"] = errors(peers[f"QuantLib {name}"]() - exact)
    except ImportError as error:
        print(f"peer QuantLib is left out: {error}")
    results = together(calls, peers, size=size, rounds=options.rounds, facts=facts)
    print(harness.table(results, reference="ours fast"))
    goals = {}
    if peers:
        for name in ("fast", "accurate"):
            slower, faster = f"QuantLib {name}", f"ours {name}"
            by_name = {result.name: result for result in results}
            speed = by_name[slower].nanoseconds / by_name[faster].nanoseconds
            goals[f"G3 {name}"] = harness.goal(f"G3 {name}, times faster than QuantLib", reached=speed, wanted=8.0)
            for measure in ("error_max", "error_rms"):
                goals[f"G3 {name} {measure}"] = harness.goal(
                    f"G3 {name}, {measure}",
                    reached=facts[faster][measure],
                    wanted=facts[slower][measure],
                    at_most=True,
                )
    notes = {"size": size, "quantlib_sample": SAMPLE, "work": "price of American puts and calls, float64"}
    harness.record("american", results, goals=goals, notes=notes)


def errors(differences: np.ndarray) -> dict[str, float]:
    return {"error_max": float(np.abs(differences).max()), "error_rms": float(np.sqrt((differences**2).mean()))}


def together(calls, peers, *, size: int, rounds: int, facts) -> list[harness.Result]:
    """Alternate contestants that do different numbers of options; times are per option."""
    import time

    work = {**dict.fromkeys(calls, size), **dict.fromkeys(peers, SAMPLE)}
    seconds: dict[str, list[float]] = {name: [] for name in work}
    processor: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, call in {**calls, **peers}.items():
            start, busy = time.perf_counter(), time.process_time()
            call()
            seconds[name].append((time.perf_counter() - start) / work[name])
            processor[name].append((time.process_time() - busy) / work[name])
    return [
        harness.Result(name, tuple(times), tuple(processor[name]), 1.0, facts[name]) for name, times in seconds.items()
    ]


if __name__ == "__main__":
    main()
