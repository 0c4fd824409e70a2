"""Honest MCP clients while broken requests flood the same server: errors, and how long calls take.

Each server is flooded in turn, by half-open requests that stay open and by bodies that announce more than they send.
Its honest clients call without a pause, each as a task of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import socket
import statistics
import sys
import time
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mcp import Client

from mcp_servers import access
from mcp_servers.access import Grant
from mcp_servers.server_set import ServerSet, start_servers

AS_OF = date(2012, 9, 19)
CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "edgar": [("search_companies", {}), ("list_line_items", {})],
    "yfinance": [("get_quote", {"ticker": "AAPL"}), ("get_statistics", {"ticker": "MSFT"})],
    "sandbox": [("execute_python", {"code": "result = sum(range(1000))"})],
    "options": [
        (
            "calculate_option_price",
            {"option_type": "call", "spot": 100, "strike": 95, "time_to_expiry": 0.5, "volatility": 0.2, "rate": 0.01},
        )
    ],
    "trading": [("get_account", {}), ("list_orders", {})],
    "risk": [
        ("calculate_sharpe_ratio", {"returns": [0.01, -0.02, 0.03]}),
        ("calculate_max_drawdown", {"returns": [0.1]}),
    ],
}
HELD_OPEN = 400


def flood(url: str, seconds: float, counted: Any) -> None:
    """Open broken requests until the time is over; the last :data:`HELD_OPEN` half-open ones stay open."""
    place = urlsplit(url)
    head = f"POST {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n".encode()
    liar = head + b"Accept: application/json, text/event-stream\r\nContent-Length: 100000\r\n\r\n{"
    held: list[socket.socket] = []
    rng, end = random.Random(0), time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(OSError):
            connection = socket.create_connection((place.hostname, place.port), timeout=5.0)
            if rng.random() < 0.5:
                connection.sendall(liar)
                connection.close()
            else:
                connection.sendall(head if rng.random() < 0.5 else liar)
                held.append(connection)
            counted.value += 1
        if len(held) > HELD_OPEN:
            held.pop(0).close()
        time.sleep(0.001)


async def honest(
    url: str, calls: list[tuple[str, dict[str, Any]]], end: float, took: list[float], wrong: list[str]
) -> None:
    """Call until the time is over, and note how long each call took or what went wrong."""
    async with Client(url) as client:
        if "open_account" in {tool.name for tool in (await client.list_tools()).tools}:
            await client.call_tool("open_account", {})
        number = 0
        while time.monotonic() < end:
            tool, arguments = calls[number % len(calls)]
            number += 1
            began = time.perf_counter()
            try:
                result = await client.call_tool(tool, arguments)
                if result.is_error:
                    wrong.append(str(result.content[0].text))
            except Exception as error:
                wrong.append(f"{type(error).__name__}: {error}")
            took.append(time.perf_counter() - began)


def address(servers: ServerSet, name: str, task: str) -> str:
    return servers.urls(access.issue(Grant("flood", task, AS_OF, 1, 10**9), servers.key))[name]


def wait_until_warm(servers: ServerSet) -> None:
    for port in servers.ports.values():
        while not json.load(urlopen(f"http://127.0.0.1:{port}/health"))["warm"]:
            time.sleep(0.2)


async def measure(
    servers: ServerSet, name: str, clients: int, seconds: float, calm: bool
) -> tuple[list[float], list[str], int]:
    """Return the times of the honest calls, what went wrong, and how many broken requests were sent."""
    counted = multiprocessing.Value("i", 0)
    flooding = multiprocessing.Process(target=flood, args=(address(servers, name, "flood"), seconds, counted))
    if not calm:
        flooding.start()
    took, wrong, end = [], [], time.monotonic() + seconds
    tasks = [
        honest(address(servers, name, f"{name}-{number}"), CALLS[name], end, took, wrong) for number in range(clients)
    ]
    await asyncio.gather(*tasks)
    if not calm:
        flooding.join()
    return took, wrong, counted.value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", default=list(CALLS))
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--calm", action="store_true", help="without the flood, to compare")
    asked = parser.parse_args()
    multiprocessing.set_start_method("spawn")
    failed = 0
    print(f"{'server':10} {'calls':>8} {'errors':>7} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'broken requests':>16}")
    with start_servers(asked.servers, ports="auto") as servers:
        wait_until_warm(servers)
        for name in asked.servers:
            took, wrong, broken = asyncio.run(measure(servers, name, asked.clients, asked.seconds, asked.calm))
            cuts = statistics.quantiles(took, n=100)
            p50, p95, p99 = (1000 * cuts[percent - 1] for percent in (50, 95, 99))
            print(f"{name:10} {len(took):8,} {len(wrong):7,} {p50:8.1f} {p95:8.1f} {p99:8.1f} {broken:16,}", flush=True)
            failed += len(wrong)
            for text in sorted(set(wrong))[:3]:
                print(f"  {text[:200]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
