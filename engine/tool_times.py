"""How long the tool servers took, without what the agent took itself; calls over the limit are the harness's doing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.record import TaskRecord

LIMIT_S = 20.0
"""Longest call that the harness stands for; common clients wait 30 s."""

QUANTILES = {"p50_s": 0.50, "p95_s": 0.95, "p99_s": 0.99, "max_s": 1.0}


def seconds(call: Mapping[str, Any]) -> float:
    """Return the seconds that a logged call took on the harness's side."""
    return max(0.0, float(call["milliseconds"]) - float(call.get("agent_milliseconds", 0.0))) / 1000.0


def slow_calls(calls: Iterable[Mapping[str, Any]], limit_s: float) -> int:
    """Return how many calls took longer than the limit on the harness's side."""
    return sum(seconds(call) > limit_s for call in calls)


def per_server(records: Iterable[TaskRecord], servers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the call times of each server.

    Returns
    -------
    dict
        Server -> ``calls``, ``given_up`` (calls whose answer the agent's side did not wait for), and the quantiles
        ``p50_s``, ``p95_s``, ``p99_s`` and ``max_s`` in seconds: the smallest time that so many calls stayed within,
        None without calls.
    """
    rows: dict[str, list[Mapping[str, Any]]] = {name: [] for name in servers}
    for record in records:
        for call in record["tool_calls"]:
            rows[call["server"]].append(call)
    return {name: _row(calls) for name, calls in rows.items()}


def _row(calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    times = sorted(map(seconds, calls))
    known = {
        name: round(times[math.ceil(share * len(times)) - 1], 3) if times else None for name, share in QUANTILES.items()
    }
    return {"calls": len(times), "given_up": sum(bool(call.get("given_up")) for call in calls), **known}


def slow_tasks(records: Iterable[TaskRecord], limit_s: float) -> dict[str, Any]:
    """Return what is told of the tasks that met slow calls: ``limit_s``, ``tasks``, ``calls``, ``longest_s``."""
    met = [record for record in records if record.get("slow_tool_calls")]
    longest = max((seconds(call) for record in met for call in record["tool_calls"]), default=None)
    return {
        "limit_s": limit_s,
        "tasks": len(met),
        "calls": sum(record["slow_tool_calls"] for record in met),
        "longest_s": None if longest is None else round(longest, 1),
    }


def sentence(slow: Mapping[str, Any]) -> str:
    """Return the warning about tasks with slow calls, empty when there are none."""
    if not slow["tasks"]:
        return ""
    many = slow["tasks"] > 1
    return (
        f"{slow['tasks']} {'tasks' if many else 'task'} met tool calls slower than {slow['limit_s']:g} s on our side "
        f"(longest {slow['longest_s']:g} s): {'their scores' if many else 'its score'} may be too low, "
        "run again on a calmer machine"
    )
