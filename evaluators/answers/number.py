"""Read one number with unit, scale and sign out of what a reply states."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias, get_args

from evaluators.answers.asides import is_formula, without_asides
from evaluators.answers.direction import is_fall
from evaluators.answers.doubts import COUNTS, not_one_value, under_a_unit
from evaluators.answers.notes import Note, read_notes, scale_of_all_figures, without_notes
from evaluators.answers.quantity import MONEY, QUANTITY, SHUT, Quantity, read_quantity, spelled
from evaluators.answers.statement import (
    MAX_STATEMENT_CHARS,
    Statement,
    checked_statements,
    stated_answers,
    without_harmless,
)
from evaluators.answers.typed_json import Refusal
from evaluators.answers.typography import plain
from evaluators.answers.units import CANONICAL, CURRENCIES, PERCENT_UNITS, UNIT_FACTORS, UNIT_WORDS

Kind: TypeAlias = Literal["number", "currency", "percent", "any"]

RESTATEMENT_TOLERANCE = 0.005
"""Two marked numbers are the same answer when they differ by no more than this, relatively (rounding)."""

ROUNDING_TOLERANCE = 0.02
"""A number and its own rounding (``45.28%, about 45%``) are the same answer up to this relative difference."""

MAX_NUMBERS = 40
"""A statement with more numbers than this is refused; it also bounds the work of reading one."""

MAX_SCALED = 1e15
"""A larger result of a note such as ``(in millions)`` means that the number was written in full."""

IN_FULL = 1e6
"""A bare number of at least this size was written in full, even where all figures are said to be in millions."""

_SCALE_WORD = re.compile(r"(?:thousand|million|billion|trillion)s?\b", re.IGNORECASE)
_OPERATORS = ("×", "*", "/", "÷", "+", "-", "^", " x")
_TIME = frozenset({"years", "months", "weeks", "days", "hours"})
_NUMBER_NEXT = rf"\s*(?:about\s+|approximately\s+)?[-+(]?(?:{MONEY})?\s?\.?[0-9]"
_BOUND = re.compile(
    rf"[<>≤≥±]|\+/-|\\[gl]eq?\b|\b(?:at\s+(?:least|most)|up\s+to)\b"
    rf"|(?<!(?-i:[%0-9A-Z)])\s)\b(?:(?:more|less|greater|fewer|higher|lower)\s+than|over|above|under|below|exceed(?:s|ing)?"
    rf"|in\s+excess\s+of)(?={_NUMBER_NEXT})",
    re.IGNORECASE,
)
_BETWEEN = re.compile(rf"\bbetween(?={_NUMBER_NEXT})", re.IGNORECASE)
_OR = re.compile(r"\bor\b|或", re.IGNORECASE)
_RESTATED = re.compile(
    r"[\s,(]*(?:or|或)[\s,]*(?:equivalently|simply|about|approximately|roughly|exactly|expressed\s+as|in\s+decimals?"
    r"(?:\s+form)?|as\s+an?\s+(?:decimal|fraction|percentage))?[\s,:(]*",
    re.IGNORECASE,
)
_ASIDE_OF_A_FALL = re.compile(
    r"[\s,:=≈~(\[/|-]*(?:(?:or|i\.?e\.?|that\s+is|namely|equivalently|about|approximately|roughly|around|nearly|exactly"
    r"|precisely|rounded|expressed|rate|change|total|net|an?|the|of|to|by|as|in|points?|terms|percentage|decimals?"
    r"|fraction|form|loss|drop|fall|decline|decrease|reduction|shortfall|deficit|down)\b[\s,:.=≈~(\[-]*)*",
    re.IGNORECASE,
)
_RESULT_BEFORE = re.compile(
    r"\b(?:answer|result)\s*(?:is|was|:|=|equals|comes\s+to)\s*(?:about|approximately|roughly|exactly)?\s*\(?$",
    re.IGNORECASE,
)
_RESULT_AFTER = re.compile(r"\)?\s+(?:is|was)\s+(?:the|my|our)\s+(?:final\s+)?(?:answer|result)\b", re.IGNORECASE)
_CHAIN = re.compile(r"=>|->|[→⇒=≈≃≅]")
_STATING_VERB = re.compile(r"\b(?:is|was|equals|gives|yields|makes|comes\s+to)\b", re.IGNORECASE)
_LISTED = re.compile(r";|,\s|\b(?:and|but|versus|vs)\b", re.IGNORECASE)
_SEGMENT = re.compile(r"[;|\n]|,\s|\s/\s|\b(?:and|but)\b", re.IGNORECASE)
_LABEL = re.compile(r"^[^:0-9]{0,80}:\s")
_RATIO_TO_ONE = re.compile(r"(?<=[0-9])\s?(?::|to)\s?1(?:\.0+)?(?![0-9.:])")
_PER_MONEY = re.compile(
    rf"(?:\bper|/|\bfor\s+(?:each|every)|\b(?:to|on)\s+the)\s*(?:one\s+|1\s+)?"
    rf"(?:(?:US\s+)?dollar\b|euro\b|(?:{MONEY})(?:\s?1(?:\.0+)?(?![0-9.,]))?(?!\s?[0-9]))",
    re.IGNORECASE,
)


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
    negative_by_words
        Whether ``value`` is negative only because words say so (``a loss of $5``): where the size of a loss is asked
        for, its size is meant.
    """

    value: float
    unit: str
    text: str
    scale: float = 1.0
    negative_by_words: bool = False

    def as_size(self) -> StatedNumber:
        """Return the number without the minus sign that only words give it."""
        return replace(self, value=-self.value, negative_by_words=False) if self.negative_by_words else self


