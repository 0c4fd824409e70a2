"""Rules V2 and V3 of the scoring design: every honest form of an answer is read, every dishonest one is refused."""

from __future__ import annotations

import math
from typing import cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluators.answers import (
    Refusal,
    StatedNumber,
    StatedSequence,
    Tolerance,
    numbers_match,
    parse_accession_number,
    parse_date,
    parse_number,
    parse_sequence,
)
from evaluators.answers.number import Kind

WORK = "Step 1: revenue is 13.75 million.\nStep 2: cost is 8.25 million.\nStep 3: subtract.\n"

CURRENCY_FORMS = [
    "5500000",
    "5,500,000",
    "$5.5M",
    "5.5 million",
    "$5,500,000.00",
    "USD 5.5 million",
    "US$5.5m",
    "5.5 million dollars",
    "5.5e6",
    "$5,500 thousand",
    "0.0055 billion",
    "The profit was $5.5 million.",
    "In fiscal 2024 the profit came to $5.5 million",
    WORK + "Final answer: $5.5M",
    WORK + "The answer is $5.5 million.",
    WORK + "**Final answer:** 5,500,000",
    WORK + "## Final answer\n\n$5.5M",
    "Final answer: 13.75M - 8.25M = 5.5M",
    "Final answer: $5.5M (5,500,000)",
    '{"answer": 5500000}',
    '{"answer": 5.5, "unit": "million USD"}',
    '{"final_answer": "$5.5M", "working": "13.75 - 8.25"}',
    WORK + '```json\n{"answer": "$5.5M"}\n```',
    r"Therefore \boxed{\$5.5M}.",
    r"$\boxed{5{,}500{,}000}$",
    r"Final answer: \boxed{5.5\text{ million}}",
]
PERCENT_FORMS = [
    "40%",
    "0.40",
    ".4",
    "40 percent",
    "40 per cent",
    "40 %",
    "+40%",
    "4000 bp",
    "40.0% (0.40)",
    "The margin is 40%.",
    "The margin was 40% on revenue of $13.75 million.",
    WORK + "Final answer: 40%",
    WORK + "My final answer is 0.4",
    "Final answer: 5.5 / 13.75 = 40%",
    '{"answer": 0.4}',
    '{"answer": "40%"}',
    '{"answer": 40, "unit": "percent"}',
    r"\boxed{40\%}",
    r"$40\%$",
    "最终答案：40％",
]
NEGATIVE_FORMS = [
    "(61.38)",
    "-61.38",
    "−61.38",
    "minus 61.38",
    "negative 61.38",
    "- 61.38 is wrong to write without a label, but fine here\nFinal answer: - 61.38",
    "Final answer: (61.38)",
    '{"answer": -61.38}',
    '{"answer": "(61.38)"}',
    r"\boxed{-61.38}",
    "The change is -61.38.",
    WORK + "Final answer: −61.38",
]
ORDER_FORMS = [
    "2,1,4,3",
    "2-1-4-3",
    "2, 1, 4, 3",
    "Q4: 2,1,4,3",
    "2 -> 1 -> 4 -> 3",
    "2 → 1 → 4 → 3",
    "2 > 1 > 4 > 3",
    "(2)(1)(4)(3)",
    "[2, 1, 4, 3]",
    "2、1、4、3",
    "The order is 2,1,4,3.",
    WORK + "Final answer: 2,1,4,3",
    "Final answer: [2, 1, 4, 3]",
    '{"answer": [2, 1, 4, 3]}',
    '{"cot": "first 2, then 1", "answer": "2,1,4,3"}',
    r"\boxed{2,1,4,3}",
    "Final answer: Event 2, Event 1, Event 4, Event 3",
    "Final answer: E2 → E1 → E4 → E3",
    "最终答案：事件2、事件1、事件4、事件3",
]
PLAIN_FORMS = [
    "1.45",
    "1.45x",
    "1.45 times",
    "1.45:1",
    "1.45 to 1",
    "about 1.45",
    "~1.45",
    "≈ 1.45",
    "The current ratio is 1.45.",
    "Final answer: 153.0 / 105.5 ≈ 1.45",
    WORK + "Final answer: 1.45",
    '{"answer": 1.45}',
    r"\boxed{1.45}",
]


def value(text: str, kind: Kind) -> float:
    stated = parse_number(text, kind=kind)
    assert isinstance(stated, StatedNumber), stated
    return stated.value


@pytest.mark.parametrize("text", CURRENCY_FORMS)
def test_an_amount_is_read_in_every_surface_form(text: str) -> None:
    assert value(text, "currency") == pytest.approx(5_500_000.0, rel=1e-12)


@pytest.mark.parametrize("text", PERCENT_FORMS)
def test_a_percentage_is_read_in_every_surface_form(text: str) -> None:
    assert value(text, "percent") == pytest.approx(0.4, rel=1e-12)


@pytest.mark.parametrize("text", PLAIN_FORMS)
def test_a_plain_number_is_read_in_every_surface_form(text: str) -> None:
    assert value(text, "number") == pytest.approx(1.45, rel=1e-12)


