"""What keeps a server waiting comes to an end, and what it works on does not."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from typing import Any

import httpx
import pytest

from mcp_servers import access, connections, intake, messages, toolset
from mcp_servers.access import Grant
from mcp_servers.app import build_app
from mcp_servers.embedded import run_in_thread
from mcp_servers.host import guarded
from mcp_servers.setting import bind

KEY = access.new_key()
TOKEN = access.issue(Grant("run", "task", date(2013, 3, 1), 1), KEY)
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
NAP_S = 0.6
SHORT_S = 0.2
LONG_TEXT = 60_000_000
PATIENCE_S = 30.0


def nap() -> str:
    """Sleep."""
    time.sleep(NAP_S)
    return "slept"


def length_of(text: str) -> int:
    """Return the length."""
    return len(text)


def write() -> str:
    """Return a long text."""
    return "x" * LONG_TEXT


@pytest.fixture(scope="module")
def port() -> int:
    server = toolset.build("t", title="T", instructions="", tools=(nap, length_of, write))
    listener = bind("127.0.0.1", 0, name="t")
    run_in_thread(guarded(build_app(server, server_name="t", key=KEY)), listener)
    return int(listener.getsockname()[1])


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        yield connection


def call_of(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def post(port: int, body: dict[str, Any]) -> httpx.Response:
    with httpx.Client(trust_env=False, timeout=PATIENCE_S) as web:
        return web.post(f"http://127.0.0.1:{port}/t/{TOKEN}/mcp", json=body, headers=HEADERS)


def head(port: int, *extra: str) -> bytes:
    named = [f"{name}: {value}" for name, value in HEADERS.items()]
    lines = [f"POST /t/{TOKEN}/mcp HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Type: application/json", *named]
    return "\r\n".join([*lines, *extra, "", ""]).encode()


def received(connection: socket.socket) -> bytes:
    """Return all that comes until the server ends the connection."""
    found = b""
    while True:
        try:
            chunk = connection.recv(1 << 20)
        except ConnectionResetError:
            return found
        if not chunk:
            return found
        found += chunk


def answer_to(connection: socket.socket) -> bytes:
    return connection.recv(1 << 20)


def until(true: Callable[[], bool]) -> None:
    for _ in range(int(PATIENCE_S / 0.02)):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come about")


def test_headers_that_never_end_are_broken_off(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_DEADLINE_S", SHORT_S)
    for begun in (b"", b"POST / HTTP/1.1\r\nX: "):
        with connected(port) as connection:
            connection.sendall(begun)
            assert received(connection) == b""


def test_a_byte_now_and_then_buys_no_time(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_DEADLINE_S", SHORT_S)
    with connected(port) as connection, pytest.raises(OSError):
        for letter in b"POST / HTTP/1.1\r\nX: " + b"x" * 1000:
            connection.sendall(bytes([letter]))
            time.sleep(SHORT_S / 10)


def test_a_body_that_breaks_off_is_refused_in_time(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BODY_DEADLINE_S", SHORT_S)
    with connected(port) as connection:
        connection.sendall(head(port, "Content-Length: 100000") + b"{")
        answer = received(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert answer.endswith(b'{"error":"the body did not come to its end; 1 bytes of it are here"}')


def test_a_large_body_is_refused_whether_it_is_announced_or_not(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BODY_LIMIT_BYTES", 1000)
    refused = post(port, call_of("length_of", text="x" * 1001))
    assert refused.status_code == 413
    assert refused.json()["error"].endswith("at most 1000 are taken")
    with connected(port) as connection:
        part = b"400\r\n" + b"x" * 1024 + b"\r\n"
        connection.sendall(head(port, "Transfer-Encoding: chunked") + part)
        assert answer_to(connection).startswith(b"HTTP/1.1 413 ")
    assert post(port, call_of("length_of", text="x" * 500)).json()["result"]["structuredContent"] == {"result": 500}


def test_a_body_of_too_many_values_is_refused_before_it_is_read(port: int) -> None:
    bomb = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": [[]] * 200_000}}}
    refused = post(port, bomb)
    assert refused.status_code == 413
    assert "JSON values; at most 300000 are taken" in refused.json()["error"]


def test_work_may_take_longer_than_the_deadlines_of_waiting(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_DEADLINE_S", SHORT_S)
    monkeypatch.setattr(intake, "BODY_DEADLINE_S", SHORT_S)
    assert post(port, call_of("nap")).json()["result"]["structuredContent"] == {"result": "slept"}


def test_an_answer_that_nobody_reads_is_given_up(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READER_DEADLINE_S", SHORT_S)
    body = httpx.Request("POST", "http://x", json=call_of("write")).content
    with connected(port) as connection:
        connection.sendall(head(port, f"Content-Length: {len(body)}") + body)
        start = connection.recv(1000, socket.MSG_PEEK)
        assert start.startswith(b"HTTP/1.1 200 ")
        time.sleep(5 * SHORT_S)
        assert len(received(connection)) < LONG_TEXT


@pytest.mark.parametrize("limit", ["UNFINISHED_PER_ADDRESS", "UNFINISHED"])
def test_of_too_many_unfinished_requests_the_oldest_ends(
    port: int, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(connections, limit, 3)
    opened = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) for _ in range(5)]
    for connection in opened:
        connection.sendall(b"POST ")
    assert received(opened[0]) == received(opened[1]) == b""
    # an honest request is taken beside them, and a connection that has been served is not one of them
    assert post(port, call_of("length_of", text="abc")).status_code == 200
    assert received(opened[2]) == b""
    opened[4].sendall(head(port, "Content-Length: 0").removeprefix(b"POST "))
    assert answer_to(opened[4]).startswith(b"HTTP/1.1 400 ")
    for connection in opened:
        connection.close()


def test_of_too_many_idle_connections_the_oldest_ends(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE", 2)
    opened = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) for _ in range(3)]
    for connection in opened:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer_to(connection).startswith(b"HTTP/1.1 200 ")
    assert received(opened[0]) == b""
    for connection in opened:
        connection.close()


def test_of_too_many_large_bodies_on_their_way_the_oldest_ends(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LARGE_BODIES_ON_THEIR_WAY", 1)
    with connected(port) as first, connected(port) as second:
        for connection in (first, second):
            connection.sendall(head(port, "Content-Length: 1000000") + b"x" * 200_000)
            time.sleep(SHORT_S)
        assert received(first).startswith(b"HTTP/1.1 408 ")
        second.sendall(b"x" * 800_000)
        assert answer_to(second).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(("limit", "value"), [("REQUESTS_PER_TASK", 2), ("BYTES_PER_TASK", 250)])
def test_a_task_with_too_much_in_progress_is_told_to_wait(
    port: int, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(intake, limit, value)
    with ThreadPoolExecutor(6) as several:
        statuses = [answer.status_code for answer in several.map(lambda _: post(port, call_of("nap")), range(6))]
    assert 200 in statuses and 429 in statuses and set(statuses) == {200, 429}
    assert post(port, call_of("nap")).status_code == 200


def test_an_exception_is_one_line_with_its_innermost_places() -> None:
    try:
        int("x\ny")
    except ValueError as error:
        record = logging.LogRecord("mcp", logging.ERROR, "", 0, "Tool %r\nfailed", ("t",), (ValueError, error, None))
    line = messages.OneLine().format(record)
    assert "\n" not in line
    assert "ERROR mcp: Tool 't' failed: ValueError: invalid literal for int() with base 10: 'x\\ny' (at" in line
    assert "test_connections.py:" in line


def test_a_flood_of_messages_is_counted_and_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [600.0]
    monkeypatch.setattr(messages.time, "monotonic", lambda: now[0])
    quota = messages.Quota()

    def passes() -> tuple[bool, str]:
        record = logging.LogRecord("mcp", logging.ERROR, "", 0, "no", (), None)
        return quota.filter(record), record.getMessage()

    assert sum(passes()[0] for _ in range(messages.MESSAGES_A_MINUTE + 7)) == messages.MESSAGES_A_MINUTE
    now[0] += 60.0
    assert passes() == (True, "(7 messages before this one were left out) no")
    assert passes() == (True, "no")