class _Reading(NamedTuple):
    """A quantity as it is written, and whether words make it negative."""

    quantity: Quantity
    worded: bool


def _compatible(unit_found: str, kind: Kind, unit: str) -> bool:
    if kind == "any":
        return True
    if kind == "percent":
        return unit_found in PERCENT_UNITS
    if kind == "currency":
        return unit_found == unit
    return unit_found == unit or (unit_found == "x" and not unit)


def read_number(text: str, *, kind: Kind = "number", unit: str = "") -> StatedNumber | Refusal:
    """Return the number in a field (a cell, the value beside a label), by the rules of :func:`parse_number`."""
    if len(text) > MAX_STATEMENT_CHARS:
        return Refusal(f"the field has {len(text)} characters, more than {MAX_STATEMENT_CHARS}")
    checked = checked_statements((Statement(plain(text).strip(), labelled=True),))
    if isinstance(checked, Refusal):
        return checked
    return _read(checked[0], kind=kind, unit=unit or ("USD" if kind == "currency" else ""))


def _top_level(text: str) -> str:
    """Return ``text`` with blanks for what stands in parentheses."""
    depth, out = 0, []
    for char in text:
        depth += char in ("(", SHUT[0])
        out.append(" " if depth else char)
        depth -= char in (")", SHUT[1]) and depth > 0
    return "".join(out)


def _bare(text: str) -> re.Match[str] | None:
    """Return the quantity of a text that is nothing else, with or without a label before it."""
    stripped = _LABEL.sub("", text.strip(" \t.,*~")).strip(" \t.,*~")
    return QUANTITY.fullmatch(stripped)


def _only(match: re.Match[str]) -> Quantity | Refusal:
    """Return a quantity that stands by itself."""
    return read_quantity(match, labelled=True, first=True)


