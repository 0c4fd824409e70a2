"""What the log says of time: from the arrival on, the agent's own time apart, and who did not wait for the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import anyio
import httpx
import pytest
import uvicorn
from mcp import Client
from mcp.server import MCPServer

from mcp_servers import access, caller, toolset
from mcp_servers.access import Grant
from mcp_servers.app import build_app
from mcp_servers.arrival import Arrival, Pulse
from mcp_servers.call_log import CallLog
from mcp_servers.embedded import run_in_thread
from mcp_servers.sandbox.outcome import Outcome, Usage
from mcp_servers.sandbox.server import build_server as build_sandbox
from mcp_servers.setting import bind

KEY = access.new_key()
GRANT = Grant("run", "task", date(2013, 3, 1), 1)
NAP_S = 0.4


def nap() -> str:
    """Sleep."""
    time.sleep(NAP_S)
    return "slept"


@contextmanager
def served(server: MCPServer, name: str) -> Iterator[tuple[str, CallLog]]:
    log = CallLog()
    app = build_app(server, server_name=name, key=KEY, log=log)
    listener = bind("127.0.0.1", 0, name=name)
    run_in_thread(uvicorn.Config(app, log_level="warning"), listener)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/t/{access.issue(GRANT, KEY)}/mcp", log


def napping() -> MCPServer:
    return toolset.build("napping", title="Nap", instructions="", tools=(nap,))


def call_of(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


def until(true: Callable[[], bool]) -> None:
    for _ in range(400):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come about")


def test_a_call_that_the_agents_side_gave_up_is_not_logged_as_good() -> None:
    with served(napping(), "napping") as (url, log):
        with httpx.Client(trust_env=False) as web, pytest.raises(httpx.ReadTimeout):
            web.post(url, json=call_of("nap", {}), headers=HEADERS, timeout=NAP_S / 4)
        until(lambda: bool(log.of(GRANT)) and "did not wait" in str(log.of(GRANT)[0].error))
        (record,) = log.of(GRANT)
        assert (record.ok, record.given_up) == (False, True)
        assert record.milliseconds >= NAP_S * 1000


def test_a_call_that_is_waited_for_is_good() -> None:
    with served(napping(), "napping") as (url, log):
        with httpx.Client(trust_env=False) as web:
            answer = web.post(url, json=call_of("nap", {}), headers=HEADERS, timeout=30.0)
        assert answer.json()["result"]["content"][0]["text"] == "slept"
        (record,) = log.of(GRANT)
        assert (record.ok, record.given_up, record.error) == (True, False, None)
        assert record.milliseconds >= NAP_S * 1000 and record.agent_milliseconds == 0.0


def test_a_call_in_progress_is_in_the_log_that_the_harness_reads() -> None:
    async def answered_too_early(url: str, log: CallLog) -> list[Any]:
        async with Client(url) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "nap", {})
            while not log.of(GRANT):
                await anyio.sleep(0.02)
            return log.of(GRANT)

    with served(napping(), "napping") as (url, log):
        (running,) = anyio.run(answered_too_early, url, log)
        assert (running.ok, running.given_up, running.error) == (False, True, "not answered when the log was read")
        assert 0 < running.milliseconds
        (done,) = log.of(GRANT)
        assert (done.ok, done.given_up) == (True, False)


def test_what_the_agents_own_code_takes_in_the_sandbox_is_the_agents_time() -> None:
    class Pool:
        tier = type("Tier", (), {"name": "test"})

        def execute(self, code: str, **_: Any) -> Outcome:
            time.sleep(NAP_S)
            usage = Usage(wall_seconds=NAP_S, cpu_seconds=0.0, peak_bytes=0)
            return Outcome(True, 1, "", "", False, None, None, None, usage)

    async def three_at_once(url: str) -> None:
        async with Client(url) as client, anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(client.call_tool, "execute_python", {"code": "1"})

    pool: Any = Pool()
    with served(build_sandbox(pool=pool), "sandbox") as (url, log):
        anyio.run(three_at_once, url)
        records = log.of(GRANT)
        own = sorted(record.agent_milliseconds for record in records)
        assert own[0] >= NAP_S * 1000
        # two run at a time: the third waited for one of the others, which is the agent's own doing
        assert own[2] >= 1.5 * NAP_S * 1000
        assert all(record.agent_milliseconds <= record.milliseconds for record in records)


def test_a_loop_that_was_held_up_says_how_late_it_is() -> None:
    async def held_up() -> float:
        pulse = Pulse()
        time.sleep(0.6)
        await asyncio.sleep(0)
        return pulse.late_s()

    # a beat of a quarter of a second was due in the meantime
    assert asyncio.run(held_up()) >= 0.3


class Late:
    """A pulse of a loop that is always two seconds late."""

    def late_s(self) -> float:
        return 2.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    now = [100.0]
    monkeypatch.setattr("mcp_servers.arrival.time.perf_counter", lambda: now[0])
    yield now


def test_the_time_in_the_socket_counts_and_the_time_that_the_sender_takes_to_send_does_not(clock: list[float]) -> None:
    messages = iter(
        [{"type": "http.request", "more_body": True}, {"type": "http.request"}, {"type": "http.disconnect"}]
    )

    async def receive() -> Any:
        clock[0] += 50.0
        return next(messages)

    async def read() -> tuple[float, bool]:
        pulse: Any = Late()
        arrival = Arrival(receive, pulse)
        await arrival.receive()
        await arrival.receive()
        clock[0] += 5.0
        return arrival.seconds(), await arrival.sender_left()

    assert asyncio.run(read()) == (7.0, True)


def test_the_agents_own_time_grows_while_it_goes_on() -> None:
    call = caller.Call(GRANT)
    with call.taking_its_own_time():
        first = call.own_seconds()
        time.sleep(0.01)
        assert call.own_seconds() > first
    assert call.own_s == call.own_seconds() >= 0.01
