"""A question of a published bank on a card: figures, criteria, weights, marks and which questions are drawn."""

from __future__ import annotations

import hashlib
import json
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evaluators import published_bank
from evaluators.contract import Case, Score, Task
from evaluators.judge import Criterion, RubricItem
from evaluators.published_bank import Marking, Question, draw, file_at, judged_case, read

MARKING = Marking("synthetic", "analytical_reasoning", date(2026, 6, 30), None)
TEXT = "A bond at $950 pays $57. What is its yield?"


def row(**changes: Any) -> dict[str, Any]:
    parts = [
        {"name": "method", "weight": 3, "description": "Divides", "expected_value": None},
        {"name": "words", "weight": 1, "description": "Names it", "expected_value": 0},
    ]
    base = {
        "question_id": "Q1",
        "category": "Bonds",
        "question": TEXT,
        "ground_truth": {"yield_pct": 6, "coupon": 57.0},
    }
    return {**base, "rubric": {"components": parts}, **changes}


def question(**changes: Any) -> Question:
    return Question.model_validate(row(**changes))


def item_of(case: Case) -> tuple[RubricItem, Any, float]:
    """Return what the session of a case marks, how, and what passes."""
    held = vars(case.open())
    return held["_item"], held["_mark"], held["_pass_mark"]


def test_half_of_the_weight_is_figures_and_half_the_parts_of_the_rubric() -> None:
    item, _, pass_mark = item_of(judged_case(question(), MARKING))
    assert item.criteria == (
        Criterion("figure-yield_pct", "The yield pct is 6", 0.25, "figures", "decisive"),
        Criterion("figure-coupon", "The coupon is 57", 0.25, "figures", "decisive"),
        Criterion("part-1-method", "The response meets this: Divides.", 0.375, "rubric"),
        Criterion("part-2-words", "The response meets this: Names it. Expected: 0", 0.125, "rubric"),
    )
    assert pass_mark == 70.0
    without, _, _ = item_of(judged_case(question(ground_truth="cheap"), MARKING))
    assert [(each.name, each.weight) for each in without.criteria] == [("part-1-method", 0.75), ("part-2-words", 0.25)]


def test_points_are_shares_of_all_weights_and_of_each_half() -> None:
    item, mark, _ = item_of(judged_case(question(), MARKING))
    names = ("figure-yield_pct", "figure-coupon", "part-1-method", "part-2-words")
    points = mark(item.criteria, dict(zip(names, (True, False, True, False), strict=True)))
    assert points.value == pytest.approx(62.5) and points.parts == pytest.approx({"figures": 50.0, "rubric": 75.0})
    assert mark(item.criteria, dict.fromkeys(names, False)).value == 0.0
    whole = mark(item.criteria, dict.fromkeys(names, True))
    assert (whole.value, whole.parts) == (100.0, {"figures": 100.0, "rubric": 100.0})
    rubric_only = mark(item.criteria[2:], {"part-1-method": False, "part-2-words": True})
    assert rubric_only.parts == pytest.approx({"rubric": 25.0}) and rubric_only.value == pytest.approx(25.0)


@pytest.mark.parametrize(
    ("given", "figures"),
    [
        ({"ground_truth": {"a": 1, "b": 2.5, "c": True, "d": "7", "e": None}}, {"a": 1.0, "b": 2.5}),
        ({"ground_truth": 4}, {"answer": 4.0}),
        ({"ground_truth": False}, {}),
        ({"ground_truth": None, "ground_truth_value": {"a": 3}}, {"a": 3.0}),
        ({"ground_truth": None, "ground_truth_value": 9.5}, {"answer": 9.5}),
        ({"ground_truth": 4, "ground_truth_value": 5}, {"answer": 4.0}),
        ({"ground_truth": [1, 2]}, {}),
    ],
)
def test_figures_are_the_numbers_of_the_reference(given: dict[str, Any], figures: dict[str, float]) -> None:
    assert question(**given).figures() == figures


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1234567.891, "1,234,567.891"), (-9.5e9, "-9,500,000,000"), (9.5e14, "9.5e+14"), (-1e15, "-1e+15")],
)
def test_a_figure_is_shown_with_its_digits_or_as_a_power(value: float, shown: str) -> None:
    item, _, _ = item_of(judged_case(question(ground_truth={"a": value}), MARKING))
    assert item.criteria[0].text == f"The a is {shown}"


