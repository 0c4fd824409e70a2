"""The families that a dataset lists are those it draws, and the eighteen categories are the paper's."""

from __future__ import annotations

import json

import pytest

from engine.cli import main
from evaluators import categories, registry
from evaluators.contract import DIFFICULTIES

LISTED = tuple(name for name in registry.DATASETS if registry.get(name).families())


def test_the_names_are_the_eighteen_of_the_paper_in_three_tiers_of_six() -> None:
    assert len(categories.CATEGORIES) == len(set(categories.CATEGORIES)) == 18
    assert [len(tier) for tier in categories.TIERS.values()] == [6, 6, 6]


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "list", "--by", "category", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert list(rows) == list(categories.CATEGORIES)
    assert all(set(row) == {"datasets", "families", "wordings", "difficulties"} for row in rows.values())
    assert all(list(row["difficulties"]) == list(DIFFICULTIES) for row in rows.values())
    # two of fundamentals are about returns, six about statements, eight computations and three what-ifs of bizfinbench
    assert rows["Quantitative Reasoning"]["families"] == 19
    assert rows["Greeks Analysis"]["difficulties"] == {"easy": 3, "hard": 3, "expert": 3}
    assert main(["tasks", "list", "--by", "category"]) == 0
    assert "P&L Attribution" in capsys.readouterr().out


@pytest.mark.parametrize("name", LISTED)
def test_what_is_drawn_is_listed_and_what_is_listed_is_drawn(name: str) -> None:
    dataset = registry.get(name)
    families = {family.name: family for family in dataset.families()}
    assert len(families) == len(dataset.families())
    # bizfinbench draws its kinds independently, in the casebook categories take turns, elsewhere families do
    rounds = {"bizfinbench": 4, "casebook": 2}.get(name, 1)
    drawn = [case.task for case in dataset.draw(seed=4, count=rounds * len(families), options={})]
    for task in drawn:
        family = families[task.family]
        assert task.category == family.category
        assert task.difficulty in family.difficulties
    seen = {task.family for task in drawn}
    assert seen == set(families) if name != "bizfinbench" else len(seen) > len(families) // 2
