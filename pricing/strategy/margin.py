"""Initial margin of a position under the strategy-based rules of Regulation T.

FINRA Rule 4210(f)(2) and Cboe Rule 10.3 for listed equity options. Brokers may ask for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pricing.inputs import require
from pricing.signature import checked
from pricing.strategy.leg import Kind, Leg
from pricing.strategy.payoff import payoff

STOCK_RATE = 0.50


@dataclass(frozen=True)
class Margin:
    """What opening a position ties up, in currency.

    Attributes
    ----------
    requirement
        Margin as the rules state it; short premium counts as part of it.
    buying_power
        Own money needed: the requirement plus premium paid less premium received.
    """

    requirement: float
    buying_power: float


@checked
def margin(legs: Sequence[Leg], *, spot: float, naked_rate: float = 0.20, minimum_rate: float = 0.10) -> Margin:
    """Margin of option and stock legs held together.

    Stock needs half its value. A short call is covered by long stock, a short put by short stock, and any short option
    by a long one of its kind that expires no earlier. What is covered by options needs its worst loss of exercise value
    at any stock price. What is left is naked and needs its premium plus the larger of ``naked_rate * spot`` less the
    amount out of the money, and ``minimum_rate`` of the spot (calls) or the strike (puts); naked calls and puts on
    equal numbers of shares need the larger side's amount and both premiums.

    Parameters
    ----------
    legs
        The position; premiums stand for current option prices.
    spot
        Stock price now, > 0.
    naked_rate, minimum_rate
        Fractions of the stock's value: 0.20 and 0.10 for equities, 0.15 and 0.10 for broad indices.
    """
    if not legs:
        raise ValueError("legs must hold at least one leg, got none")
    for name, value in (("spot", spot), ("naked_rate", naked_rate), ("minimum_rate", minimum_rate)):
        require(name, value, at_least=0.0)
    stock = sum(leg.shares for leg in legs if leg.kind == "stock")
    options = [leg for leg in legs if leg.kind != "stock"]
    covered, naked = list[Leg](), list[Leg]()
    for kind, shares in (("call", max(stock, 0.0)), ("put", max(-stock, 0.0))):
        held, uncovered = _cover([leg for leg in options if leg.kind == kind], shares)
        covered += held
        naked += uncovered
    spread_loss = max(-float(min(payoff(covered).profits)), 0.0) if covered else 0.0
    requirement = STOCK_RATE * abs(stock) * spot + spread_loss + _naked(naked, spot, naked_rate, minimum_rate)
    return Margin(requirement, requirement + sum(leg.cost for leg in options))


def _cover(legs: Sequence[Leg], shares: float) -> tuple[list[Leg], list[Leg]]:
    """Split one kind of option into what covers itself, premiums removed, and the naked rest.

    Stock covers first. The rest is matched dearest first, so that the naked ones are farthest out of the money.
    """
    kind: Kind = legs[0].kind if legs else "call"
    sign = 1.0 if kind == "call" else -1.0
    longs = [leg for leg in legs if leg.shares > 0]
    unused = [leg.shares for leg in longs]
    shorts = sorted((leg for leg in legs if leg.shares < 0), key=lambda leg: sign * (leg.strike or 0.0))
    covered = [replace(leg, premium=0.0) for leg in longs]
    naked = list[Leg]()
    for leg in shorts:
        open_shares = -leg.shares
        by_stock = min(open_shares, shares)
        shares -= by_stock
        open_shares -= by_stock
        by_options = 0.0
        for index, long in enumerate(longs):
            if _expiry(long) >= _expiry(leg):
                used = min(open_shares - by_options, unused[index])
                unused[index] -= used
                by_options += used
        if by_options:
            covered.append(replace(leg, premium=0.0, quantity=-by_options, multiplier=1.0))
        if open_shares > by_options:
            naked.append(replace(leg, quantity=by_options - open_shares, multiplier=1.0))
    return covered, naked


def _expiry(leg: Leg) -> float:
    return 0.0 if leg.time_to_expiry is None else leg.time_to_expiry


def _naked(legs: Sequence[Leg], spot: float, naked_rate: float, minimum_rate: float) -> float:
    premium = -sum(leg.cost for leg in legs)
    sides = {"call": [0.0, 0.0], "put": [0.0, 0.0]}
    for leg in legs:
        strike = leg.strike or 0.0
        out_by = max(strike - spot if leg.kind == "call" else spot - strike, 0.0)
        floor = minimum_rate * (spot if leg.kind == "call" else strike)
        side = sides[leg.kind]
        side[0] -= leg.shares
        side[1] -= leg.shares * max(naked_rate * spot - out_by, floor)
    (call_shares, call_need), (put_shares, put_need) = sides["call"], sides["put"]
    if not call_shares or not put_shares:
        return premium + call_need + put_need
    paired = min(call_shares, put_shares)
    call_each, put_each = call_need / call_shares, put_need / put_shares
    return (
        premium
        + paired * max(call_each, put_each)
        + (call_shares - paired) * call_each
        + (put_shares - paired) * put_each
    )
