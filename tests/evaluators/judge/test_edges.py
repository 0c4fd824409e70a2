"""Gates and figures of the rules of code at their edges: as many words, digits and shares as they say, and one less."""

from __future__ import annotations

import json

import pytest

from evaluators.judge import Criterion, figures, gates, signed_share
from evaluators.judge.figures import Figure, decide, lacks_required, required_figure, same
from evaluators.judge.verdict import evidence_fault

MESSAGE = {"question": "What was the gross margin of Acme?", "answer_format": "Réponds à la question en français."}


def refused(reply: str, *criteria: str) -> str:
    rubric = [Criterion(str(place), text, 1.0) for place, text in enumerate(criteria)]
    return gates.refusal(reply, message=MESSAGE, criteria=rubric)


def letters(start: int, count: int) -> str:
    """So many words that nobody else says."""
    return " ".join(f"w{chr(97 + place // 26)}{chr(97 + place % 26)}" for place in range(start, start + count))


def test_a_reply_of_200_000_characters_is_read_and_a_longer_one_is_not() -> None:
    assert refused("revenue ".ljust(200_000, "x")) == ""
    assert refused("revenue ".ljust(200_001, "x")) == "the reply has 200001 characters, more than 200000"


def test_a_reply_of_80_empty_words_is_an_opener_and_a_longer_one_is_left_to_the_judge() -> None:
    assert "opener" in refused("Sure! " * 80)
    assert refused("Sure! " * 81) == ""


def test_two_copied_criteria_that_are_half_of_the_rubric_make_a_copy() -> None:
    rubric = [letters(10 * place, 10) for place in range(5)]
    assert refused(rubric[0], *rubric[:2]) == ""
    assert refused(f"{rubric[0]}. {rubric[1]}", *rubric[:4]) == "the reply copies 2 of 4 criteria of the rubric"
    assert refused(f"{rubric[0]}. {rubric[1]}", *rubric) == ""


def test_eight_tenths_of_the_words_of_a_criterion_are_a_copy_and_five_words_are_none() -> None:
    def copied(text: str, said: str) -> bool:
        return gates.is_copied(Criterion("a", text, 1.0), said.split())

    ten, six = letters(0, 10), letters(0, 6)
    assert copied(ten, letters(0, 8)) and not copied(ten, letters(0, 7))
    assert copied(six, six) and not copied(letters(0, 5), letters(0, 5)) and not copied(six, letters(0, 5))


def test_five_words_of_the_task_in_a_row_repeat_it_and_four_do_not() -> None:
    assert "repeats" in refused("the gross margin of Acme")
    assert refused("gross margin of Acme") == ""
    assert "repeats" in refused("Réponds à la question en français")


def test_an_object_repeats_the_task_when_it_has_its_question() -> None:
    assert "repeats" in refused(json.dumps({"question": MESSAGE["question"], "note": letters(0, 9)}))
    assert refused(json.dumps({"answer": f"42.1% {letters(0, 9)}"})) == ""
    assert refused(f"{{ {letters(0, 9)}") == ""
    assert refused(json.dumps([letters(0, 9)])) == ""


def test_five_words_of_the_task_are_no_evidence() -> None:
    five = letters(0, 5)
    assert evidence_fault(five, reply=five, task=five) == "the evidence is a passage of the task"
    assert evidence_fault(letters(0, 4), reply=five, task=five) == ""


def test_faults_lower_the_share_and_never_below_nothing() -> None:
    rubric = [Criterion("a", "a", 4.0), Criterion("b", "b", 1.0), Criterion("c", "c", -3.0)]
    for met, share in (("ab", 1.0), ("a", 0.8), ("ac", 0.2), ("bc", 0.0), ("", 0.0)):
        assert signed_share(rubric, {name: name in met for name in "abc"}) == pytest.approx(share)


def test_weights_below_one_add_up_as_well() -> None:
    assert signed_share([Criterion("a", "a", 0.25), Criterion("b", "b", 0.25)], {"a": True, "b": False}) == 0.5


