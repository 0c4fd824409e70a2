"""Where the profit of a position came from when the market moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jax.typing import ArrayLike

from pricing import black_scholes
from pricing.risk.attribution import Attribution, attribution
from pricing.signature import checked
from pricing.strategy.leg import Leg


@dataclass(frozen=True, kw_only=True)
class Move:
    """What changed in the market.

    Attributes
    ----------
    spot
        Change of the stock price, in currency.
    volatility
        Added to every leg's volatility; 0.02 is two points.
    rate
        Added to the rate; 0.01 is 100 basis points.
    years
        Calendar time that passed.
    """

    spot: float = 0.0
    volatility: float = 0.0
    rate: float = 0.0
    years: float = 0.0


@checked
def explain(
    legs: Sequence[Leg], move: Move, *, spot: float, rate: float = 0.0, dividend_yield: float = 0.0
) -> Attribution:
    """Split the model profit of a move by the Greeks of the start, second order included.

    Parameters
    ----------
    legs
        Options with time and volatility, and stock.
    move
        The change.
    spot, rate, dividend_yield
        The market at the start.

    Returns
    -------
    Attribution in currency, contract multipliers included; ``total`` is by full revaluation.

    Raises
    ------
    ValueError
        When there is no leg, or an option leg lacks its time or its volatility.
    """
    if not legs:
        raise ValueError("legs must hold at least one leg, got none")
    options = [leg for leg in legs if leg.strike is not None]
    for leg in options:
        if leg.time_to_expiry is None or leg.volatility is None:
            raise ValueError(f"the {leg.strike:g} {leg.kind} needs time_to_expiry and volatility")
    shares = np.array([leg.shares for leg in options])
    fixed: dict[str, ArrayLike] = {
        "strike": np.array([leg.strike for leg in options], float),
        "dividend_yield": dividend_yield,
        "is_call": np.array([leg.kind == "call" for leg in options], bool),
    }
    time = np.array([leg.time_to_expiry for leg in options], float)
    volatility = np.array([leg.volatility for leg in options], float)
    start = black_scholes.all_greeks(spot=spot, time_to_expiry=time, rate=rate, volatility=volatility, **fixed)
    end = black_scholes.price(
        spot=spot + move.spot,
        time_to_expiry=np.maximum(time - move.years, 0.0),
        rate=rate + move.rate,
        volatility=volatility + move.volatility,
        **fixed,
    )
    stock = sum(leg.shares for leg in legs if leg.strike is None)
    net = {name: float(shares @ np.asarray(value)) for name, value in start._asdict().items()}
    return attribution(
        total=float(shares @ np.asarray(end)) - net["price"] + stock * move.spot,
        spot_change=move.spot,
        volatility_change=move.volatility,
        time_passed=move.years,
        rate_change=move.rate,
        delta=net["delta"] + stock,
        **{name: net[name] for name in ("gamma", "theta", "vega", "rho", "vanna", "volga")},
    )
