"""Quotes of single option contracts on a day: the listed ones where a snapshot was read, else the simulated chain's.

A simulated contract keeps being quoted when its strike has left the grid of the day's chain: by the same surface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np

from lake import chains
from lake.point_in_time import UnknownKey
from lake.records import OptionQuotes
from lake.sample import Lake

SIMULATED_VOLUME = 2_000.0
"""Contracts a day of each simulated option."""
_LEAST_YEARS = 1e-6
_LEAST_ROWS = 16
"""One compiled program for an option alone and for its closes of three weeks."""


class Contract(NamedTuple):
    """An option by its terms: last day, exercise price in USD, and whether it is a call."""

    expiration: date
    strike: float
    is_call: bool


@dataclass(frozen=True)
class Quote:
    """A contract at the close of a day.

    Attributes
    ----------
    bid, ask
        USD a share; None where nobody quotes.
    mid
        Their mean; the last price where there is no ask.
    volume
        Contracts traded that day.
    volatility
        That the mid implies by Black-Scholes-Merton without dividends, per year; 0 where none does.
    spot, rate, years
        The underlying's price in USD, the rate per year, and the time to expiry that it goes with.
    american
        Whether it may be exercised before it expires: listed options may, simulated ones may not.
    """

    bid: float | None
    ask: float | None
    mid: float
    volume: float
    volatility: float
    spot: float
    rate: float
    years: float
    american: bool


def listed(lake: Lake, ticker: str, *, as_of: date) -> frozenset[Contract]:
    """Return the contracts that are listed on ``as_of``: those of the last snapshot, or of the simulated chain.

    Raises
    ------
    UnknownKey, ValueError
        There are neither quotes nor fresh prices of the ticker.
    """
    known = _snapshots(lake, ticker, as_of)
    if known is not None:
        last = known.known_on[-1]
        rows = [row for row in range(len(known)) if known.known_on[row] == last]
        return frozenset(_contract(known, row) for row in rows if known.expiration[row] > as_of)
    chain = chains.chain(lake, ticker, as_of=as_of)
    return frozenset(
        Contract(day, float(strike), is_call)
        for day, strikes in zip(chain.expirations, chain.strikes, strict=True)
        for strike in strikes
        for is_call in (True, False)
    )


def quotes(lake: Lake, ticker: str, wanted: Sequence[Contract], *, as_of: date) -> list[Quote | None]:
    """Return the quotes of contracts at the close of ``as_of``; None for those that nobody quoted on that day."""
    known = _snapshots(lake, ticker, as_of)
    if known is not None:
        return _read(lake, ticker, known, wanted, as_of)
    return _simulated(lake, ticker, [(contract, as_of) for contract in wanted])


def closes(lake: Lake, ticker: str, contract: Contract, *, days: Sequence[date]) -> list[Quote | None]:
    """Return the quote of one contract at the close of each day, as :func:`quotes` has it."""
    if _snapshots(lake, ticker, max(days)) is None:
        return _simulated(lake, ticker, [(contract, day) for day in days])
    return [quotes(lake, ticker, [contract], as_of=day)[0] for day in days]


def _snapshots(lake: Lake, ticker: str, as_of: date) -> OptionQuotes | None:
    try:
        return lake.option_quotes.known(ticker, as_of=as_of)
    except UnknownKey:
        return None


def _contract(known: OptionQuotes, row: int) -> Contract:
    return Contract(known.expiration[row], known.strike[row], known.option_type[row] == "call")


def _read(lake: Lake, ticker: str, known: OptionQuotes, wanted: Sequence[Contract], as_of: date) -> list[Quote | None]:
    of_today = [row for row in range(len(known)) if known.known_on[row] == as_of]
    # the last snapshot of the day is the nearest to its close
    last = {_contract(known, row): row for row in sorted(of_today, key=lambda row: known.read_at[row])}
    rate, _ = chains.risk_free_rate(lake, as_of=as_of)
    found: list[Quote | None] = []
    for contract in wanted:
        row = last.get(contract)
        found.append(None if row is None else _quote(lake, ticker, known, row, contract, rate, as_of))
    return found


def _quote(
    lake: Lake, ticker: str, known: OptionQuotes, row: int, contract: Contract, rate: float, as_of: date
) -> Quote | None:
    bid, ask = (price if price is not None and price > 0.0 else None for price in (known.bid[row], known.ask[row]))
    mid = ((bid or 0.0) + ask) / 2.0 if ask is not None else known.last[row]
    spot = known.spot[row] or lake.bars_of(ticker, as_of=as_of)[0].close[-1]
    if mid is None:
        return None
    years = (contract.expiration - as_of).days / 365
    implied = _implied(mid, spot, rate, years, contract)
    return Quote(bid, ask, mid, known.volume[row] or 0.0, implied, spot, rate, years, american=True)


def _implied(mid: float, spot: float, rate: float, years: float, contract: Contract) -> float:
    from pricing import implied_volatility

    if years <= 0.0:
        return 0.0
    solved = float(
        implied_volatility.solve(
            price=mid,
            spot=spot,
            strike=contract.strike,
            time_to_expiry=years,
            rate=rate,
            is_call=contract.is_call,
        ).value
    )
    return solved if np.isfinite(solved) else 0.0


class _Market(NamedTuple):
    """The underlying at a close: its price, the rate, and its short-term and long-term variance a year."""

    spot: float
    rate: float
    now: float
    long_run: float


def _market(lake: Lake, ticker: str, day: date) -> _Market | None:
    """Return what the simulated chain of a day is made of; None where there is none."""
    bars, _ = lake.bars_of(ticker, as_of=day)
    if (day - bars.known_on[-1]).days > chains.FRESH_DAYS or len(bars) <= chains.SHORT_WINDOW_DAYS:
        return None
    return _Market(bars.close[-1], chains.risk_free_rate(lake, as_of=day)[0], *chains.realised_variances(bars))


def _simulated(lake: Lake, ticker: str, wanted: Sequence[tuple[Contract, date]]) -> list[Quote | None]:
    """Return the quotes of contracts, each at the close of a day, in one call of the kernel."""
    from pricing import black_scholes
    from pricing.padding import padded

    markets = {day: _market(lake, ticker, day) for _, day in wanted}
    rows = [(contract, day, market) for contract, day in wanted if (market := markets[day]) is not None]
    if not rows:
        return [None] * len(wanted)
    columns = [np.array(column, float) for column in zip(*(market for _, _, market in rows), strict=True)]
    columns.append(np.array([contract.strike for contract, _, _ in rows]))
    columns.append(np.array([max((contract.expiration - day).days, 0) / 365 for contract, day, _ in rows]))
    spot, rate, now, long_run, strike, years = (padded(column, least=_LEAST_ROWS) for column in columns)
    is_call = padded(np.array([contract.is_call for contract, _, _ in rows]), least=_LEAST_ROWS)
    alive = np.maximum(years, _LEAST_YEARS)
    variance = chains.reverting_variance(now, long_run, alive)
    volatility = chains.ssvi_volatility(np.log(strike / (spot * np.exp(rate * alive))), variance, alive)
    priced = black_scholes.all_greeks(
        spot=spot, strike=strike, time_to_expiry=years, rate=rate, volatility=volatility, is_call=is_call
    )
    halves = np.maximum(chains.LEAST_HALF_SPREAD, chains.HALF_SPREAD_VOLATILITY * np.asarray(priced.vega))
    told = np.asarray(priced.price), halves, volatility, spot, rate, years
    table = zip(*(column.tolist() for column in told), strict=True)
    made = (
        Quote(
            max(mid - half, 0.0) or None, mid + half, mid, SIMULATED_VOLUME, implied, price, yearly, time,
            american=False,
        )
        for mid, half, implied, price, yearly, time in table
    )  # fmt: skip
    return [None if markets[day] is None else next(made) for _, day in wanted]
