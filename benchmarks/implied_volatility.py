"""Goal G2: implied volatility of a chain of out-of-the-money quotes, and of an extreme set."""

from __future__ import annotations

from dataclasses import replace

import harness
import numpy as np

OURS, PEER = "ours", "fast_vollib_implied_volatility"


def draw(size: int, *, extreme: bool) -> dict[str, object]:
    """Out-of-the-money options with prices above 1e-290; extreme: T to 1e-8, volatility to 1e-4, S/K to 1e4."""
    from pricing import black_scholes

    rng = np.random.default_rng(1)
    spot = np.full(size, 100.0)
    if extreme:
        time, volatility = 10 ** rng.uniform(-8, 2, size), 10 ** rng.uniform(-4, 1, size)
        log_ratio = np.clip(rng.uniform(-30, 30, size) * volatility * np.sqrt(time), -9.2, 9.2)
    else:
        time, volatility = rng.uniform(0.02, 2.0, size), rng.uniform(0.1, 0.6, size)
        log_ratio = np.log(rng.uniform(60.0, 140.0, size) / 100.0)
    rate = np.full(size, 0.0 if extreme else 0.03)
    dividend_yield = np.full(size, 0.0 if extreme else 0.01)
    strike = spot * np.exp(log_ratio)
    x = {"spot": spot, "strike": strike, "time": time, "rate": rate, "dividend_yield": dividend_yield}
    x["is_call"] = strike >= spot * np.exp((rate - dividend_yield) * time)
    price = np.asarray(
        black_scholes.price(
            spot=spot,
            strike=strike,
            time_to_expiry=time,
            rate=rate,
            volatility=volatility,
            dividend_yield=dividend_yield,
            is_call=x["is_call"],
        )
    )
    keep = (price > 1e-290) & (price < 0.999 * np.minimum(spot, strike))
    return {**{name: value[keep] for name, value in x.items()}, "price": price[keep], "volatility": volatility[keep]}


def solver(x: dict[str, object]):
    import jax

    from pricing import implied_volatility

    def call() -> np.ndarray:
        answer = implied_volatility.solve(
            price=x["price"],
            spot=x["spot"],
            strike=x["strike"],
            time_to_expiry=x["time"],
            rate=x["rate"],
            dividend_yield=x["dividend_yield"],
            is_call=x["is_call"],
        )
        return np.asarray(jax.block_until_ready(answer).value)

    return call


def jitted(x: dict[str, object]):
    import jax

    from pricing import implied_volatility

    names = ("spot", "strike", "time", "rate", "price", "dividend_yield", "is_call")
    arguments = [jax.device_put(x[name]) for name in names]
    return lambda: np.asarray(jax.block_until_ready(implied_volatility._solve_compiled(*arguments)[0]).value)


def error(found: np.ndarray, x: dict[str, object]) -> float:
    """Largest relative error; a missing answer counts as infinite."""
    relative = np.abs(found / x["volatility"][: found.size] - 1.0)
    return float(np.where(np.isnan(relative), np.inf, relative).max())


def main() -> None:
    options = harness.arguments(__doc__)
    peers = harness.Peers(options.peers_python)
    goals = {}
    every = []
    for extreme, size in ((False, options.size // 2), (True, options.size // 8)):
        x = draw(size, extreme=extreme)
        contestants = {OURS: solver(x), "ours, jitted": jitted(x)} | peers.calls([PEER], x)
        facts = {
            name: {"max_error": error(call() if "ours" in name else peers.result(call), x)}
            for name, call in contestants.items()
        }
        results = harness.alternate(contestants, work=len(x["price"]), rounds=options.rounds, facts=facts)
        label = "extreme set" if extreme else "chain"
        print(f"\n{label}: {len(x['price'])} options")
        print(harness.table(results, reference=OURS))
        limit = 1e-10 if extreme else 1e-13
        goals[f"G2 error, {label}"] = harness.goal(
            f"largest relative error, {label}", reached=facts[OURS]["max_error"], wanted=limit, at_most=True
        )
        if PEER in facts and not extreme:
            goals["G2 speed"] = harness.goal(
                "faster than fast_vollib's Jaeckel", reached=harness.ratio(results, PEER, OURS), wanted=6
            )
        every += [replace(result, name=f"{result.name} ({label})") for result in results]
    peers.close()
    harness.record("implied_volatility", every, goals=goals, notes={"quotes": "out of the money"})


if __name__ == "__main__":
    main()
