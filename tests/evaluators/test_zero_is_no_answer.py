"""The laziest number, 0, answers no drawn question: gold numbers lie well outside their absolute margin."""

from __future__ import annotations

import pytest

from evaluators import registry
from evaluators.answers import Tolerance
from evaluators.answers.expected import ExpectedNumber


@pytest.mark.parametrize(("name", "count"), [("fundamentals", 250), ("bizfinbench", 60)])
def test_zero_answers_no_drawn_question(name: str, count: int) -> None:
    for case in registry.get(name).draw(seed=77, count=count, options={}):
        session = case.open()
        session.reply("Final answer: 0")
        details = session.score().details
        assert session.score().value == 0.0, case.task.family
        gold, margin = details.get("expected_value", 1.0), details.get("absolute_tolerance", 0.0)
        assert isinstance(gold, float) and isinstance(margin, float)
        assert abs(gold) > 6.0 * margin, case.task.family


@pytest.mark.parametrize(("gold", "clear"), [(0.0, False), (0.003, False), (-0.003, False), (0.0031, True)])
def test_a_gold_number_is_clear_of_zero_outside_six_margins(gold: float, clear: bool) -> None:
    assert ExpectedNumber(gold, "percent", Tolerance(absolute=0.0005)).is_clear_of_zero() is clear


def test_without_a_margin_only_zero_itself_is_not_clear_of_zero() -> None:
    assert not ExpectedNumber(0.0, "currency", Tolerance(relative=0.01)).is_clear_of_zero()
    assert ExpectedNumber(1e-9, "currency", Tolerance(relative=0.01)).is_clear_of_zero()
