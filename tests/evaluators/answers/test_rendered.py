"""Drawn numbers in drawn surface forms: the right one reads back as itself, a mutated one never passes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.answers import Refusal, StatedNumber, parse_number

MINUS = ["-", "\u2212", "\u2013", "\u2014", "\u2012", "\uff0d", "\ufe63"]
SCALES = {
    "": 1.0,
    " thousand": 1e3,
    "K": 1e3,
    " million": 1e6,
    "M": 1e6,
    "mn": 1e6,
    " billion": 1e9,
    "bn": 1e9,
    "亿": 1e8,
}
NOTES = {
    "": 1.0,
    " (in thousands)": 1e3,
    " (in millions)": 1e6,
    " (USD millions)": 1e6,
    " (in billions of US dollars)": 1e9,
}
WRAPS = [
    "{}",
    "Final answer: {}",
    "Final answer: <{}>",
    "<answer>{}</answer>",
    "The answer is {}.",
    "**{}**",
    '{{"answer": "{}"}}',
]
figures = st.integers(1, 9_999_999).map(lambda cents: cents / 100)


def read(text: str, kind: str) -> float | None:
    stated = parse_number(text, kind="currency" if kind == "money" else "percent")
    return stated.value if isinstance(stated, StatedNumber) else None


@given(figures, st.sampled_from(["", *MINUS]), st.sampled_from(sorted(SCALES)), st.booleans(), st.sampled_from(WRAPS))
@settings(max_examples=150)
def test_money_reads_back_and_its_mutations_do_not(
    figure: float, minus: str, scale: str, grouped: bool, wrap: str
) -> None:
    written = f"{figure:,.2f}" if grouped else f"{figure:.2f}"
    gold = figure * SCALES[scale] * (-1 if minus else 1)
    assert read(wrap.format(f"{minus}${written}{scale}"), "money") == pytest.approx(gold, rel=1e-12)
    other_sign = "" if minus else "-"
    for wrong in (
        f"{other_sign}${written}{scale}",
        f"{minus}€{written}{scale}",
        f"{minus}${written}{scale} shares",
        f"{minus}${written}{'' if scale else ' thousand'}",
        f"{minus}{written}{scale}%",
        f"not {minus}${written}{scale}",
        f"{minus}${written}{scale} or ${3 * figure:.2f}{scale}",
    ):
        assert read(wrap.format(wrong), "money") != pytest.approx(gold, rel=1e-3), wrong


@given(figures, st.sampled_from(sorted(NOTES)), st.sampled_from(WRAPS))
@settings(max_examples=80)
def test_a_scale_note_is_part_of_the_number(figure: float, note: str, wrap: str) -> None:
    assert read(wrap.format(f"${figure:,.2f}{note}"), "money") == pytest.approx(figure * NOTES[note], rel=1e-12)


@given(st.integers(1, 99_999), st.sampled_from(["", *MINUS]), st.sampled_from(WRAPS))
@settings(max_examples=100)
def test_a_percentage_reads_back_and_its_mutations_do_not(points: int, minus: str, wrap: str) -> None:
    gold = points / 10_000 * (-1 if minus else 1)
    size = f"{points / 100:.2f}"
    for right in (f"{minus}{size}%", f"{minus}{size} percent", f"{minus}{points} bps", f"{minus}{points / 1e4:.4f}"):
        assert read(wrap.format(right), "percent") == pytest.approx(gold, abs=1e-12), right
    for wrong in (
        f"{'' if minus else '-'}{size}%",
        f"{minus}{size} bps",
        f"{minus}${size}",
        f"{minus}{size}% to 9999%",
    ):
        assert read(wrap.format(wrong), "percent") != pytest.approx(gold, rel=1e-3), wrong


PIECES = [
    "1",
    "(in millions)",
    "-",
    "$",
    "%",
    "or",
    "fell by",
    "=",
    "→",
    "<",
    ">",
    "(",
    ")",
    "2013",
    " ",
    "million",
    "no",
    ",",
    "亿",
    "^",
    "\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
@settings(max_examples=200)
def test_no_mixture_of_the_grammar_s_words_makes_the_reader_raise(text: str) -> None:
    for reply in (text, f"Final answer: {text}"):
        assert isinstance(parse_number(reply, kind="any"), StatedNumber | Refusal)


@pytest.mark.parametrize("piece", PIECES)
def test_a_reply_of_two_million_characters_costs_no_more_than_a_look_at_its_length(piece: str) -> None:
    text = f"Final answer: {piece * (2_000_000 // len(piece))}"
    began = time.process_time()
    assert isinstance(parse_number(text, kind="any"), Refusal)
    assert time.process_time() - began < 0.1
