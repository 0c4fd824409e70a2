"""The words that tell an agent how to write its answer."""

from __future__ import annotations

_LINE = "End your reply with one line of the form\nFinal answer: <{what}>\nand write nothing after it."
_JSON = 'A reply that is the JSON object {{"answer": <{what}>}} is read as well.'


def _with_line(what: str, rules: str) -> str:
    return f"{_LINE.format(what=what)} {_JSON.format(what=what)} {rules}"


def percent_format(tolerance: str) -> str:
    """Return the answer format of a percentage; ``tolerance`` says in words what counts as right."""
    return _with_line(
        "percentage",
        "Write a percentage with its percent sign, or as a decimal fraction without one: a bare number is read as a "
        f"fraction, so half is written as 50% or as 0.5, never as 50. Use a minus sign for a decrease. {tolerance}",
    )


def currency_format(tolerance: str, *, unit: str = "US dollars") -> str:
    """Return the answer format of an amount of money; ``tolerance`` says in words what counts as right."""
    return _with_line(
        "amount",
        f"The amount is in {unit}; write it in full or with thousand, million or billion (K, M, B). Use a minus sign "
        f"or parentheses for a negative amount. {tolerance}",
    )


def number_format(tolerance: str, *, unit: str = "") -> str:
    """Return the answer format of a plain number; ``tolerance`` says in words what counts as right."""
    rule = f"The number is in {unit}. " if unit else "The number is dimensionless: no percent sign, no currency. "
    return _with_line("number", f"{rule}Use a minus sign for a negative value. {tolerance}")


def sequence_format() -> str:
    """Return the answer format of an order of numbered items."""
    return _with_line("item numbers in order, separated by commas", "Every item number appears exactly once.")


def accession_number_format() -> str:
    """Return the answer format of an EDGAR accession number."""
    return _with_line("accession number", "Write it as EDGAR does: ten digits, two digits, six digits, with dashes.")


def date_format() -> str:
    """Return the answer format of a calendar date."""
    return _with_line("date", "Write the date as YYYY-MM-DD.")
