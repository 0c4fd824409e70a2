"""What of an answer can be challenged, and the check: the answer that one other input would have led to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from evaluators.answers import Refusal, StatedNumber, Tolerance, numbers_match, parse_json_object
from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import Check, Claim, Dispute
from evaluators.synthetic.problem import Problem
from evaluators.synthetic.scoring import KINDS, read_figure
from evaluators.synthetic.template import Figure, close, show

ANSWER = "answer"
CLEARLY = 0.03
"""A check is asked only where its figure lies so far, relatively, from the answer itself and from what it was drawn."""
MAX_ATTEMPTS = 400


def of_problem(problem: Problem) -> Dispute:
    """Return what can be argued about a problem's answer."""
    return Dispute(lambda text: claims(problem, text), lambda rng: check(problem, rng))


def claims(problem: Problem, text: str) -> Sequence[Claim]:
    """Return the steps and the final answer that a reply states."""
    document = parse_json_object(text)
    given: Mapping[str, Any] = {} if isinstance(document, Refusal) else document
    steps = given.get("steps")
    stated = steps if isinstance(steps, dict) else {}
    template = problem.template
    found = [
        _claim(problem, figure, f"steps.{figure.name}", json.dumps({"answer": stated[figure.name]}))
        for figure in template.steps
        if figure.name in stated and isinstance(stated[figure.name], int | float | str)
    ]
    found.append(_claim(problem, template.answer, ANSWER, text))
    return [claim for claim in found if claim is not None]


def _claim(problem: Problem, figure: Figure, name: str, text: str) -> Claim | None:
    number = read_figure(text, figure)
    if not isinstance(number, StatedNumber):
        return None
    right = numbers_match(number.value, problem.truth[figure.name], relative=figure.tolerance)
    stated = f"{100 * number.value:.6g}%" if figure.unit == "percent" else f"{number.value:,.10g}"
    return Claim(
        name, f"the {'final answer' if name == ANSWER else 'step'} ({figure.meaning})", number.value, stated, right
    )


def check(problem: Problem, rng: Random) -> Check:
    """Draw an input and another value of it; ask for the answer then.

    Raises
    ------
    RuntimeError
        When no other value of any input moves the answer, which is an error of the template.
    """
    template, answer = problem.template, problem.template.answer
    for _ in range(MAX_ATTEMPTS):
        item = rng.choice(template.inputs)
        values = {**problem.values, item.name: item.draw(rng)}
        if not template.is_sensible(values):
            continue
        gold = template.truth(values)[answer.name]
        if gold == 0.0 or close(gold, problem.truth[answer.name], CLEARLY):
            continue
        other, own = (show(row[item.name], item.unit) for row in (values, problem.values))
        question = (
            f"Everything else as in the task, if {item.name} ({item.meaning}) were {other} instead of {own}, what "
            f"would the final answer ({answer.meaning}) be?"
        )
        tolerance = Tolerance(relative=answer.tolerance)
        return Check(question, ExpectedNumber(gold, KINDS[answer.unit], tolerance, answer.word, answer.size))
    raise RuntimeError(f"template {template.name!r}: no other value of an input moves the answer")
