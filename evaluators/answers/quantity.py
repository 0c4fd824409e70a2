"""The grammar of one written quantity: sign, currency, digits, power, scale word and unit."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from evaluators.answers.typed_json import Refusal
from evaluators.answers.units import (
    CANONICAL,
    CENTS,
    CURRENCIES,
    OTHER_CURRENCIES,
    OTHER_WORDS,
    SCALES,
    UNIT_FACTORS,
    UNIT_WORDS,
)


def words_pattern(words: list[str]) -> str:
    """Return a pattern of the words, longest first; a word in Latin letters ends where its letters end."""
    parts = []
    for word in sorted(words, key=len, reverse=True):
        escaped = re.escape(word).replace(r"\ ", r"\s{1,9}")
        parts.append(escaped + r"(?![A-Za-z])" if word[-1].isascii() and word[-1].isalpha() else escaped)
    return "|".join(parts)


SCALE = words_pattern(list(SCALES))
UNIT = words_pattern(list(CANONICAL))
_SIGNS = [word for unit in sorted(CURRENCIES) for word in UNIT_WORDS[unit] if not word.islower()]
MONEY = words_pattern(_SIGNS).replace("(?![A-Za-z])", "")
DIGITS = r"(?:(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)"
_BEFORE_DIGITS = r"(?:thousand|million|billion|trillion)s?|mm|mn|m|bn|b|k|tn"
SHUT = ("\ue000", "\ue001")
"""Stand for the parentheses around the result of a calculation, which are no minus sign: characters of private use."""
QUANTITY = re.compile(
    rf"""
    (?:(?:(?P<open>\()|{SHUT[0]})[ \t]*)?
    (?P<sign>[-+](?![ \t])|(?:minus|negative)[ \t]+|负)?
    (?P<money>(?:(?<![A-Za-z])(?:{MONEY})))?
    (?(money)[ \t]*(?P<early>(?:{_BEFORE_DIGITS})(?=[ \t]+[(]?[-+]?[0-9.]))?[ \t]*)
    (?P<inner>\()?
    (?P<inner_sign>[-+])?
    (?(money)(?<![0-9_.,])|(?<![A-Za-z0-9_.,]))
    (?P<digits>{DIGITS})
    (?P<exponent>[eE][-+]?[0-9]{{1,4}})?
    (?![0-9]|[.,][0-9])
    (?P<close>[ \t]*[){SHUT[1]}])?
    (?:[ \t]*-?(?P<scale>{SCALE}))?
    (?:[ \t]*-?(?P<unit>{UNIT}))?
    (?:[ \t]+(?P<again>{SCALE}))?
    (?:[ \t]+(?P<unit_again>{UNIT}))?
    (?P<late_close>[ \t]*[){SHUT[1]}])?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHINESE_PERCENT = re.compile(rf"百分之\s{{0,4}}(-?{DIGITS})")

WINDOW = 80
"""Characters before a number that may say what its sign is."""


class Quantity(NamedTuple):
    """A quantity and where it stands.

    Attributes
    ----------
    value
        Scale, unit factor and sign applied.
    figure
        The written digits without scale, unit and sign.
    half_digit
        Half a unit of the last written digit, scale and unit applied.
    sign
        ``-`` or ``+`` when one was written, ``()`` for accounting parentheses, else empty.
    """

    value: float
    unit: str
    text: str
    scale: float
    figure: float
    half_digit: float
    sign: str
    start: int
    end: int


def spelled(text: str) -> str:
    """Return ``text`` with Chinese percentages in the order of the grammar."""
    return _CHINESE_PERCENT.sub(r"\1%", text)


def _sign_of(match: re.Match[str], *, labelled: bool, first: bool) -> str | Refusal:
    text, body = match.string, match.group().strip()
    written = [(match["sign"] or "").strip().lower(), match["inner_sign"] or ""]
    before = text[max(0, match.start() - WINDOW) : match.start()]
    if before.endswith("^"):
        return Refusal(f"write the value, not a formula: {(before[-20:] + body).strip()!r}")
    if match["sign"] is None and (mark := _FALL_MARK.search(before)):
        return Refusal(f"{mark.group().strip()!r} before {body!r} may or may not be a minus sign; write -5")
    if _PERCENT_BEFORE.search(before):
        return Refusal(f"a percent sign stands behind its number: '%{body}'")
    if _ARITHMETIC_BEFORE.search(before) or _ARITHMETIC_AFTER.match(text, match.end()):
        return Refusal(f"write the value, not how it is found: {(before[-20:] + body).strip()!r}")
    closed = (match["open"] or match["inner"]) and (match["close"] or match["late_close"])
    if all(written) and written[0] != "+":
        return Refusal(f"two signs before one number: {body!r}")
    if any(sign in ("-", "minus", "negative", "负") for sign in written):
        glued = text[match.start("sign") - 1 : match.start("sign")] if match["sign"] else ""
        if match["sign"] == "-" and (glued.isdigit() or glued in tuple("%)")):
            return Refusal(f"a range is no value: {(before[-12:] + body).strip()!r}")
        if match["sign"] == "-" and glued.isascii() and glued.isalpha():
            return Refusal(f"a dash before {body!r} may or may not be a minus sign; write -5 or (5)")
        return "-"
    # Beside another number parentheses restate it, unless they stand where a value is stated: $(5), or "is (5)".
    if closed and (first or match["inner"] or _STATES.search(before)):
        word = before.rstrip()[-1:]
        if match["open"] and word.isalnum() and not _STATES.search(before):
            return Refusal(f"{body!r} in parentheses may or may not be negative; write -5")
        return "()"
    if any(written):
        return "+"
    before = before.rstrip()
    if before.endswith("-") and (not before[:-1].rstrip()[-1:].isalnum() or _STATES.search(before[:-1])):
        if text[: match.start()].strip() == "-" and labelled:
            return "-"
        return Refusal(f"a dash before {body!r} may or may not be a minus sign; write -5 or (5)")
    return ""


_ARITHMETIC_BEFORE = re.compile(
    r"\b(?:half|twice|doubles?|triples?|thrice|opposite|inverse|reciprocal|root|minus|negative)\s+(?:of\s+)?$",
    re.IGNORECASE,
)
_FALL_MARK = re.compile(r"(?:[▼▽🔻↓⬇↘]\ufe0f?|&(?:minus|ndash|mdash|#8722|#x2212);)\s*$", re.IGNORECASE)
_PERCENT_BEFORE = re.compile(r"(?<![0-9)\s\ue001])%$")
_ARITHMETIC_AFTER = re.compile(r"\s*(?:squared|cubed|halved|doubled)\b|\s?\?", re.IGNORECASE)
_STATES = re.compile(
    r"\b(?:is|was|were|are|be|of|at|by|to|equals|stood at|came to|reported|posted|showed|shows|about|approximately"
    r"|roughly|USD|EUR|GBP|change|answer)\s*$",
    re.IGNORECASE,
)
_CHANGES_IT = re.compile(r"[a-z]*illion|thousand|hundred|percen|pct|basis")
"""Beginnings of words that would change the number if they were known: a bare number is not what was meant."""
_OTHER_MONEY = re.compile(rf"(?:\b(?:{'|'.join(sorted(OTHER_CURRENCIES))})|[$€£¥₩₹₽₺₦₫฿₱₴₪₡₲₵₸])\s*$")
_OTHER_UNIT = re.compile(
    rf"\s*(?:per[\s-]?(?:cent|mil|thousand)|(?:business|working)\s+days|(?:{'|'.join(sorted(OTHER_WORDS))})\b)"
    rf"|\s*(?-i:{'|'.join(sorted(OTHER_CURRENCIES))})\b|\s*(?:(?-i:[A-Z]{{3}})|\$)(?:mn|mm|m|bn|b|k)\b|[A-Za-zÀ-ɏ]*[À-ɏ]",
    re.IGNORECASE,
)


def _strange_end(match: re.Match[str]) -> str:
    """Return what is glued to the quantity and is neither scale nor unit."""
    following = match.string[match.end() :]
    if other := _OTHER_UNIT.match(following):
        return other.group().strip()
    if re.match(r"[A-Za-z]", following) and not match.group().endswith((" ", ")", SHUT[1])):
        return following.split()[0]
    if re.match(r"-(?:\s|[.,;)]|$)", following) or re.match(r"\+(?:\s|[.,;)%]|$)", following):
        return following[0]
    if re.match(r"[⁰¹²³⁴-⁹]|\^|\s?[¼-¾⅐-⅞↉]", following):
        return following[:2]
    word = following.lstrip().partition(" ")[0].strip(".,;:()").lower()
    return word if _CHANGES_IT.match(word) or (word in SCALES and len(word) > 1) else ""


def read_quantity(match: re.Match[str], *, labelled: bool, first: bool) -> Quantity | Refusal:
    """Return the quantity of a match of ``QUANTITY``; a refusal when its sign, scale or unit is doubtful."""
    text = match.group().strip("".join(SHUT)).strip()
    sign = _sign_of(match, labelled=labelled, first=first)
    if isinstance(sign, Refusal):
        return sign
    words = [word for word in (match["money"], match["unit"], match["unit_again"]) if word]
    units = {CANONICAL[re.sub(r"\s+", " ", word.lower())] for word in words}
    if units == {"x"} and re.match(r"\s*[-+($]*[.]?[0-9]", match.string[match.end() :]):
        return Refusal(f"write the value, not how it is found: {text!r} before another number")
    if len(units) > 1:
        return Refusal(f"two units for one number: {text!r}")
    unit = next(iter(units), "")
    scales = {SCALES[word.lower()] for word in (match["early"], match["scale"], match["again"]) if word}
    if len(scales) > 1 or (match["scale"] and match["again"]):
        return Refusal(f"unclear scale: {text!r}")
    if other := _OTHER_MONEY.search(match.string[max(0, match.start() - 8) : match.start()]):
        return Refusal(f"unknown currency {other.group().strip()!r} before {text!r}")
    if end := _strange_end(match):
        return Refusal(f"unclear scale or sign after {text!r}: {end!r}")
    digits = match["digits"].replace(",", "")
    scale, factor = next(iter(scales), 1.0), UNIT_FACTORS.get(unit, 1.0)
    figure = float(digits + (match["exponent"] or ""))
    size = figure * scale * factor
    value = -size if sign in ("-", "()") else size
    decimals = len(digits.partition(".")[2])
    half = 0.5 * 10.0 ** min(300, int((match["exponent"] or "e0")[1:]) - decimals) * scale * factor
    if not (math.isfinite(value) and math.isfinite(half)):
        return Refusal(f"number out of range: {text!r}")
    unit = "USD" if unit == CENTS else unit
    return Quantity(value, unit, text, scale, figure, half, sign, match.start(), match.end())
