"""What a finished run says: the summary that ``--json`` prints, and ``results.json`` for leaderboards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from engine import __version__, tool_times
from engine.record import BROKEN, JUDGED, UNSCORED, Attempt, State, TaskRecord
from engine.report import alpha
from engine.report.judging import judging
from engine.report.remarks import cost, points, remarks
from engine.scoring.alpha import alpha_score
from engine.scoring.score import OverallScore, SectionScore, clip, summarize
from engine.spending import is_known, total
from engine.storage.store import Store
from evaluators.contract import SECTIONS, Section
from mcp_servers.catalog import SERVERS

SCHEMA_VERSION = "2.0"


ATTEMPT_FIELDS = tuple(Attempt.__annotations__)
"""What is told of an attempt that is not the task's result."""


def all_records(store: Store) -> list[TaskRecord]:
    """Return one record per task of the run's plan: its result, its latest harness failure, or ``not_run``.

    Where a task has more attempts than that one, ``former`` tells of each how it ended, whether it was a retry on
    request, and what it cost.
    """
    finished = {record["task_id"]: record for record in store.records()}
    failed = {record["task_id"]: record for record in store.last_infrastructure_failures().values()}
    former = store.former_attempts()
    rows: list[TaskRecord] = []
    for task in store.manifest()["tasks"]:
        task_id = task["task_id"]
        row = finished.get(task_id) or failed.get(task_id) or _not_run(task)
        others = former.get(task_id, [])[: None if task_id in finished else -1]
        told = [
            cast(Attempt, {name: value for name, value in other.items() if name in ATTEMPT_FIELDS}) for other in others
        ]
        rows.append(row | {"former": told} if told else row)
    return rows


def _not_run(task: dict[str, Any]) -> TaskRecord:
    return {
        "task_id": task["task_id"],
        "section": task["section"],
        "dataset": task["dataset"],
        "category": task["category"],
        "family": task["family"],
        "state": State.NOT_RUN,
        "reason": "the run ended before this task; traderbench resume plays it",
        "value": 0.0,
        "passed": False,
        "parts": {},
        "details": {},
        "transcript": [],
        "usage": {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0},
        "tool_calls": [],
        "lookahead_attempts": 0,
        "seconds": 0.0,
        "question": "",
        "as_of": None,
        "chance_score": 0.0,
    }


def weights_of(manifest: dict[str, Any]) -> dict[Section, float]:
    """Return the section weights of a stored run."""
    given = manifest["config"]["weights"]
    return {section: given.get(section, 0.0) for section in SECTIONS}


def summary(manifest: dict[str, Any], records: Sequence[TaskRecord]) -> dict[str, Any]:
    """Return the run's numbers, as ``traderbench run --json`` prints them.

    A task's ``score`` is cut to 0-100 and ``value`` is not: section scores are means of the values, cut at the end.
    """
    overall, sections = summarize(records, weights_of(manifest))
    spent = total([attempt["usage"] for attempt in attempts_of(record)] for record in records)
    return {
        "run_id": manifest["run_id"],
        "config": manifest["config"]["name"],
        "seed": manifest["seed"],
        "seed_source": seed_source(manifest),
        "shard": manifest["config"].get("sampling", {}).get("shard"),
        "agent": manifest["agent"]["name"],
        "model": model_settings(manifest),
        "overall": _numbers(overall),
        "sections": {name: _numbers(score) | {"weight": score.weight} for name, score in sections.items()},
        "tasks": [
            {
                "id": record["task_id"],
                "section": record["section"],
                "dataset": record["dataset"],
                "score": clip(record["value"]),
                "value": record["value"],
                "passed": record["passed"],
                "state": record["state"],
                "reason": record["reason"],
                "slow_tool_calls": record.get("slow_tool_calls", 0),
                **_attempts(record),
            }
            for record in records
        ],
        "tool_calls": tool_calls_per_server(records),
        "tool_times": tool_times.per_server(records, list(SERVERS)),
        "slow_tools": tool_times.slow_tasks(records, tool_limit_s(manifest)),
        "lookahead_attempts": sum(record["lookahead_attempts"] for record in records),
        "unscored": overall.total - overall.n,
        "not_run": sum(record["state"] == State.NOT_RUN for record in records),
        "errors": {state: sum(record["state"] == state for record in records) for state in BROKEN},
        "server_deaths": sum("server_deaths" in row for record in records for row in attempts_of(record)),
        "repeated": sum(_is_repeated(record) for record in records),
        "fresh_draws": sum(record.get("draw", 1) > 1 for record in records),
        "tool_log_missing": sum("tool_log_missing" in record for record in records),
        "after_later_data": sum(record.get("after_later_data", False) for record in records),
        "retried": sum(any(row.get("retry") for row in attempts_of(record)) for record in records),
        "complete": overall.total == overall.n,
        "budget_usd": manifest["config"].get("limits", {}).get("max_cost_usd"),
        "judging": judging(records, weights_of(manifest)),
        **spent,
        **alpha.values(alpha_score(records, cost_usd=spent["cost_usd"]), enabled=conducts_debate(manifest)),
    }


