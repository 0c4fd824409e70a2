"""Numbers of the right unit that may still not be the answer: of a product, of a span, below words that scale it."""

from __future__ import annotations

import re

from evaluators.answers.quantity import MONEY, WINDOW, Quantity
from evaluators.answers.typed_json import Refusal

_TIME_WORD = r"(?:years?|yrs?|months?|weeks?|days?|hours?)"
_SPAN_IN_PARTS = re.compile(
    rf"[0-9]\s{{0,9}}{_TIME_WORD}\s{{0,9}}(?:,|and|plus)?\s{{0,9}}[0-9.]{{1,20}}\s{{0,9}}{_TIME_WORD}\b", re.IGNORECASE
)
COUNTS = frozenset({"shares", "contracts", "units"})
"""Units of which something is a number, and not an amount."""

_COUNT_AND_PRICE = re.compile(
    rf"[0-9][0-9,.]*\s*(?:[a-z]+\s+){{0,3}}?(?:shares?|contracts?|units?)\s+(?:(?:worth|valued|priced|sold|bought|at|@)\s*){{1,2}}"
    rf"(?:(?:an?\s+)?(?:[a-z]+\s+)?(?:price|premium|cost|value)\s+of\s+)?(?:{MONEY})?\s?[0-9][0-9.,]*"
    rf"|[0-9][0-9,.]*\s+(?:per\s+share|per\s+contract|per\s+unit|a\s+share|each|apiece)\s+(?:for|on|times|x|×|\*)\s+[0-9][0-9,.]*",
    re.IGNORECASE,
)
_PERCENT = r"[0-9.]{1,20}\s?(?:%|percent\b|per\s+cent\b)"
_SHARE_OF_MONEY = re.compile(
    rf"{_PERCENT}\s+of\s+(?:the\s+)?(?:{MONEY})\s?[0-9]"
    rf"|(?:{MONEY})\s?[0-9.,]{{1,30}}(?:\s?(?:thousand|million|billion|[KMB]))?"
    rf"(?:\s+(?:[-+]|less|plus|minus)\s+|[-+]){_PERCENT}",
    re.IGNORECASE,
)
_LABEL_OF_A_UNIT = re.compile(
    r"(?<![0-9.)])(?<![0-9.)]\s)(?:(?P<percent>percent(?:age)?|pct|%)(?:\s+[a-z]+){0,2}?[\"')\]]*"
    r"\s*(?:(?P<label>[:=|])|\b(?:is|was)\b(?:\s+about)?)"
    r"|(?P<scale>(?:thousand|million|billion)s?)[\"')\]]*\s*[:=|])\s*$",
    re.IGNORECASE,
)


def not_one_value(fitting: list[Quantity], text: str, *, kind: str, unit: str, beside: bool) -> Refusal | None:
    """Return a refusal where ``text`` says how a value is found: ``4 shares at $500``, ``1 year 2 days``, ``5% of $9``.

    ``fitting`` are its numbers of the unit asked for; ``beside`` tells whether others stand beside them. A count at a
    price answers the question how many, and no other.
    """
    product = _COUNT_AND_PRICE.search(text) if beside and kind != "percent" and unit not in COUNTS else None
    if product and fitting[0].start < product.end() and product.start() < fitting[0].end:
        return Refusal(f"two quantities, a count and a price or value: {product.group()!r}")
    if parts := _SPAN_IN_PARTS.search(text):
        return Refusal(f"write one number in one unit, not a span in parts: {parts.group()!r}")
    if kind != "percent" and (share := _SHARE_OF_MONEY.search(text)):
        return Refusal(f"write the value, not how it is found: {share.group()!r}")
    return None


def under_a_unit(quantity: Quantity, text: str, *, kind: str) -> Refusal | None:
    """Return a refusal for a bare number whose label names a unit or scale: ``percent: 5``, ``{"profit_millions": 5}``.

    A fraction of 1 that a sentence calls a percentage is one by the format that agents are told.
    """
    match = _LABEL_OF_A_UNIT.search(text[max(0, quantity.start - WINDOW) : quantity.start])
    if not match:
        return None
    if kind == "percent" and match["percent"] and not quantity.unit and (match["label"] or abs(quantity.value) > 1.0):
        return Refusal(f"in percent or a fraction? write the percent sign behind the number: {quantity.text!r}")
    if kind in ("currency", "number") and match["scale"] and quantity.scale == 1.0:
        return Refusal(f"in {match['scale']} or not? write it behind the number: {quantity.text!r}")
    return None
