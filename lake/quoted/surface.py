"""The volatility surface of a quoted chain: forwards by parity, one SVI curve an expiration, free of arbitrage.

Out-of-the-money quotes are turned into volatilities (as American options where they may be exercised early), fitted by
expiration from the nearest on, each curve kept above the one before; then every two-sided quote is priced on the
surface, and the share that lies between its bid and its ask says how good the fit is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lake.quoted import parity
from lake.quoted.snapshot import Snapshot

if TYPE_CHECKING:
    from pricing import chain as quoted_chain
    from pricing.surface import SVI, Arbitrage, Surface

SHORTEST_DAYS = 7
"""Of a shorter option a tick is many points of volatility."""
LEAST_QUOTES = 5
LEAST_BID, MOST_RELATIVE_SPREAD = 0.05, 0.5
LEAST_INVERTED, LEAST_CURVE, LEAST_PRICED, LEAST_EXPIRATIONS = 2048, 64, 2048, 16
CHECKED_TIMES = 40
LEAST_DENSITIES = (0.0, 0.02, 0.05)
"""Tried in turn until nothing between the expirations is arbitrage either."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """A fitted surface. Columns have the shape ``[expirations]``, those of quotes one entry a quote.

    Attributes
    ----------
    snapshot
        What was fitted.
    rate, rate_origin
        Per year, continuously compounded, decimal, and where it is from.
    expirations, years, forward, pairs
        Fitted expirations; years to them, forwards by parity, and the strikes that told these.
    curves, surface
        The curve of each expiration, and all of them as one surface.
    quotes, bid, mid, ask, fitted
        Quotes that were fitted, their volatilities at bid, mid and ask, and the surface's.
    priced, model
        Every two-sided quote of the fitted expirations, and its price on the surface.
    left_out
        Expirations that were not fitted, and why.
    arbitrage
        What a check of the surface found on a grid of strikes and times.
    """

    snapshot: Snapshot
    rate: float
    rate_origin: str
    expirations: tuple[date, ...]
    years: Floats
    forward: Floats
    pairs: tuple[int, ...]
    curves: tuple[SVI, ...]
    surface: Surface
    quotes: quoted_chain.Quotes
    bid: Floats
    mid: Floats
    ask: Floats
    fitted: Floats
    priced: quoted_chain.Quotes
    model: Floats
    left_out: dict[date, str]
    arbitrage: Arbitrage

    def dividend_yield(self, years: float) -> float:
        """Return what the forward at a time says of income, per year, continuously compounded."""
        from pricing.surface.interpolation import forward_at

        # the forward stays level before the first expiration: its growth is that of the first
        first = float(self.years[0])
        time = max(years, first)
        return self.rate - math.log(float(forward_at(self.surface, time)) / self.snapshot.spot) / time

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Whether the surface lies between bid and ask, of the quotes that were fitted."""
        return (self.fitted >= self.bid) & (self.fitted <= self.ask)

    @property
    def priced_inside(self) -> npt.NDArray[np.bool_]:
        """Whether the price on the surface lies between bid and ask, of every two-sided quote."""
        return (self.model >= self.priced.bid) & (self.model <= self.priced.ask)