def conducts_debate(manifest: dict[str, Any]) -> bool:
    """Return whether a stored run holds debates."""
    debate: dict[str, Any] = manifest["config"].get("debate") or {}
    return bool(debate.get("enabled", False))


def model_settings(manifest: dict[str, Any]) -> dict[str, Any] | None:
    """Return with which settings the language model of a stored run played; the address of its API is not told."""
    settings = manifest["agent"].get("settings")
    return settings and {name: value for name, value in settings.items() if name != "base_url"}


def _attempts(record: TaskRecord) -> dict[str, Any]:
    """Return what a row says about how often a task was played, and what was missing."""
    return {
        "attempts": len(attempts_of(record)),
        "draw": record.get("draw", 1),
        "server_deaths": sum("server_deaths" in row for row in attempts_of(record)),
        "tool_log_missing": record.get("tool_log_missing", []),
        "after_later_data": record.get("after_later_data", False),
    }


def _is_repeated(record: TaskRecord) -> bool:
    return any(row.get("state") == State.INFRA_UNAVAILABLE for row in record.get("former", ()))


def attempts_of(record: TaskRecord) -> list[Attempt | TaskRecord]:
    """Return every attempt at a task, each with ``usage`` and whether it was a ``retry`` on request."""
    return [*record.get("former", []), record]


def tool_limit_s(manifest: dict[str, Any]) -> float:
    """Return the longest tool call that the harness stands for in a stored run."""
    limits: dict[str, float] = manifest["config"].get("limits", {})
    return limits.get("tool_time_s", tool_times.LIMIT_S)


def seed_source(manifest: dict[str, Any]) -> str:
    """Return ``random`` for a seed drawn for the run, ``chosen`` for one known before: practice, an open book."""
    return "random" if manifest["config"].get("sampling", {}).get("seed_drawn", False) else "chosen"


def _numbers(score: OverallScore | SectionScore) -> dict[str, Any]:
    return {
        "score": score.score,
        "se": score.se,
        "ci95": None if score.ci95 is None else list(score.ci95),
        "n": score.n,
        "total": score.total,
        "passed": score.passed,
        "pass_rate": score.pass_rate,
        "bounds": list(score.bounds),
    }


def tool_calls_per_server(records: Sequence[TaskRecord]) -> dict[str, int]:
    """Return how often the agent called each MCP server, every server named."""
    counts = dict.fromkeys(SERVERS, 0)
    for record in records:
        for call in record["tool_calls"]:
            counts[call["server"]] += 1
    return counts


def agentbeats(manifest: dict[str, Any], records: Sequence[TaskRecord]) -> dict[str, Any]:
    """Return ``results.json``: the AgentBeats result (schema 2.0) with our summary beside it.

    Every field is always present, null where it has no value, so that the files of several runs stack into one table.
    """
    overall, sections = summarize(records, weights_of(manifest))
    scored = [record for record in records if record["state"] in JUDGED]
    return {
        "schema_version": SCHEMA_VERSION,
        "benchmark": "TraderBench",
        "version": __version__,
        "overall_score": {"score": overall.score, "max_score": 100.0},
        "section_scores": {
            name: _agentbeats_section(sections.get(name), [r for r in records if r["section"] == name])
            for name in SECTIONS
        },
        "evaluation_metadata": {
            "purple_agent": manifest["agent"]["name"],
            "num_tasks": overall.total,
            "num_successful": len(scored),
            "conduct_debate": conducts_debate(manifest),
        },
        "detailed_results": [_row(record) for record in records],
        "traderbench": summary(manifest, records)
        | {name: manifest[name] for name in ("created_at", "versions", "data_hashes", "sandbox_tier", "platform")},
    }


