"""Agents of known behaviour in a debate: inside the harness, they answer from the truth and err on purpose."""

from __future__ import annotations

import json
import random
import re
from abc import ABC, abstractmethod
from typing import Any

from evaluators.debate.session import CHECK, RESTATED, Debate

WRONG_BY = 1.37
"""What a wrong figure is the right one times: outside every tolerance, and no round number."""
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


class Policy(ABC):
    """One agent in one conversation."""

    def __init__(self, session: Debate, rng: random.Random) -> None:
        self.session, self.rng = session, rng
        self.said = ""

    def reply(self, message: dict[str, Any]) -> str:
        """Return the reply to a message."""
        if message.get("type") == "debate":
            return self.rebut(message)
        self.said = self.first(message)
        return self.said

    @abstractmethod
    def first(self, message: dict[str, Any]) -> str:
        """Return the answer to the task."""

    @abstractmethod
    def rebut(self, message: dict[str, Any]) -> str:
        """Return the reply to the objection."""

    def gold(self) -> str:
        return self.session.session.oracle()

    def names(self) -> list[str]:
        return [claim.name for claim in self.session.dispute.claims(self.gold())]

    def check(self) -> str:
        return self.session._check().expected.written()

    def restate(self, answer: str, *, proven: bool) -> str:
        return json.dumps({RESTATED: answer} | ({CHECK: self.check()} if proven else {}))


class Null(Policy):
    """Says nothing."""

    def first(self, message):
        return " "

    def rebut(self, message):
        return " "


class Echo(Policy):
    """Gives every message back."""

    def first(self, message):
        return json.dumps(message)

    def rebut(self, message):
        return json.dumps(message)


class Caver(Policy):
    """Answers right, and changes whatever is objected to."""

    proven = True

    def first(self, message):
        return self.gold()

    def rebut(self, message):
        return self.restate(bent(self.said, {message["challenged"]["figure"]}), proven=self.proven)


class StubbornRight(Policy):
    """Answers right and repeats it, without evidence."""

    def first(self, message):
        return self.gold()

    def rebut(self, message):
        return self.restate(self.said, proven=False)


class StubbornWrong(StubbornRight):
    """Answers wrong and repeats it, with evidence that is right."""

    def first(self, message):
        return bent(self.gold(), set(self.names()))

    def rebut(self, message):
        return self.restate(self.said, proven=True)


class HonestRight(Policy):
    """Answers right, keeps it and proves it."""

    def first(self, message):
        return self.gold()

    def rebut(self, message):
        return self.restate(self.said, proven=True)


class HalfRight(Policy):
    """Answers with each figure right or wrong by a coin."""

    def first(self, message):
        return bent(self.gold(), {name for name in self.names() if self.rng.random() < 0.5})


class HonestErring(HalfRight):
    """Errs in half of its figures, corrects what is wrong when it is pointed at, keeps what is right, and proves it."""

    def rebut(self, message):
        figure = message["challenged"]["figure"]
        wrong = {claim.name for claim in self.session.dispute.claims(self.said) if not claim.right}
        return self.restate(bent(self.gold(), wrong - {figure}), proven=True)


class AlwaysKeeps(HalfRight):
    """Errs in half of its figures and keeps all of them, with evidence that is right."""

    def rebut(self, message):
        return self.restate(self.said, proven=True)


class AlwaysChanges(HalfRight):
    """Errs in half of its figures and changes whatever is objected to, with evidence that is right."""

    def rebut(self, message):
        return self.restate(bent(self.said, {message["challenged"]["figure"]}), proven=True)


POLICIES: dict[str, type[Policy]] = {
    "null": Null,
    "echo": Echo,
    "caver": Caver,
    "stubborn, wrong": StubbornWrong,
    "stubborn, right, no evidence": StubbornRight,
    "half right, always changes": AlwaysChanges,
    "half right, always keeps": AlwaysKeeps,
    "half right, honest": HonestErring,
    "right, honest": HonestRight,
}


def bent(answer: str, names: set[str]) -> str:
    """Return the answer with the figures ``names`` made wrong."""
    if not answer.lstrip().startswith("{"):
        return _bent_text(answer) if names else answer
    document = json.loads(answer)
    for name in names:
        *path, last = name.split(".")
        holder = document
        for key in path:
            holder = holder[key]
        value = holder[last]
        holder[last] = _bent_text(value) if isinstance(value, str) else value * WRONG_BY
    return json.dumps(document)


def _bent_text(text: str) -> str:
    number = _NUMBER.search(text)
    assert number is not None, text
    value = float(number.group().replace(",", "")) * WRONG_BY
    return f"{text[: number.start()]}{value:.8f}{text[number.end() :]}"
