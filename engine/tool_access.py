"""The harness's side of the tool servers: addresses with a task's grant, and the log of what the task called."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_servers import access
from mcp_servers.catalog import SERVERS

if TYPE_CHECKING:
    import httpx

LOG_TIMEOUT_S = 10.0
WARM_UP_TIMEOUT_S = 180.0
WARM_UP_PAUSE_S = 0.1


@dataclass(frozen=True)
class ToolAccess:
    """Where the servers listen and the key their grants are signed with.

    Attributes
    ----------
    base_urls
        Server name -> ``http://host:port`` of each server that is up.
    key
        Signing key of this run; never sent to an agent.
    unavailable
        Server name -> why it is not up.
    """

    base_urls: Mapping[str, str]
    key: bytes
    unavailable: Mapping[str, str]

    def message_fields(self, grant: access.Grant) -> dict[str, Any]:
        """Return what the opening message says about the tools: one address each, with the task's grant in it."""
        token = access.issue(grant, self.key)
        urls = {name: f"{base}/t/{token}/mcp" for name, base in self.base_urls.items()}
        return {"mcp_servers": urls} | {SERVERS[name].environment_name: url for name, url in urls.items()}

    async def warmed(self, *, timeout_s: float = WARM_UP_TIMEOUT_S) -> list[str]:
        """Wait until the servers have made their first calls, which compile; return those that are not that far yet."""
        import httpx

        deadline = time.monotonic() + timeout_s
        cold = list(self.base_urls)
        async with httpx.AsyncClient(timeout=LOG_TIMEOUT_S, trust_env=False) as client:
            while True:
                cold = [name for name in cold if not await _is_warm(client, self.base_urls[name])]
                if not cold or time.monotonic() > deadline:
                    return cold
                await asyncio.sleep(WARM_UP_PAUSE_S)

    async def finish(self, grant: access.Grant) -> list[dict[str, Any]]:
        """End the task on all servers and return the calls it made, each row with the name of its server.

        Once ended, the grant is worth nothing: a later task cannot borrow an earlier one's later date.

        Raises
        ------
        httpx.HTTPError
            When a server does not answer: the count of calls is then unknown, which is a failure of the harness.
        """
        import httpx

        from engine.agent_http import certificates

        token = access.issue(grant, self.key)
        headers = {"X-TraderBench-Harness": access.harness_proof(token, self.key)}
        rows: list[dict[str, Any]] = []
        async with httpx.AsyncClient(timeout=LOG_TIMEOUT_S, trust_env=False, verify=certificates()) as client:
            for name, base in self.base_urls.items():
                closed = await client.post(f"{base}/t/{token}/close", headers=headers)
                closed.raise_for_status()
                response = await client.get(f"{base}/t/{token}/log", headers=headers)
                response.raise_for_status()
                rows.extend({"server": name} | row for row in response.json()["calls"])
        return rows


async def _is_warm(client: httpx.AsyncClient, base: str) -> bool:
    """Return whether a server is warm; one that does not answer now is not."""
    import httpx

    try:
        return bool((await client.get(f"{base}/health")).json().get("warm"))
    except (httpx.HTTPError, ValueError):
        return False
