"""What of an answer can be challenged, and the check: the answer that one other input would have led to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from evaluators.answers import Refusal, StatedNumber, Tolerance, numbers_match, parse_json_object
from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import Check, Claim, Dispute
from evaluators.synthetic.disguise import rounded
from evaluators.synthetic.problem import Problem
from evaluators.synthetic.scoring import KINDS, read_assumption, read_figure
from evaluators.synthetic.template import Figure, close, given_away, show

ANSWER = "answer"
CLEARLY = 0.03
"""A check is asked only where its figure lies so far, relatively, from the answer itself and from what it was drawn."""
MAX_ATTEMPTS = 400


def of_problem(problem: Problem) -> Dispute:
    """Return what can be argued about a problem's answer."""
    return Dispute(lambda text: claims(problem, text), lambda rng: check(problem, rng))


def claims(problem: Problem, text: str) -> Sequence[Claim]:
    """Return the final answer that a reply states and, where the question names them, the steps.

    Figures under names of the agent's own are marked by value: a wrong one may be right for another by chance.
    """
    document = parse_json_object(text)
    given: Mapping[str, Any] = {} if isinstance(document, Refusal) else document
    truth = problem.truth_at(read_assumption(problem, given)[0])
    steps = given.get("steps")
    stated = steps if isinstance(steps, dict) and problem.is_named else {}
    answer = problem.template.answer
    found = [
        _claim(figure, f"steps.{figure.name}", json.dumps({"answer": stated[figure.name]}), truth)
        for figure in problem.steps
        if figure.name in stated and isinstance(stated[figure.name], int | float | str)
    ]
    found.append(_claim(answer, ANSWER, text, truth))
    return [claim for claim in found if claim is not None]


def _claim(figure: Figure, name: str, text: str, truth: Mapping[str, float]) -> Claim | None:
    number = read_figure(text, figure)
    if not isinstance(number, StatedNumber):
        return None
    right = numbers_match(number.value, truth[figure.name], relative=figure.tolerance)
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
        changed = {item: item.draw(rng) if rng.random() < 0.5 else _near(rng, problem.values[item.name])}
        if problem.gap is not None:
            # what the reply assumed is nobody else's figure: the check fixes it
            changed.setdefault(problem.gap.item, problem.values[problem.gap.item.name])
        values = {**problem.values, **{item.name: value for item, value in changed.items()}}
        if not template.is_clear(values):
            continue
        gold = template.truth(values)[answer.name]
        if close(gold, problem.truth[answer.name], CLEARLY) or given_away([(answer, gold)], list(changed.values())):
            continue
        # what an input is now would give away what a harder question hides
        known = " and ".join(
            f"{item.name} ({item.meaning}) were {show(value, item.unit)}"
            if problem.is_named
            else f"{item.meaning} were {show(value, item.unit)}"
            for item, value in changed.items()
        )
        question = (
            f"Everything else as in the task, if {known}, whatever it is there, what would the final answer "
            f"({answer.meaning}) be?"
        )
        tolerance = Tolerance(relative=answer.tolerance)
        return Check(question, ExpectedNumber(gold, KINDS[answer.unit], tolerance, answer.word, answer.size))
    raise RuntimeError(f"template {template.name!r}: no other value of an input moves the answer")


def _near(rng: Random, value: float) -> float:
    """Return a value as far off as a check needs, where the range of an input holds too few that make sense."""
    return (
        value + rng.choice((-1, 1))
        if abs(value) >= 2 and value == int(value) < 100
        else rounded(value * (1 + rng.choice((-1, 1)) * rng.uniform(0.03, 0.3)), 3)
    )
