"""Where the answer stands in a reply: labels, tables, boxes, tags, and what stands before and after them."""

from __future__ import annotations

import json

import pytest

from evaluators.answers import Kind, Refusal, parse_accession_number, parse_date, parse_number, stated_answers
from evaluators.answers.clause import last_sentence, stating_clause
from evaluators.answers.dispute import sole_figure
from evaluators.answers.expected import ExpectedNumber, ExpectedOrder, ExpectedToken
from evaluators.answers.statement import MAX_CHARS, MAX_LINE_CHARS, MAX_MARKS
from evaluators.answers.tolerance import Tolerance


def said(text: str) -> float | str:
    """The number that a reply states, or why it states none."""
    stated = parse_number(text)
    return stated.reason if isinstance(stated, Refusal) else stated.value


def statement(text: str) -> str:
    """What is read as the answer."""
    (only,) = stated_answers(text)
    return only.text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Final answer:\n| Metric | Value |\n|---|---|\n| EPS | 7 |", "Metric Value: EPS | 7"),
        ("Final answer:\n\n| Metric | Value |\n  |---|---|\n| EPS | 7 |\n\nThanks.", "Metric Value: EPS | 7"),
        ("Final answer:\n| 7 |\n|---|", "7; ---"),
        ("Final answer:\n| a | 7 |\n| b | 8 |", "a | 7; b | 8"),
        ("See:\n| x | y |\n| 5 | 7 |", "x | y; 5 | 7"),
        ("| x |\n| 7 |\nThanks.", "x; 7"),
        ("Final answer: 7  \n(in millions)", "7 (in millions)"),
        ("Final answer:\n\n \n 7", "7"),
    ],
)
def test_a_table_or_a_line_is_read_whole_and_nothing_beside_it(text: str, read: str) -> None:
    assert statement(text) == read


def test_a_long_table_is_read_to_its_end() -> None:
    """Before, rows from the 22nd on were passed over."""
    same = "Final answer:\n" + "\n".join(["| 7 |"] * 30)
    assert said(same) == 7.0
    assert "several numbers" in str(said(f"{same}\n| 8 |"))
    assert "characters, more than 2000" in str(said(same + "\n| 7 |" * 1_000))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Not my final answer: 7", None),
        ("Well.\nNot my final answer: 7", None),
        ("It is not 8.\nMy final answer: 7", 7.0),
        # an announcement is no answer, what it announces is
        ("The final answer is computed below.\nFinal answer: 7", 7.0),
        ("The final answer is 7.\n\nI used 12 steps.", 7.0),
        ("Final answer: 7\nActually, it is 8.", None),
        ("Actually, it is not 8 but more.\nFinal answer: 7", 7.0),
        ("<answer>7</answer>", 7.0),
        ("<answer>7\n8</answer>", None),
        ("<answer>7\n7.0</answer>", 7.0),
        ("So <answer>7", None),
        ("So {x} is \\boxed{7}.", 7.0),
        ("\\boxed{{7}}", 7.0),
        ("Final answer: $\\boxed{7}$ million", 7e6),
        ("Final answer (in millions): $\\boxed{7}$", 7e6),
        ("Final answer: the growth is not \\boxed{7}", None),
        ("\\boxed{\\boxed{7}}", 7.0),
        ("\\boxed{7", None),
    ],
)
def test_what_stands_around_an_answer(text: str, value: float | None) -> None:
    assert isinstance(said(text), str) if value is None else said(text) == value


