"""Objections in a model's words, checked in code: they may quote the figure and nothing that could be the right one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from evaluators.contract import Claim, Json, JudgeUnavailable
from evaluators.judge.endpoint import connected
from evaluators.judge.settings import JudgeSettings, read_settings


class Written(NamedTuple):
    """An objection in words, the calls of a judge that it took, and what they cost; None where nobody knows."""

    text: str
    calls: int = 0
    cost_usd: float | None = 0.0


Writer: TypeAlias = Callable[[str, Claim], Written]
"""The task's question and the challenged figure in, the objection out."""

MIN_CHARACTERS, MAX_CHARACTERS = 40, 800

SYSTEM = (
    "You are the reviewer of a financial calculation. You are given a question, the name of one figure of the answer "
    "and the value that was stated for it. Write the counter-argument of two to four sentences that a sharp colleague "
    "would make against this value: say that it is wrong, and by which mistake it may have come about. You do not know "
    "whether it is wrong, and you do not calculate. Quote the stated value exactly as it is given. Use no other number "
    "than those in the question, and propose no other value."
)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def of_judge(judge: JudgeSettings | Mapping[str, Json]) -> Writer:
    """Return the writer that asks the run's judge.

    It is not told whether the figure is right, so that its words cannot tell; and the agent's own text never reaches
    it, so that nobody can give it orders.
    """
    settings = read_settings(judge)

    def write(question: str, claim: Claim) -> Written:
        user = f"Question:\n{question}\n\nFigure: {claim.meaning}\nStated value: {claim.stated}"
        fault = ""
        with connected(settings) as ask:
            for calls in range(1, settings.attempts + 1):
                text = ask(SYSTEM, user).strip()
                fault = fault_of(text, question=question, claim=claim)
                if not fault:
                    return Written(text, calls, None if math.isnan(ask.cost_usd) else ask.cost_usd)
        raise JudgeUnavailable(f"the judge {settings.model} wrote no usable objection: {fault}")

    return write


def fault_of(text: str, *, question: str, claim: Claim) -> str:
    """Return what is wrong with a written objection; empty where it can be sent.

    A number that stands neither in the question nor in the quoted value could be the right answer, or a wrong one that
    looks like it.
    """
    if not MIN_CHARACTERS <= len(text) <= MAX_CHARACTERS:
        return f"it has {len(text)} characters, {MIN_CHARACTERS} to {MAX_CHARACTERS} are wanted"
    if claim.stated not in text:
        return f"it does not quote {claim.stated}"
    allowed = {number.replace(",", "") for number in _NUMBER.findall(f"{question} {claim.stated}")}
    foreign = [number for number in _NUMBER.findall(text) if number.replace(",", "") not in allowed]
    return f"it names {foreign[0]}, which stands neither in the question nor in the answer" if foreign else ""
