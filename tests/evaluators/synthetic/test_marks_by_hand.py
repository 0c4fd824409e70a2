"""The marks of a question that fits on a card: a field of 12.5 by 8.3, marked by hand."""

from __future__ import annotations

import dataclasses
import json

import pytest

from evaluators.synthetic import expression, scoring
from evaluators.synthetic.problem import Gap, Problem
from evaluators.synthetic.template import Figure, Input, Template

WIDTH = Input("b", "the width", "number", "8.3", "1", "9", "0.1")
FIELD = Template(
    name="field", number=0, topic="Fields", wording="A field of {a} by {b}: what is its area?",
    inputs=(Input("a", "the length", "number", "12.5", "10", "90", "0.5"), WIDTH),
    definitions={"half": "a * b / 2", "edge": "2 * (a + b)", "area": "a * b"},
    steps=(Figure("half", "half of the area", "number"), Figure("edge", "the length of its fence", "number")),
    answer=Figure("area", "the area", "number"), pitfalls={"added": "a + b"}, printed=(103.0,),
)  # fmt: skip
NAMED = Problem(FIELD, {"a": 12.5, "b": 8.3}, "A field of 12.5 by 8.3: what is its area?")
PROSE = dataclasses.replace(NAMED, level="hard", derivations={"a": "12.5", "b": "8.3"})
OPEN = dataclasses.replace(
    PROSE, text="A field of 12.5 by 8 to 9: what is its area?", gap=Gap(WIDTH, 8.0, 9.0), derivations={"a": "12.5"}
)
AREA, HALF, EDGE = 103.75, 51.875, 41.6


def marks(problem: Problem, **reply: object) -> tuple[float, float, float, float, bool]:
    """Methodology, calculation, answer, the value and whether it passes."""
    score = scoring.judge(problem, json.dumps(reply))
    return (*(score.parts[name] for name in ("methodology", "calculation", "answer")), score.value, score.passed)


BOTH = {"half": HALF, "edge": EDGE}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"answer": AREA, "method": "a*b", "steps": BOTH}, (100, 100, 100, 100, True)),
        # 30 for the method and 40 for the answer pass, as 70 does; the answer and one step of two do not
        ({"answer": AREA, "method": "a*b"}, (100, 0, 100, 70, True)),
        ({"answer": AREA, "steps": {"half": HALF}}, (0, 50, 100, 55, False)),
        ({"answer": AREA, "steps": BOTH}, (0, 100, 100, 70, True)),
        # a formula counts beside the answer or half of the steps
        ({"answer": 1, "method": "a*b", "steps": {"half": HALF}}, (100, 50, 0, 45, False)),
        ({"answer": 1, "method": "a*b", "steps": {"half": 1, "edge": 2}}, (0, 0, 0, 0, False)),
        ({"answer": AREA, "method": "a*b+1", "steps": BOTH}, (0, 100, 100, 70, True)),
        ({"answer": AREA, "method": "a*", "steps": BOTH}, (0, 100, 100, 70, True)),
    ],
)
def test_a_named_question_by_hand(reply: dict[str, object], expected: tuple[object, ...]) -> None:
    assert marks(NAMED, **reply) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("method", "note"),
    [
        ("12.5 * 8.3", "right"),
        ("0.125 * 8.3 * 100", "right"),
        ("12.5 * 8.3 * 100 / 100 * 365 / 365", "right"),
        ("12.5 * 8.3 * 0.25 / 0.25", "right"),
        # a year of 360 days, and thousands to billions
        ("12.5 * 8.3 * 360 / 360 * 1e3 / 1e3 * 1e4 / 1e4 * 1e6 / 1e6 * 1e9 / 1e9", "right"),
        ("12.5 * 8.3 * 361 / 361", "361 is no figure of the text"),
        # a figure of the text as basis points, in thousands, millions and billions
        ("0.00125 * 8.3 * 1e4", "right"),
        ("12.5e3 * 8.3 / 1e3", "right"),
        ("12.5e6 * 8.3 / 1e6", "right"),
        ("12.5e9 * 8.3 / 1e9", "right"),
        ("12.5e4 * 8.3 / 1e4", "125000 is no figure of the text"),
        ("103.75", "103.75 is no figure of the text"),
        ("12.5 * 8.3 * 101 / 101", "101 is no figure of the text"),
        ("12.5 * 8.3 * 200.25 / 200.25", "200.25 is no figure of the text"),
        ("12.5 * 8.3 * 0.3 / 0.3", "0.3 is no figure of the text"),
        ("12.5 * 8.3 * 7.3 / 7.3", "7.3 is no figure of the text"),
        ("12.5 * 8.3 * 5e10 / 5e10", "5e+10 is no figure of the text"),
        ("12.5 * 33.25 / 4", "the expression starts from no figures of the text"),
        ("12.5 * 8.3 * 1.25", "the expression comes to 129.688 instead of 103.75"),
        ("12.5 * 8.3 +", "expected a value, found 'the end' in the formula '12.5 * 8.3 +'"),
    ],
)
def test_an_expression_in_figures_of_the_text_by_hand(method: str, note: str) -> None:
    score = scoring.judge(PROSE, json.dumps({"answer": AREA, "method": method, "steps": {"mine": HALF}}))
    assert score.details["method"] == note
    # a right answer by a right method has shown its steps; otherwise one of two steps is right
    assert score.value == pytest.approx(100 if note == "right" else 15 + 40)
    alone = scoring.judge(PROSE, json.dumps({"answer": AREA, "method": method}))
    assert alone.parts["methodology"] == 0.0


def test_fifteen_figures_may_be_stated_and_of_sixteen_none_counts() -> None:
    others = {f"other {number}": number for number in range(14)}
    assert marks(PROSE, steps={"mine": HALF, **others})[1] == 50.0
    assert marks(PROSE, steps={"mine": HALF, **others, "one more": 99})[1] == 0.0


