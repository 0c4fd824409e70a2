"""Simulated option chains: real or simulated spot, a volatility surface made from realised volatility.

The surface is the SSVI of Gatheral and Jacquier ("Arbitrage-free SVI volatility surfaces", 2014, section 4) with the
at-the-money variance of a mean-reverting process; its parameters keep it free of static arbitrage. Everything is
computed from what was known on ``as_of``.
"""

from __future__ import annotations

import calendar
import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lake.point_in_time import UnknownKey
from lake.records import Bars
from lake.sample import Lake

if TYPE_CHECKING:
    from pricing.black_scholes import AllGreeks

ORIGIN = "SIMULATED by traderbench (lake/chains.py) from the underlying's known prices: not quotes of an exchange"
STRIKES = 21
EXPIRATIONS = 8
FRESH_DAYS = 7
ASSUMED_RATE = 0.02
SHORT_WINDOW_DAYS, LONG_WINDOW_DAYS = 21, 252
REVERSION_PER_YEAR = 3.0
SKEW, WING, POWER = -0.4, 0.8, 0.5
"""SSVI's rho, eta and gamma; eta * (1 + |rho|) <= 2 keeps the surface free of butterfly arbitrage."""
LEAST_HALF_SPREAD = 0.01
HALF_SPREAD_VOLATILITY = 0.005
TRADING_DAYS_A_YEAR = 252

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Chain:
    """Calls and puts of every listed expiration. Arrays have shape ``[expirations, strikes]``.

    Attributes
    ----------
    spot, spot_date
        Last close of the underlying known on ``as_of``, USD, and its day.
    rate, dividend_yield
        Per year, continuously compounded, decimals. ``rate_origin`` says where the rate is from.
    expirations
        Third Fridays.
    years
        Calendar time to each expiration over 365, shape ``[expirations]``.
    variance
        At-the-money total variance to each expiration, shape ``[expirations]``.
    strikes
        USD, ascending within an expiration.
    volatility
        Implied volatility of the mid price, per year, decimal.
    call, put
        Mid prices, USD a share.
    call_delta, gamma, vega
        Per 1.00 of spot, and vega per 1.00 of volatility; a put's delta is the call's less 1 (no dividends).
    call_theta, put_theta
        Per year.
    half_spread
        Distance of bid and ask from the mid, USD a share.
    """

    ticker: str
    as_of: date
    spot: float
    spot_date: date
    underlying_origin: str
    rate: float
    rate_origin: str
    dividend_yield: float
    expirations: tuple[date, ...]
    years: Array
    variance: Array
    strikes: Array
    volatility: Array
    call: Array
    put: Array
    call_delta: Array
    gamma: Array
    vega: Array
    call_theta: Array
    put_theta: Array
    half_spread: Array


def third_friday(year: int, month: int) -> date:
    """Return the third Friday of a month, when listed options expire."""
    first_weekday, _ = calendar.monthrange(year, month)
    return date(year, month, 15 + (calendar.FRIDAY - first_weekday) % 7)


def expirations_after(as_of: date) -> tuple[date, ...]:
    """Return the listed expirations: the next six monthly ones, then the next two quarterly ones."""
    months = [divmod(as_of.year * 12 + as_of.month - 1 + ahead, 12) for ahead in range(16)]
    fridays = [third_friday(year, month + 1) for year, month in months]
    monthly = [day for day in fridays if day > as_of + timedelta(days=2)][:6]
    quarterly = [day for day in fridays if day > monthly[-1] and day.month % 3 == 0]
    return tuple(monthly + quarterly[: EXPIRATIONS - 6])


def realised_variance(closes: tuple[float, ...], window: int) -> float:
    """Return the annualised mean square of the last ``window`` daily log returns."""
    returns = np.diff(np.log(np.asarray(closes[-(window + 1) :])))
    return float(np.mean(returns**2) * TRADING_DAYS_A_YEAR)


def risk_free_rate(lake: Lake, *, as_of: date) -> tuple[float, str]:
    """Return the continuously compounded rate of the last 3-month bill known, or the assumed one, and its origin."""
    try:
        bills = lake.rates.known("DTB3", as_of=as_of)
    except UnknownKey:
        return ASSUMED_RATE, f"assumed: no bill rate was known on {as_of}"
    discount_percent = bills.value[-1]
    price = 1.0 - discount_percent / 100.0 * 91 / 360
    return -math.log(price) * 365 / 91, f"3-month Treasury bill of {bills.day[-1]} ({discount_percent}% discount basis)"


def at_the_money_variance(bars: Bars, years: Array) -> Array:
    """Return the total variance to each time: realised short-term variance reverting to the long-term one."""
    return reverting_variance(*realised_variances(bars), years)


def realised_variances(bars: Bars) -> tuple[float, float]:
    """Return the annualised realised variance of the short window and of the long one."""
    return realised_variance(bars.close, SHORT_WINDOW_DAYS), realised_variance(bars.close, LONG_WINDOW_DAYS)


