"""One vocabulary for tools, questions and answers: what a field is called, and by which other names it is known.

Schemas and questions print the canonical names. The other names are those of the published benchmark's tools and
question bank, and of common market libraries; whoever reads arguments or answers looks them up here.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "cash": ("starting_cash",),
    "confidence": ("confidence_level",),
    "date": ("on",),
    "end": ("end_date",),
    "expiration": ("expiry", "expiration_date"),
    # an order on an option has both: its type is how it is filled
    "order_type": ("type",),
    "option_type": ("type", "kind"),
    "premium": ("price",),
    "quantity": ("contracts",),
    "rate": ("risk_free_rate",),
    "side": ("action",),
    "spot": ("spot_price",),
    "start": ("start_date",),
    "statement": ("statement_type",),
    "strike": ("strike_price",),
    "ticker": ("symbol",),
    "timeout_s": ("timeout",),
    "volatility": ("implied_volatility",),
    "volatility_change": ("vol_change",),
}
"""Canonical name -> names that mean the same in the same unit."""


class Unit(NamedTuple):
    """A name that gives a field in another unit.

    Attributes
    ----------
    field
        Canonical name of the field.
    factor
        Value in the field's unit for 1 in this one.
    least
        Smallest value, besides 0, that is believed to be in this unit.
    """

    field: str
    factor: float
    least: float = 0.0


OTHER_UNITS: Mapping[str, Unit] = {
    "days_to_expiry": Unit("time_to_expiry", 1 / 365, least=1.0),
    "theta_per_day": Unit("theta", 365.0),
    "vega_per_point": Unit("vega", 100.0),
    "rho_per_point": Unit("rho", 100.0),
    "years_passed": Unit("days_passed", 365.0),
}
"""Name -> the field that it gives, and its unit: calendar days to years, per day to per year, per point to per 1.00."""

SIDES: Mapping[str, int] = {"buy": 1, "sell": -1}
"""Words of ``action``, by which the published legs give the sign of ``quantity``."""


def canonical(name: str, fields: Collection[str]) -> str | None:
    """Return the one of ``fields`` that ``name`` is another name of, in the same unit; None when there is none."""
    return next((field for field, others in OTHER_NAMES.items() if name in others and field in fields), None)


def signed_quantity(quantity: float, action: object) -> float:
    """Return ``quantity`` with the sign that ``action`` gives it: > 0 bought, < 0 sold.

    Raises
    ------
    ValueError
        When ``action`` is neither ``buy`` nor ``sell``, or buys a negative quantity.
    """
    side = SIDES.get(action.lower()) if isinstance(action, str) else None
    if side is None:
        raise ValueError(f"action must be 'buy' or 'sell', got {action!r:.60}")
    if side > 0 and quantity < 0:
        raise ValueError(
            f"action 'buy' contradicts the negative quantity {quantity:g}, which is sold; give one of them"
        )
    return side * abs(quantity)


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the name that a word is most like, or None where it is like none."""
    close = difflib.get_close_matches(word, list(names), n=1, cutoff=0.5)
    return close[0] if close else None


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest of ``names``, or an empty string."""
    name = nearest(word, names)
    return f" (did you mean {name!r}?)" if name else ""
