"""What a server wrote down about the calls of one task, read as the harness reads it but without ending the task."""

from __future__ import annotations

import time
from typing import Any

import httpx

from mcp_servers import access
from mcp_servers.server_set import ServerSet

PATIENCE_S = 10.0
"""A server that is being restarted is asked again: its log is on its disk."""


def calls_of(servers: ServerSet, name: str, token: str) -> list[dict[str, Any]]:
    """Return the records of the calls of the task that holds ``token`` on server ``name``."""
    headers = {"X-TraderBench-Harness": access.harness_proof(token, servers.key)}
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            reply = httpx.get(f"{servers.channels[name]}/log/{name}/{token}", headers=headers, trust_env=False)
            calls: list[dict[str, Any]] = reply.raise_for_status().json()["calls"]
            return calls
        except httpx.HTTPError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.25)
