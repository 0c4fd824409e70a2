"""Edges of parser and scorers that `python -m tests.mutation` found without a guard."""

from __future__ import annotations

import json

import pytest

from engine.scoring.score import samples_of
from evaluators import registry
from evaluators.answers import Refusal, parse_json_object, parse_number, stated_answers
from evaluators.answers.expected import ExpectedNumber
from evaluators.answers.tolerance import Tolerance
from evaluators.answers.typed_json import MAX_CHARS
from evaluators.answers.typography import plain
from evaluators.bizfinbench.public_answers import ExpectedText
from evaluators.judge import figures
from evaluators.judge.text import words
from evaluators.professional import memo, table
from evaluators.synthetic import expression, scoring
from evaluators.synthetic.template import Figure


def reason(kind: str, gold: float, reply: str) -> str:
    return ExpectedNumber(gold, kind, tolerance=Tolerance(relative=0.005)).grade(f"Final answer: {reply}").reason


def test_a_wrong_number_is_told_by_what_it_is_wrong() -> None:
    assert reason("currency", 5e6, "$5") == (
        "stated 5, expected 5e+06: write million beside the number, or all its digits"
    )
    assert "write thousand beside" in reason("currency", 5e3, "$5")
    assert "write billion beside" in reason("currency", 5e9, "$5")
    assert reason("currency", 5e6, "$7") == "stated 7, expected 5e+06"
    assert reason("number", 5e6, "5") == "stated 5, expected 5e+06"
    assert reason("percent", 0.05, "5") == "a bare 5 is 500%; write the percent sign or a fraction"
    assert reason("percent", 0.05, "7") == "stated 7, expected 0.05"
    assert reason("percent", 0.05, "7%") == "stated 0.07, expected 0.05"


@pytest.mark.parametrize(
    ("text", "value"),
    [("(120 - 20 = 100)", 100.0), ("(10/2 = 5)", 5.0), ("(120 - 20 = 50 + 50 = 100)", 100.0), ("(100)", -100.0),
     ("100 (120 - 20 = 100)", 100.0), ("(20 - 120 = -100)", -100.0)],
)  # fmt: skip
def test_a_calculation_in_parentheses_is_no_negative_number(text: str, value: float) -> None:
    stated = parse_number(f"Final answer: {text}", kind="number")
    assert not isinstance(stated, Refusal) and stated.value == value


@pytest.mark.parametrize("answer", [[1, True], [1, {"a": 2}], [None], [1, [2]], True, {"a": 1}])
def test_an_answer_in_json_is_numbers_or_words(answer: object) -> None:
    assert isinstance(stated_answers(json.dumps({"answer": answer})), Refusal)


def test_a_list_of_numbers_and_words_in_json_is_an_answer() -> None:
    (statement,) = stated_answers(json.dumps({"answer": [1, "2", 3.5]}))
    assert statement.text == "1, 2, 3.5"


def test_as_many_characters_as_allowed_are_read_and_one_more_is_not() -> None:
    text = json.dumps({"answer": 1}).ljust(MAX_CHARS)
    assert parse_json_object(text) == {"answer": 1}
    assert isinstance(parse_json_object(text + " "), Refusal)


def test_two_dollars_alone_are_no_formula_between_dollars() -> None:
    assert plain("$$") == "$$" and plain("$5$") == "5"


