"""Edges of parser and scorers that `python -m tests.mutation` found without a guard."""

from __future__ import annotations

import json

import pytest

from engine.scoring.score import samples_of
from evaluators import registry
from evaluators.answers import Refusal, StatedNumber, parse_json_object, parse_number, stated_answers
from evaluators.answers.expected import ExpectedNumber
from evaluators.answers.tolerance import Tolerance
from evaluators.answers.typed_json import MAX_CHARS
from evaluators.answers.typography import plain
from evaluators.answers.units import SCALES
from evaluators.bizfinbench.public_answers import ExpectedDocument, ExpectedText
from evaluators.contract import Score
from evaluators.judge import figures
from evaluators.judge.text import words
from evaluators.judge.verdict import MIN_COPIED_WORDS, evidence_fault
from evaluators.professional import memo, table
from evaluators.professional.marks import DIMENSIONS, PASS_ACCURACY, Mark, verdict
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


def test_an_object_says_whether_it_is_the_same() -> None:
    expected = ExpectedDocument({"a": 1})
    assert expected.grade('{"a": 1}').reason == "the same object"
    assert expected.grade('{"a": 2}').reason == "another object"


def test_scale_words_are_the_powers_of_ten_that_they_name() -> None:
    powers = {
        2: "hundred", 3: "k thousand thousands 千", 4: "万", 5: "lakh lakhs", 6: "m mm mn mln million millions 百万",
        7: "crore crores 千万", 8: "亿", 9: "b bn billion billions 十亿", 12: "t tn trn trillion trillions 万亿",
    }  # fmt: skip
    assert {word: 10.0**power for power, named in powers.items() for word in named.split()} == SCALES
    assert parse_number("Final answer: 5 (in hundreds)", kind="number").value == 500.0


@pytest.mark.parametrize(
    "band", [{"absolute": float("inf")}, {"absolute": -0.1}, {"relative": 1.0}, {"relative": -0.1}]
)
def test_a_tolerance_without_an_end_is_refused(band: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(band))):
        Tolerance(**band)
    assert Tolerance(relative=0.0, absolute=0.0).absolute == 0.0


def test_whole_numbers_in_json_have_at_most_309_digits() -> None:
    assert parse_json_object('{"a": ' + "1" * 309 + "}") == {"a": int("1" * 309)}
    assert isinstance(parse_json_object('{"a": ' + "1" * 310 + "}"), Refusal)


def test_evidence_of_as_many_words_as_make_a_copy_is_no_evidence_where_the_task_has_them() -> None:
    passage = " ".join(f"word{letter}" for letter in "abcdefghijklmnop"[:MIN_COPIED_WORDS])
    assert evidence_fault(passage, reply=passage, task=passage) == "the evidence is a passage of the task"
    shorter = passage.rpartition(" ")[0]
    assert evidence_fault(shorter, reply=passage, task=passage) == ""


def test_a_size_without_its_sign_is_marked_so() -> None:
    plain_number = StatedNumber(5.0, "", "5")
    assert (plain_number.as_size().value, plain_number.scale) == (5.0, 1.0)
    turned = StatedNumber(-5.0, "", "a loss of 5", negative_by_words=True).as_size()
    assert (turned.value, turned.negative_by_words) == (5.0, False)
    assert not memo.Figure("Loss", 2.5, "currency").right("a loss of $2.50")
    assert memo.Figure("Loss", 2.5, "currency", size=True).right("a loss of $2.50")


def test_a_table_that_cannot_be_read_or_has_another_header_earns_no_cells() -> None:
    columns = (table.Column("item", "key", "the item"), table.Column("total", "money", "the sum"))
    made = table.Table("t.csv", columns, (("a", 1.5), ("b", 2.5)))
    assert [(mark.fraction, mark.weight) for mark in made.marks("")] == [(0.0, 2.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]
    for text in ("other,total\na,1.50\nb,2.50\n", "item,total\n"):
        assert {mark.name: mark.fraction for mark in made.marks(text)}["t.csv cells"] == 0.0


def test_a_name_in_a_formula_may_begin_with_a_line() -> None:
    assert expression.parse("_rate + 1").names == frozenset({"_rate"})
    with pytest.raises(ValueError, match="unexpected"):
        expression.parse("1 + )")


MARGIN = "Gross margin increased to 46.2%"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Gross margin increased to 46.2%.", "met"),
        ("Gross margin increased to 46.2% from 41.7%.", "met"),
        ("Gross margin increased to 46.2% from 41.7% and 40.1%.", "ask"),
        ("Gross margin perhaps increased to 46.2% from 41.7%.", "ask"),
        ("Gross margin decreased to 46.2%.", "ask"),
        ("Gross margin was 46.2%.", "ask"),
        ("Gross margin increased to -46.2%.", "ask"),
        ("Somewhere 46.2% increased.", "ask"),
    ],
)
def test_code_grants_a_figure_with_its_label_its_direction_and_at_most_one_rival(line: str, said: str) -> None:
    assert figures.decide(MARGIN, reply=line, task="") == said


def test_half_of_the_last_digit_as_written_decides_whether_figures_are_the_same() -> None:
    (exact, near, far, rough) = (figures.figures(text)[0] for text in ("46.25%", "46.2%", "46.1%", "46%"))
    assert figures.same(near, exact) and figures.same(rough, near) and not figures.same(far, exact)
    (thousands, millions) = (figures.figures(text)[0] for text in ("$5,254", "$5.25"))
    assert figures.same(thousands, millions, factor=0.001) and not figures.same(thousands, millions, factor=0.01)


def test_nine_tenths_of_the_figures_pass_and_less_do_not_and_nothing_missed_says_so() -> None:
    def judged(accuracy: float) -> Score:
        return verdict([Mark(name, name, accuracy if name == "accuracy" else 1.0, 1.0) for name in DIMENSIONS])

    assert judged(1.0).reason == "every check is met" and judged(1.0).value == 100.0
    assert judged(PASS_ACCURACY).passed and not judged(PASS_ACCURACY - 0.01).passed
    assert judged(PASS_ACCURACY).reason == "accuracy: 90%"
