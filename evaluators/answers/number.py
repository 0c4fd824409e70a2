"""Read one number with unit, scale and sign out of what a reply states."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

from evaluators.answers.statement import MAX_STATEMENT_CHARS, Statement, checked_statements, plain, stated_answers
from evaluators.answers.typed_json import Refusal
from evaluators.answers.units import (
    CANONICAL,
    CENTS,
    CURRENCIES,
    PERCENT_UNITS,
    SCALES,
    UNIT_FACTORS,
    UNIT_WORDS,
)

Kind: TypeAlias = Literal["number", "currency", "percent", "any"]

RESTATEMENT_TOLERANCE = 0.005
"""Two marked numbers are the same answer when they differ by no more than this, relatively (rounding)."""


def _alternatives(words: list[str]) -> str:
    """Return a pattern of the words, longest first; a word in Latin letters ends where its letters end."""
    parts = []
    for word in sorted(words, key=len, reverse=True):
        escaped = re.escape(word).replace(r"\ ", r"\s+")
        parts.append(escaped + r"(?![A-Za-z])" if word[-1].isascii() and word[-1].isalpha() else escaped)
    return "|".join(parts)


_MONEY = _alternatives([word for unit in sorted(CURRENCIES) for word in UNIT_WORDS[unit] if not word.islower()])
_QUANTITY = re.compile(
    rf"""
    (?P<open>\()?[ \t]*
    (?P<sign>[-+](?![ \t])|(?:minus|negative)[ \t]+)?
    (?P<money>(?:(?<![A-Za-z])(?:{_MONEY.replace("(?![A-Za-z])", "")})))?[ \t]*
    (?P<inner>\()?
    (?P<inner_sign>[-+])?
    (?<![\w.,])
    (?P<digits>(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)
    (?P<exponent>[eE][-+]?[0-9]{{1,4}})?
    (?![0-9]|[.,][0-9])
    (?P<close>[ \t]*\))?
    (?:[ \t]*-?(?P<scale>{_alternatives(list(SCALES))}))?
    (?:[ \t]*-?(?P<unit>{_alternatives(list(CANONICAL))}))?
    (?P<late_close>[ \t]*\))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.?"
_NOT_QUANTITIES = re.compile(
    rf"\b[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}\b|\b{_MONTH}\s+[0-9]{{1,2}}(?:,\s*[0-9]{{4}})?\b"
    rf"|\b[0-9]{{1,2}}\s+{_MONTH}(?:\s+[0-9]{{4}})?\b|\b{_MONTH}\s+[0-9]{{4}}\b"
    r"|\b(?:fy|fiscal(?:\s+year)?|calendar(?:\s+year)?|years?|in|of|for|since|from|to|through|during|by|end)"
    r"[\s-]*(?:19|20)[0-9]{2}\b(?![.,]?[0-9]|\s*%)"
    r"|\b(?:10|8|20|6)-[KQF]\b|\b[QH][1-4]\b(?:\s*(?:19|20)[0-9]{2}\b)?",
    re.IGNORECASE,
)
_INEQUALITY = re.compile(
    r"[<>≤≥]|\b(?:at\s+(?:least|most)|(?:more|less|greater|fewer|higher|lower)\s+than|up\s+to)\b|\\[gl]eq?\b",
    re.IGNORECASE,
)
_CHAIN = re.compile(r"=|≈")
_RATIO_TO_ONE = re.compile(r"(?<=[0-9])\s?(?::|to)\s?1(?:\.0+)?(?![0-9.:])")
_LISTED = re.compile(r";|,\s|\b(?:and|but|versus|vs)\b", re.IGNORECASE)


@dataclass(frozen=True)
class StatedNumber:
    """A number that a reply states.

    Attributes
    ----------
    value
        The number with scale, sign and percent applied: ``$5.5M`` is 5500000.0, ``(61.38)`` is -61.38, ``40%`` is 0.4.
    unit
        Canonical unit that was written with it (``%``, ``bp``, ``USD``, ``shares``, ...), empty when there was none.
    text
        The words it was read from.
    scale
        Factor of the scale word that was written with it (1e6 for ``5.5 million``), already applied to ``value``.
    """

    value: float
    unit: str
    text: str
    scale: float = 1.0


class _Quantity(NamedTuple):
    value: float
    unit: str
    text: str
    scale: float


def _is_negative(match: re.Match[str], statement: Statement, *, first: bool) -> bool | Refusal:
    """Return whether the number carries a minus sign or accounting parentheses.

    Parentheses after another number restate it (``40% (0.40)``) and say nothing about the sign.
    """
    signs = [(match["sign"] or "").strip().lower(), match["inner_sign"] or ""]
    if any(sign in ("-", "minus", "negative") for sign in signs):
        return True
    if first and (match["open"] or match["inner"]) and (match["close"] or match["late_close"]):
        return True
    before = statement.text[: match.start()].rstrip()
    if any(signs) or not before.endswith("-") or before[:-1].rstrip()[-1:].isalnum():
        return False
    if before == "-" and statement.labelled:
        return True
    return Refusal(f"a dash before {match.group().strip()!r} may or may not be a minus sign; write -5 or (5)")


def _unit_of(match: re.Match[str]) -> str | Refusal:
    words = [word for word in (match["money"], match["unit"]) if word]
    units = {CANONICAL[re.sub(r"\s+", " ", word.lower())] for word in words}
    if len(units) > 1:
        return Refusal(f"two units for one number: {match.group().strip()!r}")
    return next(iter(units), "")


def _quantity(match: re.Match[str], statement: Statement, *, first: bool) -> _Quantity | Refusal:
    text = match.group().strip()
    negative, unit = _is_negative(match, statement, first=first), _unit_of(match)
    if isinstance(negative, Refusal):
        return negative
    if isinstance(unit, Refusal):
        return unit
    following = statement.text[match.end() :].lstrip().partition(" ")[0].strip(".,;:()").lower()
    if following.endswith("illion") or (following in SCALES and len(following) > 2):
        return Refusal(f"unclear scale after {text!r}: {following!r}")
    magnitude = float(match["digits"].replace(",", "") + (match["exponent"] or ""))
    scale = SCALES[match["scale"].lower()] if match["scale"] else 1.0
    value = magnitude * scale * UNIT_FACTORS.get(unit, 1.0) * (-1.0 if negative else 1.0)
    if not math.isfinite(value):
        return Refusal(f"number out of range: {text!r}")
    return _Quantity(value, "USD" if unit == CENTS else unit, text, scale)


def _quantities(statement: Statement) -> list[_Quantity] | Refusal:
    masked = _NOT_QUANTITIES.sub(lambda match: " " * len(match.group()), statement.text)
    text = masked if _QUANTITY.search(masked) else statement.text
    source = Statement(text, statement.labelled)
    found: list[_Quantity] = []
    for match in _QUANTITY.finditer(text):
        quantity = _quantity(match, source, first=not found)
        if isinstance(quantity, Refusal):
            return quantity
        found.append(quantity)
    return found


def _last_of_chain(text: str) -> str:
    """Return what stands right of the last equals sign of one calculation (``4 / 10 = 40%``)."""
    parts = _CHAIN.split(text)
    if len(parts) < 2 or _LISTED.search(text) or not parts[-1].strip():
        return text
    return parts[-1].strip()


def _compatible(quantity: _Quantity, kind: Kind, unit: str) -> bool:
    if kind == "any":
        return True
    if kind == "percent":
        return quantity.unit in PERCENT_UNITS
    if kind == "currency":
        return quantity.unit == unit
    return quantity.unit == unit or (quantity.unit == "x" and not unit)


def read_number(text: str, *, kind: Kind = "number", unit: str = "") -> StatedNumber | Refusal:
    """Return the number in a field (a cell, the value beside a label), by the rules of :func:`parse_number`."""
    if len(text) > MAX_STATEMENT_CHARS:
        return Refusal(f"the field has {len(text)} characters, more than {MAX_STATEMENT_CHARS}")
    checked = checked_statements((Statement(plain(text).strip(), labelled=True),))
    if isinstance(checked, Refusal):
        return checked
    return _read(checked[0], kind=kind, unit=unit or ("USD" if kind == "currency" else ""))


def _read(statement: Statement, *, kind: Kind, unit: str) -> StatedNumber | Refusal:
    if kind == "number":
        statement = Statement(_RATIO_TO_ONE.sub("", statement.text), statement.labelled)
    if match := _INEQUALITY.search(statement.text):
        return Refusal(f"a bound is no value ({match.group()!r}): {statement.text[:80]!r}")
    found = _quantities(Statement(_last_of_chain(statement.text), statement.labelled))
    if isinstance(found, Refusal):
        return found
    if not found:
        return Refusal(f"no number in the stated answer: {statement.text[:80]!r}")
    fitting = [quantity for quantity in found if _compatible(quantity, kind, unit) or not quantity.unit]
    foreign = [q for q in found if kind == "currency" and q.unit in CURRENCIES and q.unit != unit]
    if not fitting or foreign:
        wrong = (foreign or found)[0]
        wanted = {"percent": "a percentage or fraction", "currency": unit}.get(kind, unit or "a plain number")
        return Refusal(f"wrong unit: {wrong.text!r} is in {wrong.unit}, asked for {wanted}")
    if not _all_equal([quantity.value for quantity in fitting]):
        return Refusal(f"several numbers in the stated answer: {', '.join(q.text for q in fitting[:6])}")
    return StatedNumber(fitting[0].value, fitting[0].unit, statement.text, fitting[0].scale)


def _all_equal(values: list[float]) -> bool:
    return all(abs(value - values[0]) <= RESTATEMENT_TOLERANCE * abs(values[0]) for value in values)


def parse_number(text: str, *, kind: Kind = "number", unit: str = "") -> StatedNumber | Refusal:
    """Return the one number that ``text`` states as its final answer.

    Parameters
    ----------
    text
        The whole reply of an agent.
    kind
        ``percent``: ``40%``, ``40 percent``, ``4000 bp`` and the fraction ``0.40`` are all 0.4. A bare number is
        always a fraction, so a bare ``40`` is 4000%. ``currency``: an amount of ``unit``, with or without its sign.
        ``number``: a plain number; a percent sign or a currency is a wrong unit. ``any``: a number in whatever unit,
        for questions whose gold answers do not name theirs.
    unit
        Currency code (default USD) for ``currency``; unit word that may accompany a ``number`` (``shares``, ``years``).

    Returns
    -------
    StatedNumber or Refusal
        A refusal when no single value is stated, when the unit is wrong, or when the answer is negated, hedged, a
        range or a bound. Never raises on any ``text``.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, got {kind!r}")
    unit = unit or ("USD" if kind == "currency" else "")
    if unit and unit not in UNIT_WORDS:
        raise ValueError(f"unit must be one of {', '.join(UNIT_WORDS)}, got {unit!r}")
    statements = stated_answers(text)
    if isinstance(statements, Refusal):
        return statements
    numbers: list[StatedNumber] = []
    for statement in statements:
        number = _read(statement, kind=kind, unit=unit)
        if isinstance(number, Refusal):
            return number
        numbers.append(number)
    if not _all_equal([number.value for number in numbers]):
        return Refusal(f"several final answers that differ: {', '.join(n.text[:40] for n in numbers[:4])}")
    return numbers[-1]