def _result_of_chain(text: str) -> tuple[int, int] | Refusal:
    """Return where the result of a calculation starts and ends.

    It is the right side of the last equals sign of ``4 / 10 = 40%``, the left side of ``40% = 4 / 10``, the whole text
    without such a sign. A bare number on the way (``30% = 40%``) that is not the last one is refused.
    """
    whole = (0, len(text))
    outer = _top_level(text)
    marks = [m for m in _CHAIN.finditer(outer) if text[m.end() :].strip()]
    if not marks:
        verb = max(_STATING_VERB.finditer(outer), key=lambda match: match.start(), default=None)
        if verb and is_formula(outer[: verb.start()]) and QUANTITY.search(outer, verb.end()):
            return verb.end(), len(text)
        return whole
    starts = [0, *(mark.end() for mark in marks)]
    parts = [outer[start : mark.start()] for start, mark in zip(starts, marks, strict=False)]
    listed = [segment for part in parts for segment in _LISTED.split(part)[:-1]]
    if any(QUANTITY.search(segment) for segment in listed):
        return whole
    if is_formula(outer[starts[-1] :]):
        left = [number for number, part in enumerate(parts) if QUANTITY.search(part) and not is_formula(part)]
        return (starts[left[0]], marks[left[0]].start()) if len(left) == 1 else whole
    last = QUANTITY.search(text, starts[-1])
    end = _only(last) if last else None
    for part in parts:
        bare = None if part.rstrip().endswith(_OPERATORS) else _bare(part)
        found = _only(bare) if bare else None
        if not isinstance(found, Quantity) or not isinstance(end, Quantity):
            continue
        same = _same(found, end) or (not found.unit and found.scale == 1.0 and abs(found.figure) == abs(end.figure))
        if not same and not (found.unit in _TIME and end.unit in _TIME):
            return Refusal(f"two numbers said to be equal are not: {found.text!r} and {end.text!r}")
    return starts[-1], len(text)


def _quantities(text: str, *, labelled: bool) -> list[Quantity] | Refusal:
    found: list[Quantity] = []
    for match in QUANTITY.finditer(text):
        if len(found) == MAX_NUMBERS:
            return Refusal(f"more than {MAX_NUMBERS} numbers in the stated answer: {text.strip()[:80]!r}")
        quantity = read_quantity(match, labelled=labelled, first=not found or _stands_alone(match, found[-1]))
        if isinstance(quantity, Refusal):
            return quantity
        found.append(quantity)
    return found


def _stands_alone(match: re.Match[str], before: Quantity) -> bool:
    """Return whether words lead from a number in another unit to this one, which then restates nothing."""
    unit = CANONICAL.get(re.sub(r"\s+", " ", (match["money"] or match["unit"] or "").lower()), "")
    gap = match.string[before.end : match.start()]
    return bool(unit and before.unit and unit != before.unit and re.search(r"[A-Za-z]|[:;]", gap))


def _noted(found: list[Quantity], notes: list[Note], text: str) -> list[Quantity] | Refusal:
    """Return the quantities with the scale and unit of the notes that belong to them."""
    after = {
        place: note
        for note in notes
        for place, quantity in enumerate(found)
        if quantity.end <= note.start and not text[quantity.end : note.start].strip(" \t,;:.")
    }
    taken = set(after.values())
    free = [note for note in notes if note not in taken]
    trailing = [note for note in free if not any(note.end <= quantity.start for quantity in found)]
    if trailing and len(found) > 1:
        return Refusal("unclear to which number the scale belongs; write it beside the number, such as 5.5 million")
    noted = []
    for place, quantity in enumerate(found):
        own = [after[place]] if place in after else [n for n in free if n.end <= quantity.start]
        own += trailing
        for note in own:
            changed = _with_note(quantity, note)
            if isinstance(changed, Refusal):
                return changed
            quantity = changed
        noted.append(quantity)
    return noted


def _with_note(quantity: Quantity, note: Note) -> Quantity | Refusal:
    if note.unit and quantity.unit and note.unit != quantity.unit:
        return Refusal(f"two units for one number: {quantity.text!r} and {note.unit}")
    if quantity.unit in PERCENT_UNITS:
        return quantity
    if note.scale != 1.0 and quantity.scale not in (1.0, note.scale):
        return Refusal(f"two scales for one number: {quantity.text!r} and a factor of {note.scale:,.0f}")
    factor = note.scale if quantity.scale == 1.0 else 1.0
    if not quantity.unit:
        factor *= UNIT_FACTORS.get(note.unit, 1.0)
    if note.scale != 1.0 and abs(quantity.value * factor) >= MAX_SCALED:
        return Refusal(f"written in full or in {note.scale:,.0f}s? {quantity.text!r}")
    return quantity._replace(
        value=quantity.value * factor,
        half_digit=quantity.half_digit * factor,
        unit=quantity.unit or note.unit,
        scale=max(quantity.scale, note.scale),
    )