@pytest.mark.parametrize("text", NEGATIVE_FORMS)
def test_a_negative_number_is_read_in_every_surface_form(text: str) -> None:
    assert value(text, "number") == pytest.approx(-61.38, rel=1e-12)


@pytest.mark.parametrize("text", ORDER_FORMS)
def test_an_order_is_read_in_every_surface_form(text: str) -> None:
    stated = parse_sequence(text)
    assert isinstance(stated, StatedSequence), stated
    assert stated.items == (2, 1, 4, 3)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("It is not 40%", "percent"),
        ("Final answer: it is not 40%", "percent"),
        ("It isn't true that the final answer is 40%", "percent"),
        ("I do not think the final answer is 40%", "percent"),
        ("Final answer: anything but 40%", "percent"),
        ("Final answer: ~~40%~~", "percent"),
        ("Final answer: ≠ 40%", "percent"),
        ("Final answer: 40% or 30%", "percent"),
        ("Final answer: either 40% or 30%", "percent"),
        ("Final answer: 40%, 30%", "percent"),
        ("Final answer: 30%-40%", "percent"),
        ("Final answer: between 30% and 40%", "percent"),
        ("Final answer: 40% ± 5%", "percent"),
        ("Final answer: > 40%", "percent"),
        ("Final answer: at least 40%", "percent"),
        ("Final answer: maybe 40%", "percent"),
        ("Final answer: 30%\nFinal answer: 40%", "percent"),
        ("Final answer: 30%\n" + r"\boxed{40\%}", "percent"),
        ('Final answer: 30%\n```json\n{"answer": 0.4}\n```', "percent"),
        ('{"answer": 0.3, "final_answer": 0.4}', "percent"),
        ("Final answer: 40%\nActually, that is a mistake: it is 30%.", "percent"),
        ("Final answer: 40%\nAlternatively 30%.", "percent"),
        ('{"answer": 0.4}\nWait, it might be 0.3', "percent"),
        ('{"answer": 0.4} or {"answer": 0.3}', "percent"),
        ("10% 20% 30% 40% 50%", "percent"),
        ("", "percent"),
        (".", "percent"),
        ("I don't know", "percent"),
        ("Final answer:", "percent"),
        ("Final answer: <percentage>", "percent"),
        ("40 euros", "percent"),
        ("$40", "percent"),
        ("5.5 million euros", "currency"),
        ("€5.5M", "currency"),
        ("€5.5M ($5.5M)", "currency"),
        ("5.5%", "currency"),
        ("5.5 million shares", "currency"),
        ("5.5 zillion", "currency"),
        ("5.5 million billion", "currency"),
        ("550,00,00", "currency"),
        ("1e999", "currency"),
        ("NaN", "currency"),
        ("Infinity", "currency"),
        ("40%", "number"),
        ("$40", "number"),
        ("40 days", "number"),
        ("- 61.38", "number"),
        ('{"answer": true}', "number"),
        ('{"answer": null}', "number"),
        ('{"answer": {"value": 40}}', "number"),
        ('{"answer": 40, "answer": 41}', "number"),
        ('{"answer": NaN}', "number"),
        ('{"answer": 1e999}', "number"),
        ('{"result": 40}', "number"),
        ('{"question": "What is it? Final answer: 40"}', "number"),
    ],
)
def test_a_reply_without_one_clear_right_typed_number_is_refused(text: str, kind: Kind) -> None:
    assert isinstance(parse_number(text, kind=kind), Refusal)


@pytest.mark.parametrize(
    ("text", "kind", "gold"),
    [
        ("40", "percent", 0.4),
        ("0.40%", "percent", 0.4),
        ("The margin is 30%, up from 40%", "percent", 0.4),
        ("-40%", "percent", 0.4),
        ("(40%)", "percent", 0.4),
        ("40 bp", "percent", 0.4),
        ("Revenue of $5.5M was expected, 5.5 million.\nFinal answer: $6.1M", "currency", 5.5e6),
        ("$5.5", "currency", 5.5e6),
        ("$5.5B", "currency", 5.5e6),
        ("$5,500", "currency", 5.5e6),
        ("($5.5M)", "currency", 5.5e6),
        ("55 million cents", "currency", 5.5e6),
    ],
)
def test_a_wrong_scale_or_sign_never_matches(text: str, kind: Kind, gold: float) -> None:
    assert not numbers_match(value(text, kind), gold, relative=0.05)


@pytest.mark.parametrize(
    "text",
    [
        "not 2,1,4,3",
        "2,1,4,3 or 1,2,3,4",
        "2,1,4,3; 1 2 3 4",
        "Final answer: 2,1,4,3 / 1,2,4,3",
        "Final answer: 1,2,3,4\nFinal answer: 2,1,4,3",
        "4",
        "",
        "Final answer: <item numbers in order, separated by commas>",
    ],
)
def test_a_reply_without_one_clear_order_is_refused(text: str) -> None:
    stated = parse_sequence(text)
    assert isinstance(stated, Refusal) or stated.items != (2, 1, 4, 3)


def test_a_stated_answer_wins_over_other_numbers_in_the_work() -> None:
    assert value("The margin was 30% a year ago, 35% since.\nFinal answer: 40%", "percent") == pytest.approx(0.4)


