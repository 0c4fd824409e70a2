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
