"""The config of the eighteen categories, played to its report by who knows nothing, all, or patterns alone."""

import csv
import json
from pathlib import Path

import pytest

from evaluators.categories import CATEGORIES
from tests.engine.command_line import here

CONFIG = Path(__file__).parents[3] / "configs" / "categories.yaml"

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("agent", "least", "most"), [("oracle", 100.0, 100.0), ("null", 0.0, 0.0), ("quant", 0.0, 60.0)]
)
def test_every_category_is_played(agent, least, most, servers, tmp_path):
    done = here("run", CONFIG, "--agent", f"builtin:{agent}", "--out", tmp_path / "run", servers=servers)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads((tmp_path / "run" / "results.json").read_text())
    assert least - 1e-9 <= told["traderbench"]["overall"]["score"] <= most
    rows = told["detailed_results"]
    assert {row["category"] for row in rows} == set(CATEGORIES) and len(rows) == 5 + 6 + 2 * 15
    assert {row["state"] for row in rows} <= {"passed", "failed"}
    assert {row["difficulty"] for row in rows} >= {"easy", "hard"}
    with (tmp_path / "run" / "tables.csv").open() as file:
        groups = [row["group"] for row in csv.DictReader(file) if row["table"] == "difficulty"]
    assert {group.rpartition(", ")[0] for group in groups} == set(CATEGORIES)
