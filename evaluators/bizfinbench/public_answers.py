"""Gold answers as public files hold them: their unit stands in the question, if anywhere."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from evaluators.answers import (
    Refusal,
    StatedNumber,
    Statement,
    numbers_match,
    parse_json_object,
    parse_number,
    stated_answers,
)
from evaluators.answers.units import PERCENT_UNITS
from evaluators.contract import Json, Score

RELATIVE_TOLERANCE = 0.01
ABSOLUTE_TOLERANCE = 5e-5
"""Half a unit of the fourth decimal, to which the public answers are rounded."""

_LABELLED_LINE = re.compile(r"^[^\w\n]*+final answer[^\w\n:]*:\s*+(.+)$", re.IGNORECASE | re.MULTILINE)

_FORMAT = (
    "End your reply with one line of the form\nFinal answer: <{what}>\nor reply with the JSON object that the question "
    'asks for, the answer under the key "answer".'
)


def _score(right: bool, expected: str, given: str, reason: str) -> Score:
    value = 100.0 if right else 0.0
    return Score(value, right, {"answer": value}, {"expected": expected, "given": given}, reason)


@dataclass(frozen=True)
class PublicNumber:
    """A number whose unit is not recorded.

    For a gold percentage: the same percentage (``5%``, ``500 bp``), the bare figure (``5``) or the decimal fraction
    (``0.05``); no other unit and no scale word. For any other gold number: the same value, the same figure with a
    percent sign, or the same figure beside a scale word (``14.8 亿``).
    """

    figure: float
    percent: bool

    def answer_format(self) -> str:
        """Return how the answer is to be written."""
        return _FORMAT.format(what="number in the unit that the question asks for")

    def gold_text(self) -> str:
        """Return the right answer."""
        return f"Final answer: {self._written()}"

    def _written(self) -> str:
        return f"{self.figure!r}{'%' if self.percent else ''}"

    def _readings(self, stated: StatedNumber) -> tuple[float, ...]:
        """Return what ``stated`` may mean, in the unit of the gold figure; nothing where its unit cannot be meant."""
        if stated.negative_by_words:
            # "fell by 5%" answers both "by how much did it fall" (5%) and "what was its growth" (-5%).
            return (*self._signed_readings(stated), *self._signed_readings(stated.as_size()))
        return self._signed_readings(stated)

    def _signed_readings(self, stated: StatedNumber) -> tuple[float, ...]:
        value = stated.value
        if stated.unit in PERCENT_UNITS:
            if self.percent:
                return (100 * value,)
            return (value, 100 * value) if stated.unit == "%" else (value,)
        if self.percent:
            return (value, 100 * value) if not stated.unit and stated.scale == 1.0 else ()
        return value, value / stated.scale

    def grade(self, reply: str) -> Score:
        """Compare the stated number with the gold one, within 1%."""
        stated = parse_number(reply, kind="any")
        if isinstance(stated, Refusal):
            return _score(False, self._written(), "", stated.reason)
        right = any(
            numbers_match(reading, self.figure, relative=RELATIVE_TOLERANCE, absolute=ABSOLUTE_TOLERANCE)
            for reading in self._readings(stated)
        )
        return _score(right, self._written(), stated.text, "within 1%" if right else "another number")


@dataclass(frozen=True)
class ExpectedSet:
    """A set of item numbers; the order does not matter."""

    gold: frozenset[int]

    def answer_format(self) -> str:
        """Return how the answer is to be written."""
        return _FORMAT.format(what="item numbers, separated by commas, or [] for none")

    def gold_text(self) -> str:
        """Return the right answer."""
        return f"Final answer: {sorted(self.gold)}"

    def grade(self, reply: str) -> Score:
        """Compare the stated set with the gold one, exactly."""
        expected = str(sorted(self.gold))
        statements = stated_answers(reply)
        if isinstance(statements, Refusal):
            return _score(False, expected, "", statements.reason)
        sets: list[frozenset[int]] = []
        for statement in statements:
            stated = _item_numbers(statement)
            if isinstance(stated, Refusal):
                return _score(False, expected, statement.text[:120], stated.reason)
            sets.append(stated)
        if any(stated != sets[0] for stated in sets):
            return _score(False, expected, statements[-1].text[:120], "several final answers that differ")
        right = sets[0] == self.gold
        return _score(right, expected, statements[-1].text[:120], "the exact set" if right else "another set")


def _item_numbers(statement: Statement) -> frozenset[int] | Refusal:
    stated = statement.text.strip()
    text = re.sub(r",?\s{1,4}and\s{1,4}(?=[0-9])", ", ", stated.strip("[]().").strip())
    if not text and not re.search(r"\[\s*\]", stated):
        return Refusal("no list of item numbers; write [] for none")
    if not re.fullmatch(r"(?:[0-9]{1,4}(?:\s*[,;、]\s*|\s+|$))*", text):
        return Refusal("not a list of item numbers")
    return frozenset(int(number) for number in re.findall(r"[0-9]+", text))


@dataclass(frozen=True)
class ExpectedText:
    """A short text, compared without regard to case, spaces, quotation and Markdown marks."""

    gold: str

    def answer_format(self) -> str:
        """Return how the answer is to be written."""
        return _FORMAT.format(what="answer")

    def gold_text(self) -> str:
        """Return the right answer."""
        return json.dumps({"answer": self.gold}, ensure_ascii=False)

    def grade(self, reply: str) -> Score:
        """Compare the stated text with the gold one."""
        document = parse_json_object(reply)
        if not isinstance(document, Refusal) and isinstance(document.get("answer"), str):
            stated = [document["answer"]]
        else:
            stated = _LABELLED_LINE.findall(reply) or [reply]
        given = stated[-1].strip()[:200]
        if any(_plain(text) != _plain(stated[0]) for text in stated):
            return _score(False, self.gold, given, "several final answers that differ")
        right = _plain(stated[0]) == _plain(self.gold)
        return _score(right, self.gold, given, "the same text" if right else "another text")


def _plain(text: str) -> str:
    return re.sub(r"</?(?:final[ _-]?)?answer>|[\s\"'“”‘’.。*`<>]+", "", text, flags=re.IGNORECASE).casefold()


@dataclass(frozen=True)
class ExpectedDocument:
    """A JSON object, compared key by key; numbers within 1%."""

    gold: dict[str, Json]

    def answer_format(self) -> str:
        """Return how the answer is to be written."""
        return "Reply with the JSON object that the question asks for and nothing else."

    def gold_text(self) -> str:
        """Return the right answer."""
        return json.dumps(self.gold, ensure_ascii=False)

    def grade(self, reply: str) -> Score:
        """Compare the stated object with the gold one."""
        expected = json.dumps(self.gold, ensure_ascii=False)
        document = parse_json_object(reply)
        if isinstance(document, Refusal):
            return _score(False, expected, "", document.reason)
        given = document if set(document) == set(self.gold) else document.get("answer", document)
        right = _same(given, self.gold)
        return _score(right, expected, json.dumps(given)[:200], "the same object" if right else "another object")


def _same(given: Any, gold: Any) -> bool:
    if isinstance(gold, dict):
        return isinstance(given, dict) and set(given) == set(gold) and all(_same(given[key], gold[key]) for key in gold)
    if isinstance(gold, list):
        return isinstance(given, list) and len(given) == len(gold) and all(map(_same, given, gold))
    if isinstance(gold, bool) or isinstance(given, bool) or gold is None:
        return given is gold
    if isinstance(gold, int | float):
        return isinstance(given, int | float) and numbers_match(given, gold, relative=RELATIVE_TOLERANCE)
    return isinstance(given, str) and _plain(given) == _plain(gold)
