"""A man in the middle between harness and agent: most tasks pass, some meet a fault instead of the agent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from tests.faults.agent_replies import Behaviour, body

CARD = ".well-known"


class AgentProxy:
    """Passes requests on to the agent at ``port``; use as a context manager.

    Parameters
    ----------
    port
        Where the agent listens on this machine.
    hits
        Behaviour by the name that the agent is told of a task.
    other_card
        Whether the card is another one from the second look on.

    Attributes
    ----------
    url
        Where the harness finds it.
    struck
        How often each task met its fault.
    wandered
        Requests for an address that only a redirect names.
    """

    def __init__(self, port: int, hits: Mapping[str, Behaviour], *, other_card: bool = False) -> None:
        self._agent, self._hits, self._other_card = port, dict(hits), other_card
        self.struck: Counter[str] = Counter()
        self.cards = self.wandered = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        serving = asyncio.start_server(self._handle, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(serving, self._loop).result()
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(timeout=10.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head, content = await _request(reader)
            await self._answer(head, content, writer)
            await writer.drain()
        writer.close()

    async def _answer(self, head: bytes, content: bytes, writer: asyncio.StreamWriter) -> None:
        if head.startswith(b"GET"):
            self.cards += 1
            self.wandered += CARD.encode() not in head.split(b"\r\n")[0]
            if self._other_card and self.cards > 1:
                writer.write(body(json.dumps({"name": "another", "version": "2"}).encode()))
                return
        else:
            request = json.loads(content)
            name = task_of(request)
            if behave := self._hits.get(name):
                self.struck[name] += 1
                await behave(writer, request)
                return
        await self._pass_on(head, content, writer)

    async def _pass_on(self, head: bytes, content: bytes, writer: asyncio.StreamWriter) -> None:
        """Send the request to the agent and its answer back, until the agent closes the connection."""
        from_agent, to_agent = await asyncio.open_connection("127.0.0.1", self._agent)
        try:
            line, *fields = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
            kept = [each for each in fields if not each.lower().startswith(b"connection:")]
            to_agent.write(b"\r\n".join([line, *kept, b"Connection: close", b"", b""]) + content)
            while part := await from_agent.read(65_536):
                writer.write(part)
                await writer.drain()
        finally:
            to_agent.close()


def task_of(request: Mapping[str, Any]) -> str:
    """Return the name of the task that a message opens or goes on with; empty for other requests."""
    with contextlib.suppress(KeyError, IndexError, TypeError, ValueError):
        return str(json.loads(request["params"]["message"]["parts"][0]["text"])["task_id"])
    return ""


async def _request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    fields = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    length = next((int(value) for name, _, value in fields if name == b"content-length"), 0)
    return head, await reader.readexactly(length)