def reverting_variance(now: float | Array, long_run: float | Array, years: Array) -> Array:
    """Return the total variance to each time, ``now`` reverting to ``long_run``."""
    decay = (1.0 - np.exp(-REVERSION_PER_YEAR * years)) / REVERSION_PER_YEAR
    return np.asarray(long_run * years + (now - long_run) * decay)


def variance_history(bars: Bars, years: float, days: int) -> Array:
    """Return the total variance to one time as :func:`at_the_money_variance` told it on each of the last ``days``."""
    squares = np.concatenate([[0.0], np.cumsum(np.diff(np.log(np.asarray(bars.close))) ** 2)])
    ends = np.arange(max(len(squares) - days, SHORT_WINDOW_DAYS), len(squares))

    def mean(window: int) -> Array:
        starts = np.maximum(ends - window, 0)
        return np.asarray((squares[ends] - squares[starts]) / (ends - starts) * TRADING_DAYS_A_YEAR)

    now, long_run = mean(SHORT_WINDOW_DAYS), mean(LONG_WINDOW_DAYS)
    decay = (1.0 - math.exp(-REVERSION_PER_YEAR * years)) / REVERSION_PER_YEAR
    return np.asarray(long_run * years + (now - long_run) * decay)


def ssvi_volatility(log_moneyness: Array, variance: Array, years: Array) -> Array:
    """Return implied volatilities at ``log(strike / forward)``; all arguments broadcast together."""
    from pricing.surface.ssvi import natural_variance

    return np.asarray(np.sqrt(natural_variance(log_moneyness, variance, SKEW, WING, POWER) / years))


def strike_grid(spot: float, variance: Array) -> Array:
    """Return strikes around the spot in round steps of about a quarter of the standard deviation to each expiry."""
    wanted = 0.25 * spot * np.sqrt(variance)
    magnitude = 10.0 ** np.floor(np.log10(wanted))
    nice = np.array([1.0, 2.0, 2.5, 5.0, 10.0])
    step = np.array([m * nice[np.argmin(np.abs(nice * m - w))] for m, w in zip(magnitude, wanted, strict=True)])
    centre = np.maximum(np.round(spot / step), STRIKES // 2 + 1) * step
    return np.asarray(centre[:, None] + step[:, None] * np.arange(-(STRIKES // 2), STRIKES // 2 + 1))


def chain(lake: Lake, ticker: str, *, as_of: date) -> Chain:
    """Return the simulated chain of ``ticker`` on ``as_of``.

    Raises
    ------
    UnknownKey
        No prices of the ticker were known.
    ValueError
        Its last price is more than a week old, or its history shorter than a month.
    """
    bars, origin = lake.bars_of(ticker, as_of=as_of)
    _require_fresh(ticker, bars, as_of)
    spot = bars.close[-1]
    rate, rate_origin = risk_free_rate(lake, as_of=as_of)
    expirations = expirations_after(as_of)
    years = np.array([(day - as_of).days / 365 for day in expirations])
    variance = at_the_money_variance(bars, years)
    strikes = strike_grid(spot, variance)
    forward = spot * np.exp(rate * years)
    volatility = ssvi_volatility(np.log(strikes / forward[:, None]), variance[:, None], years[:, None])
    priced = _priced(spot, strikes, years, rate, volatility)
    vega = np.asarray(priced.vega)[0]
    return Chain(
        ticker=ticker,
        as_of=as_of,
        spot=spot,
        spot_date=bars.known_on[-1],
        underlying_origin=origin,
        rate=rate,
        rate_origin=rate_origin,
        dividend_yield=0.0,
        expirations=expirations,
        years=years,
        variance=variance,
        strikes=strikes,
        volatility=volatility,
        call=np.asarray(priced.price)[0],
        put=np.asarray(priced.price)[1],
        call_delta=np.asarray(priced.delta)[0],
        gamma=np.asarray(priced.gamma)[0],
        vega=vega,
        call_theta=np.asarray(priced.theta)[0],
        put_theta=np.asarray(priced.theta)[1],
        half_spread=np.maximum(LEAST_HALF_SPREAD, HALF_SPREAD_VOLATILITY * vega),
    )


def _priced(spot: float, strikes: Array, years: Array, rate: float, volatility: Array) -> AllGreeks:
    """Return prices and Greeks, shape ``[2, expirations, strikes]``: calls, then puts."""
    from pricing import black_scholes

    return black_scholes.all_greeks(
        spot=spot,
        strike=strikes,
        time_to_expiry=years[:, None],
        rate=rate,
        volatility=volatility,
        is_call=np.array([True, False])[:, None, None],
    )


def _require_fresh(ticker: str, bars: Bars, as_of: date) -> None:
    last = bars.known_on[-1]
    if (as_of - last).days > FRESH_DAYS:
        raise ValueError(
            f"options on {ticker} are quoted while its prices are fresh; the last price known on {as_of} is of {last}. "
            "The simulated markets (SIM-...) have prices on every date"
        )
    if len(bars) <= SHORT_WINDOW_DAYS:
        raise ValueError(f"options on {ticker} need {SHORT_WINDOW_DAYS + 1} days of prices; {len(bars)} are known")
