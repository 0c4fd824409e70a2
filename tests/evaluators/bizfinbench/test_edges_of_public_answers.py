"""Gold answers of public files at their edges: which units and scales a gold figure may be stated in."""

from __future__ import annotations

import json

import pytest

from evaluators.bizfinbench.public_answers import ExpectedDocument, ExpectedSet, ExpectedText, PublicNumber


@pytest.mark.parametrize(
    ("figure", "percent", "reply", "right"),
    [
        # a gold percentage: with its sign, in basis points, bare, or as a fraction; no scale and no other unit
        (5.0, True, "5%", True), (5.0, True, "500 bp", True), (5.0, True, "5", True), (5.0, True, "0.05", True),
        (5.0, True, "500", False), (5.0, True, "$5", False), (5.0, True, "5 million", False), (5.0, True, "-5%", False),
        (5e6, True, "5 million", False), (500.0, True, "5", True), (500.0, True, "5 years", False),
        # any other: the same value, with a percent sign, or beside a scale word
        (5.0, False, "5", True), (5.0, False, "5%", True), (5.0, False, "5 million", True),
        (5e6, False, "5 million", True),
        (0.05, False, "5%", True), (5.0, False, "500 bp", False), (0.05, False, "500 bp", True),
        (5.0, False, "$5", True),
        (0.05, False, "5", False),
        # 1% of the gold figure, or half a unit of its fourth decimal
        (100.0, False, "101", True), (100.0, False, "101.1", False), (0.0, False, "0.00005", True),
        (0.0, False, "0.00006", False),
        (5.0, True, "5.049%", True), (5.0, True, "5.051%", False), (5.0, True, "0.05049", True),
        (5.0, True, "0.05051", False), (5.0, False, "5.049%", True), (5.0, False, "5.051%", False),
        # words of a fall: its size, or its sign
        (-5.0, True, "a fall of 5%", True), (5.0, True, "a fall of 5%", True), (5.0, True, "minus 5%", False),
    ],
)  # fmt: skip
def test_what_a_gold_figure_may_be_stated_as(figure: float, percent: bool, reply: str, right: bool) -> None:
    score = PublicNumber(figure, percent).grade(f"Final answer: {reply}")
    assert (score.passed, score.value, score.parts) == (right, 100.0 * right, {"answer": 100.0 * right})
    assert score.reason == ("within 1%" if right else "another number")


def test_a_gold_figure_is_written_with_its_sign() -> None:
    assert PublicNumber(5.5, True).gold_text() == "Final answer: 5.5%"
    assert PublicNumber(5.5, False).gold_text() == "Final answer: 5.5"
    assert not PublicNumber(5.5, False).grade("").passed


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Final answer: 1, 3", "the exact set"), ("Final answer: [3; 1]", "the exact set"),
        ("Final answer: 1 and 3.", "the exact set"), ("Final answer: 1", "another set"),
        ("Final answer: 1, 3\nFinal answer: 3, 1", "the exact set"),
        ("Final answer: 1, 3\nFinal answer: 1", "several final answers that differ"),
        ("Final answer: []", "another set"), ("Final answer: ()", "no list of item numbers; write [] for none"),
        ("Final answer: one and 3", "not a list of item numbers"),
        ("Final answer: 10003", "not a list of item numbers"),
    ],
)  # fmt: skip
def test_a_set_of_items(reply: str, reason: str) -> None:
    score = ExpectedSet(frozenset({1, 3})).grade(reply)
    assert (score.reason, score.passed) == (reason, reason == "the exact set")
    assert ExpectedSet(frozenset()).grade("Final answer: [ ]").passed


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Final answer: bull market", "the same text"), ('{"answer": "Bull Market"}', "the same text"),
        ("bull market.", "the same text"), ("Final answer: bear", "another text"),
        ("Final answer: bull market\nFinal answer: bear", "several final answers that differ"),
        ("Final answer: bear\nFinal answer: bull market", "several final answers that differ"),
        ('{"answer": 5}', "another text"), ('{"other": "bull market"}', "another text"),
        ("- **Final answer**: <answer>bull market</answer>", "the same text"),
    ],
)  # fmt: skip
def test_a_text(reply: str, reason: str) -> None:
    score = ExpectedText("Bull market").grade(reply)
    assert (score.reason, score.passed) == (reason, reason == "the same text")


GOLD = {"name": "Acme", "sum": 100.0, "list": [1, 2], "fits": True, "none": None}


@pytest.mark.parametrize(
    ("changed", "right"),
    [
        ({}, True), ({"name": "'acme'"}, True), ({"sum": 101}, True), ({"sum": 101.1}, False), ({"list": [1]}, False),
        ({"list": [1, 2.01]}, True), ({"list": [1, 3]}, False), ({"list": "12"}, False), ({"fits": 1}, False),
        ({"fits": False}, False), ({"none": 0}, False), ({"sum": "100"}, False), ({"name": 5}, False),
        ({"more": 1}, False), ({"sum": True}, False),
    ],
)  # fmt: skip
def test_an_object_key_by_key(changed: dict[str, object], right: bool) -> None:
    expected = ExpectedDocument(GOLD)
    assert expected.grade(json.dumps(GOLD | changed)).passed is right
    assert expected.grade(json.dumps({"answer": GOLD | changed})).passed is right
    assert not expected.grade(json.dumps({"name": "Acme"})).passed and not expected.grade("x").passed
    assert not ExpectedDocument({"a": {"b": 1}}).grade('{"a": 1}').passed
    assert ExpectedDocument({"a": 1}).grade('{"a": true}').passed is False


def test_what_is_no_set_or_states_several_is_told() -> None:
    expected = ExpectedSet(frozenset({1, 3}))
    assert not expected.grade("").passed and expected.grade("").value == 0.0
    several = expected.grade("Final answer: 1\nFinal answer: 1\nFinal answer: 4")
    assert several.details["given"] == "4"
    assert expected.grade("Final answer: 1, 3\nFinal answer: 3 and 1").details["given"] == "3 and 1"


def test_gold_answers_keep_their_characters() -> None:
    assert ExpectedText("牛市").gold_text() == '{"answer": "牛市"}'
    assert ExpectedDocument({"a": "牛市"}).gold_text() == '{"a": "牛市"}'
    assert ExpectedDocument({"a": "牛市"}).grade("none").details["expected"] == '{"a": "牛市"}'
