"""The tool servers that a task offers, opened when they are first used.

Shared by the agents of this folder that use tools; imports nothing of the project.
"""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any

from mcp import Client

CALL_TIMEOUT_S = 30.0
SERVER_NAMES = ("edgar", "yfinance", "sandbox", "options", "trading", "risk")


class ToolFailure(Exception):
    """The tool refused the call or its server did not answer; the message is meant to be read and acted on."""


def server_urls(body: dict[str, Any]) -> dict[str, str]:
    """Return the MCP addresses in a message: ``mcp_servers``, else the environment-style keys ``MCP_EDGAR_URL``..."""
    listed = body.get("mcp_servers")
    if isinstance(listed, dict):
        return {str(name): str(url) for name, url in listed.items()}
    keys = {name: f"MCP_{name.upper()}_URL" for name in SERVER_NAMES}
    return {name: str(body[key]) for name, key in keys.items() if body.get(key)}


class Toolbox:
    """The tools of one task. Use it as an async context manager."""

    def __init__(self, urls: dict[str, str]) -> None:
        self.urls = urls
        self.calls = 0
        self._clients: dict[str, Client] = {}
        self._tools: dict[str, list[Any]] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Toolbox:
        await self._stack.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def _client(self, server: str) -> Client:
        if server not in self.urls:
            raise ToolFailure(f"no server {server!r} is offered; offered: {', '.join(self.urls) or 'none'}")
        if server not in self._clients:
            client = Client(self.urls[server], read_timeout_seconds=CALL_TIMEOUT_S)
            try:
                self._clients[server] = await self._stack.enter_async_context(client)
            except Exception as error:
                del self.urls[server]
                raise ToolFailure(f"the server {server!r} does not answer: {_innermost(error)}") from error
        return self._clients[server]

    async def tools(self, server: str) -> list[Any]:
        """Return the descriptions of a server's tools (``name``, ``description``, ``input_schema``...)."""
        if server not in self._tools:
            client = await self._client(server)
            try:
                self._tools[server] = list((await client.list_tools()).tools)
            except Exception as error:
                raise ToolFailure(f"{server} does not list its tools: {_innermost(error)}") from error
        return self._tools[server]

    async def call(self, server: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured result.

        Raises
        ------
        ToolFailure
            With the tool's own message when it refused.
        """
        client = await self._client(server)
        self.calls += 1
        try:
            result = await client.call_tool(tool, arguments)
        except Exception as error:
            raise ToolFailure(f"{server}.{tool}: {_innermost(error)}") from error
        text = "\n".join(part.text for part in result.content if hasattr(part, "text"))
        if result.is_error:
            raise ToolFailure(f"{server}.{tool}: {text}")
        if isinstance(result.structured_content, dict):
            return result.structured_content
        return _read_object(text)


def _read_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"text": text}
    return value if isinstance(value, dict) else {"result": value}


def _innermost(error: BaseException) -> str:
    """Return type and message of the first real error inside nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