@lru_cache(maxsize=32)
def fit(snapshot: Snapshot, bill_rate: float, bill_origin: str, bill_is_known: bool = True) -> Fit:
    """Return the surface of a snapshot.

    Parameters
    ----------
    snapshot
        The quotes.
    bill_rate, bill_origin, bill_is_known
        A rate from outside, per year, where it is from, and whether it was observed. American options take it if it
        was, others where parity tells none.

    Raises
    ------
    ValueError
        No expiration has enough two-sided quotes.
    """
    from jax.tree_util import Partial

    from pricing import chain, surface

    rows = snapshot.two_sided()
    days = {day: (day - snapshot.day).days for day in snapshot.expirations}
    left_out = {
        day: f"{left} days to expiry, fewer than {SHORTEST_DAYS}" for day, left in days.items() if left < SHORTEST_DAYS
    }
    rows = [row for row in rows if snapshot.rows.expiration[row] not in left_out]
    if not rows:
        raise ValueError(
            f"no option on {snapshot.ticker} of {SHORTEST_DAYS} days or more has a bid and an ask in the quotes of "
            f"{snapshot.read_at:%Y-%m-%d %H:%M} UTC; snapshots read outside of trading hours have none"
        )
    quotes = snapshot.quotes(rows)
    rate, rate_origin = parity.rate_of(snapshot, quotes, bill_rate, bill_origin, bill_is_known=bill_is_known)
    parities = parity.by_expiration(snapshot, quotes, rate, [day for day in days if day not in left_out])
    left_out |= {
        day: "fewer than 3 strikes near the money have a call and a put with a bid and an ask"
        for day in snapshot.expirations
        if day not in parities and day not in left_out
    }
    used = quotes.where(
        chain.liquid(quotes, smallest_bid=LEAST_BID, largest_relative_spread=MOST_RELATIVE_SPREAD)
        & chain.out_of_the_money(quotes, list(parities.values()))
    )
    bid, mid, ask = implied(
        snapshot, used, np.stack([used.bid, used.mid, used.ask]), rate, list(parities.values()), least=LEAST_INVERTED
    )
    known = np.isfinite(bid + mid + ask)
    used, bid, mid, ask = used.where(known), bid[known], mid[known], ask[known]
    counts = {day: int((used.time_to_expiry == p.time_to_expiry).sum()) for day, p in parities.items()}
    left_out |= {
        day: f"{count} liquid quotes out of the money, fewer than {LEAST_QUOTES}"
        for day, count in counts.items()
        if count < LEAST_QUOTES
    }
    fitted_days = tuple(day for day in parities if day not in left_out)
    if not fitted_days:
        raise ValueError(
            f"no expiration of {snapshot.ticker} can be fitted: "
            + "; ".join(f"{day}: {why}" for day, why in list(left_out.items())[:3])
        )
    years_fitted = np.array([parities[day].time_to_expiry for day in fitted_days])
    forward = np.array([parities[day].forward for day in fitted_days])
    times = np.linspace(years_fitted[0], years_fitted[-1], CHECKED_TIMES)
    for least in LEAST_DENSITIES:
        curves: list[SVI] = []
        for day in fitted_days:
            p = parities[day]
            at = used.time_to_expiry == p.time_to_expiry
            curves.append(_curve(used.where(at), p, mid[at], (ask - bid)[at], curves, least))
        whole = of_few_sizes(years_fitted, forward, curves)
        arbitrage = surface.check(Partial(surface.total_variance, whole), times)
        if arbitrage.is_free:
            break
    kept = np.isin(used.time_to_expiry, years_fitted)
    used, bid, mid, ask = used.where(kept), bid[kept], mid[kept], ask[kept]
    priced = quotes.where(np.isin(quotes.time_to_expiry, years_fitted))
    return Fit(
        snapshot=snapshot,
        rate=rate,
        rate_origin=rate_origin,
        expirations=fitted_days,
        years=years_fitted,
        forward=forward,
        curves=tuple(curves),
        pairs=tuple(parities[day].pairs for day in fitted_days),
        surface=whole,
        quotes=used,
        bid=bid,
        mid=mid,
        ask=ask,
        fitted=volatility_at(whole, used.strike, used.time_to_expiry),
        priced=priced,
        model=model_prices(snapshot, priced, rate, whole, volatility_at(whole, priced.strike, priced.time_to_expiry)),
        left_out=dict(sorted(left_out.items())),
        arbitrage=arbitrage,
    )


def of_few_sizes(years: Floats, forward: Floats, curves: list[Any]) -> Surface:
    """Return curves as a surface of 16, 32, ... expirations, so that few are ever compiled.

    Those behind the last are the last one's, later and as much higher, which is what a surface is there in any case.
    """
    from pricing import surface
    from pricing.padding import padded_size

    more = 1.0 + np.arange(1, padded_size(len(curves), least=LEAST_EXPIRATIONS) - len(curves) + 1)
    last = curves[-1]
    return surface.Surface.of(
        time=[*years, *(years[-1] * more)],
        forward=[*forward, *np.full(more.size, forward[-1])],
        curves=[*curves, *(last._replace(a=last.a * times, b=last.b * times) for times in more)],
    )


