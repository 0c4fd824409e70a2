"""Limits of the reader of answers at their edges, and the characters that it reads as others."""

from __future__ import annotations

import json
import math
import unicodedata

import pytest

from evaluators.answers import Refusal, parse_json_object, parse_number, stated_answers
from evaluators.answers.direction import is_fall
from evaluators.answers.dispute import sole_figure
from evaluators.answers.expected import ExpectedNumber, ExpectedOrder
from evaluators.answers.number import MAX_NUMBERS, read_number
from evaluators.answers.statement import MAX_LINE_CHARS, MAX_STATEMENT_CHARS
from evaluators.answers.tolerance import Tolerance, numbers_match
from evaluators.answers.typed_json import MAX_CHARS, embedded_objects, number_field
from evaluators.answers.typography import characters, plain


def number(text: str, **asked: str) -> float | str:
    """The number that a reply states, or why it states none."""
    stated = parse_number(text, **asked)
    return stated.reason if isinstance(stated, Refusal) else stated.value


DASHES = "HYPHEN|NON-BREAKING HYPHEN|FIGURE DASH|EN DASH|MINUS SIGN|SMALL EM DASH|SMALL HYPHEN-MINUS|SUPERSCRIPT MINUS"


@pytest.mark.parametrize("name", [*DASHES.split("|"), "HEAVY MINUS SIGN"])
def test_every_kind_of_dash_is_a_minus_sign(name: str) -> None:
    assert characters(f"{unicodedata.lookup(name)}5") == "-5"


@pytest.mark.parametrize("code", [0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD])
def test_what_has_no_width_is_dropped(code: int) -> None:
    assert characters(f"1{chr(code)}5") == "15"


def test_full_width_characters_quotes_and_stops_are_the_ascii_ones() -> None:
    ascii_ones = "".join(map(chr, range(0x21, 0x7F)))
    full = "".join(chr(ord(mark) + 0xFEE0) for mark in ascii_ones)
    assert all(unicodedata.normalize("NFKC", wide) == mark for wide, mark in zip(full, ascii_ones, strict=True))
    assert characters(full) == ascii_ones
    assert characters("\u3000\u3002\u2018\u2019") == " .''"
    # neighbours stay as they are
    for code in (0xFF00, 0xFF5F, 0x3001, 0x2014, 0x2015, 0x2213, 0x200E, 0x2061, 0x00AE, 0x2797):
        assert characters(chr(code)) == chr(code)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        # between digits it separates, before a number it is a sign, elsewhere punctuation
        ("15—17", "15-17"), ("$5—7", "$5-7"), ("5—7 of", "5-7 of"),
        ("—5", "-5"), ("is —5", "is -5"), ("(—$5)", "(-$5)"), ("a = —.5", "a = -.5"),
        ("profit—5", "profit - 5"), ("5—up", "5 - up"), ("so — then", "so  -  then"), ("is —up", "is  - up"),
    ],
)  # fmt: skip
def test_what_a_long_dash_is(text: str, read: str) -> None:
    assert plain(text) == read


@pytest.mark.parametrize("code", [0x00A0, 0x2007, 0x2009, 0x202F])
def test_spaces_of_print_are_spaces(code: int) -> None:
    assert number(f"Final answer: 5{chr(code)}million") == 5e6
    assert number(f"Final answer: 5{chr(code)}000") == 5000.0


def test_a_number_without_end_matches_nothing() -> None:
    assert not numbers_match(1.0, math.inf) and not numbers_match(math.inf, 1.0) and not numbers_match(math.nan, 1.0)
    # the wider of two bands, both with their edge
    assert numbers_match(101.0, 100.0, relative=0.01) and not numbers_match(101.01, 100.0, relative=0.01)
    assert numbers_match(102.0, 100.0, absolute=2.0) and not numbers_match(102.1, 100.0, absolute=2.0)
    assert numbers_match(-1.0, 1.0, absolute=2.0) and not numbers_match(-1.0, 1.0)


def test_a_gold_of_six_margins_is_nearly_zero_and_a_larger_one_is_not() -> None:
    band = Tolerance(relative=0.0, absolute=0.5)
    assert not ExpectedNumber(3.0, "number", band).is_clear_of_zero()
    assert ExpectedNumber(-3.1, "number", band).is_clear_of_zero()


