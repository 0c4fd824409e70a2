"""Carry out an assessment: ``traderbench run`` in a process of its own, so that this server always answers.

Assessments share nothing but the machine: each has its process group, its folder, free ports, and tool servers (and
Ray, where it is asked for) that end with it.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from request import Assessment, BadRequest

from engine.agent import process as agent_process
from engine.agent import token as agent_token
from engine.errors import ConfigError
from mcp_servers import scratch

PROGRESS_INTERVAL_S = 5.0
STOP_TIMEOUT_S = 20.0
TOKEN_VARIABLE = "TRADERBENCH_GREEN_TOKEN"
SECRETS = (TOKEN_VARIABLE, agent_token.VARIABLE)
"""Variables that a run does not get: it has no use for our own token, and the operator's token for agents is not to be
sent to whatever address a request names."""
SECTIONS = (
    "knowledge_retrieval",
    "analytical_reasoning",
    "options_trading",
    "crypto_trading",
    "professional_tasks",
)
_SECTION_FIELDS = ("score", "weight", "weighted_contribution", "datasets", "task_count", "accuracy", "sub_scores")


async def carry_out(
    assessment: Assessment, progress: Callable[[str], Awaitable[None]], *, runs: Path | None = None
) -> dict[str, Any]:
    """Run the assessment and return the AgentBeats result. A run that fails is a result with ``error``.

    One that stopped by itself (the agent was gone, too many errors) has the scores so far beside its ``error``.

    Parameters
    ----------
    progress
        Told every few seconds what the run is doing.
    runs
        Folder that run folders are kept in; None keeps none.

    Raises
    ------
    BadRequest
        When the run refuses what it was asked for before it began.
    """
    with scratch.folder("traderbench-green-") as folder:
        (folder / "config.yaml").write_text(json.dumps(assessment.config), encoding="utf-8")
        out = folder / "run" if runs is None else runs.resolve() / f"run-{time.time_ns():x}-{secrets.token_hex(4)}"
        error = await _run(assessment.agent_url, folder, out, progress)
        debated = bool(assessment.config.get("debate", {}).get("enabled", False))
        found = out / "results.json"
        result = (
            json.loads(found.read_text(encoding="utf-8")) if found.is_file() else failed_result(error, debated=debated)
        )
    effective = {"purple_agent": assessment.agent_url, "config": assessment.config, "notes": list(assessment.notes)}
    return result | {"error": error, "effective_config": effective}


async def _run(agent_url: str, folder: Path, out: Path, progress: Callable[[str], Awaitable[None]]) -> str | None:
    """Run the benchmark and wait for its end; return what went wrong, or None."""
    log, config = folder / "run.log", str(folder / "config.yaml")
    process = agent_process.launch(
        # -P: no module of the working directory, from which the operator's config names its files, is imported
        ["-P", "-m", "engine.cli", "run", config, "--agent", agent_url, "--out", str(out), "--json"],
        environment={name: value for name, value in os.environ.items() if name not in SECRETS},
        folder=Path.cwd(),
        log=log,
        output=folder / "result.json",
    )
    told = ""
    next_report = time.monotonic()
    try:
        while process.poll() is None:
            await asyncio.sleep(0.1)
            if time.monotonic() >= next_report:
                next_report += PROGRESS_INTERVAL_S
                line = agent_process.last_line(log)
                if line != told:
                    told = line
                    await progress(line)
    finally:
        await agent_process.stop(process, timeout_s=STOP_TIMEOUT_S)
    said = agent_process.last_line(log)
    if process.returncode == ConfigError.exit_status:
        raise BadRequest(said.removeprefix("traderbench: error: "))
    return None if process.returncode == 0 else said


def failed_result(error: str | None, *, debated: bool = False) -> dict[str, Any]:
    """Return a result of schema 2.0 without scores, every field present."""
    empty = dict.fromkeys(_SECTION_FIELDS) | {"datasets": [], "task_count": 0, "sub_scores": []}
    return {
        "schema_version": "2.0",
        "benchmark": "TraderBench",
        "version": None,
        "overall_score": {"score": None, "max_score": 100.0},
        "section_scores": {name: dict(empty) for name in SECTIONS},
        "evaluation_metadata": {
            "purple_agent": None,
            "num_tasks": 0,
            "num_successful": 0,
            "conduct_debate": debated,
        },
        "detailed_results": [],
        "traderbench": None,
        "error": error,
    }