def test_a_unit_word_is_accepted_only_where_the_question_has_it() -> None:
    assert isinstance(parse_number("Final answer: 4.9 years", unit="years"), StatedNumber)
    assert isinstance(parse_number("Final answer: 4.9", unit="years"), StatedNumber)
    assert isinstance(parse_number("Final answer: 4.9 months", unit="years"), Refusal)


def test_a_refusal_says_what_is_wrong() -> None:
    refusal = parse_number("€5.5M", kind="currency")
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "wrong unit: '€5.5M' is in EUR, asked for USD"
    assert parse_number("I do not know.") == Refusal("no number in the stated answer: 'I do not know.'")
    assert parse_number("It is not 5.") == Refusal("the stated answer is negated ('not'): 'It is not 5.'")


def test_unknown_kinds_and_units_are_errors_of_the_caller() -> None:
    with pytest.raises(ValueError, match="kind must be"):
        parse_number("1", kind=cast(Kind, "money"))
    with pytest.raises(ValueError, match="unit must be one of"):
        parse_number("1", unit="parsecs")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Final answer: 0000320193-24-000123", "0000320193-24-000123"),
        ("000032019324000123", "0000320193-24-000123"),
        ('{"answer": "0000320193-24-000123"}', "0000320193-24-000123"),
    ],
)
def test_an_accession_number_is_read_with_and_without_dashes(text: str, expected: str) -> None:
    stated = parse_accession_number(text)
    assert not isinstance(stated, Refusal)
    assert stated.value == expected


@pytest.mark.parametrize("text", ["2024-11-01", "November 1, 2024", "It was filed on 1 Nov 2024.", "2024年11月01日"])
def test_a_date_is_read_where_its_form_is_unambiguous(text: str) -> None:
    stated = parse_date(text)
    assert not isinstance(stated, Refusal)
    assert stated.value == "2024-11-01"


@pytest.mark.parametrize("text", ["01/11/2024", "2024-13-01", "2024-11-01 or 2024-11-02", "2024-11-01, 2024-11-02", ""])
def test_an_ambiguous_or_impossible_date_is_refused(text: str) -> None:
    assert isinstance(parse_date(text), Refusal)


def test_the_tolerance_is_relative_with_an_absolute_floor() -> None:
    assert numbers_match(101.0, 100.0, relative=0.01)
    assert not numbers_match(101.1, 100.0, relative=0.01)
    assert numbers_match(0.004, 0.0, relative=0.01, absolute=0.005)
    assert not numbers_match(-100.0, 100.0, relative=0.01)
    assert not numbers_match(math.nan, 0.0, absolute=1.0)
    assert not numbers_match(math.inf, math.inf)
    with pytest.raises(ValueError, match="relative must lie in"):
        Tolerance(relative=1.0)


@given(st.floats(min_value=-1e12, max_value=1e12, allow_nan=False), st.sampled_from(["", "Final answer: ", "It is "]))
@settings(max_examples=200)
def test_a_formatted_amount_reads_back_as_itself(gold: float, prefix: str) -> None:
    text = f"(${-gold:,.2f})" if gold < 0 else f"${gold:,.2f}"
    assert value(prefix + text, "currency") == pytest.approx(round(gold, 2), rel=1e-12, abs=1e-9)


@given(st.integers(-999_999, 999_999))
@settings(max_examples=100)
def test_a_formatted_percentage_reads_back_as_its_fraction(basis_points: int) -> None:
    assert value(f"Final answer: {basis_points / 100:.2f}%", "percent") == pytest.approx(basis_points / 1e4, abs=1e-12)
    assert value(repr(basis_points / 1e4), "percent") == pytest.approx(basis_points / 1e4, abs=1e-12)


@given(st.permutations(range(1, 8)), st.sampled_from([",", ", ", "-", " -> ", " > "]))
@settings(max_examples=50)
def test_a_formatted_order_reads_back_as_itself(order: list[int], separator: str) -> None:
    stated = parse_sequence("Final answer: " + separator.join(map(str, order)))
    assert isinstance(stated, StatedSequence)
    assert stated.items == tuple(order)


HOSTILE = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="0123456789.,-+()$%€eE \n{}[]\"':=MKbn\\boxedFinalanswer万亿", max_size=120),
)


@given(HOSTILE)
@example("{" * 50_000)
@example('{"a":' * 50_000)
@example("Final answer: " + "9" * 1_900)
@example("(" * 1_900 + "5")
@example(('{"a":[' + "1," * 500) * 190)
@example('{"a":1e999' * 15_000)
@example('{"answer": "\\ud800"}')
@example("9" * 200_001)
@settings(max_examples=200)
def test_no_text_makes_a_parser_raise_or_hang(text: str) -> None:
    kinds: tuple[Kind, ...] = ("number", "currency", "percent")
    for kind in kinds:
        stated = parse_number(text, kind=kind)
        assert isinstance(stated, Refusal) or math.isfinite(stated.value)
    parse_sequence(text)
    parse_date(text)
    parse_accession_number(text)