def test_a_gold_is_written_with_sign_currency_and_six_or_two_decimals() -> None:
    def written(gold: float, kind: str, unit: str = "") -> str:
        return ExpectedNumber(gold, kind, unit=unit).written()

    assert [written(gold, "number") for gold in (0.0, 999.0, 1000.0, -1000.5, -0.5)] == [
        "0.000000", "999.000000", "1,000.00", "-1,000.50", "-0.500000"
    ]  # fmt: skip
    assert written(-5.0, "currency") == written(-5.0, "currency", "USD") == "-$5.000000"
    assert written(5.0, "currency", "EUR") == "5.000000" and written(0.05, "percent") == "5.0000%"


def test_only_where_a_size_is_asked_for_is_a_fall_without_sign_disputed_as_one() -> None:
    for size, value in ((True, 5.0), (False, -5.0)):
        dispute = sole_figure(ExpectedNumber(5.0, "number", size=size), lambda rng: None)
        (claim,) = dispute.claims("Final answer: a decrease of 5")
        assert (claim.value, claim.right) == (value, size)
        assert ExpectedNumber(5.0, "number").size is False


@pytest.mark.parametrize("text", ["5-", "5+", "5-.", "5+%"])
def test_a_dash_or_plus_after_a_number_is_doubtful(text: str) -> None:
    assert isinstance(number(f"Final answer: {text}"), str)


@pytest.mark.parametrize(
    ("text", "value"),
    [("-5", -5.0), ("(5)", -5.0), ("+5", 5.0), ("minus 5", -5.0), 
     ("3-5", None), ("10%-5", None), ("+-5", -5.0), ("-+5", None), ("about-5", None), ("a decrease of 5", -5.0),
     ("-5%", None), ("5 hundred", 500.0), ("5 x 3", None), ("$5 million", None), ("1,5", None), ("^5", None)],
)  # fmt: skip
def test_signs_of_a_plain_number(text: str, value: float | None) -> None:
    said = number(f"Final answer: {text}")
    assert isinstance(said, str) if value is None else said == value


@pytest.mark.parametrize("text", ["-$5", "$-5", "$(5)", "($5)", "minus $5", "a loss of $5"])
def test_signs_of_money(text: str) -> None:
    assert number(f"Final answer: {text}", kind="currency") == -5.0


def test_as_many_characters_as_allowed_are_a_statement_and_one_more_is_not() -> None:
    longest = "7".ljust(MAX_STATEMENT_CHARS - 1, " ") + "."
    assert not isinstance(read_number(longest), Refusal)
    refused = read_number(longest + " ")
    assert isinstance(refused, Refusal) and f"{MAX_STATEMENT_CHARS + 1} characters" in refused.reason
    assert isinstance(number("Final answer: " + "x" * MAX_STATEMENT_CHARS + " 7"), str)


def test_a_statement_has_at_most_forty_numbers() -> None:
    same = ", ".join(["7"] * MAX_NUMBERS)
    assert MAX_NUMBERS == 40
    assert number(f"Final answer: {same}") == 7.0
    assert "more than 40 numbers" in str(number(f"Final answer: {same}, 7"))


def test_a_marked_answer_is_bounded_before_it_is_read() -> None:
    assert MAX_LINE_CHARS == 10_000
    box = "\\boxed{7" + " " * (MAX_LINE_CHARS - 9) + "}"
    assert len(box) == MAX_LINE_CHARS and number(f"Final answer: {box}") == 7.0
    assert isinstance(number("Final answer: " + box.replace("7", "7 ")), str)


def test_an_object_in_prose_is_found_up_to_the_longest_reply() -> None:
    text = 'See {"answer": 7} there.'
    assert MAX_CHARS == 200_000
    assert embedded_objects(text.ljust(MAX_CHARS)) == [{"answer": 7}]
    assert embedded_objects(text.ljust(MAX_CHARS + 1)) == []
    assert embedded_objects('{"a": {"answer": 1}} {"b" {"answer": 2}') == [{"a": {"answer": 1}}, {"answer": 2}]
    # 200 places are tried and no more
    broken = '{"x": y} '
    assert embedded_objects(broken * 199 + '{"answer": 7}') == [{"answer": 7}]
    assert embedded_objects(broken * 200 + '{"answer": 7}') == []