def one(text: str) -> Figure:
    (found,) = figures.figures(text)
    return found


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [("$1200", 1200.0, 50.0), ("$1201", 1201.0, 0.5), ("12.50", 12.5, 0.005), ("46.2%", 0.462, 0.0005),
     ("$3.4 million", 3.4e6, 5e4), ("-$2.5", -2.5, 0.05), ("(2.5)", -2.5, 0.05), ("$-2.5", -2.5, 0.05),
     ("25 bp", 0.0025, 0.00005), ("1,200", 1200.0, 50.0), ("$30m", 3e7, 5e6), (".5", 0.5, 0.05)],
)  # fmt: skip
def test_a_figure_has_its_scale_its_sign_and_half_of_its_last_digit(text: str, value: float, half: float) -> None:
    found = one(f"It was {text} then")
    assert (found.value, found.half_digit) == (pytest.approx(value), pytest.approx(half))


@pytest.mark.parametrize(
    ("text", "plain"),
    [("25", True), ("25 days", True), ("25 shares", False), ("25 USD", False), ("$25", False), ("25%", False),
     ("25 million", False), ("250 days", False), ("25 元", True)],
)  # fmt: skip
def test_a_count_or_a_span_of_time_is_no_figure_of_a_criterion(text: str, plain: bool) -> None:
    assert one(f"It was {text} then").plain_integer is plain


@pytest.mark.parametrize(
    ("stated", "wanted", "factor", "said"),
    [
        ("46.1%", "46.14%", 1.0, True),
        ("46.1%", "46.18%", 1.0, False),
        ("$5,250", "$5.254", 0.001, True),
        # half of the last digit, 5, is 0.005 in thousands
        ("$5,250", "$5.260", 0.001, False),
        # rounded as written, but by more than 0.5%
        ("$5.0", "$5.04", 1.0, False),
        ("$9.0", "$9.04", 1.0, True),
        ("$0.00", "$0", 1.0, True),
        ("-46.2%", "46.2%", 1.0, True),
        ("46.2%", "0.462", 1.0, False),
    ],
)
def test_a_figure_is_another_rounded_as_written(stated: str, wanted: str, factor: float, said: bool) -> None:
    assert same(one(stated), one(wanted), factor=factor) is said


STATING = "The response calculates a net margin of 46.2%"


def test_a_required_figure_that_stands_nowhere_is_told() -> None:
    assert lacks_required(STATING, reply="It is 41.7%.", task="") == "46.2%"
    assert lacks_required(STATING, reply="It is 46.2%.", task="") == ""
    assert lacks_required("The response discusses the net margin of 46.2%", reply="It is 41.7%.", task="") == ""


@pytest.mark.parametrize(
    "criterion",
    [
        "The response calculates the margin, E.G.\n46.2%",
        "The response calculates a margin of at least 46.2%",
        "The response calculates a margin of 46.2% or 41.7%",
        "The response calculates a margin of 46.2% and a cost of $5.25",
        "The response calculates 12 of them",
        "The response calculates 4 x 33 = 132",
    ],
)
def test_a_criterion_that_a_right_answer_may_do_without_requires_no_figure(criterion: str) -> None:
    assert required_figure(criterion, task="") is None


def test_the_result_of_a_calculation_is_required_and_what_the_task_states_is_not() -> None:
    found = required_figure("The response calculates 4.5 x 33.5 = $150.75", task="")
    assert found is not None and found.text == "$150.75"
    assert required_figure(STATING, task="The margin is 46.2%.") is None


