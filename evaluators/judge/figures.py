"""Figures that a criterion states: code, not a judge, says whether a reply has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from evaluators.answers import Refusal, parse_number
from evaluators.answers.units import CANONICAL, PERCENT_UNITS, SCALES, UNIT_FACTORS
from evaluators.judge.text import clean, words

Answer: TypeAlias = Literal["met", "not met", "ask"]

MAX_RELATIVE = 0.005
"""However coarsely a figure is rounded, it is no further from the criterion's than this."""

LABEL_SHARE = 0.6
"""Share of a criterion's words that stand with its figure."""

HEADING_LINES = 3
"""Lines before a figure that may hold the words of its label."""

MAX_RIVALS = 1
"""Other figures in the line of a figure: more of them make a list of guesses, for the judge to read."""

MAX_WORDS = 30
"""Longer criteria say more than their figures: code may refuse them, but not grant them."""

_SCALE_WORDS = [word for word in SCALES if word.isascii()]
_UNIT_WORDS = [word for word in CANONICAL if word.isascii() and word[0].isalpha()]
_FIGURE = re.compile(
    rf"""(?P<sign>(?<![\w%)])[-−](?=[$€£]?[0-9.])|\((?=[$€£]?[0-9.,]+\)))?(?:(?P<money>[$€£])(?P<late>[-−]|\()?)?
    (?<![\w.,])(?P<digits>[0-9]{{1,3}}(?:,[0-9]{{3}})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)\)?
    (?:\s?(?P<scale>{"|".join(map(re.escape, _SCALE_WORDS))})\b)?
    (?:\s?-?(?P<unit>%|(?:{"|".join(map(re.escape, _UNIT_WORDS))})\b))?(?![0-9])""",
    re.VERBOSE | re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?\s+[0-9]{1,2}(?:,\s*[0-9]{4})?\b"
    r"|\b[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}\b|\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b|\b(?:fy|q[1-4]|cy)\s?'?[0-9]{2,4}\b"
    r"|\bq[1-4]\b|\b[0-9]+-[kq]\b|§+\s?[0-9]+\w*|\bsections?\s[0-9]+\w*",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\([^()]*\be\.?g\.?[^()]*\)|\be\.?g\.?,?\s.*", re.IGNORECASE | re.DOTALL)
_BOUND = re.compile(
    r"[<>≤≥~]|\b(?:at least|at most|more than|less than|greater|fewer|higher than|lower than|between|within"
    r"|exceed\w*)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:around|about|approximately|roughly|close to|or|either|such as|ranging|range|over|under|below|above|up to"
    r"|scenario|if)\b",
    re.IGNORECASE,
)
_STATING = re.compile(r"\b(?:calculat|comput|state|stating|quantif|conclud|determin|arriv|derive)\w*", re.IGNORECASE)
_NEGATED = frozenset("not no neither never isn wasn cannot incorrect wrong".split())
_HEDGED = frozenset("or either maybe perhaps between possibly alternatively".split())
_PERIOD = re.compile(r"(?:19|20)[0-9]{2}|[qh][1-4]|fy[0-9]{2,4}|[0-9]{1,2}q[0-9]*")
_TIME_UNITS = frozenset({"years", "months", "weeks", "days", "hours"})
_UP = frozenset("beat beats beaten above increase increased increases grew growth higher up rose".split())
_DOWN = frozenset("miss missed misses below decrease decreased decreases decline declined lower down fell loss".split())
_SPLIT = re.compile(r"\n+|(?<=[.!?;])\s+")
_COMMON = frozenset(
    "the a an of in on for and or to is was were are be by from as at with that which this its their it per".split()
)


@dataclass(frozen=True)
class Figure:
    """A written quantity.

    Attributes
    ----------
    value
        Scale and percent applied, sign kept.
    half_digit
        Half a unit of the last written digit, in the unit of ``value``.
    percent
        Whether it was written as a percentage or in basis points.
    plain_integer
        A bare whole number of at most two digits, a span of time, or a year: it may count or name something.
    """

    value: float
    half_digit: float
    percent: bool
    plain_integer: bool
    text: str


def figures(text: str) -> list[Figure]:
    """Return the quantities in a text; dates, quarters and section numbers are none."""
    masked = _DATE.sub(lambda match: " " * len(match.group()), clean(text))
    return [_figure(match) for match in _FIGURE.finditer(masked)]


def _figure(match: re.Match[str]) -> Figure:
    digits = match["digits"].replace(",", "")
    unit = CANONICAL.get((match["unit"] or "").lower(), "")
    factor = SCALES.get((match["scale"] or "").lower(), 1.0) * UNIT_FACTORS.get(unit, 1.0)
    decimals = len(digits.partition(".")[2])
    trailing = len(digits) - len(digits.rstrip("0")) if "." not in digits else 0
    negative = bool((match["sign"] or "").strip(" +") or match["late"])
    whole = "." not in digits and "," not in match["digits"] and factor == 1.0 and not match["money"]
    bare = whole and (not unit or unit in _TIME_UNITS)
    return Figure(
        value=-float(digits) * factor if negative else float(digits) * factor,
        half_digit=0.5 * 10.0 ** (trailing - decimals) * factor,
        percent=unit in PERCENT_UNITS,
        plain_integer=bare and (len(digits) <= 2 or (digits.startswith(("19", "20")) and len(digits) == 4)),
        text=match.group().strip(),
    )


def same(stated: Figure, wanted: Figure, *, factor: float = 1.0) -> bool:
    """Return whether one figure is the other, rounded as written; the sign is not looked at."""
    if stated.percent != wanted.percent:
        return False
    size, other = abs(stated.value) * factor, abs(wanted.value)
    allowed = min(max(stated.half_digit * factor, wanted.half_digit), MAX_RELATIVE * other)
    return abs(size - other) <= allowed * (1.0 + 1e-9)


def required_figure(criterion: str, *, task: str) -> Figure | None:
    """Return the figure without which nobody can meet a criterion that asks for it, None when there is no such figure.

    It is the result of the calculation, or the one figure, that the criterion says the response states. Examples,
    bounds, ranges, approximations, counts, years, and figures that the task itself states are none: a right answer may
    do without them.
    """
    text = _EXAMPLE.sub(" ", clean(criterion))
    if not _STATING.search(text) or _BOUND.search(text) or _VAGUE.search(text):
        return None
    found = [figure for figure in figures(text) if not figure.plain_integer]
    results = figures(text.rpartition("=")[2]) if "=" in text else found
    if len(results) != 1 or results[0].plain_integer or results[0].text.isdigit():
        return None
    return None if any(same(given, results[0]) for given in figures(task)) else results[0]


def lacks_required(criterion: str, *, reply: str, task: str) -> str:
    """Return the required figure when the reply has it at no power of a thousand, else an empty string."""
    wanted = required_figure(criterion, task=task)
    if wanted is None or any(_any_scale(figure, wanted) for figure in figures(reply)):
        return ""
    return wanted.text


def _any_scale(stated: Figure, wanted: Figure) -> bool:
    """Return whether one is the other when a table's unit (thousands, millions, percent) may stand elsewhere."""
    if stated.percent != wanted.percent:
        alike = replace(stated, percent=wanted.percent)
        return any(same(alike, wanted, factor=factor) for factor in (1.0, 100.0, 0.01))
    powers = (0,) if wanted.percent else (0, 3, 6, 9, -3, -6, -9)
    return any(same(stated, wanted, factor=10.0**power) for power in powers)


def decide(criterion: str, *, reply: str, task: str, only: bool = False) -> Answer:
    """Return what code says about a criterion that states a fact by its figures.

    Parameters
    ----------
    only
        Whether the rubric states no other fact: then the reply's stated final answer needs no label.

    Returns
    -------
    Answer
        ``met`` when a line of the reply states every figure with its sign, its direction and most of the criterion's
        words, and no line with as much of that label states another figure; ``not met`` when a figure stands nowhere
        in the reply; ``ask`` when neither is sure.
    """
    wanted = [figure for figure in figures(criterion) if not figure.plain_integer]
    if not wanted:
        return "ask"
    stated = figures(reply)
    if any(not any(_any_scale(figure, want) for figure in stated) for want in wanted):
        return "not met"
    if len(words(criterion)) > MAX_WORDS or _BOUND.search(criterion):
        return "ask"
    lines = [line for line in _SPLIT.split(clean(reply)) if line.strip()]
    said = [_read_line(line, criterion, wanted, _around(lines, place, task)) for place, line in enumerate(lines)]
    read = [line for line in said if line is not None]
    best = max((line.hits for line in read if line.kind == "states"), default=0)
    if best and not any(line.kind == "rivals" and line.hits >= best for line in read):
        return "met"
    if only and len(wanted) == 1 and _is_final_answer(reply, wanted[0]):
        return "met"
    return "ask"


def _is_final_answer(reply: str, wanted: Figure) -> bool:
    stated = parse_number(reply, kind="percent" if wanted.percent else "any")
    return not isinstance(stated, Refusal) and abs(stated.as_size().value - wanted.value) <= max(
        min(wanted.half_digit, MAX_RELATIVE * abs(wanted.value)), 1e-9 * abs(wanted.value)
    )


class _Line(NamedTuple):
    """What a line says about a criterion, and how many words of the label stand in it."""

    kind: Literal["states", "rivals"]
    hits: int


def _around(lines: Sequence[str], place: int, task: str) -> set[str]:
    return {*words(task), *words(" ".join(lines[max(0, place - HEADING_LINES) : place]))}


def _read_line(line: str, criterion: str, wanted: Sequence[Figure], around: set[str]) -> _Line | None:
    """Return whether a line states the criterion (its label, figures and direction, unhedged), another figure, or none.

    Periods stand in the line itself; other words of the label may stand in the lines before it or in the task.
    """
    spoken, asked = set(words(line)), set(words(criterion))
    labels = {word for word in asked if word not in _COMMON and not _is_value(word, wanted)}
    if any(_PERIOD.fullmatch(word) and word not in spoken for word in labels):
        return None
    if sum(word in spoken or word in around for word in labels) < LABEL_SHARE * len(labels):
        return None
    stated = [figure for figure in figures(line) if not figure.plain_integer]
    right = [figure for figure in stated if any(same(figure, want) for want in wanted)]
    if not right:
        alike = any(figure.percent == want.percent for figure in stated for want in wanted)
        return _Line("rivals", len(labels & spoken)) if alike else None
    rivals = len(stated) - len(right)
    if spoken & _NEGATED or (rivals and spoken & _HEDGED) or rivals > MAX_RIVALS:
        return None
    if bool(asked & _UP) != bool(spoken & _UP) or bool(asked & _DOWN) != bool(spoken & _DOWN):
        return None
    signed = all(any(same(f, want) and (f.value < 0) == (want.value < 0) for f in right) for want in wanted)
    return _Line("states", len(labels & spoken)) if signed else None


def _is_value(word: str, wanted: Sequence[Figure]) -> bool:
    return any(word in words(figure.text) for figure in wanted)