MARKS = ("\\boxed{%s}", "<answer>%s</answer>", '{"answer": "%s"}')


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    ("line", "value"),
    [
        # denied, doubted, a bound, one of several
        ("The answer is not {}.", None),
        ("It is {}, not.\nIt is not {}", None),
        ("It is anything but {}.", None),
        ("It is not approx. {}.", None),
        ("Perhaps {}?", None),
        ("{}?", None),
        ("It is more than {}", None),
        ("It is at least {}.", None),
        ("between {} and 70", None),
        ("Either 3 or {}", None),
        ("It is {} or {}", None),
        ("The answer is not 5, which is close to {}", None),
        ("It is not, as you claim, {}", None),
        ("It is not, with all due respect, {}", None),
        ("I do not think that sales rose and the return is {}", None),
        ("I do not think sales rose, and the return is {}", None),
        ("It is wrong that we paid and the return is {}", None),
        ("Perhaps sales rose and the return is {}", None),
        ("The margin is low and the return is not {}", None),
        ("The return is not what it was and is now {}", None),
        ("The answer is not the one of debt and equity which is {}", None),
        ("The answer lies between 3 and {}", None),
        # what the sentence denies is another thing
        ("Since it did not pay dividends, the return is {}.", 12.5),
        ("It pays no dividend. So we get {}", 12.5),
        ("There is no debt, and the ratio is {}.", 12.5),
        ("There is no debt and the ratio is about {}.", 12.5),
        ("There is no debt, no preferred stock and EPS is {}", 12.5),
        ("We did not split; the P/E ratio stands at {}", 12.5),
        ("In 2013, since it did not pay a dividend, the return is {}.", 12.5),
        ("We have no debt, and since rates rose, the ratio is {}", 12.5),
        ("It is not 6 and the ratio is {}", 12.5),
        ("The difference of 3 and 15.5 is {}", 12.5),
        ("It is not 6 but {}.", 12.5),
        ("The gain or loss is {}", 12.5),
        ("It is 0.6, or equivalently {}", 12.5),
        ("EPS, not diluted, is {}", 12.5),
        ("I did not round, so the answer is {}", 12.5),
        ("<think>It is not 6.</think>{}", 12.5),
        # the sign before it
        ("-{}", -12.5),
        ("x = -{}", -12.5),
        ("x = \u2212{}", -12.5),
        ("$x = -{}$", -12.5),
        ("$2 + 3 = -{}$", -12.5),
        ("A loss of {}", -12.5),
        ("Sales sank by {}", -12.5),
        ("The loss is therefore {}", -12.5),
        ("The net loss in 2013 was {}", -12.5),
        ("The loss on the 4 shares is {}", -12.5),
        ("a decrease of 12.5 ({})", -12.5),
        ("(loss) {}", -12.5),
        ("{} (loss)", -12.5),
        ("At least 3 firms had a loss of {}", -12.5),
        ("At least 3 firms gave {}", 12.5),
        ("Net income (loss): {}", 12.5),
        ("Sales fell 5 to {}", 12.5),
        ("Sales fell by 5, the margin by {}", -12.5),
        ("Sales fell by 5, the margin rose by {}", 12.5),
        ("A loss of 3 in 2012, and a profit of {}", 12.5),
        ("- {}", 12.5),
        ("Answer - {}", 12.5),
        ("The answer \u2014 {}", 12.5),
        # its scale behind it
        ("{} million", 12.5e6),
        ("${}$ million", 12.5e6),
        ("{}, in millions", 12.5e6),
        ("{} (in millions)", 12.5e6),
        ("{} gazillion", None),
        # part of a longer term
        ("10 - {}", None),
        ("2{}", None),
        ("{}^2", None),
        ("{} - 10", None),
        ("{}\\times 10", None),
        ("{} to 20", None),
        # numbers beside it that are not its own
        ("In 2024 it was 3 + 9.5 = {}.", 12.5),
        ("$3 + 9.5 = {}$ for 2 shares", 12.5),
        ("> **Answer: {}**", 12.5),
        ("({})", 12.5),
        ("\\[ {} \\]", 12.5),
        ("{} is 3 more than last year", 12.5),
    ],
)
def test_a_mark_is_read_with_its_line(line: str, value: float | None, mark: str) -> None:
    """Before, only what stands inside a mark was read, so that a denied answer in a box was right."""
    text = line.replace("{}", mark % "12.5")
    assert isinstance(said(text), str) if value is None else said(text) == value, said(text)


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    ("line", "kind", "value"),
    [
        ("{}\\%", "percent", 0.125),
        ("${}$%", "percent", 0.125),
        ("${}\\%$", "percent", 0.125),
        ("{} percent", "percent", 0.125),
        ("{} basis points", "percent", 0.00125),
        ("In percent, it is {}", "percent", 0.125),
        ("{}%", "number", None),
        ("The price: ${}$ million", "currency", 12.5e6),
        ("Final answer (in millions): {}", "currency", 12.5e6),
        ("\\${}", "currency", 12.5),
        ("-${}", "currency", -12.5),
        ("The price is ${} million", "currency", 12.5e6),
        ("\u20ac{}", "currency", None),
        ("CHF {}", "currency", None),
        ("{} euros", "currency", None),
    ],
)
def test_a_mark_is_read_with_its_unit(line: str, kind: Kind, value: float | None, mark: str) -> None:
    stated = parse_number(line.replace("{}", mark % "12.5"), kind=kind)
    assert isinstance(stated, Refusal) if value is None else stated.value == value, stated


