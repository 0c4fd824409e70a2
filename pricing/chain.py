"""Option chains from quotes: what is kept, and the forward and discount factor that put-call parity implies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jax.typing import ArrayLike
from numpy.typing import NDArray

from pricing.inputs import broadcast
from pricing.signature import checked

Floats = NDArray[np.float64]


class Quotes(NamedTuple):
    """Quotes of one underlying at one moment; all fields have the shape ``[quotes]``.

    Attributes
    ----------
    strike
        Exercise price.
    time_to_expiry
        Years.
    is_call
        True for a call, False for a put.
    bid, ask
        Prices per unit of the underlying.
    open_interest
        Contracts, or NaN where unknown.
    """

    strike: Floats
    time_to_expiry: Floats
    is_call: NDArray[np.bool_]
    bid: Floats
    ask: Floats
    open_interest: Floats

    @property
    def mid(self) -> Floats:
        """Middle of bid and ask."""
        return 0.5 * (self.bid + self.ask)

    @property
    def spread(self) -> Floats:
        """Ask less bid."""
        return self.ask - self.bid

    @property
    def expiries(self) -> Floats:
        """Times to expiry that occur, ascending."""
        return np.unique(self.time_to_expiry)

    def where(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> Quotes:
        """Select quotes by a mask or by their positions."""
        return Quotes(
            strike=self.strike[wanted],
            time_to_expiry=self.time_to_expiry[wanted],
            is_call=self.is_call[wanted],
            bid=self.bid[wanted],
            ask=self.ask[wanted],
            open_interest=self.open_interest[wanted],
        )


@checked
def build(
    *,
    strike: ArrayLike,
    time_to_expiry: ArrayLike,
    is_call: ArrayLike,
    bid: ArrayLike,
    ask: ArrayLike,
    open_interest: ArrayLike = np.nan,
) -> Quotes:
    """Build a chain, sorted by expiry, strike and kind.

    Raises
    ------
    ValueError
        When shapes do not broadcast, a strike or time is not above zero, a price is negative or not a number, bid
        exceeds ask, or an option is quoted twice.
    """
    named = {
        "strike": strike,
        "time_to_expiry": time_to_expiry,
        "bid": bid,
        "ask": ask,
        "open_interest": open_interest,
    }
    columns = (np.ravel(np.asarray(column)) for column in broadcast(named, is_call))
    strikes, times, bids, asks, interest, kinds = (column.astype(float) for column in columns)
    for name, values, lowest in (("strike", strikes, True), ("time_to_expiry", times, True), ("bid", bids, False)):
        wrong = ~np.isfinite(values) | (values <= 0.0 if lowest else values < 0.0)
        if wrong.any():
            raise ValueError(f"{name} must be finite and {'>' if lowest else '>='} 0, got {values[wrong][0]!r}")
    crossed = ~(asks >= bids) | np.isinf(asks)
    if crossed.any():
        raise ValueError(f"ask must be finite and at least the bid {bids[crossed][0]!r}, got {asks[crossed][0]!r}")
    order = np.lexsort((kinds, strikes, times))
    quotes = Quotes(strikes, times, kinds == 1.0, bids, asks, interest).where(order)
    same = (np.diff(quotes.strike) == 0.0) & (np.diff(quotes.time_to_expiry) == 0.0)
    same &= quotes.is_call[1:] == quotes.is_call[:-1]
    if same.any():
        raise ValueError(f"strike {quotes.strike[1:][same][0]!r} is quoted twice for one kind and expiry")
    return quotes


@checked
def liquid(
    quotes: Quotes,
    *,
    smallest_bid: float = 0.0,
    largest_relative_spread: float = np.inf,
    smallest_open_interest: float = 0.0,
) -> NDArray[np.bool_]:
    """Tell which quotes are worth using, shape ``[quotes]``.

    Parameters
    ----------
    quotes
        A chain.
    smallest_bid
        The bid must exceed it; so a bid of zero never passes.
    largest_relative_spread
        Of ask less bid over mid.
    smallest_open_interest
        Contracts; where open interest is unknown only 0 lets a quote pass.
    """
    known = np.where(np.isnan(quotes.open_interest), 0.0, quotes.open_interest)
    narrow = quotes.spread <= largest_relative_spread * quotes.mid
    wanted: NDArray[np.bool_] = (quotes.bid > smallest_bid) & narrow & (known >= smallest_open_interest)
    return wanted


class Parity(NamedTuple):
    """What put-call parity says at one expiry.

    Attributes
    ----------
    time_to_expiry
        Years.
    discount
        Value now of 1.00 at expiry.
    forward
        Forward price of the underlying.
    lowest_forward, highest_forward
        Between them no pair of quotes allows a riskless profit, given the discount factor; the lowest exceeds the
        highest when pairs contradict each other.
    pairs
        Number of strikes with both a call and a put.
    """

    time_to_expiry: float
    discount: float
    forward: float
    lowest_forward: float
    highest_forward: float
    pairs: int

    @property
    def is_consistent(self) -> bool:
        """Whether the forward respects every pair of quotes."""
        return self.lowest_forward <= self.forward <= self.highest_forward


@checked
def parity(
    quotes: Quotes, time_to_expiry: float, *, discount: float | None = None, near: float = 0.1, smallest_pairs: int = 3
) -> Parity:
    """Forward and discount factor of one expiry from ``call - put = discount (forward - strike)``.

    Pairs within ``near`` of the strike where call and put cost the same are fitted by least squares with weights of one
    over squared spread; a forward outside the bounds of those pairs is moved to the nearer bound where they leave room.

    Parameters
    ----------
    quotes
        A chain of European options, or of American ones whose right to early exercise is worth little near the money.
    time_to_expiry
        Years, one of ``quotes.expiries``.
    discount
        Discount factor, where known (a rate of the market); otherwise the slope of the fit.
    near
        Largest distance of a strike from the money, relative.
    smallest_pairs
        Fewer pairs are refused.

    Raises
    ------
    ValueError
        When there are too few pairs.
    """
    strike, low, high = _near_pairs(quotes, time_to_expiry, near)
    if strike.size < smallest_pairs:
        raise ValueError(
            f"time_to_expiry {time_to_expiry!r}: parity needs {smallest_pairs} strikes near the money with a call and "
            f"a put, got {strike.size}"
        )
    middle, weight = 0.5 * (low + high), 1.0 / np.maximum(high - low, 1e-6) ** 2
    if discount is None:
        centre = np.average(strike, weights=weight)
        moved = strike - centre
        discount = float(-np.sum(weight * moved * middle) / np.sum(weight * moved * moved))
    forward = float(np.average(strike + middle / discount, weights=weight))
    lowest, highest = float(np.max(strike + low / discount)), float(np.min(strike + high / discount))
    if lowest <= highest:
        forward = min(max(forward, lowest), highest)
    return Parity(float(time_to_expiry), discount, forward, lowest, highest, int(strike.size))


@checked
def implied_rate(quotes: Quotes, *, near: float = 0.1) -> float:
    """One interest rate per year for all expiries: the mean of their parity rates, weighted by what each can tell.

    The slope of a short expiry says little of a rate, since its error is divided by the time. Expiries with fewer than
    three pairs near the money are left out; ``ValueError`` when none remains.
    """
    rates, weights = [], []
    for time in quotes.expiries:
        strike, low, high = _near_pairs(quotes, float(time), near)
        if strike.size < 3:
            continue
        weight = 1.0 / np.maximum(high - low, 1e-6) ** 2
        moved = strike - np.average(strike, weights=weight)
        information = float(np.sum(weight * moved * moved))
        discount = float(-np.sum(weight * moved * 0.5 * (low + high))) / information
        rates.append(-np.log(discount) / time)
        weights.append(information * (discount * time) ** 2)
    if not rates:
        raise ValueError("quotes must hold three strikes near the money with a call and a put at some expiry, got none")
    return float(np.average(rates, weights=weights))


def _near_pairs(quotes: Quotes, time: float, near: float) -> tuple[Floats, Floats, Floats]:
    """Pairs of one expiry within ``near`` of the strike at which call and put cost the same."""
    strike, low, high = _synthetic_forwards(quotes.where(quotes.time_to_expiry == time))
    if strike.size == 0:
        return strike, low, high
    close = np.abs(strike / strike[np.argmin(np.abs(low + high))] - 1.0) <= near
    return strike[close], low[close], high[close]


def _synthetic_forwards(quotes: Quotes) -> tuple[Floats, Floats, Floats]:
    """Strikes with both kinds, and what selling and buying call less put brings and costs there."""
    calls, puts = quotes.where(quotes.is_call), quotes.where(~quotes.is_call)
    strike, of_call, of_put = np.intersect1d(calls.strike, puts.strike, return_indices=True)
    return strike, calls.bid[of_call] - puts.ask[of_put], calls.ask[of_call] - puts.bid[of_put]


@checked
def out_of_the_money(quotes: Quotes, parities: Sequence[Parity]) -> NDArray[np.bool_]:
    """Tell which quotes are calls above or puts below the forward of their expiry, shape ``[quotes]``.

    False where there is no forward.
    """
    forward = forwards(quotes, parities)
    wanted: NDArray[np.bool_] = np.where(quotes.is_call, quotes.strike >= forward, quotes.strike < forward)
    return wanted


@checked
def forwards(quotes: Quotes, parities: Sequence[Parity]) -> Floats:
    """Look up the forward of each quote's expiry, shape ``[quotes]``; NaN where there is none."""
    known = {p.time_to_expiry: p.forward for p in parities}
    return np.array([known.get(float(time), np.nan) for time in quotes.time_to_expiry])
