"""A server killed while calls are under way: nothing answered is lost, nothing trades twice."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from datetime import date
from typing import Any

import httpx
import pytest

from mcp_servers import access
from mcp_servers.access import Grant
from mcp_servers.server_set import start_servers
from tests.mcp_servers.call_logs import calls_of

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
ORDERS = 60
KILLS = 2


def post(web: httpx.Client, url: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, again and again until it is answered."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    while True:
        try:
            result = web.post(url, json=body, headers=HEADERS).raise_for_status().json()["result"]
        except httpx.HTTPError:
            time.sleep(0.05)
            continue
        assert not result.get("isError"), result
        return result["structuredContent"]


@pytest.mark.campaign
def test_orders_survive_kills_and_each_trades_once() -> None:
    rng = random.Random(7)
    with start_servers(["trading"], ports="auto") as servers, httpx.Client(trust_env=False, timeout=None) as web:
        token = access.issue(Grant("run", "kills", date(2020, 1, 2), 0, 10_000), servers.key)
        url = servers.urls(token)["trading"]
        post(web, url, "open_account", cash=1e6, start="2019-12-02")
        done = threading.Event()
        killed: list[int] = []

        def kill() -> None:
            for _ in range(KILLS):
                time.sleep(rng.uniform(0.02, 0.1))
                pid = servers._groups[0].pid
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                while not done.is_set() and (servers._groups[0].pid == pid or servers.health() != {"trading": "ok"}):
                    time.sleep(0.02)

        killer = threading.Thread(target=kill)
        killer.start()
        for number in range(ORDERS):
            post(web, url, "place_order", client_order_id=str(number), ticker="SIM-BANK", side="buy", quantity=1)
            time.sleep(0.01)
        while len(killed) < KILLS:
            post(web, url, "place_order", client_order_id="0", ticker="SIM-BANK", side="buy", quantity=1)
        killer.join()
        state = post(web, url, "advance", to="2020-01-02")
        done.set()
        assert len(set(killed)) == KILLS
        assert state["shares"] == [ORDERS]
        numbers = [record["number"] for record in calls_of(servers, "trading", token)]
        assert len(numbers) == len(set(numbers)) >= ORDERS + 2