def test_the_sentence_of_a_number_is_looked_for_in_a_thousand_characters() -> None:
    assert last_sentence("It is. " + "x" * 998) == "x" * 998
    assert last_sentence("It is. " + "x" * 999) == "It is. " + "x" * 999
    assert last_sentence("It is, as told, so. This is, as told, ") == "This is "


@pytest.mark.parametrize(
    ("before", "clause"),
    [
        ("We paid no dividend and the return is ", "the return is "),
        ("We paid no dividend, and the return is about $", "the return is about $"),
        ("No debt, no dividend and the return comes to ", "the return comes to "),
        ("I do not say that sales rose and the return is ", "I do not say that sales rose and the return is "),
        ("It is not the sum of costs and sales: ", "It is not the sum of costs and sales: "),
        ("It is not the sum of costs and sales, which is ", "It is not the sum of costs and sales, which is "),
        ("It was not 4 and is ", "It was not 4 and is "),
        (", the return is ", "the return is "),
        ("Suppose sales rose and the return is ", "Suppose sales rose and the return is "),
    ],
)
def test_the_clause_of_a_number_has_a_verb_of_its_own(before: str, clause: str) -> None:
    assert stating_clause(before) == clause


def test_an_order_or_a_day_in_a_mark_is_read_without_the_words_around_it() -> None:
    order, day = ExpectedOrder((2, 1, 3)), ExpectedToken("2024-11-01", "date")
    for mark in MARKS:
        assert order.grade(f"The 3 events come in the order {mark % '2,1,3'}.").passed
        assert not order.grade(f"The order is not {mark % '2,1,3'}.").passed
        assert day.grade(f"Filed on {mark % '2024-11-01'} in 2024").passed
        assert not day.grade(f"It was never {mark % '2024-11-01'}").passed


@pytest.mark.parametrize(
    ("document", "kind", "value"),
    [
        ({"answer": ["\u22125"]}, "number", -5.0),
        ({"answer": [5.6]}, "number", 5.6),
        ({"answer": ["1_000"]}, "number", 1000.0),
        ({"answer": [5.5], "unit": "%"}, "percent", 0.055),
        ({"answer": [5.5], "scale": "million", "currency": "USD"}, "currency", 5.5e6),
        ({"answer": [5.5], "currency": "EUR"}, "currency", None),
        ({"answer": ["minus", 5.6]}, "number", None),
        ({"answer": [5.6, 5.6]}, "number", None),
    ],
)
def test_a_list_of_one_is_the_one_and_a_longer_list_is_no_number(
    document: dict[str, object], kind: Kind, value: float | None
) -> None:
    stated = parse_number(json.dumps(document), kind=kind)
    assert isinstance(stated, Refusal) if value is None else stated.value == pytest.approx(value), stated


def test_as_many_characters_and_restatements_as_allowed_are_read_and_one_more_is_not() -> None:
    assert MAX_CHARS == 200_000 and MAX_LINE_CHARS == 10_000
    assert said("7".ljust(MAX_CHARS)) == 7.0
    assert f"more than {MAX_CHARS}" in str(said("7".ljust(MAX_CHARS + 1)))
    assert said("Final answer: 7" + "\nAnswer: 7" * MAX_MARKS) == 7.0
    assert "states 21 more answers" in str(said("Final answer: 7" + "\nAnswer: 7" * (MAX_MARKS + 1)))
    # marks that are no part of the answer count while it is not read yet
    assert said(f"<answer>{'`' * (MAX_LINE_CHARS - 1)}7</answer>") == 7.0
    assert isinstance(said(f"<answer>{'`' * MAX_LINE_CHARS}7</answer>"), str)


def test_an_answer_in_json_is_marked_and_a_dash_before_it_a_sign() -> None:
    assert said('{"answer": "- 7"}') == -7.0
    for text in ('{"answer": 7}', '{"answer": [7]}'):
        (only,) = stated_answers(text)
        assert only.labelled


