"""What the options of a ticker expected of the next 30 days, by the quotes of each day of the year before."""

from __future__ import annotations

import math
from datetime import date
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lake import chains
from lake.quoted.snapshot import Snapshot, in_the_year_before, is_quoted, of_rows
from lake.quoted.surface import SHORTEST_DAYS
from lake.sample import Lake

DAYS = 30
LEAST_DAYS = 20
"""Of fewer a rank says nothing."""
TRADING_DAYS = 252
LEAST_COMPILED_SIZE = 512

Floats = npt.NDArray[np.float64]


class Straddle(NamedTuple):
    """The pair of options whose strike is nearest to the forward of an expiration."""

    years: float
    strike: float
    call: float
    put: float


def thirty_day_volatility(lake: Lake, ticker: str, *, as_of: date) -> tuple[tuple[date, ...], Floats]:
    """Return days, ascending, and the at-the-money volatility to 30 days on each, per year.

    Of quotes: the straddles nearest to the forward of the expirations around 30 days, total variance between them
    linear in time; all are inverted in one call. Days whose quotes tell none are left out. Of a simulated chain: what
    it was on each day.
    """
    if not is_quoted(lake, ticker, as_of=as_of):
        bars, _ = lake.bars_of(ticker, as_of=as_of)
        total = chains.variance_history(bars, DAYS / 365, TRADING_DAYS)
        return bars.known_on[-total.size :], np.sqrt(total / (DAYS / 365))
    table = lake.option_quotes.known(ticker, as_of=as_of)
    rate, _ = chains.risk_free_rate(lake, as_of=as_of)
    days, straddles = [], []
    for rows in in_the_year_before(table, as_of):
        try:
            snapshot = of_rows(lake, ticker, table.take(rows))
        except ValueError:
            continue
        if around := _around(snapshot):
            days.append(snapshot.day)
            straddles.append(around)
    return _interpolated(days, straddles, rate)


def _around(snapshot: Snapshot) -> list[Straddle]:
    """Return the straddles of the last expiration up to 30 days and of the first one after; one where it is alone."""
    found = sorted(_straddles(snapshot).values())
    before = [straddle for straddle in found if straddle.years <= DAYS / 365]
    after = [straddle for straddle in found if straddle.years > DAYS / 365]
    return before[-1:] + after[:1]


def _straddles(snapshot: Snapshot) -> dict[date, Straddle]:
    rows, pairs = snapshot.rows, dict[tuple[date, float], dict[str, float]]()
    for row in snapshot.two_sided():
        if (rows.expiration[row] - snapshot.day).days >= SHORTEST_DAYS:
            mid = 0.5 * ((rows.bid[row] or 0.0) + (rows.ask[row] or 0.0))
            pairs.setdefault((rows.expiration[row], rows.strike[row]), {})[rows.option_type[row]] = mid
    best: dict[date, Straddle] = {}
    for (expiration, strike), mids in pairs.items():
        if len(mids) == 2:
            straddle = Straddle(snapshot.years_to(expiration), strike, mids["call"], mids["put"])
            held = best.get(expiration)
            if held is None or abs(straddle.call - straddle.put) < abs(held.call - held.put):
                best[expiration] = straddle
    return best


def _interpolated(days: list[date], straddles: list[list[Straddle]], rate: float) -> tuple[tuple[date, ...], Floats]:
    if not days:
        return (), np.array([])
    from pricing import implied_volatility
    from pricing.padding import padded

    flat = np.array([straddle for around in straddles for straddle in around])
    years, strike, call, put = flat.T
    discount = np.exp(-rate * years)
    forward = strike + (call - put) / discount
    columns = {"price": call, "spot": forward * discount, "strike": strike, "time_to_expiry": years}
    sized = {name: padded(column, least=LEAST_COMPILED_SIZE) for name, column in columns.items()}
    # the forward is by parity at this strike, so that call and put imply the same
    volatility = np.asarray(implied_volatility.solve(**sized, rate=rate, is_call=True).value)[: years.size]
    kept, found, start = [], [], 0
    for day, around in zip(days, straddles, strict=True):
        part = slice(start, start + len(around))
        start += len(around)
        total = float(np.interp(DAYS / 365, years[part], volatility[part] ** 2 * years[part]))
        # beyond a lone expiration volatility stays, not variance
        variance = total / (DAYS / 365) if len(around) == 2 else float(volatility[part][0]) ** 2
        if math.isfinite(variance) and variance > 0.0:
            kept.append(day)
            found.append(math.sqrt(variance))
    return tuple(kept), np.array(found)
