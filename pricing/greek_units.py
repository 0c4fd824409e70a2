"""Greeks in the units that desks quote.

The kernels give theta per year and vega and rho per 1.00. Every function here is a division by a constant that its name
states, on a number or an array.
"""

from __future__ import annotations

from typing import TypeVar

import jax

from pricing.signature import labelled

Number = TypeVar("Number", float, jax.Array)

DAYS_PER_YEAR = 365.0


@labelled
def theta_per_calendar_day(theta: Number) -> Number:
    """Theta per year to theta per calendar day, of which a year has 365."""
    return theta / DAYS_PER_YEAR


@labelled
def vega_per_point(vega: Number) -> Number:
    """Vega per 1.00 of volatility to vega per point (0.01)."""
    return vega / 100.0


@labelled
def rho_per_point(rho: Number) -> Number:
    """Rho per 1.00 of rate to rho per percentage point (0.01)."""
    return rho / 100.0


@labelled
def rho_per_basis_point(rho: Number) -> Number:
    """Rho per 1.00 of rate to rho per basis point (0.0001)."""
    return rho / 10_000.0


@labelled
def gamma_per_percent_move(gamma: Number, *, spot: Number) -> Number:
    """Change of delta per 1.00 of spot to change of delta for a 1% move of spot."""
    return gamma * spot / 100.0


@labelled
def delta_in_currency(delta: Number, *, spot: Number) -> Number:
    """Delta in shares to the value of those shares, which is the profit of a 100% move to first order."""
    return delta * spot