def test_a_reply_that_states_nothing_is_quoted_from_its_last_line() -> None:
    assert said("Well.\nI do not know.") == "no number in the stated answer: 'I do not know.'"


def format_of(kind: str, unit: str = "", *, absolute: float = 0.0) -> str:
    return ExpectedNumber(5.0, kind, Tolerance(relative=0.01, absolute=absolute), unit).answer_format()


def test_a_format_says_how_to_write_and_what_is_near_enough() -> None:
    within = "The answer is right within 1% of the exact value"
    assert f"{within}." in format_of("percent") and "half is written as 50% or as 0.5" in format_of("percent")
    assert f"{within} or 0.5 percentage points, whichever is wider." in format_of("percent", absolute=0.005)
    assert f"{within} or 2,000 US dollars, whichever" in format_of("currency", absolute=2000.0)
    assert f"{within} or 2,000 EUR, whichever" in format_of("currency", "EUR", absolute=2000.0)
    assert "The amount is in US dollars;" in format_of("currency")
    assert "The amount is in EUR;" in format_of("currency", "EUR")
    assert f"{within} or 2 years, whichever" in format_of("number", "years", absolute=2.0)
    assert "The number is in years. " in format_of("number", "years")
    assert "The number is dimensionless: no percent sign" in format_of("number")


@pytest.mark.parametrize(
    ("kind", "gold", "reply", "told"),
    [
        # within 5% of the gold it is the scale that is wrong, at both ends of that band
        ("percent", 0.05, "4.76", True), ("percent", 0.05, "4.74", False),
        ("percent", 0.05, "5.24", True), ("percent", 0.05, "5.26", False),
        ("currency", 5e3, "$5.249", True), ("currency", 5e3, "$5.251", False),
        ("currency", 5e6, "$5.249999", True), ("currency", 5e6, "$5.250001", False),
        ("currency", 5e9, "$5.249999999", True), ("currency", 5e9, "$5.250000001", False),
    ],
)  # fmt: skip
def test_a_wrong_scale_is_told_where_the_digits_are_nearly_right(
    kind: str, gold: float, reply: str, told: bool
) -> None:
    reason = ExpectedNumber(gold, kind).grade(f"Final answer: {reply}").reason
    assert any(hint in reason for hint in ("write the percent sign", "or all its digits")) is told


def test_a_claim_quotes_the_figure_in_its_unit() -> None:
    def quoted(kind: str, reply: str) -> str:
        (claim,) = sole_figure(ExpectedNumber(5.0, kind), lambda rng: None).claims(f"Final answer: {reply}")
        return claim.stated

    assert (quoted("percent", "12.5%"), quoted("number", "1234.5")) == ("12.5%", "1,234.5")
    assert sole_figure(ExpectedNumber(5.0, "number"), lambda rng: None).claims("I do not know.") == ()


def test_a_day_or_a_filing_is_asked_for_in_its_form_and_told_right_or_wrong() -> None:
    day, filing = ExpectedToken("2024-11-01", "date"), ExpectedToken("0000320193-24-000123", "accession number")
    assert "YYYY-MM-DD" in day.answer_format() and "ten digits" in filing.answer_format()
    assert day.grade("Final answer: 1 November 2024").reason == "exact match"
    assert day.grade("Final answer: 2024-11-02").reason == "another date: 2024-11-02"
    assert day.grade("Final answer: none").reason.startswith("no date of the form YYYY-MM-DD")
    assert filing.grade("Final answer: none").reason.startswith("no accession number of the form 0000000000-00-000000")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        # the day on which a period ended is not asked for
        ("Ended 2023-12-31, filed 2024-02-01", "2024-02-01"),
        ("For the year ended on 2023-12-31 it was filed 2024-02-01", "2024-02-01"),
        ("2024-02-01 (01/02/2024)", "2024-02-01"),
        ("2024-02-01 (02/03/2024)", None),
        ("13/02/2024", "2024-02-13"),
        ("31/04/2024", None),
    ],
)
def test_which_day_is_stated(text: str, day: str | None) -> None:
    stated = parse_date(f"Final answer: {text}")
    assert isinstance(stated, Refusal) if day is None else stated.value == day


def test_two_filings_are_no_answer() -> None:
    two = parse_accession_number("Final answer: 0000320193-24-000123 and 0000320193-24-000124")
    assert isinstance(two, Refusal) and two.reason.startswith("several values for one accession number")
