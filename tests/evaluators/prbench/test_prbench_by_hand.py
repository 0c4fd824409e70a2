"""A task of PRBench on a card: weights by class, the conversation that is kept, and points by category."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evaluators.judge import Criterion
from evaluators.prbench.dataset import DATASET, mark, read, weight_of


@pytest.fixture(autouse=True)
def _without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forks that play mutants must not read parquet, which takes threads; the other tests of PRBench do."""
    monkeypatch.setattr(pd, "read_parquet", pd.read_pickle)


def criterion(name: str, kind: str, weight: float | None, category: str = "Accuracy") -> dict[str, Any]:
    said = {"weight_class": kind, f"{kind.replace(' ', '_')}_weight": weight, "criteria_category": category}
    return {"id": name, "title": f" {name} is told. ", "annotations": said}


def row(**changes: Any) -> dict[str, Any]:
    rubric = [criterion("a", "critically important", 10.0), criterion("b", "detrimental", -4.0, "Style")]
    return {"task": "t", "field": "Finance", "topic": "Rates", "rubric": rubric, "prompt_0": " First? ", **changes}


def items(folder: Path, *rows: dict[str, Any]) -> list[Any]:
    file = folder / "finance.parquet"
    pd.DataFrame(list(rows)).to_pickle(file)
    return read(file)


@pytest.mark.parametrize(
    ("kind", "weight"),
    [("critically important", 10), ("important", 1), ("slightly detrimental", -1), ("critically detrimental", -10)],
)
def test_a_weight_is_a_whole_number_up_to_ten(kind: str, weight: int) -> None:
    assert weight_of(criterion("a", kind, float(weight))["annotations"]) == weight


@pytest.mark.parametrize("weight", [None, 0.0, 0.5, 10.5, 11.0, -11.0])
def test_no_other_weight_is_one(weight: float | None) -> None:
    with pytest.raises(ValueError, match=f"must be a whole number from -10 to 10, not 0, got {weight!r}"):
        weight_of(criterion("a", "important", weight)["annotations"])


def test_a_weight_of_a_class_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"weight_class must be one of critically important, .*, got 'vital'"):
        weight_of(criterion("a", "vital", 5.0)["annotations"])


def test_a_single_question_has_no_conversation(tmp_path: Path) -> None:
    (item,) = items(tmp_path, row())
    assert (item.name, item.category, item.question) == ("t", "Rates", "First?")
    assert item.context == {} and item.kept == {}
    assert item.criteria == (
        Criterion("a", "a is told.", 10.0, "Accuracy", "required"),
        Criterion("b", "b is told.", -4.0, "Style", "required"),
    )


def test_the_last_prompt_is_asked_and_what_came_before_is_the_conversation(tmp_path: Path) -> None:
    turns = {"response_0": "Yes.", "prompt_1": "Second?", "response_1": None, "prompt_2": "Third?", "canary": "c"}
    texts = {"reference_texts_0": ["one", "two"], "reference_texts_1": None, "reference_texts_2": ["three"]}
    (item,) = items(tmp_path, row(**turns, **texts))
    assert item.question == "Third?" and item.kept == {"canary": "c"}
    assert item.context == {
        "conversation": [
            {"role": "user", "content": " First? "},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "Second?"},
            {"role": "assistant", "content": ""},
        ],
        "reference_texts": ["one", "two", "three"],
    }


def test_a_conversation_has_ten_turns_at_most(tmp_path: Path) -> None:
    (item,) = items(tmp_path, row(**{f"prompt_{turn}": f"Prompt {turn}" for turn in range(12)}))
    assert item.question == "Prompt 9" and len(item.context["conversation"]) == 18


def test_a_row_without_reference_texts_beside_one_that_has_some(tmp_path: Path) -> None:
    found = items(tmp_path, row(), row(task="u", reference_texts_0=["one"]))
    assert [item.context for item in found] == [{}, {"reference_texts": ["one"]}]


def test_a_folder_is_read_whole_and_only_its_finance_each_task_once(tmp_path: Path) -> None:
    items(tmp_path, row(), row(task="law", field="Legal"), row(topic="Again"))
    assert [(item.name, item.category) for item in read(tmp_path)] == [("t", "Rates")]
    (tmp_path / "sub").mkdir()
    with pytest.raises(ValueError, match=r"path: no \*finance\*.parquet in 'sub'"):
        read(tmp_path / "sub")


def test_points_are_clipped_shares_of_what_can_be_earned_in_all_and_by_category() -> None:
    criteria = [
        Criterion("a", "a", 6.0, "Accuracy"), Criterion("b", "b", 2.0, "Accuracy"), Criterion("c", "c", 0.5, "Style"),
        Criterion("d", "d", -0.25, "Style"), Criterion("e", "e", -1.0, "Harm"),
    ]  # fmt: skip
    found = mark(criteria, {"a": True, "b": False, "c": True, "d": True, "e": False})
    # 6 of 8; 0.25 of 0.5; where there are only faults there is no share
    assert found.parts == {"Accuracy": 75.0, "Style": 50.0} and found.value == pytest.approx(100 * 6.25 / 8.5)
    assert mark(criteria, dict.fromkeys("abcde", False)).value == 0.0
    everything = mark(criteria, dict(zip("abcde", (True, True, True, False, False), strict=True)))
    assert (everything.value, everything.parts) == (100.0, {"Accuracy": 100.0, "Style": 100.0})


def test_three_quarters_pass_and_every_task_is_asked_on_the_day_of_its_publication() -> None:
    assert (DATASET.pass_mark, DATASET.as_of) == (75.0, date(2025, 11, 30))


def test_two_turns_are_a_conversation(tmp_path: Path) -> None:
    (item,) = items(tmp_path, row(response_0="Yes.", prompt_1="Second?"))
    turns = [{"role": "user", "content": " First? "}, {"role": "assistant", "content": "Yes."}]
    assert item.question == "Second?" and item.context == {"conversation": turns}
