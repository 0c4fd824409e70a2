"""Score stored transcripts again, without the agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine import report
from engine.config import RunConfig, parse
from engine.errors import ConfigError
from engine.plan import build
from engine.plan.judges import with_purse
from engine.record import State, TaskRecord
from engine.report import results
from engine.run.execute import replay
from engine.storage import run_folder
from engine.storage.store import Store
from evaluators.contract import Case


def rescore(folder: Path, *, judge_budget_usd: float | None = None) -> dict[str, Any]:
    """Replay every stored conversation through today's evaluators; write results and report; return the summary.

    ``judge_budget_usd`` is a new budget of the judges, which what they have cost counts against. The ledger keeps the
    original records. ``changed`` in the result lists every task whose score moved.

    Raises
    ------
    ConfigError
        When a stored task is no longer drawn: its truth cannot be recomputed.
    """
    folder = folder.absolute()
    with Store.open(folder) as store, build.working_directory(store.manifest()):
        manifest, stored = store.manifest(), results.all_records(store)
        config = parse(manifest["config"], source=str(folder / "manifest.json"))
        if judge_budget_usd is not None:
            config = _with_budget(config, judge_budget_usd)
        plan = build.plan(with_purse(config, stored), agent_digest=manifest["agent"]["digest"])
        cases = {cell.case.task.task_id: cell.case for cell in plan.cells}
        lost = [record["task_id"] for record in stored if record["task_id"] not in cases]
        if lost:
            raise ConfigError(f"task {lost[0]!r} is drawn no more by this version: it cannot be scored again")
        played = [record for record in stored if record["state"] != State.NOT_RUN]
        fresh = {record["task_id"]: replay(_as_played(cases, record), record) for record in played}
        records = [fresh.get(record["task_id"], record) for record in stored]
        with run_folder.writing(folder, f"mend that, then: traderbench rescore {folder}"):
            report.write(folder, manifest, records)
    changed = [
        {"id": old["task_id"], "before": old["value"], "after": new["value"]}
        for old, new in zip(stored, records, strict=True)
        if old["value"] != new["value"] or old["state"] != new["state"]
    ]
    return results.summary(manifest, records) | {"changed": changed}


def _with_budget(config: RunConfig, budget_usd: float) -> RunConfig:
    if config.judge is None:
        raise ConfigError(f"--judge-budget-usd {budget_usd:g}: the run's config has no judge")
    raw = config.model_dump(mode="json")
    return parse(raw | {"judge": raw["judge"] | {"budget_usd": budget_usd}}, source="--judge-budget-usd")


def _as_played(cases: Mapping[str, Case], record: TaskRecord) -> Case:
    """Return the case on the draw that the record's conversation was about."""
    return cases[record["task_id"]].drawn(record.get("draw", 1))
