"""Read the legs that a reply chooses, against what can be traded in the task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluators.answers import Refusal, number_field
from evaluators.options.chain import MAX_LEGS, Holding, Position, Series

MAX_QUANTITY = 1_000_000


def read_legs(given: Any, series: Sequence[Series], *, stock: bool) -> Position | Refusal:
    """Return the position that ``given`` lists, or why it is none.

    Parameters
    ----------
    given
        The ``legs`` of a reply: a list of objects with ``kind``, ``quantity`` (signed), ``strike`` and, where the task
        has several expiries, ``days_to_expiry``.
    series
        What can be traded besides the stock.
    stock
        Whether the stock can be traded.
    """
    if not isinstance(given, list) or not given:
        return Refusal("no legs given")
    if len(given) > MAX_LEGS:
        return Refusal(f"at most {MAX_LEGS} legs, got {len(given)}")
    holdings: list[Holding] = []
    for number, leg in enumerate(given, start=1):
        holding = _read_leg(leg, series, stock=stock)
        if isinstance(holding, Refusal):
            return Refusal(f"leg {number}: {holding.reason}")
        if any(holding.series == other.series for other in holdings):
            return Refusal(f"leg {number}: listed twice")
        holdings.append(holding)
    return tuple(holdings)


def _read_leg(leg: Any, series: Sequence[Series], *, stock: bool) -> Holding | Refusal:
    if not isinstance(leg, dict):
        return Refusal("not an object")
    quantity = number_field(leg, "quantity")
    if isinstance(quantity, Refusal):
        return quantity
    if quantity == 0 or quantity != int(quantity) or abs(quantity) > MAX_QUANTITY:
        return Refusal(f"quantity must be a whole number other than 0, got {quantity!r}")
    if leg.get("kind") == "stock":
        return Holding(None, int(quantity)) if stock else Refusal("the stock cannot be used here")
    strike = number_field(leg, "strike")
    if isinstance(strike, Refusal):
        return strike
    found = [item for item in series if item.kind == leg.get("kind") and abs(item.strike - strike) < 1e-6]
    if "days_to_expiry" in leg or len({item.days for item in series}) > 1:
        days = number_field(leg, "days_to_expiry")
        if isinstance(days, Refusal):
            return days
        found = [item for item in found if item.days == days]
    if not found:
        return Refusal(f"no such series can be traded: {str(leg.get('kind'))[:20]!r} {strike:g}")
    return Holding(found[0], int(quantity))
