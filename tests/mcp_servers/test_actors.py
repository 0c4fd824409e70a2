"""Tool servers as Ray actors: the same set, and a death in the middle."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from datetime import date
from typing import Any

import anyio
import pytest
from mcp import Client

from engine.machine.ray_session import local_ray
from mcp_servers import access, catalog
from mcp_servers.access import Grant
from mcp_servers.server_set import ServerSet, start_servers
from mcp_servers.setting import ServerStartError
from tests.mcp_servers.call_logs import calls_of

pytestmark = [pytest.mark.ray, pytest.mark.slow]


@pytest.fixture(scope="module")
def servers() -> Iterator[ServerSet]:
    with local_ray(num_cpus=2), start_servers(["edgar", "trading"], ports="auto", backend="ray") as running:
        yield running


def call(url: str, tool: str, **arguments: Any) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with Client(url) as client:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content[0].text
            return result.structured_content

    return anyio.run(run)


def test_actors_serve_their_tools_and_the_log(servers: ServerSet) -> None:
    token = access.issue(Grant("run", "ray", date(2020, 1, 2), 0), servers.key)
    assert call(servers.urls(token)["edgar"], "search_companies", query="apple")["ticker"] == ["AAPL"]
    assert [record["tool"] for record in calls_of(servers, "edgar", token)] == ["search_companies"]
    assert servers.health() == {"edgar": "ok", "trading": "ok"}


def test_a_killed_actor_comes_back_on_its_port_with_its_accounts(servers: ServerSet) -> None:
    import ray

    token = access.issue(Grant("run", "killed", date(2020, 1, 2), 0), servers.key)
    url = servers.urls(token)["trading"]
    opened = call(url, "open_account", cash=5_000)
    order = {"client_order_id": "a", "ticker": "SIM-BANK", "side": "buy", "quantity": 10}
    call(url, "place_order", **order)
    actor = next(group for group in servers._groups if "trading" in group.ports)
    ray.kill(actor.handle, no_restart=False)
    noticed = time.monotonic() + 5
    while servers.health()["trading"] == "ok" and time.monotonic() < noticed:
        time.sleep(0.05)
    while servers.health()["trading"] != "ok":
        time.sleep(0.2)
    call(url, "place_order", **order)
    state = call(url, "advance", to="2020-01-02")
    assert state["initial_cash"] == opened["cash"] and state["shares"] == [10]
    assert len(calls_of(servers, "trading", token)) == 4


def test_a_busy_port_is_one_error_before_any_actor_is_made(servers: ServerSet, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setitem(catalog.SERVERS, "risk", catalog.SERVERS["risk"]._replace(port=port))
        with pytest.raises(ServerStartError, match=f"^port {port} on 127.0.0.1 is not free for the risk server"):
            start_servers(["risk"], backend="ray")
