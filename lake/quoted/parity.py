"""Rate and forwards of a quoted chain by put-call parity.

Parity holds for European options. Of American ones the worth of early exercise is taken off first, and the rate is that
of a bill where one was observed: a put's right to exercise early hides the rate that its price has been discounted by.
"""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from lake.quoted.snapshot import Snapshot

if TYPE_CHECKING:
    from pricing.chain import Parity, Quotes

RATES = (0.0, 0.25)
"""Between them a rate that parity implies is believed."""
NEAR = 0.1
"""Parity is read this near to the money."""
ROUNDS = 3
"""Forwards are found anew as often as the worth of early exercise is taken off with them."""
LEAST_COMPILED_SIZE = 1024


def rate_of(
    snapshot: Snapshot, quotes: Quotes, bill_rate: float, bill_origin: str, *, bill_is_known: bool
) -> tuple[float, str]:
    """Return the rate per year, continuously compounded, and where it is from."""
    from pricing import chain

    if snapshot.is_american and bill_is_known:
        return bill_rate, bill_origin
    try:
        rate = chain.implied_rate(quotes)
    except ValueError:
        return bill_rate, f"{bill_origin} (too few pairs of calls and puts for put-call parity)"
    if not RATES[0] <= rate <= RATES[1]:
        return bill_rate, f"{bill_origin} (put-call parity of these quotes implies {rate:.1%}, which is none)"
    return rate, "implied by put-call parity of the quotes"


def by_expiration(snapshot: Snapshot, quotes: Quotes, rate: float, days: list[date]) -> dict[date, Parity]:
    """Return parity by expiration, of those that have pairs near the money."""
    found = _read(snapshot, quotes, rate, days)
    for _ in range(ROUNDS if snapshot.is_american and found else 0):
        found = _read(snapshot, _without_early_exercise(snapshot, quotes, rate, list(found.values())), rate, days)
    return found


def _read(snapshot: Snapshot, quotes: Quotes, rate: float, days: list[date]) -> dict[date, Parity]:
    from pricing import chain

    found = {}
    for day in days:
        years = snapshot.years_to(day)
        try:
            found[day] = chain.parity(quotes, years, discount=math.exp(-rate * years), near=NEAR)
        except ValueError:
            continue
    return found


def _without_early_exercise(snapshot: Snapshot, quotes: Quotes, rate: float, parities: list[Parity]) -> Quotes:
    """Return the quotes near the money less what the right to exercise early is worth at each strike's volatility."""
    from pricing import american, black_scholes, chain, implied_volatility
    from pricing.padding import padded

    near = quotes.where(np.abs(quotes.strike / chain.forwards(quotes, parities) - 1.0) <= 1.5 * NEAR)
    forward = chain.forwards(near, parities)
    columns = {
        "strike": near.strike,
        "time_to_expiry": near.time_to_expiry,
        "dividend_yield": rate - np.log(forward / snapshot.spot) / near.time_to_expiry,
        "is_call": near.is_call,
    }
    terms: dict[str, Any] = {name: padded(column, least=LEAST_COMPILED_SIZE) for name, column in columns.items()}
    terms |= {"spot": snapshot.spot, "rate": rate}
    own = np.asarray(implied_volatility.solve(price=padded(near.mid, least=LEAST_COMPILED_SIZE), **terms).value)
    # out of the money early exercise is worth little, so that side's volatility serves both
    out = near.is_call == (near.strike >= forward)
    options = list(zip(near.time_to_expiry.tolist(), near.strike.tolist(), strict=True))
    told = {option: value for option, value, is_out in zip(options, own.tolist(), out, strict=False) if is_out}
    volatility = np.array([told.get(option, value) for option, value in zip(options, own.tolist(), strict=False)])
    terms["volatility"] = padded(volatility, least=LEAST_COMPILED_SIZE)
    early = np.asarray(american.price(**terms, scheme=american.FAST)) - np.asarray(black_scholes.price(**terms))
    # a price that has no volatility is left as it is
    worth = np.nan_to_num(np.maximum(early[: near.strike.size], 0.0))
    return near._replace(bid=near.bid - worth, ask=near.ask - worth)
