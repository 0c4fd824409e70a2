"""The published files of questions: known ones are ours with computed truth, others are marked by their file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluators import published_bank, registry
from evaluators.contract import JudgeUnavailable
from evaluators.options.published_file import FAMILY_OF
from evaluators.synthetic.published_file import TEMPLATE_OF

SYNTHETIC, OPTIONS = registry.get("synthetic"), registry.get("options")


def question(**changes: Any) -> dict[str, Any]:
    parts = [
        {"name": "method", "weight": 0.6, "description": "Divides the coupon by the price", "expected_value": None},
        {"name": "words", "weight": 0.2, "description": "Names the result a current yield", "expected_value": "yield"},
    ]
    base = {
        "question_id": "Q1", "category": "Bonds", "difficulty": "easy",
        "question": "A bond at $950 pays $57 a year. What are its current yield in percent and its coupon?",
        "ground_truth": {"current_yield_pct": 6.37, "coupon": 57.5, "verdict": "cheap"},
        "rubric": {"components": parts, "max_score": 100},
    }  # fmt: skip
    return base | changes


def write(folder: Path, *rows: Any) -> str:
    (folder / "questions.json").write_text(json.dumps({"count": len(rows), "questions": list(rows)}))
    return str(folder)


def scored(case: Any, reply: str) -> Any:
    session = case.open()
    session.opening()
    session.reply(reply)
    return session.score()


GOOD = "The method: divides the coupon by the price.\nThe current yield pct: 6.37\nThe coupon: 57.5\n"


def test_half_of_the_marks_are_figures_that_code_decides(tmp_path, truthful_judge):
    judged = SYNTHETIC.judged_by(truthful_judge.settings)
    (case,) = judged.draw(seed=1, count=5, options={"path": write(tmp_path, question())})
    assert case.task.section == "analytical_reasoning" and case.task.category == "Bonds"
    assert "6.37" not in json.dumps(case.open().opening()) and "coupon by the price" not in json.dumps(
        case.open().opening()
    )
    score = scored(case, GOOD)
    by = {row["criterion"]: (row["by"], row["met"]) for row in score.details["findings"]}
    assert by["figure-current_yield_pct"] == ("code", True) and by["figure-coupon"] == ("code", True)
    assert by["part-1-method"] == ("judge", True) and by["part-2-words"] == ("judge", False)
    assert score.value == pytest.approx(50.0 + 50.0 * 0.6 / 0.8) and score.passed
    assert score.details["judged_weight_share"] == pytest.approx(0.5)
    assert scored(case, GOOD.replace("6.37", "7.42")).value == pytest.approx(25.0 + 37.5)


def test_a_question_without_figures_is_judged_whole_and_waits_without_a_judge(tmp_path):
    row = question(ground_truth=None, ground_truth_value="It is cheap.")
    (case,) = OPTIONS.draw(seed=1, count=1, options={"path": write(tmp_path, row)})
    with pytest.raises(JudgeUnavailable):
        scored(case, "A long reply about the coupon and its price.")
    assert scored(case, "").value == 0.0


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (question(rubric={"components": []}), "questions.json question 2: Q1: a rubric needs components"),
        ({"question_id": "Q1"}, "questions.json question 2: "),
        ("text", "questions.json question 2: "),
    ],
)
def test_a_bad_question_is_named_by_its_place(tmp_path, row, said):
    with pytest.raises(ValueError, match=r"questions.json question 2") as raised:
        SYNTHETIC.draw(seed=1, count=1, options={"path": write(tmp_path, question(), row)})
    assert said in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("content", ["{", "[]", '{"questions": []}', "[" * 100_000])
def test_a_file_that_is_no_bank_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "questions.json").write_text(content)
    with pytest.raises(ValueError, match=r"^path: questions.json ") as raised:
        OPTIONS.draw(seed=1, count=1, options={"path": str(tmp_path)})
    assert "\n" not in str(raised.value)


def test_types_of_the_file_choose_and_unknown_ones_are_refused(tmp_path):
    path = write(tmp_path, question(), question(question_id="Q2", category="Swaps"))
    (case,) = SYNTHETIC.draw(seed=1, count=5, options={"path": path, "task_types": ["Swaps"]})
    assert case.task.task_id.startswith("synthetic-Q2-")
    with pytest.raises(ValueError, match=r"unknown entry 'Repos'; the file has: Bonds, Swaps"):
        SYNTHETIC.draw(seed=1, count=5, options={"path": path, "task_types": ["Repos"]})
    with pytest.raises(ValueError, match="variant: drawn has no file"):
        SYNTHETIC.draw(seed=1, count=5, options={"path": path, "variant": "drawn"})


def test_a_changed_file_or_judge_is_other_data(tmp_path):
    options = {"path": write(tmp_path, question())}
    before = SYNTHETIC.data_hash(options)
    assert SYNTHETIC.judged_by({"model": "m"}).data_hash(options) != before
    write(tmp_path, question(category="Other"))
    assert SYNTHETIC.data_hash(options) != before


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "file", "known", "count"),
    [
        ("synthetic", "synthetic_questions_questions.json", TEMPLATE_OF, 20),
        ("options", "options_questions.json", FAMILY_OF, 14),
    ],
)
def test_the_published_banks_are_ours_where_they_have_one_right_answer(shared_data, name, file, known, count):
    path = str(shared_data / "agentbusters" / file)
    cases = registry.get(name).draw(seed=3, count=100, options={"path": path})
    assert len(cases) == count == len({case.task.task_id for case in cases})
    assert {question.digest for question in published_bank.read(path)} >= known.keys()
    ours = [case for case in cases if case.task.answer_schema is not None]
    assert len(ours) == len(known)
    for case in ours:
        assert scored(case, case.open().oracle()).value == pytest.approx(100.0)