def _hedge(text: str, found: list[Quantity]) -> Refusal | None:
    """Return a refusal for a bound, a range, or an *or* that does not restate the number before it."""
    if match := _BOUND.search(text) or _BETWEEN.search(text):
        return Refusal(f"a bound is no value ({match.group()!r}): {text.strip()[:80]!r}")
    for match in _OR.finditer(text):
        before = max((quantity.end for quantity in found if quantity.end <= match.start()), default=0)
        after = min((quantity.start for quantity in found if quantity.start >= match.end()), default=len(text))
        if not before or after == len(text) or not _RESTATED.fullmatch(text[before:after]):
            return Refusal(f"the stated answer is hedged ({match.group()!r}): {text.strip()[:80]!r}")
    return None


def _read(statement: Statement, *, kind: Kind, unit: str) -> StatedNumber | Refusal:
    text = without_asides(spelled(without_harmless(statement.text)), days_asked=unit == "days")
    rate = kind == "number" and not unit and _PER_MONEY.search(text) is not None
    if kind == "number":
        text = _RATIO_TO_ONE.sub("", _PER_MONEY.sub(" ", text) if rate else text)
    notes = read_notes(text)
    if isinstance(notes, Refusal):
        return notes
    text = without_notes(text, notes)
    result = _result_of_chain(text)
    if isinstance(result, Refusal):
        return result
    # What stands outside the result gives words, not numbers: blanks keep the places.
    visible = " " * result[0] + text[slice(*result)]
    found = _quantities(visible, labelled=statement.labelled or result[0] > 0)
    if isinstance(found, Refusal):
        return found
    if hedge := _hedge(visible, found):
        return hedge
    found = _noted(found, notes, text)
    if isinstance(found, Refusal):
        return found
    if rate:
        found = [quantity._replace(unit="" if quantity.unit in CURRENCIES else quantity.unit) for quantity in found]
    if not found:
        return Refusal(f"no number in the stated answer: {statement.text[:80]!r}")
    fitting = [quantity for quantity in found if _compatible(quantity.unit, kind, unit) or not quantity.unit]
    foreign = [q for q in found if kind == "currency" and q.unit in CURRENCIES and q.unit != unit]
    if not fitting or foreign:
        wrong = (foreign or found)[0]
        wanted = {"percent": "a percentage or fraction", "currency": unit}.get(kind, unit or "a plain number")
        return Refusal(f"wrong unit: {wrong.text!r} is in {wrong.unit}, asked for {wanted}")
    if (kind == "percent" or unit in _TIME) and (scaled := [each for each in fitting if each.scale != 1.0]):
        return Refusal(f"percentages and times are not counted in thousands or millions: {scaled[0].text!r}")
    others = {quantity.text for quantity in found} - {quantity.text for quantity in fitting}
    if unclear := not_one_value(fitting, visible, kind=kind, unit=unit, beside=bool(others)):
        return unclear
    if unclear := next(filter(None, (under_a_unit(quantity, text, kind=kind) for quantity in fitting)), None):
        return unclear
    if others and (rival := _rival(visible, others)):
        return Refusal(f"several answers: {rival!r} beside {fitting[0].text!r}")
    return _one_of([_directed(quantity, text) for quantity in fitting], text, statement.text)


def _rival(text: str, others: set[str]) -> str:
    """Return a number of another unit that stands for itself, as an answer would, empty when there is none."""
    bare = (_bare(segment) for segment in _SEGMENT.split(_top_level(text)))
    return next((match.group().strip() for match in bare if match and match.group().strip() in others), "")


def _directed(quantity: Quantity, text: str) -> _Reading | Refusal:
    falls = is_fall(text, quantity.start, quantity.end)
    if falls and quantity.sign == "+":
        return Refusal(f"a plus sign in words of a decrease: {quantity.text!r}")
    worded = falls and not quantity.sign and quantity.value > 0
    return _Reading(quantity, worded)


