"""Score a reply: methodology 30, calculation 30, answer 40, all of it by computation."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.answers import Refusal, StatedNumber, numbers_match, parse_json_object, parse_number
from evaluators.answers.number import Kind
from evaluators.contract import Json, Score
from evaluators.synthetic import expression
from evaluators.synthetic.expression import Expression
from evaluators.synthetic.problem import MOST_STEPS, WEIGHTS, Problem
from evaluators.synthetic.template import Figure, Unit, close, numbers_in

PASS_MARK = 70.0
"""The answer alone (40) does not pass: 70 takes the right answer and a right method or right figures."""

FORMULA_TOLERANCE = 1e-4
MAX_DEFINITIONS = 60
KNOWN_NUMBERS = (360.0, 365.0, 1e3, 1e4, 1e6, 1e9)
"""Numbers, beside multiples of a quarter up to 100, that an expression may hold without their being in the text."""
SCALES = (1.0, 1e-2, 1e-4, 1e3, 1e6, 1e9)
"""Between a figure as the text writes it and in full: percent, basis points, thousands, millions, billions."""
FIGURES_OF_THE_TEXT = 2
"""That the expression of a question without names has to start from, at least."""

KINDS: dict[Unit, Kind] = {"usd": "currency", "percent": "percent", "number": "number"}


def judge(problem: Problem, text: str) -> Score:
    """Return the score of the reply ``text``.

    ``parts`` are on 0-100 each: methodology is all or nothing, calculation is the share of right steps, answer is all
    or nothing. The value is their weighted mean (30, 30, 40). A formula in names that the question gives away can be
    had from any textbook: it counts only where the answer or half of the steps are right. An expression in figures of
    the text can be found by trial once the answer is known: it counts only beside a right step. Where it does and the
    answer is right, the calculation is: steps of another way than ours cannot be told from wrong ones.
    """
    document = parse_json_object(text)
    given: Mapping[str, Any] = {} if isinstance(document, Refusal) else document
    assumed, assumption_note = read_assumption(problem, given)
    truth = problem.truth_at(assumed)
    step_notes = _check_steps(problem, given.get("steps"), truth)
    marked = [figure.name for figure in problem.on_the_way]
    any_right = any(step_notes[name] == "right" for name in marked)
    if problem.gap is not None:
        # a value within a range is no work by itself
        step_notes["assumption"] = assumption_note if any_right or assumed is None else "nothing right follows from it"
        marked.append("assumption")
    right = sum(step_notes[name] == "right" for name in marked)
    answer_ok, answer_note = False, assumption_note
    if problem.gap is None or assumed is not None:
        answer_ok, answer_note = check_answer(problem, text, truth)
    if problem.is_named:
        method_ok, method_note = _check_method(problem, given.get("method"))
        if method_ok and not answer_ok and right < len(marked) / 2:
            method_ok, method_note = False, "right, but neither the answer nor half of the steps are"
    else:
        method_ok, method_note = _check_derivation(problem, given.get("method"), assumed, truth)
        if method_ok and not any_right:
            method_ok, method_note = False, "it gives the answer, but no step on the way is right"
        right = len(marked) if method_ok and answer_ok else right
    parts = {
        "methodology": 100.0 if method_ok else 0.0,
        "calculation": 100.0 * right / len(marked),
        "answer": 100.0 if answer_ok else 0.0,
    }
    value = sum(WEIGHTS[name] * part for name, part in parts.items()) / 100.0
    return Score(
        value=value,
        passed=value >= PASS_MARK,
        parts=parts,
        details={
            "expected": {**({} if problem.is_named else dict(problem.values)), **truth},
            "formulas": {**(problem.derivations or {}), **problem.template.definitions},
            "method": method_note,
            "steps": {name: note for name, note in step_notes.items() if name in marked or note == "right"},
            "answer": answer_note,
            "correction": problem.template.correction,
        },
        reason=f"answer: {answer_note}; steps: {right} of {len(marked)}; method: {method_note}",
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


def read_assumption(problem: Problem, given: Mapping[str, Any]) -> tuple[float | None, str]:
    """Return the value assumed for what the text leaves open, None where there is no usable one, and a note."""
    gap = problem.gap
    if gap is None:
        return None, ""
    item = gap.item
    number = _stated(given.get("assumption"), Figure(item.name, item.meaning, item.unit))
    if isinstance(number, str):
        return None, f"no assumption: {number}"
    if not gap.low * (1 - 1e-9) <= number <= gap.high * (1 + 1e-9):
        return None, f"the assumption {number:.6g} is outside {gap.low:.6g} to {gap.high:.6g}"
    return number, "right"


def check_answer(problem: Problem, text: str, truth: Mapping[str, float]) -> tuple[bool, str]:
    """Return whether the one final answer that the reply states is right, and a note for the report."""
    figure = problem.template.answer
    stated = read_figure(text, figure)
    if isinstance(stated, Refusal):
        return False, stated.reason
    if numbers_match(stated.value, truth[figure.name], relative=figure.tolerance):
        return True, "right"
    note = f"{stated.value:.6g} instead of {truth[figure.name]:.6g}"
    for label, wrong in problem.template.wrong_answers(problem.values).items():
        if close(stated.value, wrong):
            return False, f"{note} ({label})"
    return False, note


def _check_steps(problem: Problem, given: Any, truth: Mapping[str, float]) -> dict[str, Json]:
    """Return a note for each step, marked or not."""
    figures = problem.steps
    values: Mapping[str, Any] = given if isinstance(given, dict) else {}
    if problem.is_named:
        notes: dict[str, Json] = {
            figure.name: _compare(values[figure.name], figure, truth) if figure.name in values else "missing"
            for figure in figures
        }
    elif len(values) > MOST_STEPS:
        notes = {figure.name: f"more than {MOST_STEPS} figures are stated, so that none counts" for figure in figures}
    else:
        notes = {
            figure.name: "right"
            if any(_compare(value, figure, truth) == "right" for value in values.values())
            else "missing"
            for figure in figures
        }
    return notes


def _compare(value: Any, figure: Figure, truth: Mapping[str, float]) -> str:
    number = _stated(value, figure)
    if isinstance(number, str):
        return number
    right = numbers_match(number, truth[figure.name], relative=figure.tolerance)
    return "right" if right else f"{number:.6g} instead of {truth[figure.name]:.6g}"


def _stated(value: Any, figure: Figure) -> float | str:
    """Return the number that a JSON value states for a figure, or why it states none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return "not a number"
    stated = read_figure(json.dumps({"answer": value}), figure)
    return stated.reason if isinstance(stated, Refusal) else stated.value


