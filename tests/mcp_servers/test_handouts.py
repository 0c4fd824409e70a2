"""What a task is shown alone: the history of its markets, told to the trading server before the conversation."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from engine.run.tool_access import ServersDown, ToolAccess
from evaluators.crypto.dataset import DATASET
from evaluators.crypto.session import InteractiveSession
from mcp_servers import access
from mcp_servers.access import Grant
from mcp_servers.handouts import Handouts
from mcp_servers.server_set import ServerSet, start_servers

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
DAY = date(2024, 6, 3)
MINE, OTHER = Grant("run", "mine", DAY, 0), Grant("run", "other", DAY, 0)


def ask(servers: ServerSet, grant: Grant, tool: str = "get_history", **arguments: Any) -> dict[str, Any] | str:
    """Return what a tool of the only server answers, or the text of its error."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body |= {"params": {"name": tool, "arguments": arguments}}
    urls = servers.urls(access.issue(grant, servers.key))
    url = urls["sandbox" if tool == "execute_python" else "trading"]
    reply = httpx.post(url, json=body, headers=HEADERS, trust_env=False, timeout=30.0)
    if reply.status_code != 200:
        return reply.text
    result = reply.json()["result"]
    return result["content"][0]["text"] if result.get("isError") else result["structuredContent"]


def session() -> InteractiveSession:
    (case,) = DATASET.draw(seed=5, count=1, options={"windows": 4, "transforms": ["noisy"]})
    assert case.task.servers == ("trading",)
    opened = case.open()
    assert isinstance(opened, InteractiveSession)
    return opened


def test_the_tool_tells_the_task_what_its_messages_tell_on_request_also_after_a_restart() -> None:
    played = session()
    with start_servers(["trading"], ports="auto") as servers:
        tools = ToolAccess(servers.addresses, servers.key, channels=servers.channels)
        asyncio.run(tools.hand_out(MINE, played.handouts()))
        first = ask(servers, MINE, episodes=["e03", "e01", "e03"])
        killed = servers._groups[0].pid
        os.kill(killed, signal.SIGKILL)
        deadline = time.monotonic() + 60.0
        while servers._groups[0].pid == killed or servers.health() != {"trading": "ok"}:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert ask(servers, MINE, episodes=["e03", "e01"]) == first
        nothing = ask(servers, OTHER, episodes=["e01"])
        unknown = ask(servers, MINE, episodes=["e09"])
        asyncio.run(tools.finish(MINE, ("trading",)))
        over = ask(servers, MINE, episodes=["e01"])
    assert isinstance(first, dict) and [row["episode"] for row in first["history"]] == ["e03", "e01"]
    assert first["seconds_per_bar"] == 3600.0
    told = played.reply('{"history": ["e03", "e01"]}')
    assert told is not None
    for row, said in zip(first["history"], told["history"], strict=True):
        assert row["first_hour"] == said["first_hour"]
        assert set(row["columns"]) == set(said) - {"episode", "first_hour"} == set(first["column_meanings"])
        for name, values in row["columns"].items():
            assert len(values) == played.warmup == 240
            np.testing.assert_allclose(values, said[name], rtol=0, atol=1e-12)
    assert isinstance(nothing, str) and "this task has no history: only tasks whose messages" in nothing
    assert unknown == "Error executing tool get_history: no episode 'e09' in this task; it has e01 to e08"
    assert isinstance(over, str) and "is over" in over


def test_who_is_not_the_harness_tells_a_server_nothing() -> None:
    with start_servers(["trading", "risk"], ports="auto") as servers:
        token = access.issue(MINE, servers.key)
        channel = servers.channels["trading"]
        refused = httpx.post(f"{channel}/tell/trading/{token}", json={}, trust_env=False)
        proof = {"X-TraderBench-Harness": access.harness_proof(token, servers.key)}
        wrong = httpx.get(f"{channel}/tell/trading/{token}", headers=proof, trust_env=False)
        tools = ToolAccess(servers.addresses, servers.key, channels=servers.channels)
        with pytest.raises(ServersDown, match=r"risk did not take what it is to show: .*404"):
            asyncio.run(tools.hand_out(MINE, {"risk": {}}))
        # a server that the grant does not open is told nothing
        asyncio.run(tools.hand_out(Grant("run", "mine", DAY, 0, servers=("risk",)), {"trading": {"episodes": {}}}))
        untold = ask(servers, MINE, episodes=["e01"])
    assert refused.status_code == 403 and refused.json() == {"error": "/tell is for the harness"}
    assert wrong.status_code == 405
    assert isinstance(untold, str) and "this task has no history" in untold


FIT = """
import json, numpy as np
told = json.load(open("history.json"))
result = {}
for name in ("e01", "e02"):
    row = told["episodes"][name]["columns"]
    column = {key: np.array(row[key]) / 10 ** told["digits"][key] for key in row}
    flow, move = column["flow"][:-1], np.sign(column["move"][1:])
    result[name] = float(np.linalg.lstsq(flow[:, None], move, rcond=None)[0][0])
"""


def test_code_in_the_sandbox_fits_a_model_on_the_same_bars() -> None:
    played = session()
    with start_servers(["sandbox"], ports="auto") as servers:
        tools = ToolAccess(servers.addresses, servers.key, channels=servers.channels)
        asyncio.run(tools.hand_out(MINE, played.handouts()))
        found = ask(servers, MINE, "execute_python", code=FIT)
        other = ask(servers, OTHER, "execute_python", code=FIT)
    told = played.reply('{"history": ["e01", "e02"]}')
    assert told is not None and isinstance(found, dict) and found["ok"], found
    for row in told["history"]:
        flow, move = np.array(row["flow"][:-1], float), np.sign(row["move"][1:])
        assert found["result"][row["episode"]] == pytest.approx(flow @ move / (flow @ flow), rel=1e-9)
    assert isinstance(other, dict) and not other["ok"] and "FileNotFoundError" in other["error"]


def test_documents_are_kept_by_run_and_task_and_leave_the_disk_with_their_task(tmp_path: Path) -> None:
    kept = Handouts(tmp_path / "documents")
    kept.put(MINE, {"a": 1})
    kept.put(OTHER, {"a": 2})
    kept.put(MINE, {"a": 3})
    again = Handouts(tmp_path / "documents")
    assert again.of(MINE) == kept.of(MINE) == {"a": 3} and again.of(OTHER) == {"a": 2}
    assert again.of(Grant("another run", "mine", DAY, 0)) is None
    again.drop(MINE)
    assert again.of(MINE) is None and Handouts(tmp_path / "documents").of(MINE) is None
    assert len(list((tmp_path / "documents").iterdir())) == 1
    memory = Handouts()
    memory.put(MINE, {"a": 1})
    memory.drop(OTHER)
    assert memory.of(MINE) == {"a": 1} and memory.of(OTHER) is None
