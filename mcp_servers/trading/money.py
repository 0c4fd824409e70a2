"""Money of the paper account: whole millionths of a dollar, so that its books add up exactly under every sequence."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

MILLIONTHS = Decimal(1_000_000)
_EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN)
"""More digits than a quantity, a multiplier and a price have together: a product is rounded once, to a millionth."""


def quantity_of(value: float) -> Decimal:
    """Return a number of shares, contracts or coins as it is written: 0.1 and 0.2 make 0.3."""
    return Decimal(repr(float(value)))


def worth(quantity: Decimal, price: float, *, multiplier: float = 1.0) -> int:
    """Return ``quantity * multiplier * price`` in millionths of a dollar, with the sign of the quantity."""
    shares = _EXACT.multiply(quantity, Decimal(repr(float(multiplier))))
    return _whole(_EXACT.multiply(shares, Decimal(repr(float(price)))))


def dollars(millionths: int) -> float:
    """Return the nearest number of dollars."""
    return float(_EXACT.divide(Decimal(millionths), MILLIONTHS))


def money(amount: float) -> int:
    """Return dollars in millionths."""
    return _whole(Decimal(repr(float(amount))))


def share_of(millionths: int, part: Decimal, whole: Decimal) -> int:
    """Return ``millionths * part / whole`` to a millionth; all of it where the two are equal."""
    if part == whole:
        return millionths
    portion = _EXACT.divide(_EXACT.multiply(Decimal(millionths), part), whole)
    return int(portion.to_integral_value(ROUND_HALF_EVEN))


def _whole(amount: Decimal) -> int:
    return int(_EXACT.multiply(amount, MILLIONTHS).to_integral_value(ROUND_HALF_EVEN))
