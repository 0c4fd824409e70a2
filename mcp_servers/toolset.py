"""From plain typed functions to an MCP server."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from lake.point_in_time import ProviderUnavailable, UnknownKey

P = ParamSpec("P")
R = TypeVar("R")


def readable_errors(tool: Callable[P, R]) -> Callable[P, R]:
    """Turn the errors that say what was wrong with the input into messages that the agent gets to read."""

    @functools.wraps(tool)
    def answer(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return tool(*args, **kwargs)
        except (ValueError, UnknownKey, ProviderUnavailable) as error:
            raise ToolError(str(error)) from error

    return answer


def build(name: str, *, title: str, instructions: str, tools: Sequence[Callable[..., Any]]) -> MCPServer:
    """Return a server that offers ``tools``: name, docstring and annotations of each become its description.

    A tool raises ``ValueError`` (or the lake's ``UnknownKey``) with a message that the agent can act on.
    """
    server = MCPServer(name, title=title, instructions=instructions, log_level="WARNING")
    for tool in tools:
        server.tool()(readable_errors(tool))
    return server
