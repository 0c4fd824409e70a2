"""What of a run's marks rests on judges: how much, how far they agree, and how much still waits for them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from engine.record import TaskRecord
from engine.spending import dollars, judge_costs
from evaluators.contract import Section
from evaluators.judge.panel import fleiss_kappa


def judging(records: Sequence[TaskRecord], weights: Mapping[Section, float]) -> dict[str, Any]:
    """Return the judges' part of a run; shares of 0 of one that code marks alone.

    Shares are of all marks of the run: a task counts its part of its section, a section its weight among those that
    have tasks. ``kappa`` is Fleiss' over all criteria that a panel judged. ``cost_usd`` is that of judged tasks, None
    where a judge has no price.
    """
    sizes: dict[str, int] = {}
    for record in records:
        sizes[record["section"]] = sizes.get(record["section"], 0) + 1
    whole = sum(weights.get(section, 0.0) for section in weights if section in sizes)
    judged = unjudged = 0.0
    votes: dict[int, list[int]] = {}
    calls = misled = criteria = 0
    costs: list[float | None] = []
    waiting: Counter[str] = Counter()
    for record in records:
        share = weights.get(record["section"], 0.0) / sizes[record["section"]] / whole if whole else 0.0
        details = record["details"]
        unjudged += share * bool(record.get("unjudged"))
        judged += share * float(details.get("judged_weight_share", 0.0))
        calls += int(details.get("judge_calls", 0)) + int(details.get("probe_calls", 0))
        calls += int(details.get("debate", {}).get("judge_calls", 0))
        costs += judge_costs(record)
        if record.get("unjudged"):
            waiting[record.get("reason", "").removeprefix("not judged: ")] += 1
        misled += bool(details.get("misled", False))
        if panel := details.get("agreement"):
            votes.setdefault(panel["judges"], []).extend(panel["votes"])
            criteria += panel["criteria"]
    unanimous = sum(yes in (0, judges) for judges, row in votes.items() for yes in row)
    sole = next(iter(votes.items())) if len(votes) == 1 else None
    return {
        "judged_share": judged,
        "unjudged_share": unjudged,
        "unjudged_tasks": sum(bool(record.get("unjudged")) for record in records),
        "unjudged_reason": waiting.most_common(1)[0][0] if waiting else None,
        "calls": calls,
        "cost_usd": None if None in costs else math.fsum(cost or 0.0 for cost in costs),
        "misled_tasks": misled,
        "unanimous_share": unanimous / criteria if criteria else None,
        "kappa": fleiss_kappa(sole[1], sole[0]) if sole else None,
    }


def sentence(found: Mapping[str, Any]) -> str:
    """Return the judges' part of a run in words; empty where there is none."""
    if not (found["judged_share"] or found["unjudged_share"] or found["calls"]):
        return ""
    cost = f", {dollars(found['cost_usd'])}" if found["cost_usd"] else ""
    said = f"judges: {found['judged_share']:.0%} of the marks rest on them ({found['calls']:,} calls{cost})"
    if found["unanimous_share"] is not None:
        kappa = "" if found["kappa"] is None else f", Fleiss' kappa {found['kappa']:.2f}"
        said += f", unanimous on {found['unanimous_share']:.0%} of the criteria{kappa}"
    if found["unjudged_share"]:
        tasks = "1 task" if found["unjudged_tasks"] == 1 else f"{found['unjudged_tasks']} tasks"
        why = found["unjudged_reason"] or "without the judge of its config a run cannot mark them"
        said += f"; {found['unjudged_share']:.0%} of the marks ({tasks}) are unjudged and have no score: {why}"
    return said