@pytest.mark.parametrize("bad", ['{"a": 1e999}', '{"a": 1, "a": 2}', '{"a": "b}', "{" + '"a": {' * 16 + "}" * 17])
def test_an_object_that_is_none_is_passed_over(bad: str) -> None:
    assert embedded_objects(f'First {bad} then {{"answer": 7}}.')[-1:] == [{"answer": 7}]
    assert len(embedded_objects(f"First {bad} then.")) == ("{" * 3 in bad)


def nested(levels: int) -> str:
    return '{"a": ' * levels + "1" + "}" * levels


def test_an_object_has_at_most_sixteen_levels_however_many_stand_side_by_side() -> None:
    assert parse_json_object(nested(16)) == json.loads(nested(16))
    refused = parse_json_object(nested(17))
    assert isinstance(refused, Refusal) and refused.reason == "invalid JSON: nested deeper than 16 levels"
    assert embedded_objects(f"See {nested(16)}.") == [json.loads(nested(16))]
    assert embedded_objects(f"See {nested(17)}.") == []
    wide = '{"b": [' + "[1], " * 40 + nested(14) + "]}"
    assert parse_json_object(wide) == json.loads(wide)
    assert isinstance(parse_json_object(wide.replace(nested(14), nested(15))), Refusal)


def test_the_search_for_objects_ends_when_ten_times_the_longest_reply_is_read() -> None:
    """Each of many objects that open and never close is read to the end of the text."""
    for end in ("x", "1e999"):
        for opened, found in ((95, True), (105, False)):
            text = '{"a":' * opened + '["' + "1" * 19_400 + '", ' + end
            text += ' {"answer": 7}'
            assert len(text) == pytest.approx(20_000, rel=0.02)
            assert (embedded_objects(text) == [{"answer": 7}]) is found, (end, opened)


def test_two_fenced_objects_must_be_the_same() -> None:
    one, other = (f'```json\n{{"answer": {number}}}\n```\n' for number in (1, 2))
    assert parse_json_object(one + one) == {"answer": 1}
    refused = parse_json_object(one + other)
    assert isinstance(refused, Refusal) and "2 different JSON objects" in refused.reason
    broken = parse_json_object('```json\n{"answer": }\n```')
    assert isinstance(broken, Refusal) and broken.reason.startswith("invalid JSON: ")


def test_a_number_in_json_is_finite_and_no_word() -> None:
    document = parse_json_object('{"a": 5, "b": "5", "c": true, "d": 5.5}')
    assert isinstance(document, dict)
    assert (number_field(document, "a"), number_field(document, "d")) == (5.0, 5.5)
    assert all(isinstance(number_field(document, name), Refusal) for name in "bce")
    assert isinstance(number_field({"a": 10**400}, "a"), Refusal)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # a table is read whole, its header first; a rule in the second row is none of its rows
        ("Final answer:\n| x |\n|---|\n| 7 |", 7.0),
        ("Final answer:\n| x | y |\n|---|---|\n| 7 | 8 |", None),
        ("Final answer:\n| 7 |\n| 7 |", 7.0),
        ("| x |\n|---|\n| 7 |", 7.0),
        ("Final answer: 7\n(rounded)", 7.0),
        ("Final answer: 7\n(8)", None),
        ("It is 7.\nThanks.\nBye.\nYes.", 7.0),
        ("It is 7.\nThanks.\nBye.\nYes.\nWell.", None),
        ("\\boxed{7} and \\boxed{7}", 7.0),
        ("\\boxed{7} and \\boxed{8}", None),
        (json.dumps({"answer": 7, "unit": "million"}), 7e6),
        (json.dumps({"answer": 7, "unit": 3}), None),
        (json.dumps({"answer": 7, "final_answer": 7}), 7.0),
        (json.dumps({"answer": 7, "final_answer": 8}), None),
    ],
)
def test_where_an_answer_stands(text: str, value: float | None) -> None:
    said = number(text)
    assert isinstance(said, str) if value is None else said == value


