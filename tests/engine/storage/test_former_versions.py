"""Runs that former versions stored: they open with everything that reads a run, or are refused with one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import config
from engine.cli import main
from engine.comparison.board import leaderboard
from engine.comparison.pair import compare
from engine.comparison.played import read
from engine.errors import StoreCorrupt
from engine.plan import build
from engine.record import VERSION, State
from engine.report import results
from engine.run import batch
from engine.run.merge import merge
from engine.run.rescore import rescore
from engine.storage.store import Store

STORED = json.loads(Path(__file__).with_name("run_version_1.json").read_text(encoding="utf-8"))
"""Manifest and records of a run as the version before records told their version has stored it, on tasks of today."""


def stored_run(folder: Path, manifest: dict[str, Any] = STORED["manifest"], **changes: Any) -> Path:
    with Store.create(folder, manifest) as store:
        for task in manifest["tasks"]:
            (record,) = [record | changes for record in STORED["records"] if record["task_id"] == task["task_id"]]
            store.commit(key=task["key"], position=task["position"], record=record)
    return folder


def test_its_records_have_no_version_and_its_entries_name_every_option() -> None:
    assert all("version" not in record for record in STORED["records"])
    assert STORED["manifest"]["config"]["datasets"][0]["windows"] is None


def test_it_is_reported_and_scored_again_with_the_same_result(tmp_path: Path) -> None:
    folder = stored_run(tmp_path / "run")
    with Store.open(folder) as store:
        assert [record["state"] for record in store.records()] == [State.PASSED, State.PASSED]
        assert all(isinstance(record["state"], State) for record in store.records())
        reported = batch.finish(store)
    assert reported["overall"]["score"] == 100.0 and reported["complete"] and reported["exit_status"] == 0
    assert "synthetic-wacc" in (folder / "report.html").read_text()
    again = rescore(folder)
    assert again["changed"] == [] and again["overall"]["score"] == 100.0


def test_its_config_draws_the_same_tasks() -> None:
    manifest = STORED["manifest"]
    plan = build.plan(config.parse(manifest["config"], source="manifest"), agent_digest="builtin:oracle")
    assert plan.data_hashes == manifest["data_hashes"]
    assert [cell.case.task.task_id for cell in plan.cells] == [task["task_id"] for task in manifest["tasks"]]


def test_one_that_is_finished_is_resumed_without_a_task_to_play(tmp_path: Path, capsys: Any) -> None:
    folder = stored_run(tmp_path / "run")
    assert main(["resume", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["overall"]["score"] == 100.0


def test_its_shards_are_merged(tmp_path: Path) -> None:
    manifest = STORED["manifest"]
    folders = []
    for index, task in enumerate(manifest["tasks"], start=1):
        sampling = manifest["config"]["sampling"] | {"shard": {"index": index, "count": 2}}
        config = manifest["config"] | {"sampling": sampling}
        part = manifest | {"run_id": f"part-{index}", "config": config, "tasks": [task]}
        folders.append(stored_run(tmp_path / f"{index}", part))
    merged = merge(folders, tmp_path / "merged")
    assert (merged["overall"]["score"], merged["overall"]["n"], merged["shard"]) == (100.0, 2, None)
    with Store.open(tmp_path / "merged") as store:
        assert all("version" not in record for record in store.records())


def test_it_stands_beside_a_run_of_today_in_one_table(tmp_path: Path) -> None:
    today = config.parse(STORED["manifest"]["config"], source="manifest").model_dump(mode="json")
    assert "windows" not in today["datasets"][0]
    before = read(stored_run(tmp_path / "before"))
    after = read(stored_run(tmp_path / "after", STORED["manifest"] | {"config": today}, version=VERSION))
    assert before.benchmark == after.benchmark
    assert compare(before, after).overall.difference == 0.0
    (standing,) = leaderboard([before, after])
    assert (standing.runs, standing.score.total) == (2, 4)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"version": VERSION + 1}, f"its record has version {VERSION + 1}, and this TraderBench reads versions up to"),
        ({"version": "two"}, "its record has version 'two'"),
        ({"state": "passd"}, "state must be one of passed, failed, agent_error, .*, got 'passd'"),
    ],
)
def test_a_record_that_cannot_be_read_is_refused_with_one_line(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    with (
        Store.open(stored_run(tmp_path / "run", **changes)) as store,
        pytest.raises(StoreCorrupt, match=told) as raised,
    ):
        results.all_records(store)
    assert "\n" not in str(raised.value)
