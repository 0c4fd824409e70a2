"""What answers of ``pricing`` must be, by scalar formulas, bounds and parity, and arguments that are drawn for them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pricing import (
    bates,
    black_scholes,
    chain,
    heston,
    risk,
    surface,
)
from pricing.strategy import Leg
from pricing.surface import svi
from tests.fuzz import oracles
from tests.fuzz.case import Random, number

Arguments = dict[str, Any]
PARAMETERS = heston.Parameters(0.04, 2.0, 0.05, 0.4, -0.6)
JUMPS = bates.Jumps(0.4, -0.05, 0.1)
CURVES = tuple(svi.SVI(*(np.asarray(x) for x in (a, 0.1, -0.3, 0.0, 0.2))) for a in (0.01, 0.03, 0.06))
SURFACE = surface.Surface.of(time=[0.25, 0.5, 1.0], forward=[100.0, 101.0, 102.0], curves=CURVES)
SSVI = surface.SSVI(np.array([0.25, 0.5]), np.array([0.01, 0.02]), *(np.asarray(x) for x in (-0.3, 0.8, 0.4)))


def option(rng: Random, *, first: str = "spot", low: float = 50.0) -> Arguments:
    """One option, or three with some arguments in common."""
    size = None if rng.random() < 0.4 else 3
    drawn = {
        first: (low, 150.0),
        "strike": (low, 150.0),
        "time_to_expiry": (0.05, 2.0),
        "rate": (0.0, 0.06),
        "volatility": (0.1, 0.6),
        "dividend_yield": (0.0, 0.05),
    }
    many = None if size is None else {first, *rng.choice(list(drawn), 2)}
    arguments: Arguments = {n: number(rng, *span, size if many and n in many else None) for n, span in drawn.items()}
    arguments["is_call"] = bool(rng.random() < 0.5) if size is None or rng.random() < 0.3 else rng.random(3) < 0.5
    return arguments


def without(arguments: Arguments, *names: str, **more: Any) -> Arguments:
    return {n: v for n, v in arguments.items() if n not in names} | more


def each(arguments: Arguments, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    columns = np.broadcast_arrays(*(np.asarray(arguments[n]) for n in names))
    return list(zip(*(column.ravel().tolist() for column in columns), strict=True))


BS = ("spot", "strike", "time_to_expiry", "rate", "volatility", "dividend_yield", "is_call")


def expected(a: Arguments, field: str) -> list[float]:
    return [oracles.black_scholes(*row)[field] for row in each(a, BS)]


def european(a: Arguments, got: Any) -> bool:
    return oracles.close(np.ravel(got), expected(a, "price"), rtol=1e-8)


def greeks(a: Arguments, got: Any) -> bool:
    return all(
        oracles.close(np.ravel(getattr(got, f)), expected(a, f), rtol=1e-7)
        for f in ("delta", "gamma", "theta", "vega", "rho")
    )


def as_spot(a: Arguments) -> Arguments:
    return without(a, "forward", spot=a["forward"], dividend_yield=a["rate"])


def futures_greeks(a: Arguments, got: Any) -> bool:
    b = as_spot(a)
    rows = each(b, BS)
    rho = [-row[2] * oracles.black_scholes(*row)["price"] for row in rows]
    others = all(
        oracles.close(np.ravel(getattr(got, f)), expected(b, f), rtol=1e-7) for f in ("delta", "gamma", "vega")
    )
    return others and oracles.close(np.ravel(got.rho), rho, rtol=1e-7)


def normal_price(a: Arguments, got: Any) -> bool:
    rows = each(a, ("forward", "strike", "time_to_expiry", "rate", "volatility", "is_call"))
    return oracles.close(np.ravel(got), [oracles.bachelier(*row) for row in rows], rtol=1e-7)


def normal_greeks(a: Arguments, got: Any) -> bool:
    step, names = 1e-3, ("forward", "strike", "time_to_expiry", "rate", "volatility", "is_call")
    slopes = [
        (oracles.bachelier(f + step, *rest) - oracles.bachelier(f - step, *rest)) / (2 * step)
        for f, *rest in each(a, names)
    ]
    return oracles.close(np.ravel(got.delta), slopes, atol=1e-5) and bool((np.asarray(got.vega) >= 0).all())


def within_bounds(a: Arguments, got: Any) -> bool:
    rows = each(a, ("spot", "strike", "time_to_expiry", "rate", "dividend_yield", "is_call"))
    spans = [oracles.bounds(*row) for row in rows]
    return all(low - 1e-6 <= price <= high + 1e-6 for (low, high), price in zip(spans, np.ravel(got), strict=True))


def parity(function: Any) -> Any:
    """Bounds, and call less put equals forward less strike, discounted."""

    def holds(a: Arguments, got: Any) -> bool:
        other = function(**{**a, "is_call": np.logical_not(a["is_call"])})
        sign = np.where(a["is_call"], 1.0, -1.0)
        gap = np.asarray(a["spot"]) * np.exp(-np.asarray(a["dividend_yield"]) * a["time_to_expiry"])
        gap = gap - np.asarray(a["strike"]) * np.exp(-np.asarray(a["rate"]) * a["time_to_expiry"])
        got, other = (np.asarray(getattr(x, "price", x)) for x in (got, other))
        return within_bounds(a, got) and oracles.close(sign * (got - other), gap, atol=1e-6)

    return holds


def american_bounds(a: Arguments, got: Any) -> bool:
    got = got[0] if isinstance(got, tuple) else got
    rows = each(a, BS)
    for (s, k, t, r, v, q, call), price in zip(rows, np.ravel(got), strict=True):
        low = max(oracles.black_scholes(s, k, t, r, v, q, call)["price"], (s - k) if call else (k - s), 0.0)
        if not low - 2e-4 * s <= price <= (s if call else k) + 1e-6:
            return False
    return True


def boundary_side(a: Arguments, got: Any) -> bool:
    rows = each(a, ("strike", "is_call"))
    return all(
        (level >= k - 1e-9) if call else (0 <= level <= k + 1e-9)
        for (k, call), level in zip(rows, np.ravel(got), strict=True)
    )


def inverts(a: Arguments, got: Any) -> bool:
    value = np.asarray(got[0] if isinstance(got, tuple) else got)
    return oracles.close(value, np.broadcast_to(HIDDEN, value.shape), rtol=1e-5)


HIDDEN = 0.3


def priced(rng: Random, function: Any = black_scholes.price) -> Arguments:
    """Near the money, so that the volatility can be read back."""
    a = option(rng, low=90.0)
    a = {n: np.clip(v, 90.0, 110.0) if n in ("spot", "strike") else v for n, v in a.items()} | {"volatility": HIDDEN}
    a = {n: float(v) if isinstance(v, np.floating) else v for n, v in a.items()}
    a["time_to_expiry"] = 0.5
    price = np.asarray(function(**a))
    return without(a, "volatility", price=float(price) if price.ndim == 0 else price)


def quotes(rng: Random) -> Arguments:
    strike = np.tile(np.arange(90.0, 111.0, 5.0), 2)
    is_call = np.arange(10) < 5
    fair = np.asarray(
        [
            oracles.black_scholes(100.0, k, 0.5, 0.03, 0.25, 0.0, bool(c))["price"]
            for k, c in zip(strike, is_call, strict=True)
        ]
    )
    half = rng.uniform(0.01, 0.05)
    return {
        "strike": strike,
        "time_to_expiry": 0.5,
        "is_call": is_call,
        "bid": fair - half,
        "ask": fair + half,
        "open_interest": rng.uniform(0.0, 9.0, 10),
    }


def built(a: Arguments, got: Any) -> bool:
    rows = sorted(each(a, ("time_to_expiry", "strike", "is_call", "bid", "ask")))
    found = list(
        zip(
            *(np.asarray(getattr(got, n)).tolist() for n in ("time_to_expiry", "strike", "is_call", "bid", "ask")),
            strict=True,
        )
    )
    return rows == found


def chain_of(rng: Random) -> chain.Quotes:
    return chain.build(**quotes(rng))


def legs(rng: Random, *, complete: bool = True) -> list[Leg]:
    more = {"time_to_expiry": 0.5, "volatility": 0.25} if complete else {}
    kinds = rng.choice(["call", "put"], 2)
    return [
        Leg(kind=kinds[0], quantity=float(rng.integers(1, 4)), premium=5.0, strike=95.0, **more),
        Leg(kind=kinds[1], quantity=-1.0, premium=2.0, strike=105.0, **more),
        Leg(kind="stock", quantity=50.0, premium=100.0),
    ]


def leg_profit(lots: list[Leg], price: float) -> float:
    total = 0.0
    for leg in lots:
        value = price if leg.kind == "stock" else max((price - leg.strike) * (1 if leg.kind == "call" else -1), 0.0)
        total += leg.quantity * (1.0 if leg.kind == "stock" else 100.0) * (value - leg.premium)
    return total


def analysed(a: Arguments, got: Any) -> bool:
    profits = [leg_profit(a["legs"], p) for p in (0.0, 95.0, 105.0)]
    ends = profits + ([] if got.profit_is_unbounded else [got.max_profit])
    roots = all(abs(leg_profit(a["legs"], p)) < 1e-6 for p in got.breakevens)
    return roots and max(profits) <= got.max_profit + 1e-9 and min(profits) >= -got.max_loss - 1e-9 and len(ends) > 0


def book_value(a: Arguments, got: Any) -> bool:
    b, spots = a["book"], np.atleast_2d(np.asarray(a["spot"]))
    totals = []
    for row in spots:
        total = 0.0
        for i in range(len(b.shares)):
            s = float(row[int(b.underlying[i])])
            one = (
                s
                if not b.is_option[i]
                else oracles.black_scholes(
                    s, b.strike[i], b.time_to_expiry[i], a["rate"], b.volatility[i], 0.0, bool(b.is_call[i])
                )["price"]
            )
            total += one * b.shares[i]
        totals.append(total)
    return oracles.close(np.ravel(got), totals, rtol=1e-8)


BOOK = risk.Book(
    np.array([0, 0, 1]),
    np.array([True, True, False]),
    np.array([True, False, False]),
    np.array([100.0, -50.0, 10.0]),
    np.array([100.0, 90.0, np.nan]),
    np.array([0.5, 0.5, np.nan]),
    np.array([0.2, 0.3, np.nan]),
)
MATRIX = np.array([[1.0, 0.3], [0.3, 1.0]])


def sample(rng: Random, size: int = 40) -> Any:
    return rng.normal(0.0, 1.0, size)


def tail_mean(a: Arguments, got: Any) -> bool:
    values = sorted(-np.asarray(a["profit_and_loss"]))
    tail = len(values) * (1.0 - a["confidence"])
    whole = math.floor(tail + 1e-9 * len(values))
    part = max(tail - whole, 0.0)
    rest = values[len(values) - whole :] if whole else []
    return oracles.close(got.value, (sum(rest) + part * values[len(values) - whole - 1]) / tail)


def frequency(a: Arguments, got: Any) -> bool:
    hits, days, p = int(np.sum(a["exceeded"])), len(a["exceeded"]), 1.0 - a["confidence"]

    def likelihood(q: float) -> float:
        return (days - hits) * (math.log1p(-q) if days - hits else 0.0) + (hits * math.log(q) if hits else 0.0)

    wanted = -2.0 * (likelihood(p) - likelihood(hits / days))
    return oracles.close(got.statistic, wanted) and 0.0 <= got.p_value <= 1.0


def confident(rng: Random) -> float:
    return float(rng.uniform(0.6, 0.95))


def flags(rng: Random) -> Any:
    found = rng.random(60) < 0.1
    found[3] = True
    return found


def sharpe(a: Arguments, got: float) -> bool:
    excess = [x - a["risk_free_rate"] / a["periods_per_year"] for x in np.asarray(a["returns"]).tolist()]
    return oracles.close(got, sum(excess) / len(excess) / oracles.deviation(excess) * math.sqrt(a["periods_per_year"]))


def sortino(a: Arguments, got: float) -> bool:
    excess = [x - a["target_rate"] / a["periods_per_year"] for x in np.asarray(a["returns"]).tolist()]
    low = math.sqrt(sum(min(x, 0.0) ** 2 for x in excess) / len(excess))
    return oracles.close(got, sum(excess) / len(excess) / low * math.sqrt(a["periods_per_year"]))


def svi_value(a: Arguments, got: Any) -> bool:
    c, k = a["curve"], np.asarray(a["log_moneyness"]) - float(a["curve"].m)
    return oracles.close(got, float(c.a) + float(c.b) * (float(c.rho) * k + np.sqrt(k * k + float(c.sigma) ** 2)))


def svi_fit(a: Arguments, got: Any) -> bool:
    return bool(np.max(np.abs(got.residual)) < 1e-3 and float(got.smallest_density) >= -1e-9)


def smile(rng: Random) -> Arguments:
    k = np.linspace(-0.3, 0.3, 7)
    c = CURVES[int(rng.integers(3))]
    w = float(c.a) + float(c.b) * (float(c.rho) * k + np.sqrt(k * k + float(c.sigma) ** 2))
    return {"log_moneyness": k, "total_variance": w, "tolerance": 1e-3}


def on_surface(a: Arguments, got: Any) -> bool:
    return bool((np.asarray(got) > 0.0).all() and np.isfinite(np.asarray(got)).all())


def unit(name: str, divisor: float) -> tuple[Any, Any]:
    def make(rng: Random) -> Arguments:
        return {name: number(rng, -5.0, 5.0, 3 if rng.random() < 0.5 else None)}

    def check(a: Arguments, got: Any) -> bool:
        return oracles.close(got, np.asarray(a[name]) / divisor)

    return make, check
