"""What a run of ``builtin:llm`` would use, before it starts: the drawn tasks, in the requests that its agent makes.

No agent is served and no tool server started. The tasks are played in this process with the right answers, which gives
messages and replies of their real lengths; the tools are asked of servers in memory; the agent's own program counts.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from engine import spending
from engine.agent import builtin as builtin_agents
from engine.agent.model_settings import ModelSettings
from engine.config import RunConfig
from engine.errors import ServiceUnavailable
from engine.plan.build import checked_cases, public_id
from engine.plan.shards import positions
from evaluators.contract import Case
from mcp_servers.catalog import SERVERS

COUNTED = ("messages", "model_calls", "input_tokens", "output_tokens")
LIMIT_S = 300.0


def estimate(config: RunConfig, settings: ModelSettings) -> dict[str, Any]:
    """Return the tokens and dollars that a run is expected to use, by dataset and in all.

    Raises
    ------
    ConfigError
        When the tasks cannot be drawn.
    """
    drawn = checked_cases(config)
    cases = [drawn[position] for position in positions(drawn, config.sampling.shard)]
    offered = [[name for name in _offered(case, settings) if name not in config.withheld] for case in cases]
    tools = asyncio.run(_tools({name for names in offered for name in names}))
    tasks = [_played(case, names, config) for case, names in zip(cases, offered, strict=True)]
    counted = _counted({"tools": tools, "tasks": tasks}, settings, config)
    groups: dict[str, list[dict[str, int]]] = {}
    for case, row in zip(cases, counted["tasks"], strict=True):
        groups.setdefault(case.task.dataset, []).append(row)
    return {
        "config": config.name,
        "seed": config.sampling.seed,
        "model": settings.model,
        "prices": {"input_usd": settings.input_price, "output_usd": settings.output_price},
        **_sum(counted["tasks"], settings),
        "datasets": {name: _sum(rows, settings) for name, rows in groups.items()},
        "budget_usd": config.limits.max_cost_usd,
        "assumed": counted["assumed"],
    }


def table(expected: dict[str, Any]) -> str:
    """Return an estimate for people."""
    priced = expected["cost_usd"] is not None
    lines = [
        f"{expected['model'] or 'a model'} as builtin:llm on {expected['config']}, seed {expected['seed']}: "
        "expected, before anything is started",
        "",
        f"{'dataset':<14} {'tasks':>6} {'messages':>9} {'model calls':>12} {'tokens in':>12} {'tokens out':>11}"
        + (f" {'dollars':>9}" if priced else ""),
    ]
    for name, row in [*expected["datasets"].items(), ("in all", expected)]:
        lines.append(
            f"{name:<14} {row['tasks']:>6} {row['messages']:>9} {row['model_calls']:>12} {row['input_tokens']:>12,} "
            f"{row['output_tokens']:>11,}" + (f" {spending.dollars(row['cost_usd']):>9}" if priced else "")
        )
    assumed = expected["assumed"]
    lines += [
        "",
        f"assumed: {assumed['tool_calls_with_data']} tool calls a message where a task needs data, else "
        f"{assumed['tool_calls_without_data']}, results of {assumed['tool_result_characters']} characters, answers as "
        f"long as the right ones and {assumed['thought_tokens']} tokens of thought; a model that reasons at length "
        "writes more",
    ]
    if not priced:
        lines.append("dollars: unknown; give --input-price and --output-price (US dollars per million tokens)")
    elif expected["budget_usd"] is not None and expected["cost_usd"] > expected["budget_usd"]:
        lines.append(
            f"this is more than the budget of {spending.dollars(expected['budget_usd'])} (limits.max_cost_usd): the "
            "run would stop before its end"
        )
    return "\n".join(lines)


def _offered(case: Case, settings: ModelSettings) -> list[str]:
    """Return the servers whose tools the model sees, as ``ToolAccess.offered`` names them."""
    names = [name for name, row in SERVERS.items() if name in case.task.servers or not row.dated]
    return [name for name in names if settings.servers is None or name in settings.servers]


async def _tools(names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    from mcp import Client

    by_server = {}
    for name in sorted(names):
        server = importlib.import_module(SERVERS[name].module).build_server()
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
        by_server[name] = [{"name": t.name, "description": t.description, "schema": t.input_schema} for t in tools]
    return by_server


def _played(case: Case, servers: list[str], config: RunConfig) -> dict[str, Any]:
    """Return the messages of a task and the right replies to them."""
    session = case.open()
    handed_out = session.handouts()
    extra = {"task_id": public_id(config.sampling.seed, case.task.task_id), "as_of": case.task.as_of.isoformat()}
    messages: list[dict[str, Any]] = []
    replies: list[str] = []
    message: dict[str, Any] | None = session.opening() | extra
    while message is not None and len(messages) < config.limits.max_turns:
        messages.append(message)
        replies.append(session.oracle())
        message = session.reply(replies[-1])
    # what a server only hands out is told by messages, too
    needs_data = any(name in servers for name in case.task.servers if name not in handed_out)
    return {"servers": servers, "needs_data": needs_data, "messages": messages, "replies": replies}


def _counted(given: dict[str, Any], settings: ModelSettings, config: RunConfig) -> dict[str, Any]:
    """Let the agent's program count."""
    program = builtin_agents.locate_programs() / builtin_agents.lookup("llm").program
    done = subprocess.run(
        [sys.executable, "-I", str(program), "--estimate", *settings.arguments(config.limits)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={"PATH": "", "LANG": "C.UTF-8"},
    )
    if done.returncode:
        raise ServiceUnavailable(f"the agent's program could not count: {done.stderr.strip().splitlines()[-1:]}")
    counted: dict[str, Any] = json.loads(done.stdout)
    return counted


def _sum(rows: list[dict[str, int]], settings: ModelSettings) -> dict[str, Any]:
    total: dict[str, Any] = {"tasks": len(rows)} | {name: sum(row[name] for row in rows) for name in COUNTED}
    cost = None
    if settings.input_price is not None and settings.output_price is not None:
        cost = (total["input_tokens"] * settings.input_price + total["output_tokens"] * settings.output_price) / 1e6
    return total | {"cost_usd": cost}