def test_a_reply_is_labelled_or_not() -> None:
    for text, labelled in (("Final answer: 7", True), ("It is 7.", False), ("| x |\n|---|\n| 7 |", False)):
        (statement,) = stated_answers(text)
        assert statement.labelled is labelled


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # the result of a calculation stands right of the last equals sign, or left of the calculation
        ("100 / 4 = 25", 25.0),
        ("25 = 100 / 4", 25.0),
        ("50 / 2 = 100 / 4 = 25", 25.0),
        ("30 = 40", None),
        ("1, 2 = 2", None),
        ("100 / 4 is 25", 25.0),
        ("7 (in millions)", 7e6),
        ("7 million (in millions)", 7e6),
        ("7 million (in thousands)", None),
        ("7 and 8 (in millions)", None),
        ("in millions: 7", 7e6),
        ("7 or 8", None),
        ("7, or about 7", 7.0),
        ("at least 7", None),
        ("7.04, about 7.0", 7.04),
        ("7.04, about 7.1", None),
        # the calculation may stand between, a list mark before it
        ("a) 100 / 4 = 25", 25.0),
        ("25 = 50 / 2 = 100 / 4", 25.0),
        ("margin = 25 = 100 / 4", 25.0),
        ("25 = 100 / 4 = 25", 25.0),
        ("5.5 = 5.5 million", 5.5e6),
        ("5.5 million = 5.5 billion", None),
        # a note belongs to the number before it, or else to all that follow it
        ("7(in millions), that is 7,000,000", 7e6),
        ("(in millions)7", 7e6),
        ("(in millions)7.0, about 7", 7e6),
        ("7.04 (in millions), about 7.0 (in millions)", 7.04e6),
        ("7 ($000s)", None),
        ("7 (000s)", 7e3),
        # before, these were thousands
        ("7 (000,000s)", 7e6),
        ("7 (in '000,000)", 7e6),
        ("7 (thousands and millions)", None),
        ("7 (in USD)", None),
        ("999,999,999 (in millions)", 999_999_999e6),
        ("1,000,000,000 (in millions)", None),
        # a rounding of the same number, up to half a unit of its last digit and 2%, or half a percent
        ("4.35, about 4.4", 4.35),
        ("51, about 5e1", 51.0),
        ("201, 200", 201.0),
        ("202, 200", None),
        ("5.4, about 5", None),
        ("7.04 million, about 7.0 million", 7.04e6),
        ("7或7.0", 7.0),
        ("7 或 8", None),
        ("a decrease of +5", None),
        ("5千万", 5e7),
        ("5 :mln", None),
        ("5 :bn", None),
        ("1e308 million", None),
        ("Plan B (5)", None),
        ("Plan B - 5", 5.0),
        ("Net revenue - 5", 5.0),
        ("(net) profit - 5", 5.0),
        ("(net profit)- 5", None),
        ("it is- 5", None),
    ],
)
def test_one_number_of_several_that_are_written(text: str, value: float | None) -> None:
    said = number(f"Final answer: {text}")
    assert isinstance(said, str) if value is None else said == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("7% (in millions)", 0.07), ("7", 7.0), ("40% = 0.4", 0.4), ("700 bp", 0.07), ("$7", None), ("7 million", None),
     ("7 (%)", 0.07), ("-25% = (25%)", -0.25), ("2024 or 7.5%", None), ("7.04%, about 7.0%", 0.0704),
     ("7.04%, 7.14%", None)],
)  # fmt: skip
def test_a_percentage_has_no_scale(text: str, value: float | None) -> None:
    said = number(f"Final answer: {text}", kind="percent")
    assert isinstance(said, str) if value is None else said == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # a number in parentheses restates one of its own unit, and is negative where it stands for itself
        ("margin 5%; net profit: ($40)", -40.0),
        ("$40 for the year ($40)", 40.0),
        # those of a calculation are no sign: before, these were read as -5, or refused
        ("margin 50%; profit is (10 - 5 = 5)", 5.0),
        ("On 7 shares the profit is ($10 - $5 = $5)", 5.0),
        ("On 7 shares the profit: ($10 - $5 = $5) million", 5e6),
        ("($10 - $5 = $5) at 7%", 5.0),
        ("At 7% it is ($5 - $10 = -$5)", -5.0),
        ("$5, (10 / 20 = 50%)", 5.0),
        ("$5, 50%", None),
        ("$7 (in millions of dollars)", 7e6),
        ("7 million (USD)", 7e6),
        ("€7 (in millions of dollars)", None),
        ("1,500,000,000,000,000 (in USD)", 1.5e15),
        ("5.5 = $5.5 million", 5.5e6),
    ],
)
def test_an_amount_beside_other_numbers(text: str, value: float | None) -> None:
    said = number(f"Final answer: {text}", kind="currency")
    assert isinstance(said, str) if value is None else said == value