def _agentbeats_section(score: SectionScore | None, records: Sequence[TaskRecord]) -> dict[str, Any]:
    if score is None:
        names = ("score", "weight", "weighted_contribution", "accuracy", "sub_scores", "se", "ci95")
        return dict.fromkeys(names) | {"datasets": [], "task_count": 0}
    return {
        "score": score.score,
        "weight": score.weight,
        "weighted_contribution": None if score.score is None else score.weight * score.score,
        "datasets": sorted({record["dataset"] for record in records}),
        "task_count": score.total,
        "accuracy": score.pass_rate,
        "sub_scores": [{"name": name, "score": value} for name, value in mean_parts(records).items()],
        "se": score.se,
        "ci95": None if score.ci95 is None else list(score.ci95),
    }


def mean_parts(records: Sequence[TaskRecord]) -> dict[str, float]:
    """Return the mean of each score dimension over the scored tasks; an agent's failure counts 0 in all of them."""
    scored = [record for record in records if record["state"] not in UNSCORED]
    names = sorted({name for record in scored for name in record["parts"]})
    having = {
        name: [r for r in scored if name in r["parts"] or (r["state"] in BROKEN and not r["parts"])] for name in names
    }
    return {
        name: math.fsum(record["parts"].get(name, 0.0) for record in rows) / len(rows) for name, rows in having.items()
    }


def _row(record: TaskRecord) -> dict[str, Any]:
    return {
        "task_id": record["task_id"],
        "section": record["section"],
        "dataset": record["dataset"],
        "category": record["category"],
        "family": record["family"],
        "difficulty": record.get("difficulty", ""),
        "wording": record.get("wording", ""),
        "score": clip(record["value"]),
        "value": record["value"],
        "is_correct": record["passed"],
        "state": record["state"],
        "reason": record["reason"],
        "parts": [{"name": name, "score": value} for name, value in record["parts"].items()],
        "tool_calls": len(record["tool_calls"]),
        "slow_tool_calls": record.get("slow_tool_calls", 0),
        "lookahead_attempts": record["lookahead_attempts"],
        "input_tokens": record["usage"]["input_tokens"],
        "output_tokens": record["usage"]["output_tokens"],
        "cost_usd": record["usage"]["cost_usd"] if is_known(record["usage"]) else None,
        "debate": alpha.of_task(record),
        **_attempts(record),
    }


def table(result: dict[str, Any]) -> str:
    """Return the score table for a terminal."""
    rows = [*result["sections"].items(), ("overall", result["overall"])]
    width = max(len("tasks"), *(len(scored_of(row)) for _, row in rows))
    lines = [f"{'section':<22} {'score':>6}  {'95% interval':>15}  {'tasks':>{width}}  {'passed':>6}  {'weight':>6}"]
    lines += [_line(name, row, width) for name, row in rows]
    argued = alpha.debate_line(result)
    lines += [*remarks(result), *([argued] if argued else []), f"cost: {cost(result)}"]
    return "\n".join(lines)


def scored_of(row: dict[str, Any]) -> str:
    """Return the number of tasks, as ``6 of 8`` where not all of them are scored."""
    return f"{row['total']}" if row["n"] == row["total"] else f"{row['n']} of {row['total']}"


def _line(name: str, row: dict[str, Any], width: int) -> str:
    interval = "n/a" if row["ci95"] is None else f"{points(row['ci95'][0])} to {points(row['ci95'][1])}"
    counts = f"{scored_of(row):>{width}}  {row['passed']:>6}"
    weight = f"{row['weight']:>6.0%}" if "weight" in row else ""
    return f"{name:<22} {points(row['score']):>6}  {interval:>15}  {counts}  {weight}".rstrip()
