"""What quant's patterns earn in fundamentals is no fit to the texts: the same in those that are held back."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

TASKS = 495


def scores(folder: Path, wordings: str) -> dict[str, float]:
    """Return quant's score by category and difficulty."""
    entry = {"type": "fundamentals", "limit": TASKS} | ({"wordings": wordings} if wordings != "usual" else {})
    execution = {"backend": "serial", "concurrency": 4, "ports": "auto"}
    config = {"name": wordings, "datasets": [entry], "sampling": {"seed": 42}, "execution": execution}
    (folder / f"{wordings}.yaml").write_text(json.dumps(config))
    command = [Path(sys.executable).with_name("traderbench"), "run", f"{wordings}.yaml", "--agent", "builtin:quant"]
    done = subprocess.run([*command, "--out", wordings], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    with (folder / wordings / "tables.csv").open() as table:
        rows = [row for row in csv.DictReader(table) if row["table"] == "difficulty"]
    assert sum(int(row["tasks"]) for row in rows) == TASKS
    return {row["group"]: float(row["score"]) for row in rows}


@pytest.mark.campaign
def test_texts_held_back_earn_within_ten_points_in_every_category_and_level(tmp_path: Path) -> None:
    usual, held_back = scores(tmp_path, "usual"), scores(tmp_path, "held_back")
    assert len(usual) == 15 and usual.keys() == held_back.keys()
    apart = {name: (usual[name], held_back[name]) for name in usual if abs(usual[name] - held_back[name]) > 10}
    assert not apart
    assert max(value for name, value in usual.items() if name.endswith("expert")) < 15
    assert usual["Fundamental Analysis, easy"] > 80
