"""Clients that call without a pause, server by server, beside an empty server of the same library in the same run.

The empty server is mcp's own, with one tool that returns a number: no grants, no log, no limits. What a server of ours
takes more than it is ours; the rest is the protocol and the clients, which share the machine's processors.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import socket
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mcp_under_flood import CALLS, address, honest, wait_until_warm

from mcp_servers.server_set import start_servers

LOADED: dict[str, list[tuple[str, dict[str, Any]]]] = CALLS | {
    "edgar": [
        ("search_companies", {"query": "apple"}),
        ("get_company_facts", {"ticker": "AAPL", "concept": "Revenue"}),
    ],
    "yfinance": [("get_quote", {"ticker": "AAPL"}), ("get_price_history", {"ticker": "MSFT", "start": "2012-06-01"})],
    "options": [*CALLS["options"], ("get_options_chain", {"ticker": "SIM-TECH"})],
    "trading": [("get_account", {}), ("list_orders", {}), ("get_margin", {}), ("get_profit_by_source", {})],
    "risk": [
        *CALLS["risk"],
        ("calculate_var", {"returns": [0.01, -0.02, 0.03, -0.01] * 30}),
    ],
}
EMPTY = "empty"


def serve_empty(listener: socket.socket) -> None:
    import uvicorn
    from mcp.server import MCPServer

    server: MCPServer[Any] = MCPServer(EMPTY, log_level="ERROR")

    @server.tool()
    def answer() -> int:
        return 42

    app = server.streamable_http_app(streamable_http_path="/mcp", stateless_http=True, json_response=True)
    config = uvicorn.Config(app, log_level="error", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


def start_empty() -> tuple[multiprocessing.Process, str]:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    process = multiprocessing.get_context("fork").Process(target=serve_empty, args=(listener,), daemon=True)
    process.start()
    port = listener.getsockname()[1]
    listener.close()
    return process, f"http://127.0.0.1:{port}/mcp"


async def load(
    urls: list[str], calls: list[tuple[str, dict[str, Any]]], seconds: float
) -> tuple[list[float], list[str]]:
    took, wrong, end = [], [], time.monotonic() + seconds
    await asyncio.gather(*(honest(url, calls, end, took, wrong) for url in urls))
    return took, wrong


def row(name: str, seconds: float, took: list[float], wrong: list[str]) -> str:
    cuts = statistics.quantiles(took, n=100)
    p50, p99 = (1000 * cuts[percent - 1] for percent in (50, 99))
    return f"| {name} | {len(took):,} | {len(wrong)} | {len(took) / seconds:.0f} | {p50:.1f} | {p99:.1f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="*", default=list(LOADED))
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--empty-seconds", type=float, default=15.0, help="of the empty server, before each of ours")
    asked = parser.parse_args()
    multiprocessing.set_start_method("spawn")
    process, empty = start_empty()
    failed = 0
    print("| server | calls | errors | calls/s | p50 ms | p99 ms |\n|---|---|---|---|---|---|")
    with start_servers(asked.servers, ports="auto") as servers:
        wait_until_warm(servers)
        asyncio.run(load([empty], [("answer", {})], 3.0))
        for name in asked.servers:
            rounds = (
                (EMPTY, [empty] * asked.clients, [("answer", {})], asked.empty_seconds),
                (
                    name,
                    [address(servers, name, f"{name}-{n}") for n in range(asked.clients)],
                    LOADED[name],
                    asked.seconds,
                ),
            )
            for who, urls, calls, seconds in rounds:
                took, wrong = asyncio.run(load(urls, calls, seconds))
                print(row(who, seconds, took, wrong), flush=True)
                failed += len(wrong)
                for text in sorted(set(wrong))[:3]:
                    print(f"  {text[:200]}")
    process.terminate()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
