"""MCP tools as functions of the chat API, and the calls back."""

from __future__ import annotations

import json
from typing import Any

from mcp_toolbox import Toolbox, ToolFailure

SEPARATOR = "__"
MAX_RESULT_CHARACTERS = 20_000


async def describe(toolbox: Toolbox) -> list[dict[str, Any]]:
    """Return every tool of every server that answers, as function descriptions named ``server__tool``."""
    described = []
    for server in list(toolbox.urls):
        try:
            tools = await toolbox.tools(server)
        except ToolFailure:
            continue
        described += [
            {
                "type": "function",
                "function": {
                    "name": f"{server}{SEPARATOR}{tool.name}",
                    "description": (tool.description or "")[:1024],
                    "parameters": tool.input_schema,
                },
            }
            for tool in tools
        ]
    return described


async def call(name: str, arguments: str, toolbox: Toolbox) -> str:
    """Carry out a function call of the model; whatever is wrong with it is told to the model."""
    server, separator, tool = name.partition(SEPARATOR)
    try:
        given = json.loads(arguments or "{}")
    except ValueError as error:
        return f"error: the arguments are not valid JSON: {error}"
    if not separator or not isinstance(given, dict):
        return f"error: no function {name!r} with arguments of this kind"
    try:
        result = json.dumps(await toolbox.call(server, tool, **given), ensure_ascii=False)
    except ToolFailure as failure:
        return f"error: {failure}"
    if len(result) <= MAX_RESULT_CHARACTERS:
        return result
    return f"{result[:MAX_RESULT_CHARACTERS]}\n[cut after {MAX_RESULT_CHARACTERS} of {len(result)} characters]"
