"""Gold answers of public files: which readings of a reply are right, and which are not."""

from __future__ import annotations

import pytest

from evaluators.bizfinbench.public_answers import ExpectedSet, ExpectedText, PublicNumber


@pytest.mark.parametrize("reply", ["5%", "5 percent", "500 bp", "5", "0.05"])
def test_a_gold_percentage_is_met_as_percentage_bare_figure_or_fraction(reply: str) -> None:
    assert PublicNumber(5.0, percent=True).grade(f"Final answer: {reply}").value == 100.0


@pytest.mark.parametrize("reply", ["500%", "0.05%", "500", "5 million", "$5", "5x", "5 days", "5 bp", "0.05 million"])
def test_a_gold_percentage_is_not_met_by_another_percentage_unit_or_scale(reply: str) -> None:
    assert PublicNumber(5.0, percent=True).grade(f"Final answer: {reply}").value == 0.0


@pytest.mark.parametrize("reply", ["14.8", "14.8%", "14.8 亿", "1480%", "$14.8 million"])
def test_a_gold_number_of_unknown_unit_is_met_beside_a_percent_sign_or_a_scale_word(reply: str) -> None:
    assert PublicNumber(14.8, percent=False).grade(f"Final answer: {reply}").value == 100.0


@pytest.mark.parametrize("reply", ["1480", "0.148", "14.8 million %"])
def test_a_gold_number_of_unknown_unit_is_not_met_by_another_figure(reply: str) -> None:
    assert PublicNumber(14.8, percent=False).grade(f"Final answer: {reply}").value == 0.0


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Final answer: 3\nFinal answer: 1,2", 0.0),
        ("Final answer: 1,2\nFinal answer: 3", 0.0),
        ("Final answer: none listed\nFinal answer: 1,2", 0.0),
        ('{"answer": [3]}\nFinal answer: 1,2', 0.0),
        ("Final answer: 2, 1\nFinal answer: [1,2]", 100.0),
        ("\\boxed{1,2}", 100.0),
    ],
)
def test_a_set_stated_several_times_has_to_be_the_same_set(reply: str, value: float) -> None:
    assert ExpectedSet(frozenset({1, 2})).grade(reply).value == value


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Final answer: up\nFinal answer: down", 0.0),
        ("Final answer: down\nFinal answer: up", 0.0),
        ("**Final answer:** Down.\n\nFinal answer:\n  down  ", 100.0),
        ('{"answer": "down"}', 100.0),
        ("down", 100.0),
    ],
)
def test_a_text_stated_several_times_has_to_be_the_same_text(reply: str, value: float) -> None:
    assert ExpectedText("down").grade(reply).value == value
