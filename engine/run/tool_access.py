"""The harness's side of the tool servers: addresses with a task's grant, and the log of what the task called."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp_servers import access
from mcp_servers.catalog import SERVERS

if TYPE_CHECKING:
    import httpx

REQUEST_TIMEOUT_S = 5.0
PAUSE_S = 0.2
WARM_UP_TIMEOUT_S = 180.0
READY_TIMEOUT_S = 150.0
"""A server that hangs is replaced after a minute (``mcp_servers.watchdog``) and then has one to come up."""
RESTART_S = 30.0
LOG_PATIENCE_S = 150.0
BRIEF_PATIENCE_S = 5.0
"""For the log of a server that the task did not need."""


class ServersDown(Exception):
    """Servers that a task needs do not answer; the message names them."""


@dataclass(frozen=True)
class ToolAccess:
    """Where the servers listen and the key their grants are signed with.

    Attributes
    ----------
    base_urls
        Server name -> ``http://host:port`` of each server that is up, as agents reach it.
    key
        Signing key of this run; never sent to an agent.
    unavailable
        Server name -> why it is not up.
    channels
        Server name -> address of the harness's own way to it; agents are never told.
    """

    base_urls: Mapping[str, str]
    key: bytes
    unavailable: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)

    def offered(self, needed: Collection[str]) -> tuple[str, ...]:
        """Return the servers that a task gets: what it needs, and those that know no dates and only calculate."""
        return tuple(name for name in self.base_urls if name in needed or not SERVERS[name].dated)

    def message_fields(self, grant: access.Grant) -> dict[str, Any]:
        """Return what the opening message says about the tools: one address each, with the task's grant in it."""
        token = access.issue(grant, self.key)
        urls = {name: f"{base}/t/{token}/mcp" for name, base in self.base_urls.items() if grant.admits(name)}
        return {"mcp_servers": urls} | {SERVERS[name].environment_name: url for name, url in urls.items()}

    async def warmed(self, *, timeout_s: float = WARM_UP_TIMEOUT_S) -> list[str]:
        """Wait until the servers have made their first calls, which compile; return those that are not that far yet."""
        cold, patience = list(self.channels), _Patience(timeout_s)
        async with _client() as client:
            while True:
                cold = [name for name in cold if not (await self._health(client, name)).get("warm", {}).get(name)]
                if not cold or not await patience.lasts():
                    return cold

    async def ready(self, needed: Collection[str], offered: Collection[str] = ()) -> dict[str, str]:
        """Wait until the servers of a task answer; return the boot of each that does.

        One that is only ``offered`` is waited for as long as a restart takes, and is left out where it stays away.

        Raises
        ------
        ServersDown
            Where a ``needed`` one does not answer within ``READY_TIMEOUT_S``.
        """
        patience, brief = _Patience(READY_TIMEOUT_S), _Patience(RESTART_S)
        async with _client() as client:
            while True:
                boots = {name: await self._boot(client, name) for name in {*needed, *offered}}
                down = [name for name in needed if not boots[name]]
                if not down and (all(boots.values()) or not await brief.lasts()):
                    return {name: boot for name, boot in boots.items() if boot}
                if down and not await patience.lasts():
                    raise ServersDown(f"no answer for {READY_TIMEOUT_S:g} s from {', '.join(down)}")

    async def hand_out(self, grant: access.Grant, documents: Mapping[str, Any]) -> None:
        """Tell servers what they may show to the grant's task alone, those that run and that it was granted.

        Raises
        ------
        ServersDown
            Where one does not take its document within ``READY_TIMEOUT_S``.
        """
        wanted = {
            name: document for name, document in documents.items() if name in self.channels and grant.admits(name)
        }
        token = access.issue(grant, self.key)
        async with _client() as client:
            for name, document in wanted.items():
                body = await asyncio.to_thread(json.dumps, document, separators=(",", ":"))
                await self._tell(client, name, token, body.encode())

    async def _tell(self, client: httpx.AsyncClient, name: str, token: str, body: bytes) -> None:
        import httpx

        headers = {"X-TraderBench-Harness": access.harness_proof(token, self.key)}
        patience = _Patience(READY_TIMEOUT_S)
        while True:
            try:
                told = await client.post(f"{self.channels[name]}/tell/{name}/{token}", headers=headers, content=body)
                told.raise_for_status()
                return
            except (KeyError, httpx.HTTPError) as error:
                refused = isinstance(error, httpx.HTTPStatusError) and error.response.is_client_error
                if refused or not await patience.lasts():
                    raise ServersDown(f"{name} did not take what it is to show: {error}") from error

    async def died(self, boots: Mapping[str, str]) -> list[str]:
        """Return the servers that are not the ones of ``boots`` any more: they died since, and calls were lost."""
        if not boots:
            return []
        async with _client() as client:
            return [name for name, boot in boots.items() if await self._boot(client, name) != boot]

    async def finish(self, grant: access.Grant, needed: Collection[str]) -> tuple[list[dict[str, Any]], list[str]]:
        """End the task on the servers it was offered; return its calls, each with its server, and the unread servers.

        Once ended, the grant is worth nothing: a later task cannot borrow an earlier one's later date. A server that is
        being restarted is waited for, because the log is on its disk; for long where the task needed it.
        """
        token = access.issue(grant, self.key)
        names = [name for name in self.channels if grant.admits(name)]
        async with _client() as client:
            patience = [LOG_PATIENCE_S if name in needed else BRIEF_PATIENCE_S for name in names]
            logs = await asyncio.gather(*map(partial(self._end, client, token), names, patience))
        by_server = dict(zip(names, logs, strict=True))
        rows = [{"server": name} | row for name, log in by_server.items() for row in log or ()]
        return rows, [name for name, log in by_server.items() if log is None]

    async def _end(
        self, client: httpx.AsyncClient, token: str, name: str, patience_s: float
    ) -> list[dict[str, Any]] | None:
        import httpx

        headers = {"X-TraderBench-Harness": access.harness_proof(token, self.key)}
        channel = self.channels[name]
        patience = _Patience(patience_s)
        while True:
            try:
                closed = await client.post(f"{channel}/close/{name}/{token}", headers=headers)
                closed.raise_for_status()
                response = await client.get(f"{channel}/log/{name}/{token}", headers=headers)
                response.raise_for_status()
                calls: list[dict[str, Any]] = response.json()["calls"]
                return calls
            except (httpx.HTTPError, ValueError):
                if not await patience.lasts():
                    return None

    async def _boot(self, client: httpx.AsyncClient, name: str) -> str:
        return str((await self._health(client, name)).get("boot", ""))

    async def _health(self, client: httpx.AsyncClient, name: str) -> dict[str, Any]:
        """Return what the server's process says about itself; nothing where it does not answer now."""
        import httpx

        try:
            health: dict[str, Any] = (await client.get(f"{self.channels[name]}/health")).json()
        except (KeyError, httpx.HTTPError, ValueError):
            return {}
        return health


def _client() -> httpx.AsyncClient:
    import httpx

    # plain HTTP: reading the certificates of the machine would take 46 ms each time
    return httpx.AsyncClient(timeout=REQUEST_TIMEOUT_S, trust_env=False, verify=False)


class _Patience:
    """Says whether there is time for another try, after a pause."""

    def __init__(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds

    async def lasts(self) -> bool:
        if time.monotonic() >= self._deadline:
            return False
        await asyncio.sleep(PAUSE_S)
        return True
