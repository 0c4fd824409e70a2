"""Gold answers as public files hold them: their unit stands in the question, if anywhere."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from evaluators.answers import Refusal, numbers_match, parse_json_object, parse_number, stated_answers
from evaluators.contract import Json, Score

RELATIVE_TOLERANCE = 0.01
ABSOLUTE_TOLERANCE = 5e-5
"""Half a unit of the fourth decimal, to which the public answers are rounded."""

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

    The readings that count as right: the same value (a percent sign applied on either side); the same written figure,
    when only one side carries the percent sign; the same written figure beside a scale word (``14.8 亿``). For a gold
    percentage the decimal fraction counts as well.
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

    def _readings(self, value: float, scale: float, unit: str) -> tuple[float, ...]:
        figure = value * 100 if unit == "%" else value
        readings = (value, figure, figure / scale)
        return (*readings, 100 * value) if self.percent else readings

    def grade(self, reply: str) -> Score:
        """Compare the stated number with the gold one, within 1%."""
        stated = parse_number(reply, kind="any")
        if isinstance(stated, Refusal):
            return _score(False, self._written(), "", stated.reason)
        right = any(
            numbers_match(reading, self.figure, relative=RELATIVE_TOLERANCE, absolute=ABSOLUTE_TOLERANCE)
            for reading in self._readings(stated.value, stated.scale, stated.unit)
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
        stated = statements[-1].text.strip()
        text = stated.strip("[]().").strip()
        if not text and not re.search(r"\[\s*\]", stated):
            return _score(False, expected, stated[:120], "no list of item numbers; write [] for none")
        if not re.fullmatch(r"(?:[0-9]{1,4}(?:\s*[,;、]\s*|\s+|$))*", text):
            return _score(False, expected, text[:120], "not a list of item numbers")
        right = {int(number) for number in re.findall(r"[0-9]+", text)} == self.gold
        return _score(right, expected, text[:120], "the exact set" if right else "another set")


@dataclass(frozen=True)
class ExpectedText:
    """A short text, compared without regard to case, spaces and quotation marks."""

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
            given = document["answer"]
        else:
            label = re.findall(r"(?im)^\W*final answer\W*:\s*(.+?)\s*$", reply)
            given = label[-1] if label else reply
        right = _plain(given) == _plain(self.gold)
        return _score(right, self.gold, given[:200], "the same text" if right else "another text")


def _plain(text: str) -> str:
    return re.sub(r"[\s\"'“”‘’.。]+", "", text).casefold()


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