def test_a_question_is_named_by_sixteen_digits_of_its_text() -> None:
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    assert question(question=f"  {TEXT.replace(' ', chr(10))} ").digest == digest[:16]
    assert judged_case(question(), MARKING).task.task_id == f"synthetic-Q1-{digest[:16]}"


@pytest.mark.parametrize("weights", [(0.0, 1.0), (1.0, -1.0), (-1.0, -2.0)])
def test_every_part_needs_a_weight_above_0(weights: tuple[float, float]) -> None:
    parts = [{"name": "p", "weight": weight, "description": "d"} for weight in weights]
    with pytest.raises(ValueError, match="Q1: a rubric needs components, each with a weight above 0"):
        judged_case(question(rubric={"components": parts}), MARKING)


def test_parts_of_little_weight_count_by_their_share() -> None:
    parts = [{"name": name, "weight": weight, "description": "d"} for name, weight in (("a", 0.1), ("b", 0.3))]
    item, _, _ = item_of(judged_case(question(ground_truth="cheap", rubric={"components": parts}), MARKING))
    assert [each.weight for each in item.criteria] == pytest.approx([0.25, 0.75])


def write(folder: Path, *rows: Any) -> str:
    (folder / "questions.json").write_text(json.dumps({"questions": rows}))
    return str(folder)


def test_a_folder_and_its_file_are_the_same_bank(tmp_path: Path) -> None:
    path = write(tmp_path, row())
    file = tmp_path / "questions.json"
    assert (file_at(path), file_at(str(file))) == (file, file)
    assert [each.question_id for each in read(str(file))] == ["Q1"]


def test_a_file_may_be_as_large_as_is_said_and_no_larger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, row())
    assert published_bank.MAX_BYTES == 32_000_000
    monkeypatch.setattr(published_bank, "MAX_BYTES", (tmp_path / "questions.json").stat().st_size)
    assert len(read(path)) == 1
    monkeypatch.setattr(published_bank, "MAX_BYTES", (tmp_path / "questions.json").stat().st_size - 1)
    with pytest.raises(ValueError, match=r"path: questions.json cannot be read as JSON: it has more than "):
        read(path)


@pytest.mark.parametrize("document", [[], {}, {"questions": []}, {"questions": {"a": 1}}, "text"])
def test_a_bank_is_an_object_with_a_list_of_questions(tmp_path: Path, document: Any) -> None:
    (tmp_path / "questions.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="needs a list of questions under the key 'questions'"):
        read(str(tmp_path))


def test_a_bad_question_is_counted_from_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^questions.json question 1: "):
        read(write(tmp_path, {"question_id": "Q0"}))


def ours(name: str) -> Case:
    task = Task("ours-" + name, "analytical_reasoning", "synthetic", "Own", name, date(2026, 6, 30), "?", "any")
    return Case(task, lambda: pytest.fail("never opened"))


def ids(path: str, *task_types: str, count: int = 9, seed: int = 1) -> list[str]:
    found = draw(
        path, marking=MARKING, known={question().digest: "bond"}, ours=ours, kinds=lambda name: (name, "Yields"),
        task_types=task_types, order=Random(seed), count=count,
    )  # fmt: skip
    return [case.task.task_id for case in found]


def test_a_question_that_is_known_is_ours_and_goes_by_our_names_too(tmp_path: Path) -> None:
    swaps = [row(question_id=f"Q{n}", question=f"Swap {n}?", category="Swaps") for n in (2, 3)]
    path = write(tmp_path, row(), *swaps)
    named = {number: f"synthetic-Q{number}-{question(question=f'Swap {number}?').digest}" for number in (2, 3)}
    assert sorted(ids(path)) == ["ours-bond", *named.values()]
    assert ids(path, "bond") == ids(path, "Yields") == ids(path, "Bonds") == ["ours-bond"]
    assert sorted(ids(path, "Swaps")) == [*named.values()]
    assert sorted(ids(path, "Swaps", "bond")) == ["ours-bond", *named.values()]
    assert ids(path, count=2) == ids(path)[:2] and ids(path, count=0) == []
    assert len({tuple(ids(path, seed=seed)) for seed in range(20)}) > 1
    with pytest.raises(ValueError, match="task_types: unknown entry 'Repos'; the file has: Bonds, Swaps, Yields, bond"):
        ids(path, "Repos")


def test_an_empty_reply_has_no_points_and_asks_nobody() -> None:
    session = judged_case(question(), MARKING).open()
    session.opening()
    session.reply("")
    score = session.score()
    assert isinstance(score, Score) and score.value == 0.0 and score.parts == {"figures": 0.0, "rubric": 0.0}
