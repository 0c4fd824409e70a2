"""Score a reply: methodology 30, calculation 30, answer 40, all of it by computation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evaluators.answers import Refusal, StatedNumber, numbers_match, parse_json_object, parse_number
from evaluators.answers.number import Kind
from evaluators.contract import Json, Score
from evaluators.synthetic import expression
from evaluators.synthetic.problem import WEIGHTS, Problem
from evaluators.synthetic.template import Figure, Unit, close

PASS_MARK = 70.0
"""The answer alone (40) does not pass: 70 takes the right answer and a right method or right figures."""

FORMULA_TOLERANCE = 1e-4
MAX_DEFINITIONS = 30

KINDS: dict[Unit, Kind] = {"usd": "currency", "percent": "percent", "number": "number"}


def judge(problem: Problem, text: str) -> Score:
    """Return the score of the reply ``text``.

    ``parts`` are on 0-100 each: methodology is all or nothing, calculation is the share of right steps, answer is all
    or nothing. The value is their weighted mean (30, 30, 40).
    """
    document = parse_json_object(text)
    given: Mapping[str, Any] = {} if isinstance(document, Refusal) else document
    method_ok, method_note = _check_method(problem, given.get("method"))
    steps, step_notes = _check_steps(problem, given.get("steps"))
    answer_ok, answer_note = check_answer(problem, text)
    parts = {
        "methodology": 100.0 if method_ok else 0.0,
        "calculation": 100.0 * steps,
        "answer": 100.0 if answer_ok else 0.0,
    }
    value = sum(WEIGHTS[name] * part for name, part in parts.items()) / 100.0
    return Score(
        value=value,
        passed=value >= PASS_MARK,
        parts=parts,
        details={
            "expected": {name: problem.truth[name] for name in problem.truth},
            "formulas": dict(problem.template.definitions),
            "method": method_note,
            "steps": step_notes,
            "answer": answer_note,
            "correction": problem.template.correction,
        },
        reason=f"answer: {answer_note}; steps: {round(steps * len(step_notes))} of {len(step_notes)}; "
        f"method: {method_note}",
    )


def judge_as_published(problem: Problem, text: str) -> Score:
    """Return 100 where the stated answer is one of the figures printed in the paper, else 0. For comparison only."""
    template = problem.template
    stated = read_figure(text, template.answer)
    ok = isinstance(stated, StatedNumber) and any(close(stated.value, printed) for printed in template.printed)
    note = stated.reason if isinstance(stated, Refusal) else f"{stated.value:.6g}"
    return Score(
        value=100.0 if ok else 0.0,
        passed=ok,
        parts={"answer": 100.0 if ok else 0.0},
        details={
            "printed": list(template.printed),
            "computed": problem.truth[template.answer.name],
            "correction": template.correction,
        },
        reason=f"printed figure {'met' if ok else 'missed'}: {note}",
    )


def read_figure(text: str, figure: Figure) -> StatedNumber | Refusal:
    """Return the number that ``text`` states for ``figure``."""
    stated = parse_number(text, kind=KINDS[figure.unit], unit=figure.word)
    return stated.as_size() if figure.size and isinstance(stated, StatedNumber) else stated


def check_answer(problem: Problem, text: str) -> tuple[bool, str]:
    """Return whether the one final answer that the reply states is right, and a note for the report."""
    figure = problem.template.answer
    truth = problem.truth[figure.name]
    stated = read_figure(text, figure)
    if isinstance(stated, Refusal):
        return False, stated.reason
    if numbers_match(stated.value, truth, relative=figure.tolerance):
        return True, "right"
    note = f"{stated.value:.6g} instead of {truth:.6g}"
    for label, wrong in problem.template.wrong_answers(problem.values).items():
        if close(stated.value, wrong):
            return False, f"{note} ({label})"
    return False, note


def _check_steps(problem: Problem, given: Any) -> tuple[float, dict[str, Json]]:
    figures = problem.template.steps
    values = given if isinstance(given, dict) else {}
    notes: dict[str, Json] = {figure.name: _check_step(problem, figure, values) for figure in figures}
    return sum(note == "right" for note in notes.values()) / len(figures), notes


def _check_step(problem: Problem, figure: Figure, values: Mapping[str, Any]) -> str:
    if figure.name not in values:
        return "missing"
    value = values[figure.name]
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return "not a number"
    stated = read_figure(json.dumps({"answer": value}), figure)
    if isinstance(stated, Refusal):
        return stated.reason
    truth = problem.truth[figure.name]
    right = numbers_match(stated.value, truth, relative=figure.tolerance)
    return "right" if right else f"{stated.value:.6g} instead of {truth:.6g}"


def _check_method(problem: Problem, given: Any) -> tuple[bool, str]:
    """Evaluate the stated formula on this question's inputs and on others: only the right method agrees on all."""
    template = problem.template
    if isinstance(given, str):
        given = {"answer": given}
    if not isinstance(given, dict) or not given:
        return False, "no formula given"
    if len(given) > MAX_DEFINITIONS or not all(isinstance(source, str) for source in given.values()):
        return False, f"a method is an object of at most {MAX_DEFINITIONS} formulas, each a string"
    goal = "answer" if "answer" in given else template.answer.name
    if goal not in given:
        return False, 'no formula under the key "answer"'
    own = (dict(problem.values), problem.truth[template.answer.name])
    try:
        formulas = {name: expression.parse(source) for name, source in given.items()}
        for values, truth in (own, *template.probes):
            if not close(expression.resolve(formulas, goal, values), truth, FORMULA_TOLERANCE):
                return False, "the formula disagrees with the truth on these or on other inputs"
    except ValueError as error:
        return False, str(error)[:200]
    return True, "right"
