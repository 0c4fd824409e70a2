"""Inputs as they are told: every one of them stands in the text, in one unit or another, and nothing is labelled."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from typing import get_args

import pytest

from evaluators.contract import DIFFICULTIES, Difficulty
from evaluators.professional.assignment import Assignment
from evaluators.professional.dataset import TEMPLATES
from evaluators.professional.figures import DECIMAL, FORMS, Form, Unit, Value, bare, is_figure, near, written
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet
from evaluators.professional.telling import tell

DRAWS = 6
SHIFTS = range(-6, 7)
NUMBER = re.compile(r"(?<![\w.])-?[$]?\d[\d,]*(?:\.\d+)?")


def told(name: str, difficulty: Difficulty, draw: int) -> tuple[Assignment, str]:
    rng = random.Random(f"{name} {difficulty} {draw}")
    assignment = TEMPLATES[name].draw(rng)
    return assignment, tell(rng, assignment.sheet, difficulty)


def numbers(text: str) -> set[Decimal]:
    return {abs(Decimal(re.sub(r"[$,-]", "", token))) for token in NUMBER.findall(text)}


def stands(value: Value, shown: set[Decimal]) -> bool:
    size = abs(Decimal(str(value)))
    return any(size.scaleb(shift) in shown for shift in SHIFTS)


def follows(value: Value, shown: set[Decimal]) -> bool:
    """Whether it is the sum or the difference of two numbers of the text, in one unit."""
    size = abs(Decimal(str(value)))
    return any(abs(size.scaleb(shift) - one) in shown for shift in SHIFTS for one in shown)


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_every_input_stands_in_the_text(name: str, difficulty: Difficulty) -> None:
    for draw in range(DRAWS):
        assignment, text = told(name, difficulty, draw)
        shown, missing = numbers(text), []
        for fact in assignment.sheet.facts:
            there = stands(fact.value, shown) if is_figure(fact.unit, fact.value) else bare(fact.value, DECIMAL) in text
            if not there:
                missing.append(fact)
        # one figure of an expert task follows from two others
        assert len(missing) <= (difficulty == "expert"), missing
        assert all(follows(fact.value, shown) for fact in missing)
        for table in assignment.sheet.exhibits:
            for row in table.rows:
                for heading, cell in zip(table.headings, row, strict=True):
                    known = stands(cell, shown) if is_figure(heading.unit, cell) and not isinstance(cell, str) else None
                    assert known or bare(cell, DECIMAL) in text, (heading, cell)


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_only_what_is_not_easy_has_more_than_is_needed(name: str) -> None:
    for draw in range(DRAWS):
        assignment, easy = told(name, "easy", draw)
        sheet = assignment.sheet
        beside = {called for fact in sheet.beside for called in fact.names}
        beside |= {called for table in sheet.exhibits for heading, _ in table.beside for called in heading.names}
        assert not any(re.search(rf"\b{re.escape(called)}\b", easy, re.I) for called in beside)
        for difficulty in ("hard", "expert"):
            rng = random.Random(f"{name} {draw}")
            other = tell(rng, sheet, difficulty)
            assert any(re.search(rf"\b{re.escape(called)}\b", other, re.I) for called in beside)
            spare = [key for table in sheet.exhibits for key in table.spare]
            assert any(re.search(rf"\b{key}\b", other) for key in spare) == bool(spare)
            assert ("is of this assignment." in other) == bool(spare)


SMALL = Sheet(
    facts=(Fact(("fee",), 25, "basis points"), Fact(("cash",), 120_000.0, "dollars"), Fact(("day",), "2024", "text")),
    exhibits=(
        Exhibit(("lines",), (Heading(("line",)), Heading(("price",), "price"), Heading(("weight",), "fraction")),
                (("A", 12.5, 0.0425), ("B", 8.0, 0.3), ("C", 3.25, 0.1))),
    ),
)  # fmt: skip


def test_two_sources_differ_and_the_text_says_which_one_counts() -> None:
    for draw in range(40):
        text = tell(random.Random(draw), SMALL, "expert")
        match = re.search(r"Where (.+) and (.+) differ, take the figure of (.+)\.", text)
        assert match is not None and match[3] == match[1]
        found = re.search(rf"([$\d.,]+)( thousand| million| basis points|%)? according to {re.escape(match[1])}", text)
        assert found is not None, text
        stated = Decimal(re.sub("[$,]", "", found[1]))
        assert any(stated.scaleb(shift) in (Decimal(25), Decimal(120_000)) for shift in SHIFTS)


def test_a_valid_correction_has_the_right_figure_and_another_a_wrong_one() -> None:
    right = {("A", "price"): "12.5", ("A", "weight"): "0.0425", ("B", "price"): "8", ("B", "weight"): "0.3",
             ("C", "price"): "3.25", ("C", "weight"): "0.1"}  # fmt: skip
    for draw in range(40):
        text = tell(random.Random(draw), SMALL, "expert")
        rule = re.search(r"one that is (\w+) replaces the figure, one that is (\w+) does not", text)
        assert rule is not None
        notes = re.findall(r"- (\w), (\w+): [$]?([\d.,]+)[^(]*\((\w+)\)", text)
        assert len(notes) == 4 and {state for *_, state in notes} == {rule[1], rule[2]}
        for line, what, figure, state in notes:
            stated, gold = Decimal(figure.replace(",", "")), Decimal(right[line, what])
            is_right = any(stated.scaleb(shift) == gold for shift in (0, -2, -4))
            assert is_right == (state == rule[1]), (draw, line, what, figure, state)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (1234567.5, "dollars", ["$1,234,567.50", "$1,234.5675 thousand", "$1.2345675 million"]),
        (-40_000, "dollars", ["-$40,000", "-$40 thousand", "-$0.04 million"]),
        (12.5, "price", ["$12.50", "1,250 cents"]),
        (0.1, "millions", ["$0.1 million", "$100 thousand", "$0.0001 billion"]),
        (0.0425, "fraction", ["4.25%", "0.0425", "425 basis points"]),
        (7.5, "basis points", ["7.5 basis points", "0.075%"]),
        (1200, "number", ["1,200"]),
        ("2024", "text", ["2024"]),
    ],
)
def test_a_figure_keeps_its_value_in_every_form(value: Value, unit: Unit, expected: list[str]) -> None:
    assert [written(value, form) for form in FORMS[unit]] == expected
    assert set(FORMS) == set(get_args(Unit))


def test_a_bare_figure_has_no_unit_of_its_own() -> None:
    assert [bare(0.0425, form) for form in FORMS["fraction"]] == ["4.25", "0.0425", "425"]
    assert bare(12.5, Form(heading="$")) == "12.50" and bare("P 1", DECIMAL) == "P 1"


@pytest.mark.parametrize("value", [1, 2, 30, -12, 0.0425, 120_000.0, 3.7, -0.5])
def test_another_figure_is_of_the_same_kind_and_never_the_same(value: int | float) -> None:
    for draw in range(200):
        found = near(random.Random(draw), value)
        assert type(found) is type(value) and found != value and found * value > 0
        assert 0.5 * abs(value) <= abs(found) <= 2 * abs(value)


def test_what_cannot_be_moved_is_not() -> None:
    assert not is_figure("text", "2024") and not is_figure("number", 0) and not is_figure("number", "O1")
    assert is_figure("number", -3)


def test_order_names_and_forms_differ_between_draws() -> None:
    texts = {tell(random.Random(draw), SMALL, "easy") for draw in range(30)}
    assert len(texts) == 30


def test_a_table_that_is_corrected_holds_the_wrong_figure() -> None:
    for draw in range(40):
        text = tell(random.Random(draw), SMALL, "expert")
        (shown,) = [block for block in text.split("\n\n") if block.lower().startswith("lines\n")]
        right = [cell for row in SMALL.exhibits[0].rows for cell in row[1:]]
        assert sum(not stands(cell, numbers(shown)) for cell in right) >= 1
        assert all(stands(cell, numbers(text)) for cell in right)


def test_easy_texts_keep_to_the_usual_units_and_the_order_of_the_rows() -> None:
    orders = set()
    for draw in range(40):
        easy = tell(random.Random(draw), SMALL, "easy")
        assert not re.search(r"thousand|million|cents|as a decimal", easy)
        assert all(written(fact.value, FORMS[fact.unit][0]) in easy for fact in SMALL.facts)
        hard = tell(random.Random(draw), SMALL, "hard")
        lines = re.findall(r"(?m)\b([ABC])\b", hard)
        orders.add("".join(lines))
        assert "".join(re.findall(r"\b([ABC])\b", easy)) == "ABC"
    assert len(orders) > 3


def test_a_percentage_is_never_raised_by_a_percentage() -> None:
    rates = Sheet(facts=(Fact(("rate",), 0.05, "fraction"), Fact(("fee",), 25, "basis points")))
    texts = [tell(random.Random(draw), rates, "expert") for draw in range(60)]
    assert not any(re.search(r"(raised|lowered) by [\d.]+%", text) for text in texts)
    assert any(re.search(r"(raised|lowered) by [\d.]+ percentage points", text) for text in texts)