def _one_of(readings: list[_Reading | Refusal], read: str, text: str) -> StatedNumber | Refusal:
    """Return the one number that all readings of ``read`` state, as precisely as it is stated."""
    refused = [reading for reading in readings if isinstance(reading, Refusal)]
    if refused:
        return refused[0]
    stated = _without_falls_beside([reading for reading in readings if isinstance(reading, _Reading)], read)
    falls = [quantity for quantity, worded in stated if worded]
    # "a decrease of 5% (0.05)": words give the first its sign, and the second restates its size.
    values = [
        q._replace(value=-abs(q.value)) if not q.sign and any(_is_aside(q, fall, read) for fall in falls) else q
        for q, _ in stated
    ]
    if not all(_same(value, values[0]) for value in values):
        return Refusal(f"several numbers in the stated answer: {', '.join(q.text for q in values[:6])}")
    best = min(values, key=lambda quantity: quantity.half_digit)
    by_words = bool(falls) and not any(q.sign for q in values)
    return StatedNumber(best.value, values[0].unit, text, values[0].scale, by_words)


def _without_falls_beside(readings: list[_Reading], text: str) -> list[_Reading]:
    """Return only the number that is called the result where all others are falls: ``Sales fell; the result is``."""
    results = [
        reading
        for reading in readings
        if _RESULT_BEFORE.search(text[: reading.quantity.start]) or _RESULT_AFTER.match(text, reading.quantity.end)
    ]
    if len(results) == 1 and all(reading.worded for reading in readings if reading is not results[0]):
        return results
    return readings


def _is_aside(quantity: Quantity, fall: Quantity, text: str) -> bool:
    """Return whether nothing but words of restating stands between a fall and a number, before or after it."""
    first, second = sorted((quantity, fall), key=lambda each: each.start)
    return _ASIDE_OF_A_FALL.fullmatch(text, first.end, max(first.end, second.start)) is not None


def _same(one: Quantity, other: Quantity) -> bool:
    gap, size = abs(one.value - other.value), min(abs(one.value), abs(other.value))
    rounded = gap <= max(one.half_digit, other.half_digit) * (1 + 1e-9) and gap <= ROUNDING_TOLERANCE * size
    return rounded or gap <= RESTATEMENT_TOLERANCE * size


def _scaled_elsewhere(number: StatedNumber, reply: str) -> Refusal | None:
    """Return a refusal for a number without a scale in a reply that says that all its figures are in millions."""
    if number.scale != 1.0 or _SCALE_WORD.search(number.text) or not 0.0 < abs(number.value) < IN_FULL:
        return None
    words = scale_of_all_figures(reply)
    return Refusal(f"in full or {words}? write the scale beside the number: {number.text[:40]!r}") if words else None


def parse_number(text: str, *, kind: Kind = "number", unit: str = "") -> StatedNumber | Refusal:
    """Return the one number that ``text`` states as its final answer.

    Parameters
    ----------
    text
        The whole reply of an agent.
    kind
        ``percent``: ``40%``, ``40 percent``, ``4000 bp`` and the fraction ``0.40`` are all 0.4. A bare number is
        always a fraction, so a bare ``40`` is 4000%. ``currency``: an amount of ``unit``, with or without its sign.
        ``number``: a plain number; a percent sign or a currency is a wrong unit, but for rates such as ``$1.10 per
        dollar``. ``any``: a number in whatever unit, for questions whose gold answers do not name theirs.
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
        if statement.items != 1:
            return Refusal(f"one number is asked for, not a list of {statement.items}: {statement.text[:80]!r}")
        number = _read(replace(statement, text=statement.line or statement.text), kind=kind, unit=unit)
        if isinstance(number, Refusal):
            return number
        if (kind == "currency" or unit in COUNTS) and (unclear := _scaled_elsewhere(number, text)):
            return unclear
        numbers.append(number)
    first = numbers[0].value
    if not all(abs(number.value - first) <= RESTATEMENT_TOLERANCE * abs(first) for number in numbers):
        return Refusal(f"several final answers that differ: {', '.join(n.text[:40] for n in numbers[:4])}")
    return replace(numbers[-1], negative_by_words=all(number.negative_by_words for number in numbers))
