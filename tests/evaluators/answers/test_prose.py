"""A number in any of its spellings inside prose reads back as itself or is refused; wrapping never changes a reading.

A silent misreading is worse than a refusal: the agent sees a refusal's reason, and nobody sees the other.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.answers import Kind, StatedNumber, parse_number

PLAIN = [
    "Net income was {}.",
    "In fiscal 2013 it was {}.",
    "{} was the figure for 2013.",
    "For the year ended September 28, 2013, the figure is {}.",
    "Per the 10-K filed 2013-10-30 the result is {} (Note 5).",
    "The difference between fiscal 2010 and 2013 is {}.",
    "Over the three years 2011-2013 the total is {}.",
    "The total, rounded to 2 decimals, is {}.",
    "The result over 249 trading days is {}.",
    "It is {} with 252 trading days a year.",
    "It is {} as of Q3 2013.",
    "The S&P 500 figure is {}.",
    "The decrease in sales led to a result of {}.",
    "Although sales fell, the result is {}.",
    "After a loss in 2012, the result is {}.",
    "Step 3: {}",
    "2013: {}",
]
"""Sentences that state one number: it has to be read."""
CROWDED = [
    "At a tax rate of 21%, it is {}.",
    "With 5 contracts of 100 shares each, it is {}.",
    "At 21% it came out as {}.",
    "5 contracts: {}",
    "Sales fell 5%; the result is {}.",
    "Although sales fell by 5%, the result is {}.",
    "{} in 2013 versus $5 million in 2012",
    "It rose to {} from $5 million.",
    "It was {}, up from 30% in 2012.",
    "$9 million less costs of $2 million gives {}.",
    "Year 1: 100, year 2: 200. The sum is {}.",
    "{} (5 of 40)",
    "At a strike of 100 it is {}.",
]
"""Sentences with other numbers: read as it is meant, or refused."""
WRAPS = [
    "{}",
    "Final answer: {}",
    "**Final answer:** {}",
    "Work: 1,234 x 2.\n\nFinal answer: {}",
    "<answer>{}</answer>",
]
MINUS = ["-", "\u2212", "\u2013", "minus "]


def money(cents: int, minus: str) -> list[str]:
    figure = cents / 100
    forms = [
        f"${figure:,.2f}",
        f"${figure:.2f}",
        f"USD {figure:,.2f}",
        f"{figure:,.2f} dollars",
        f"US${figure:,.2f}",
        f"${cents / 1e5:.5f} thousand",
        f"${cents / 1e8:.8f} million",
        f"${cents / 1e8:.8f}M",
        f"${cents / 1e8:.8f} (in millions)",
        f"{cents / 1e11:.11f} billion US dollars",
    ]
    return [f"{minus}{form}" for form in forms] + ([f"(${figure:,.2f})", f"$({figure:,.2f})"] if minus else [])


def percent(hundredths: int, minus: str) -> list[str]:
    points = hundredths / 100
    forms = [f"{points:.2f}%", f"{points:.2f} %", f"{points:.2f} percent", f"{points / 100:.4f}", f"{hundredths:,} bps"]
    both = f"{minus}{points:.2f}% ({minus}{points / 100:.4f})"
    return [*(f"{minus}{form}" for form in forms), both, *([f"({points:.2f}%)"] if minus else [])]


def read(text: str, kind: Kind) -> float | None:
    stated = parse_number(text, kind=kind)
    return stated.value if isinstance(stated, StatedNumber) else None


@pytest.mark.parametrize("kind", ["currency", "percent"])
@given(
    number=st.integers(1, 9_999_999),
    minus=st.sampled_from(["", "", *MINUS]),
    sentence=st.sampled_from([*PLAIN, *CROWDED]),
    wrap=st.sampled_from(WRAPS),
    data=st.data(),
)
@settings(max_examples=300)
def test_a_number_in_prose_is_read_as_itself_or_refused(
    kind: Kind, number: int, minus: str, sentence: str, wrap: str, data: st.DataObject
) -> None:
    number = number if kind == "currency" else number % 50_000 + 1
    form = data.draw(st.sampled_from((money if kind == "currency" else percent)(number, minus)))
    gold = (number / 100 if kind == "currency" else number / 10_000) * (-1 if minus else 1)
    given_value = read(wrap.format(sentence.format(form)), kind)
    if given_value is None:
        assert sentence in CROWDED, (form, sentence)
    else:
        assert given_value == pytest.approx(gold, rel=1e-9), (form, sentence)


FALLS = ["fell", "fell by", "dropped", "declined by", "were down", "lost", "shrank by", "decreased"]
JOINTS = ["; ", ". ", ", ", ", so ", ", and ", " and ", ": ", " - ", ", but ", " while "]
BESIDE = ["the result is {}", "the answer: {}", "the margin is {}", "costs rose {}", "growth was {}", "it came to {}"]


@given(
    hundredths=st.integers(1, 2_000),
    off=st.integers(-9, 9),
    fall=st.sampled_from(FALLS),
    joint=st.sampled_from(JOINTS),
    beside=st.sampled_from(BESIDE),
    wrap=st.sampled_from(WRAPS),
)
@settings(max_examples=400)
def test_a_fall_beside_a_number_of_about_its_size_turns_no_sign(
    hundredths: int, off: int, fall: str, joint: str, beside: str, wrap: str
) -> None:
    """Whatever fell by nearly as much, the number of another clause keeps its sign, or the text is refused."""
    other = max(1, hundredths + off)
    text = f"Sales {fall} {other / 100:.2f}%{joint}{beside.format(f'{hundredths / 100:.2f}%')}."
    value = read(wrap.format(text), "percent")
    assert value is None or value == pytest.approx(hundredths / 10_000, rel=1e-9), text
    if beside.startswith(("the result", "the answer")) and joint in ("; ", ". ", ", so "):
        assert value is not None, text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Sales fell 5%; the result is 4.91%", 0.0491),
        ("a decrease of 5% (0.05)", -0.05),
        ("Sales fell by 5%, or 0.05", -0.05),
        ("Sales fell 5.00%, about 5%", -0.05),
        ("4.91%, a decrease of about 5%", -0.0491),
        ("4.91% (a loss of 4.91%)", -0.0491),
        ("4.91% is the result: sales fell 5%", 0.0491),
        ("Sales fell 5%; the result is -4.91%", -0.0491),
        ("Sales fell 5%; the result is a loss of 4.91%", -0.0491),
    ],
)
def test_what_restates_a_fall_has_its_sign_and_a_result_beside_it_has_its_own(text: str, value: float) -> None:
    assert read(f"Final answer: {text}", "percent") == pytest.approx(value)


PIECES = [
    "$5",
    "45.3%",
    "0.453",
    "(5)",
    "-",
    "–",
    " million",
    "K",
    "bn",
    " (in thousands)",
    " in millions",
    " or ",
    "=",
    " is ",
    "fell by ",
    " loss",
    "e3",
    " x",
    " per",
    " SEK",
    "R$",
    "%",
    " bps",
    ",",
    ";",
    " from 2012",
    " to ",
    " 2013",
    "about ",
    "7",
    " shares",
    "not ",
    "(",
    ")",
    ".",
    " vs ",
    "€",
    "12,345",
    " percent",
    " days",
]


@given(
    text=st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join),
    kind=st.sampled_from(["number", "currency", "percent"]),
)
@settings(max_examples=500)
def test_no_accepted_text_reads_as_two_numbers(text: str, kind: Kind) -> None:
    """Whether marked, bold, boxed by tags or in JSON: what is read is one number."""
    wraps = [
        text,
        f"Final answer: {text}",
        f"**Final answer:** {text}",
        f"<answer>{text}</answer>",
        json.dumps({"answer": text}),
    ]
    readings = [value for wrap in wraps if (value := read(wrap, kind)) is not None]
    assert all(value == pytest.approx(readings[0], rel=1e-9) for value in readings), (text, readings)
