"""Ways to call a server from a test."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, TypeAlias

import anyio
import pytest
from mcp import Client
from mcp.server import MCPServer

from mcp_servers import caller
from mcp_servers.access import Grant

Answer: TypeAlias = dict[str, Any] | str
Ask: TypeAlias = Callable[..., Answer]


async def ask_through(client: Client, tool: str, arguments: dict[str, Any]) -> Answer:
    """Return the structured answer, or the text of the tool's error."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        return result.content[0].text
    assert result.structured_content is not None
    return result.structured_content


@pytest.fixture
def ask() -> Ask:
    """Call one tool in memory, as a task with the given simulation date."""

    def call(
        server: MCPServer, tool: str, *, as_of: date = date(2020, 1, 2), seed: int = 0, **arguments: Any
    ) -> Answer:
        async def run() -> Answer:
            with caller.acting_as(Grant("run", "task", as_of, seed)):
                async with Client(server) as client:
                    return await ask_through(client, tool, arguments)

        return anyio.run(run)

    return call
