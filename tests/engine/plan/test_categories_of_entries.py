"""``categories`` of a dataset's entry: only tasks of these are drawn, whatever the dataset."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engine.config import RunConfig
from engine.errors import ConfigError
from engine.plan import sampling


def drawn(**entry: Any) -> list[Any]:
    config = RunConfig.model_validate({"name": "own", "datasets": [entry]})
    return [case.task for case in sampling.draw(config)]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"type": "fundamentals", "categories": ["Beat or Miss"], "limit": 5}, {"Beat or Miss": 5}),
        ({"type": "professional", "categories": ["Valuation"], "limit": 3}, {"Valuation": 3}),
        ({"type": "bizfinbench", "categories": ["Quantitative Reasoning"], "limit": 3}, {"Quantitative Reasoning": 3}),
        (
            {"type": "options", "categories": ["Greeks Analysis", "Risk Management"], "limit_per_task": 2},
            {"Greeks Analysis": 2, "Risk Management": 2},
        ),
    ],
)
def test_only_tasks_of_the_categories_are_drawn(entry: dict[str, Any], expected: dict[str, int]) -> None:
    assert Counter(task.category for task in drawn(**entry)) == expected
    assert drawn(**entry) == drawn(**entry)


def test_a_limit_of_each_category_fills_all_that_the_dataset_has() -> None:
    counts = Counter(task.category for task in drawn(type="bizfinbench", languages=["en"], limit_per_task=3))
    assert len(counts) == 4 and set(counts.values()) == {3}


def test_a_longer_draw_of_a_category_starts_with_a_shorter_one() -> None:
    entry = {"type": "options", "categories": ["Options Pricing"]}
    assert drawn(**entry, limit=6)[:2] == drawn(**entry, limit=2)


@pytest.mark.parametrize(
    ("categories", "told"),
    [
        (["Astrology"], "'Astrology' is not among those of this dataset: Fundamental Analysis"),
        ([], "categories: at least one is needed"),
    ],
)
def test_a_category_that_the_dataset_has_not_is_named(categories: list[str], told: str) -> None:
    with pytest.raises((ConfigError, ValueError), match=told):
        drawn(type="fundamentals", categories=categories)


PRINTED = {"type": "options", "variant": "as_published", "categories": ["Greeks Analysis"]}


def test_a_variant_that_holds_few_tasks_gives_those_of_the_category_and_no_more() -> None:
    assert [task.category for task in drawn(**PRINTED)] == ["Greeks Analysis"] * 2
    assert len(drawn(**PRINTED, limit=1)) == 1 and len(drawn(**PRINTED, limit_per_task=2)) == 2
    with pytest.raises(ConfigError, match="3 tasks of Greeks Analysis are asked for; variant 'as_published' holds 2"):
        drawn(**PRINTED, limit=3)
    topic = drawn(type="synthetic", variant="canonical", limit=1)[0].category
    assert {task.category for task in drawn(type="synthetic", variant="canonical", categories=[topic])} == {topic}


def test_candles_may_say_where_they_come_from_and_are_not_fetched(tmp_path: Path) -> None:
    with pytest.raises((ConfigError, ValueError), match="hf_dataset: 'some/candles' is not fetched by this dataset"):
        drawn(type="crypto", hf_dataset="some/candles")
    rows = ["timestamp,open,high,low,close,volume"]
    rows += [f"{1577836800 + 60 * n},{n + 100},{n + 101},{n + 99},{n + 100.5},{10 + n % 7}" for n in range(1500)]
    (tmp_path / "BTC.csv").write_text("\n".join(rows))
    more = {"limit": 1, "windows": 2, "bars": 20, "categories": ["Crypto Trading"]}
    (task,) = drawn(type="crypto", path=str(tmp_path), hf_dataset="some/candles", **more)
    assert task.category == "Crypto Trading"


def test_a_dataset_whose_categories_are_not_known_before_says_which_were_drawn() -> None:
    with pytest.raises(ConfigError, match="no task is of Astrology; the drawn ones are of: Crypto Trading"):
        drawn(type="crypto", categories=["Astrology"], limit=1)