@pytest.mark.parametrize(
    ("criterion", "reply", "found"),
    [
        # a percentage may be written as a fraction or as a number under a heading in percent
        ("The margin is 46.2%", "0.462", True), ("The margin is 46.2%", "46.2", True),
        ("The margin is 46.2%", "0.000462", False), ("The margin is 46.2%", "47.5", False),
        ("The factor is 46.2", "46.2%", True), ("The factor is 0.462", "46.2%", True),
        ("The factor is 0.462", "0.462%", True), ("The factor is 46.2", "46.7%", False),
        # the powers of a thousand are for amounts alone
        ("The margin is 46.2%", "46,200%", False),
    ],
)  # fmt: skip
def test_where_the_unit_of_a_table_may_stand_elsewhere(criterion: str, reply: str, found: bool) -> None:
    assert (decide(criterion, reply=f"See {reply} there", task="") != "not met") is found


def test_a_criterion_of_thirty_words_is_granted_by_code() -> None:
    thirty = f"{letters(0, 27)} revenue was $5.25"
    assert decide(thirty, reply=thirty, task="") == "met"
    assert decide(f"{letters(27, 1)} {thirty}", reply=f"{letters(27, 1)} {thirty}", task="") == "ask"


@pytest.mark.parametrize(
    ("criterion", "reply", "said"),
    [
        ("The price is $5.25", "Final answer: $5.25", "met"),
        ("The price is $5.25", "Final answer: 5.25", "met"),
        ("The price is $5.25", "Seen: $5.25\nFinal answer: $7.00", "ask"),
        ("The price is $5.25", "Seen: $5.25\nFinal answer: $5.26", "ask"),
        ("The price is $5,250", "Final answer: $5,254", "met"),
        ("The price is $5,250", "Seen: $5,250\nFinal answer: $5,256", "ask"),
        ("The price is $0.00", "Final answer: $0.00", "met"),
        ("The price is 0.00001", "Seen: 0.00001\nFinal answer: 0.00002", "ask"),
        ("The yield is 46.2%", "Final answer: 0.462", "met"),
        ("The price is $5.25 of $9.75", "Seen: $9.75\nFinal answer: $5.25", "ask"),
    ],
)
def test_a_final_answer_needs_no_label_where_the_rubric_states_nothing_else(
    criterion: str, reply: str, said: str
) -> None:
    assert decide(criterion, reply=reply, task="", only=True) == said
    assert decide(criterion, reply=reply, task="") == "ask"


LABEL = "Adjusted gross plant margin ratio: 46.2%"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        # three words of five are enough, in the line or in the three lines before
        ("gross plant margin 46.2%", "met"),
        ("plant margin 46.2%", "ask"),
        ("gross plant\nmargin 46.2%", "met"),
        ("gross plant\nA\nB\nmargin 46.2%", "met"),
        ("gross plant\nA\nB\nC\nmargin 46.2%", "ask"),
        # one of them has to stand beside the figure
        ("adjusted gross plant margin\n46.2%", "ask"),
        ("adjusted gross plant margin ratio\nratio 41.7%\nratio of the whole plant 46.2%", "met"),
        ("adjusted gross plant margin ratio\nplant ratio 41.7%\nplant ratio 46.2%", "ask"),
        ("adjusted gross plant margin ratio\nratio 41.7\nratio 46.2%", "met"),
        ("gross plant margin is not 46.2%", "ask"),
    ],
)
def test_how_much_of_a_label_stands_with_its_figure(reply: str, said: str) -> None:
    assert decide(LABEL, reply=reply, task="") == said


def test_zero_has_no_sign() -> None:
    assert decide("The gap is $0.00", reply="The gap is $0.00", task="") == "met"
    assert decide("The gap is -$0.50", reply="The gap is $0.50", task="") == "ask"
    assert decide("The gap is -$0.50", reply="The gap is -$0.50", task="") == "met"


def test_the_period_of_a_criterion_stands_in_the_line_itself() -> None:
    criterion = "Gross margin in 2024 was 46.2%"
    assert decide(criterion, reply="Gross margin 2024: 46.2%", task="") == "met"
    assert decide(criterion, reply="Gross margin 2023: 46.2%", task="For 2024") == "ask"