def volatility_at(surface: Any, strike: Floats, years: Floats) -> Floats:
    """Return the surface's volatilities, computed for few sizes of arrays."""
    from pricing import surface as surfaces
    from pricing.padding import padded

    strikes, times = (padded(np.asarray(column, float), least=LEAST_PRICED) for column in (strike, years))
    return np.asarray(surfaces.volatility(surface, strikes, times))[: len(strike)]


def implied(
    snapshot: Snapshot,
    quotes: quoted_chain.Quotes,
    prices: Floats,
    rate: float,
    parities: list[quoted_chain.Parity],
    *,
    least: int,
) -> Floats:
    """Return the volatilities of ``prices``, shape ``[..., quotes]``, in one call; NaN where a price has none."""
    from pricing import american, chain, implied_volatility
    from pricing.padding import padded

    if not prices.size:
        return prices
    forward = chain.forwards(quotes, parities)
    columns = {
        "price": prices,
        "strike": quotes.strike,
        "time_to_expiry": quotes.time_to_expiry,
        "dividend_yield": rate - np.log(forward / snapshot.spot) / quotes.time_to_expiry,
        "is_call": quotes.is_call,
    }
    flat = {name: padded(np.broadcast_to(row, prices.shape).ravel(), least=least) for name, row in columns.items()}
    terms: dict[str, Any] = {**flat, "spot": snapshot.spot, "rate": rate}
    if snapshot.is_american:
        found = np.asarray(american.implied_volatility(**terms, scheme=american.FAST))
    else:
        found = np.asarray(implied_volatility.solve(**terms).value)
    return found[: prices.size].reshape(prices.shape)


def _curve(
    quotes: quoted_chain.Quotes,
    p: quoted_chain.Parity,
    mid: Floats,
    spread: Floats,
    before: list[SVI],
    least_density: float,
) -> SVI:
    import jax.numpy as jnp

    from pricing import surface
    from pricing.padding import padded_size

    extra = (0, padded_size(mid.size, least=LEAST_CURVE) - mid.size)
    # a curve of no variance is below every other: the first expiration takes the program of the later ones
    floor = before[-1] if before else surface.SVI(*map(jnp.asarray, (0.0, 0.0, 0.0, 0.0, 1.0)))
    # a quote of one price still has the width of a tick
    width = np.maximum(spread, 1e-4)
    return surface.fit_svi(
        log_moneyness=np.pad(np.log(quotes.strike / p.forward), extra),
        total_variance=np.pad(mid**2 * p.time_to_expiry, extra, constant_values=1.0),
        tolerance=np.pad(mid * width * p.time_to_expiry, extra, constant_values=np.inf),
        earlier=floor,
        least_density=least_density,
    ).curve


def model_prices(
    snapshot: Snapshot, quotes: quoted_chain.Quotes, rate: float, surface: Surface, volatility: Floats
) -> Floats:
    """Return the prices of quotes at given volatilities, with the forwards of a surface, in one call."""
    from pricing import american, black_scholes
    from pricing.padding import padded
    from pricing.surface.interpolation import forward_at

    size = quotes.strike.size
    columns = (quotes.strike, quotes.time_to_expiry, quotes.is_call, volatility)
    strike, time, is_call, filled = (padded(row, least=LEAST_PRICED) for row in columns)
    terms: dict[str, Any] = {
        "spot": snapshot.spot,
        "strike": strike,
        "time_to_expiry": time,
        "rate": rate,
        "volatility": filled,
        "dividend_yield": rate - np.log(np.asarray(forward_at(surface, time)) / snapshot.spot) / time,
        "is_call": is_call,
    }
    if snapshot.is_american:
        return np.asarray(american.price(**terms, scheme=american.FAST))[:size]
    return np.asarray(black_scholes.price(**terms))[:size]
