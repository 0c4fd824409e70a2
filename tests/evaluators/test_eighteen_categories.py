"""Each of the eighteen categories over twenty seeds: knowing nothing earns nothing, the right answer everything.

The right answers themselves are computed a second time in the tests of the datasets.
"""

from __future__ import annotations

import pytest

from engine import config
from engine.plan import sampling
from evaluators import categories, registry, validity
from evaluators.contract import Case

SEEDS = range(700, 720)
LUCKY = 0.01
"""Share of the tasks that a reply may pass without knowing anything."""
TABLE = categories.table()


def drawn(category: str, seed: int) -> list[Case]:
    """Return as many tasks of the category, by its name, as the datasets that have it list families."""
    datasets = [
        {
            "type": name,
            "categories": [category],
            "limit": sum(family.category == category for family in registry.get(name).families()),
        }
        for name in TABLE[category]["datasets"]
    ]
    asked = {"name": "category", "version": "1", "datasets": datasets, "sampling": {"seed": seed}}
    return sampling.draw(config.parse(asked, source="test"))


@pytest.mark.campaign
@pytest.mark.parametrize("category", categories.CATEGORIES)
def test_a_category_pays_for_the_right_answer_alone(category: str) -> None:
    cases = [case for seed in SEEDS for case in drawn(category, seed)]
    assert {case.task.category for case in cases} == {category}
    assert len(cases) == len(SEEDS) * TABLE[category]["families"]
    assert len({case.task.task_id for case in cases}) == len(cases), "a task of one seed comes back in another"
    found = list(validity.findings(cases[0].task.section, cases))
    assert {"null", "injection", "surface"} <= {row.kind for row in found}
    # among so many tasks a reply such as 10% is right once by luck, which `validate` of a config does not allow for
    nothing = [row for row in found if row.kind in ("null", "injection")]
    assert [row for row in nothing if not 0.0 <= row.mean <= 1.0 or row.passed > LUCKY * len(cases)] == []
    assert [row for row in found if row not in nothing and not row.ok] == []
