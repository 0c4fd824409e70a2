"""Read the legs that a reply chooses, against what can be traded in the task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluators.answers import Refusal, number_field
from evaluators.options.chain import MAX_LEGS, Holding, Position, Series
from lake.vocabulary import canonical, signed_quantity

MAX_QUANTITY = 1_000_000
FIELDS = ("option_type", "quantity", "strike", "days_to_expiry", "action")


def read_legs(given: Any, series: Sequence[Series], *, stock: bool) -> Position | Refusal:
    """Return the position that ``given`` lists, or why it is none.

    Parameters
    ----------
    given
        The ``legs`` of a reply: a list of objects with ``option_type``, ``quantity`` (signed), ``strike`` and, where
        the task has several expiries, ``days_to_expiry``. The words of the published bank mean the same: ``type``, and
        ``action`` (``buy`` or ``sell``), which gives the quantity its sign. Further keys are notes and are not read.
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
    leg = _renamed(leg)
    if isinstance(leg, Refusal):
        return leg
    quantity = number_field(leg, "quantity")
    if isinstance(quantity, Refusal):
        return quantity
    if quantity == 0 or quantity != int(quantity) or abs(quantity) > MAX_QUANTITY:
        return Refusal(f"quantity must be a whole number other than 0, got {quantity!r}")
    if leg.get("action") is not None:
        try:
            quantity = signed_quantity(quantity, leg["action"])
        except ValueError as error:
            return Refusal(str(error))
    if leg.get("option_type") == "stock":
        return Holding(None, int(quantity)) if stock else Refusal("the stock cannot be used here")
    strike = number_field(leg, "strike")
    if isinstance(strike, Refusal):
        return strike
    found = [item for item in series if item.kind == leg.get("option_type") and abs(item.strike - strike) < 1e-6]
    if "days_to_expiry" in leg or len({item.days for item in series}) > 1:
        days = number_field(leg, "days_to_expiry")
        if isinstance(days, Refusal):
            return days
        found = [item for item in found if item.days == days]
    if not found:
        return Refusal(f"no such series can be traded: {str(leg.get('option_type'))[:20]!r} {strike:g}")
    return Holding(found[0], int(quantity))


def _renamed(leg: dict[str, Any]) -> dict[str, Any] | Refusal:
    """Return the leg under the names that tasks use; a field may be given once."""
    fields: dict[str, Any] = {}
    for key, value in leg.items():
        name = key if key in FIELDS else canonical(key, FIELDS)
        if name in fields:
            return Refusal(f"{name} is given twice, once as {key[:20]!r}")
        if name is not None:
            fields[name] = value
    return fields