@pytest.mark.parametrize(
    ("text", "asked", "value"),
    [
        ("18 months = 1.5 years", {"unit": "years"}, 1.5),
        ("18 = 2 years", {"unit": "years"}, None),
        ("2 years = 3", {"unit": "years"}, None),
        ("5% over 30 days", {"kind": "any"}, 0.05),
        ("3 days over 30 days", {"unit": "days"}, None),
        ("$5 EUR", {"kind": "any"}, None),
        ("7 (USD and EUR)", {"kind": "any"}, None),
    ],
)
def test_units_beside_each_other(text: str, asked: dict[str, str], value: float | None) -> None:
    said = number(f"Final answer: {text}", **asked)
    assert isinstance(said, str) if value is None else said == value


@pytest.mark.parametrize(
    ("text", "asked", "reason"),
    [
        ("$7", {}, "wrong unit: '$7' is in USD, asked for a plain number"),
        ("7 months", {"unit": "years"}, "wrong unit: '7 months' is in months, asked for years"),
        ("7 and 8 were reported (in millions)", {}, "unclear to which number the scale belongs"),
        ("7 (thousands and millions)", {}, "unclear scale or unit: '(thousands and millions)'"),
        ("5abc", {}, "unclear scale or sign after '5': 'abc'"),
        ("5^23", {}, "unclear scale or sign after '5': '^2'"),
        ("1e308 million", {}, "number out of range: '1e308 million'"),
        ("4 shares at $500", {"kind": "currency"}, "two quantities, a count and a price or value: '4 shares at $500'"),
        ("profit, $ millions: 5", {}, "in millions or not? write it behind the number: '5'"),
        (
            "percentage: 5",
            {"kind": "percent"},
            "in percent or a fraction? write the percent sign behind the number: '5'",
        ),
        ("100, or (10 / 2 = 5)", {}, "several numbers in the stated answer: 100, 5"),
    ],
)
def test_a_refusal_quotes_what_it_is_about(text: str, asked: dict[str, str], reason: str) -> None:
    assert str(number(f"Final answer: {text}", **asked)).startswith(reason)


@pytest.mark.parametrize(
    ("text", "asked", "value"),
    [
        # where all figures are in millions, a million and more was written in full, and nothing is nothing
        ("1,000,000", {"kind": "currency"}, 1e6),
        ("-1,000,000", {"kind": "currency"}, -1e6),
        ("999,999", {"kind": "currency"}, None),
        ("-5.6", {"kind": "currency"}, None),
        ("0", {"kind": "currency"}, 0.0),
        ("0.5", {"kind": "currency"}, None),
        ("5.6 thousand", {"kind": "currency"}, 5600.0),
        ("5.6", {"kind": "currency", "unit": "EUR"}, None),
        ("5.6 units", {"unit": "units"}, None),
        ("5.6 years", {"unit": "years"}, 5.6),
        ("5.6", {}, 5.6),
        ("5.6", {"kind": "any"}, 5.6),
        ("5.6", {"kind": "percent"}, 5.6),
    ],
)
def test_a_scale_of_all_figures(text: str, asked: dict[str, str], value: float | None) -> None:
    said = number(f"All figures are in millions.\nFinal answer: {text}", **asked)
    assert "in full or in millions?" in str(said) if value is None else said == value
    assert isinstance(number(f"All figures, of course.\nFinal answer: {text}", **asked), float)