def test_sixty_formulas_may_be_stated_and_one_more_not() -> None:
    formulas = {"answer": "a*b", **{f"x{number}": "a" for number in range(59)}}
    assert len(formulas) == 60
    assert marks(NAMED, answer=AREA, method=formulas)[0] == 100.0
    assert marks(NAMED, answer=AREA, method={**formulas, "y": "b"})[0] == 0.0


@pytest.mark.parametrize(
    ("assumed", "read"), [(8.0, 8.0), (8.5, 8.5), (9.0, 9.0), (7.99, None), (9.01, None), (17.9, None), (1.0, None)]
)
def test_both_ends_of_a_range_may_be_assumed(assumed: float, read: float | None) -> None:
    assert scoring.read_assumption(OPEN, {"assumption": assumed})[0] == read
    assert scoring.read_assumption(PROSE, {"assumption": assumed}) == (None, "")


def test_the_answer_follows_from_what_is_assumed_and_earns_nothing_without() -> None:
    # of three figures, half of the area and the fence beside the width
    by_hand = {"steps": {"h": 12.5 * 9 / 2, "e": 43.0}, "answer": 112.5, "method": "12.5 * 9"}
    assert marks(OPEN, assumption=9, **by_hand) == pytest.approx((100, 100, 100, 100, True))
    assert marks(OPEN, assumption=8, **by_hand)[2] == 0.0
    without = scoring.judge(OPEN, json.dumps({"answer": AREA, "steps": {"h": HALF, "e": EDGE}}))
    assert without.parts["answer"] == 0.0
    assert str(without.details["answer"]).startswith("no assumption: ")


def test_the_report_holds_the_figures_that_the_text_does_not_name() -> None:
    assert set(scoring.judge(NAMED, "").details["expected"]) == {"half", "edge", "area"}
    assert set(scoring.judge(PROSE, "").details["expected"]) == {"a", "b", "half", "edge", "area"}
    assert scoring.judge(NAMED, "20.8").details["answer"] == "20.8 instead of 103.75 (added)"


def test_the_printed_figure_is_met_or_missed_as_a_whole() -> None:
    met, missed = (scoring.judge_as_published(NAMED, text) for text in ("103", "103.75 x"))
    assert (met.value, met.parts, met.passed) == (100.0, {"answer": 100.0}, True)
    missed = scoring.judge_as_published(NAMED, "110")
    assert (missed.value, missed.parts, missed.passed) == (0.0, {"answer": 0.0}, False)
    assert missed.reason == "printed figure missed: 110"


@pytest.mark.parametrize(
    "nest",
    [
        lambda levels: "(" * levels + "1" + ")" * levels,
        lambda levels: "-" * levels + "1",
        lambda levels: "2^" * levels + "1",
        lambda levels: "abs(" * levels + "1" + ")" * levels,
        lambda levels: "max(1, " * levels + "1" + ")" * levels,
        lambda levels: "max(" * levels + "1" + ", 1)" * levels,
    ],
    ids=["parentheses", "signs", "powers", "calls", "later arguments", "first arguments"],
)
def test_a_formula_nests_at_most_forty_levels_of_any_kind(nest: object) -> None:
    assert expression.parse(nest(40)).names == frozenset()
    with pytest.raises(ValueError, match="nests at most 40 levels"):
        expression.parse(nest(41))


def test_a_formula_that_ends_too_early_is_told_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"expected '\)', found 'the end'"):
        expression.parse("(1 + 2")
    with pytest.raises(ValueError, match="expected a value, found 'the end'"):
        expression.parse("1 +")


def test_one_step_of_three_is_less_than_half_of_them() -> None:
    third = Figure("third", "a third of the area", "number")
    made = dataclasses.replace(
        FIELD, definitions={**FIELD.definitions, "third": "a * b / 3"}, steps=(*FIELD.steps, third)
    )
    three = dataclasses.replace(NAMED, template=made)
    assert marks(three, answer=1, method="a*b", steps={"half": HALF}) == pytest.approx((0, 100 / 3, 0, 10, False))
    assert marks(three, answer=1, method="a*b", steps=BOTH)[0] == 100.0


def test_the_report_shows_marked_steps_and_others_where_they_are_right() -> None:
    """Where the area is twice its half, the fence leads nowhere."""
    made = dataclasses.replace(FIELD, definitions={**FIELD.definitions, "area": "2 * half"})
    prose = dataclasses.replace(PROSE, template=made)
    shown = scoring.judge(prose, json.dumps({"answer": AREA, "steps": {"mine": HALF}})).details["steps"]
    assert shown == {"half": "right"}
    both = {"mine": HALF, "another": EDGE}
    shown = scoring.judge(prose, json.dumps({"answer": AREA, "steps": both})).details["steps"]
    assert shown == {"half": "right", "edge": "right"}
    assert scoring.judge(prose, json.dumps({"answer": AREA})).details["steps"] == {"half": "missing"}
    assert marks(prose, answer=1, steps={"another": EDGE})[1] == 0.0


def test_a_figure_that_leads_nowhere_opens_no_method() -> None:
    """Who has the answer can work back from it: a fence is no step to an area."""
    made = dataclasses.replace(FIELD, definitions={**FIELD.definitions, "area": "2 * half"})
    prose = dataclasses.replace(PROSE, template=made)
    assert marks(prose, answer=AREA, method="12.5 * 8.3", steps={"mine": EDGE})[:3] == (0.0, 0.0, 100.0)
    assert marks(prose, answer=AREA, method="12.5 * 8.3", steps={"mine": HALF})[3] == 100.0
