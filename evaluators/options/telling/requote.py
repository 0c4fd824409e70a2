"""Make a problem's numbers follow from what its terms show: implied volatilities, model prices, a pair's yield."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np

from evaluators.options.chain import DAYS_PER_YEAR, Kind, Series, Underlying, padded
from evaluators.options.problem import Problem
from evaluators.options.telling.terms import FRIDAY, Terms
from evaluators.options.valuation import model_prices, with_implied_volatility
from pricing import black_scholes, implied_volatility

P = TypeVar("P", bound=Problem)
YIELD_ERROR, VOLATILITY_ERROR = 0.004, 0.05
"""A quote to the cent may move what it implies by so much (the volatility relatively); draws beyond are not used."""
WIDTH = 32


@dataclass(frozen=True)
class Pair:
    """A call and a put of one strike and expiry: put-call parity gives the yield, the call then the volatility."""

    strike: float
    days: int
    call: float
    put: float


def draw_pair(rng: random.Random, market: Underlying, terms: Terms) -> Pair:
    """Draw a pair half a year to a year and a half off, quoted to the cent."""
    days = rng.randint(180, 540)
    while (terms.today + timedelta(days)).weekday() > FRIDAY:
        days += 1
    strike = float(round(market.spot * rng.uniform(0.9, 1.1)))
    kinds: tuple[Kind, Kind] = ("call", "put")
    call, put = model_prices(
        market,
        [Series(kind=kind, strike=strike, days=days, price=0.0, volatility=market.volatility) for kind in kinds],
    )
    return Pair(strike, days, round(call, 2), round(put, 2))


def of_pair(market: Underlying, pair: Pair) -> Underlying | None:
    """Return the market with the yield and the volatility that the pair implies; None where cents blur them."""
    years = pair.days / DAYS_PER_YEAR
    prepaid = pair.call - pair.put + pair.strike * math.exp(-market.rate * years)
    if prepaid <= 0:
        return None
    implied = replace(market, dividend_yield=-math.log(prepaid / market.spot) / years)
    call = Series(kind="call", strike=pair.strike, days=pair.days, price=pair.call, volatility=0.0)
    volatility = with_implied_volatility(implied, call, digits=None).volatility
    found = replace(implied, volatility=volatility)
    near = abs(found.dividend_yield - market.dividend_yield) < YIELD_ERROR
    return found if near and abs(volatility / market.volatility - 1) < VOLATILITY_ERROR else None


def in_market(problem: P, market: Underlying) -> P:
    """Return the problem in a market of other yield and volatility; whose context tells a market has it as a field."""
    changes: dict[str, Any] = {"market": market}
    return replace(problem, **changes)


def requoted(problem: P, market: Underlying, terms: Terms) -> P | None:
    """Return the problem with every series at what its one quote implies; None where cents blur a volatility."""
    found: dict[Series, Series] = {}
    _collect(problem, found)
    if terms.quotes == "both" or not found:
        return problem
    series = list(found)
    columns: dict[str, Any] = {
        "spot": market.spot,
        "rate": market.rate,
        "dividend_yield": market.dividend_yield,
        "strike": padded([item.strike for item in series], WIDTH),
        "time_to_expiry": padded([item.time_to_expiry for item in series], WIDTH),
        "is_call": padded([item.kind == "call" for item in series], WIDTH).astype(bool),
    }
    if terms.quotes == "prices":
        values = _implied(columns, series)
        if values is None:
            return None
        new = {item: replace(item, volatility=value) for item, value in zip(series, values, strict=True)}
    else:
        volatilities = padded([item.volatility for item in series], WIDTH)
        prices = np.asarray(black_scholes.price(volatility=volatilities, **columns)).tolist()
        new = {item: item.at(price) for item, price in zip(series, prices, strict=False)}
    mapped: P = _mapped(problem, new)
    return mapped


def _implied(columns: Mapping[str, Any], series: list[Series]) -> list[float] | None:
    solved = implied_volatility.solve(price=padded([item.price for item in series], WIDTH), **columns)
    values = np.asarray(solved.value).tolist()[: len(series)]
    blurred = any(
        not abs(value / item.volatility - 1) < VOLATILITY_ERROR for value, item in zip(values, series, strict=True)
    )
    return None if blurred else values


def _collect(value: Any, found: dict[Series, Series]) -> None:
    if isinstance(value, Series):
        found[value] = value
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, found)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            _collect(getattr(value, field.name), found)


def _mapped(value: Any, new: Mapping[Series, Series]) -> Any:
    if isinstance(value, Series):
        return new[value]
    if isinstance(value, tuple):
        return tuple(_mapped(item, new) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _mapped(getattr(value, field.name), new) for field in fields(value)})
    return value