@pytest.mark.parametrize(
    ("text", "asked", "value"),
    [
        # a fraction of 1 in a sentence is one by the format; a label may mean either
        ("The percentage is 1", {"kind": "percent"}, 1.0),
        ("The percentage is 1.01", {"kind": "percent"}, None),
        ("The percentage is -1", {"kind": "percent"}, -1.0),
        ("The percentage is -1.01", {"kind": "percent"}, None),
        ("The percentage was about 5", {"kind": "percent"}, None),
        ("percentage: 1", {"kind": "percent"}, None),
        ("percentage: 1%", {"kind": "percent"}, 0.01),
        ("percentage: 1", {"kind": "any"}, 1.0),
        ("profit_millions: 5", {"kind": "currency"}, None),
        ("profit_millions: 5 million", {"kind": "currency"}, 5e6),
        ("profit_millions: 5", {}, None),
        ("profit_millions: 5", {"kind": "any"}, 5.0),
        ("growth_millions: 5", {"kind": "percent"}, 5.0),
        ("$4 million / $2 million = 2", {}, 2.0),
    ],
)
def test_a_number_under_a_label_that_names_a_unit(text: str, asked: dict[str, str], value: float | None) -> None:
    said = number(f"Final answer: {text}", **asked)
    assert " or " in str(said) and "?" in str(said) if value is None else said == value


@pytest.mark.parametrize(
    ("text", "asked", "value"),
    [
        ("4 shares at $500", {"kind": "currency"}, None),
        ("4 shares at $500", {"unit": "shares"}, 4.0),
        ("2 contracts at 500", {"unit": "contracts"}, None),
        ("3 units at $500", {"unit": "units"}, 3.0),
        ("100 shares at 5%", {"kind": "percent"}, 0.05),
        ("$7 beside 4 shares at $500", {"kind": "currency"}, None),
        ("$500 is the price: 4 shares at $500", {"kind": "currency"}, 500.0),
        ("It is $500; 4 shares at 7%", {"kind": "currency"}, 500.0),
    ],
)
def test_a_count_at_a_price(text: str, asked: dict[str, str], value: float | None) -> None:
    said = number(f"Final answer: {text}", **asked)
    assert isinstance(said, str) if value is None else said == value


def test_words_of_a_fall_stand_within_160_characters() -> None:
    for blanks, falls in ((153, True), (154, False)):
        assert is_fall("loss of" + " " * blanks + "5", 7 + blanks, 8 + blanks) is falls
        assert is_fall("5" + " " * (blanks + 3) + "loss", 0, 1) is falls


def test_nothing_is_not_negative_by_words() -> None:
    for text, worded in (("a decrease of 5", True), ("a decrease of 0", False), ("-5", False)):
        stated = parse_number(f"Final answer: {text}")
        assert not isinstance(stated, Refusal) and stated.negative_by_words is worded


def test_a_dash_behind_an_equals_sign_is_a_minus() -> None:
    assert number("= - 5") == number("x = - 5") == -5.0


def test_a_field_may_hold_a_dash_before_its_number() -> None:
    stated = read_number("- 5")
    assert not isinstance(stated, Refusal) and stated.value == -5.0


@pytest.mark.parametrize(("text", "value"), [("so it is - 5", None), ("it equals - 5%", None), ("Revenue - 5", 5.0)])
def test_a_dash_behind_a_verb_may_be_a_minus_and_behind_a_name_is_none(text: str, value: float | None) -> None:
    said = number(f"Final answer: {text}")
    assert "may or may not be a minus sign" in str(said) if value is None else said == value


def test_of_an_order_that_differs_the_items_in_their_place_are_told() -> None:
    score = ExpectedOrder((3, 1, 2)).grade("Final answer: 3, 2, 1")
    assert (score.passed, score.reason) == (False, "1 of 3 items in their place; exact match only")
    assert not ExpectedOrder((3, 1, 2)).grade("Final answer: 3, 1").passed


def test_an_order_has_at_most_a_hundred_items() -> None:
    items = tuple(range(1, 102))
    assert ExpectedOrder(items[:100]).grade("Final answer: " + ",".join(map(str, items[:100]))).passed
    refused = ExpectedOrder(items).grade("Final answer: " + ",".join(map(str, items)))
    assert refused.reason == "the stated order has 101 items, more than 100"
