"""Build the option structure that a question asks for: from quoted series, or from the series that it names."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from desks.position import SHARES_A_CONTRACT, Leg, Underlying

_AMOUNT = r"\$?([\d,]+(?:\.\d+)?)"


def contracts_asked(text: str) -> int:
    """Return how many contracts a question asks for; 1 when it does not say."""
    match = re.search(r"(\d[\d,]*)\s+(?:contracts|calls|puts|spreads|condors)", text)
    return int(match.group(1).replace(",", "")) if match else 1


def synthetic_stock(text: str, series: list[Leg]) -> list[Leg]:
    """Return calls and puts of one strike that move like the shares that the question names."""
    match = re.search(rf"like {_AMOUNT} shares[^.]*?(long|short)", text)
    kinds = {leg.kind: leg for leg in series}
    if match is None or not {"call", "put"} <= set(kinds):
        return []
    contracts = float(match.group(1).replace(",", "")) / SHARES_A_CONTRACT
    sign = 1.0 if match.group(2) == "long" else -1.0
    return [replace(kinds["call"], quantity=sign * contracts), replace(kinds["put"], quantity=-sign * contracts)]


def iron_condors(chain: list[Leg], contracts: int, market: Underlying) -> Iterator[list[Leg]]:
    """Yield every iron condor of out-of-the-money series, with put and call wings of equal width."""
    puts = sorted((leg for leg in chain if leg.kind == "put" and (leg.strike or 0) < market.spot), key=_strike)
    calls = sorted((leg for leg in chain if leg.kind == "call" and (leg.strike or 0) > market.spot), key=_strike)
    for low, high in itertools.combinations(puts, 2):
        for near, far in itertools.combinations(calls, 2):
            if abs((_strike(high) - _strike(low)) - (_strike(far) - _strike(near))) < 1e-9:
                quantities = (contracts, -contracts, -contracts, contracts)
                legs = (low, high, near, far)
                yield [replace(leg, quantity=count) for leg, count in zip(legs, quantities, strict=True)]


def vertical_spreads(chain: list[Leg], contracts: int, kind: str, *, bullish: bool) -> Iterator[list[Leg]]:
    """Yield every vertical spread of one option type: the lower strike bought when bullish, sold when bearish."""
    series = sorted((leg for leg in chain if leg.kind == kind), key=_strike)
    sign = contracts if bullish else -contracts
    for low, high in itertools.combinations(series, 2):
        if low.days_to_expiry == high.days_to_expiry:
            yield [replace(low, quantity=sign), replace(high, quantity=-sign)]


def straddles(chain: list[Leg], contracts: int) -> Iterator[list[Leg]]:
    """Yield every bought straddle."""
    puts = {(leg.strike, leg.days_to_expiry): leg for leg in chain if leg.kind == "put"}
    for call in chain:
        put = puts.get((call.strike, call.days_to_expiry))
        if call.kind == "call" and put is not None:
            yield [replace(call, quantity=contracts), replace(put, quantity=contracts)]


def candidates(text: str, chain: list[Leg], market: Underlying) -> list[list[Leg]]:
    """Return the structures of the kind that the question names, in the order of the chain."""
    contracts = contracts_asked(text)
    lowered = text.lower()
    if "iron condor" in lowered:
        return list(iron_condors(chain, contracts, market))
    vertical = re.search(r"\b(bull|bear)(?:ish)? (call|put)", lowered)
    if vertical:
        return list(vertical_spreads(chain, contracts, vertical.group(2), bullish=vertical.group(1) == "bull"))
    if "straddle" in lowered:
        return list(straddles(chain, contracts))
    return []


def bound(text: str, words: str) -> float | None:
    """Return the first dollar amount or percentage after ``words``; a percentage as a fraction."""
    match = re.search(rf"(?:{words})[^.$%\d]*?{_AMOUNT}(%?)", text, re.IGNORECASE)
    if match is None:
        return None
    value = float(match.group(1).replace(",", ""))
    return value / 100.0 if match.group(2) else value


def payoff_range(legs: list[Leg]) -> tuple[float, float]:
    """Return the least and the greatest profit at expiry over the strikes and zero, in dollars."""
    strikes = [0.0, *(leg.strike for leg in legs if leg.strike is not None)]
    profits = [sum(leg.shares * (intrinsic(leg, spot) - (leg.price or 0.0)) for leg in legs) for spot in strikes]
    return min(profits), max(profits)


def credit(legs: list[Leg]) -> float:
    """Return what opening the position brings, in dollars; negative when it costs."""
    return -sum(leg.shares * (leg.price or 0.0) for leg in legs)


def intrinsic(leg: Leg, spot: float) -> float:
    """Return what a leg is worth per share at expiry."""
    if leg.kind == "stock":
        return spot
    return max(0.0, spot - _strike(leg) if leg.kind == "call" else _strike(leg) - spot)


def _strike(leg: Leg) -> float:
    return leg.strike or 0.0