def _formulas(given: Any, goals: Sequence[str]) -> tuple[dict[str, Expression], str]:
    """Return the stated formulas and the name of the one for the answer.

    Raises
    ------
    ValueError
        When they are none.
    """
    if isinstance(given, str):
        given = {"answer": given}
    if not isinstance(given, dict) or not given:
        raise ValueError("no formula given")
    if len(given) > MAX_DEFINITIONS or not all(isinstance(source, str) for source in given.values()):
        raise ValueError(f"a method is an object of at most {MAX_DEFINITIONS} formulas, each a string")
    goal = next((name for name in goals if name in given), None)
    if goal is None:
        raise ValueError('no formula under the key "answer"')
    return {name: expression.parse(source) for name, source in given.items()}, goal


def _check_method(problem: Problem, given: Any) -> tuple[bool, str]:
    """Evaluate the stated formula on this question's inputs and on others: only the right method agrees on all."""
    template = problem.template
    own = (dict(problem.values), problem.truth[template.answer.name])
    try:
        formulas, goal = _formulas(given, ("answer", template.answer.name))
        for values, truth in (own, *template.probes):
            if not close(expression.resolve(formulas, goal, values), truth, FORMULA_TOLERANCE):
                return False, "the formula disagrees with the truth on these or on other inputs"
    except ValueError as error:
        return False, str(error)[:200]
    return True, "right"


def _check_derivation(
    problem: Problem, given: Any, assumed: float | None, truth: Mapping[str, float]
) -> tuple[bool, str]:
    """Evaluate the stated expression: it has to lead from figures of the text, and from nothing else, to the answer."""
    figure = problem.template.answer
    known = {number * scale for number in numbers_in(problem.text) for scale in SCALES}
    shown = sorted(known if assumed is None else known | {assumed})
    try:
        formulas, goal = _formulas(given, ("answer",))
        value = expression.resolve(formulas, goal, {})
    except ValueError as error:
        return False, str(error)[:200]
    taken = 0
    for number in sorted({number for formula in formulas.values() for number in formula.numbers}):
        if _is_among(number, shown):
            taken += 1
        elif not ((number <= 100 and number * 4 == int(number * 4)) or number in KNOWN_NUMBERS):
            return False, f"{number:.10g} is no figure of the text"
    if taken < FIGURES_OF_THE_TEXT:
        return False, "the expression starts from no figures of the text"
    if not close(value, truth[figure.name], figure.tolerance):
        return False, f"the expression comes to {value:.6g} instead of {truth[figure.name]:.6g}"
    return True, "right"


def _is_among(number: float, known: Sequence[float]) -> bool:
    place = bisect_left(known, number * (1 - 1e-9))
    return place < len(known) and known[place] <= number * (1 + 1e-9)