def test_a_formula_may_be_as_long_and_as_deep_as_it_says() -> None:
    longest = "1" + "+1" * ((expression.MAX_LENGTH - 1) // 2)
    assert expression.parse(longest.ljust(expression.MAX_LENGTH)).names == frozenset()
    with pytest.raises(ValueError, match="at most 600 characters, got 601"):
        expression.parse(longest.ljust(expression.MAX_LENGTH + 1))
    for deep in ("-" * 45 + "1", "2^" * 45 + "1", "(" * 45 + "1" + ")" * 45):
        with pytest.raises(ValueError, match="nests at most 40 levels"):
            expression.parse(deep)
    assert expression.parse("-" * 30 + "1").value({}) == 1.0


@pytest.mark.parametrize("given", [True, None, [1], {"value": 1}])
def test_a_step_that_is_no_number_is_told(given: object) -> None:
    (case,) = registry.get("synthetic").draw(seed=2, count=1, options={})
    session = case.open()
    session.opening()
    reply = json.loads(session.oracle())
    name = next(iter(reply["steps"]))
    session.reply(json.dumps(reply | {"steps": reply["steps"] | {name: given}}))
    score = session.score()
    assert score.details["steps"][name] == "not a number" and score.value < 100.0


def test_only_the_size_of_a_loss_is_read_without_its_sign() -> None:
    loss, plain_figure = Figure("loss", "the loss", "number", size=True), Figure("change", "the change", "number")
    assert scoring.read_figure("Final answer: a loss of 5", loss).value == 5.0
    assert scoring.read_figure("Final answer: a loss of 5", plain_figure).value == -5.0
    assert isinstance(scoring.read_figure("nothing", loss), Refusal)


@pytest.mark.parametrize(
    ("text", "counts"),
    [("25", True), ("250", False), ("1999", True), ("2999", False), ("25.0", False), ("1,999", False)],
)
def test_which_whole_numbers_may_count_or_name_something(text: str, counts: bool) -> None:
    (found,) = figures.figures(f"it was {text} then")
    assert found.plain_integer is counts


def test_a_figure_in_a_line_without_its_label_is_for_the_judge() -> None:
    criterion = "Gross margin is 46.2%"
    assert figures.decide(criterion, reply="Gross margin: 46.2%", task="") == "met"
    assert figures.decide(criterion, reply="Gross margin\n46.2%", task="") == "ask"
    assert figures.decide(criterion, reply="Gross margin: 41.7%", task="") == "not met"


@pytest.mark.parametrize("word", ["margin", "decreased", "marked", "may", "mayor", "novel", "junior", "august"])
def test_words_that_begin_like_a_month_make_no_date(word: str) -> None:
    found = [figure.text for figure in figures.figures(f"The {word} 46 is high, and {word} 46.2%")]
    assert found == ([".2%"] if word in ("may", "august") else ["46", "46.2%"])
    assert [f.text for f in figures.figures("On Mar. 3, 2024, March 4 and sept 5 it was 7.5%")] == ["7.5%"]


def test_zero_is_written_without_a_sign() -> None:
    assert memo.Figure("Gap", 0.0, "number").write() == "0"
    assert memo.Figure("Gap", 0.0, "currency").write() == "$0.00"
    assert memo.Figure("Gap", -2.5, "currency").write() == "-$2.50"


@pytest.mark.parametrize(("text", "value"), [("12% (in millions)", 0.12), ("5 bp (in thousands)", 0.0005)])
def test_a_scale_of_the_table_is_not_one_of_a_percentage(text: str, value: float) -> None:
    stated = parse_number(f"Final answer: {text}", kind="any")
    assert not isinstance(stated, Refusal) and stated.value == pytest.approx(value)


@pytest.mark.parametrize("power", [0, 3, 6, 9, -3, -6, -9])
def test_a_figure_in_another_unit_of_a_table_is_for_the_judge(power: int) -> None:
    stated = f"{5.25 * 10.0**power:.12f}".rstrip("0")
    criterion = "The cost of the plant is $5.25"
    found = figures.decide(criterion, reply=f"Amounts of the plan, cost first: {stated}", task="")
    assert found != "not met"
    assert figures.decide(criterion, reply=f"cost first: {5.25 * 10.0 ** (power + 1):.12f}", task="") == "not met"


def test_as_many_labels_as_allowed_are_read_and_one_more_is_not() -> None:
    twenty = "\n".join(["Final answer: 7"] * 20)
    assert parse_number(twenty, kind="number").value == 7.0
    refused = parse_number(f"{twenty}\nFinal answer: 7", kind="number")
    assert isinstance(refused, Refusal) and "marks 21 final answers" in refused.reason


def test_a_text_that_is_the_gold_says_so() -> None:
    expected = ExpectedText("bull market")
    assert expected.grade("Final answer: Bull market").reason == "the same text"
    assert expected.grade("Final answer: bear market").reason == "another text"


def test_criteria_of_thirty_words_can_be_granted_by_code_and_longer_ones_not() -> None:
    filler = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    thirty = f"{filler} revenue was $5.25"
    reply = f"{filler} revenue was $5.25"
    assert len(words(thirty)) <= figures.MAX_WORDS == 30
    assert figures.decide(thirty, reply=reply, task="") == "met"
    longer = f"{filler} one two three four five revenue was $5.25"
    assert figures.decide(longer, reply=longer, task="") == "ask"


def test_cells_layout_and_figures_of_a_table_weigh_the_same() -> None:
    columns = (table.Column("item", "key", "the item"), table.Column("total", "money", "the sum"))
    made = table.Table("t.csv", columns, (("a", 1.5), ("b", 2.5)))
    marks = made.marks("item,total\na,1.50\nb,2.50\n")
    assert {mark.name: (mark.fraction, mark.weight) for mark in marks} == {
        "t.csv rows": (1.0, 2.0), "t.csv figures": (1.0, 1.0), "t.csv layout": (1.0, 1.0), "t.csv cells": (1.0, 1.0)
    }  # fmt: skip
    half = {mark.name: mark.fraction for mark in made.marks("item,total\nb,2.50\na,9.5\n")}
    assert half == {"t.csv rows": 1.0, "t.csv figures": 0.5, "t.csv layout": 0.5, "t.csv cells": 0.75}
    assert column_reads(columns[1]) == [True, True, False, False]


def column_reads(column: table.Column) -> list[bool]:
    """Two units of the last decimal asked for are allowed: 0.02, or 0.1%, and no more."""
    return [column.reads_as(cell, 1.5) for cell in ("1.50", "$1.52", "1.53", "-1.50")]


def test_samples_of_a_task_weigh_one_task_together() -> None:
    record = {"state": "passed", "family": "f", "value": 5.0}
    finer = [{"family": name, "value": value} for name, value in (("a", 2.0), ("b", 4.0), ("c", 6.0), ("d", 8.0))]
    assert [sample.weight for sample in samples_of(record | {"details": {"samples": finer}})] == [0.25] * 4
    assert samples_of(record | {"state": "agent_error", "details": {"samples": finer}}) == samples_of(record)
