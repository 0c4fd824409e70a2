"""Floods of broken requests: cheap for the server, ended in time, and nobody else notices."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from mcp_servers import access
from mcp_servers.access import Grant
from mcp_servers.server_set import ServerSet, start_servers

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
LIARS = 300


def processor_seconds(pid: int) -> float:
    """Return what the process has used of the processor so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def servers() -> Iterator[ServerSet]:
    with start_servers(["edgar"], ports="auto") as running:
        yield running


def address(servers: ServerSet, task: str) -> str:
    return servers.urls(access.issue(Grant("run", task, date(2012, 9, 19), 1), servers.key))["edgar"]


def head(url: str, *, length: int) -> bytes:
    place = urlsplit(url)
    lines = [f"POST {place.path} HTTP/1.1", f"Host: {place.netloc}", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in HEADERS.items()]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


def connected(url: str) -> socket.socket:
    place = urlsplit(url)
    return socket.create_connection((place.hostname, place.port), timeout=60.0)


def search(url: str) -> httpx.Response:
    call = {"name": "search_companies", "arguments": {}}
    with httpx.Client(trust_env=False, timeout=120.0) as web:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        return web.post(url, json=body, headers=HEADERS)


def test_requests_that_announce_more_than_they_send_cost_the_server_next_to_nothing(servers: ServerSet) -> None:
    url = address(servers, "liars")
    while not httpx.get(url.split("/t/")[0] + "/health", trust_env=False).json()["warm"]:
        time.sleep(0.05)
    assert search(url).status_code == 200
    pid = servers._groups[0].pid
    before = processor_seconds(pid)
    for _ in range(LIARS):
        with connected(url) as liar:
            liar.sendall(head(url, length=100_000) + b"{")
    assert search(url).status_code == 200
    used = processor_seconds(pid) - before
    assert used < 3.0
