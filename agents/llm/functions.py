"""MCP tools as functions of the chat API, and the calls back."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from mcp_toolbox import Toolbox, ToolFailure

SEPARATOR = "__"
MAX_RESULT_CHARACTERS = 20_000


def described(server: str, *, name: str, description: str | None, schema: Any) -> dict[str, Any]:
    """Return one tool as a function named ``server__tool``."""
    function = {
        "name": f"{server}{SEPARATOR}{name}",
        "description": " ".join((description or "").split())[:1024],
        "parameters": compact(schema),
    }
    return {"type": "function", "function": function}


async def describe(toolbox: Toolbox, servers: Collection[str] | None = None) -> list[dict[str, Any]]:
    """Return every tool of the ``servers`` (None: all) that answer."""
    found = []
    for server in [name for name in toolbox.urls if servers is None or name in servers]:
        try:
            tools = await toolbox.tools(server)
        except ToolFailure:
            continue
        found += [
            described(server, name=tool.name, description=tool.description, schema=tool.input_schema) for tool in tools
        ]
    return found


def compact(schema: Any) -> Any:
    """Return a JSON schema without what tells a model nothing: titles, empty defaults, null as an alternative.

    The tool still refuses what it does not take. Schemas travel with every call of the model.
    """
    if isinstance(schema, list):
        return [compact(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not _is_empty(key, value)}
    others = [item for item in kept.get("anyOf", ()) if item != {"type": "null"}]
    if len(others) == 1 and isinstance(others[0], dict):
        kept = others[0] | {key: value for key, value in kept.items() if key != "anyOf"}
    return {key: compact(value) for key, value in kept.items() if not _is_empty(key, value)}


def _is_empty(key: str, value: Any) -> bool:
    if key == "title":
        return isinstance(value, str)
    return (key == "default" and value is None) or (key == "additionalProperties" and value is False)


def as_said(requested: Any) -> dict[str, Any]:
    """Return a function call as it is shown to the model again: servers of one's own fail on broken arguments."""
    arguments = requested.function.arguments or "{}"
    try:
        json.loads(arguments)
    except ValueError:
        arguments = "{}"
    function = {"name": requested.function.name, "arguments": arguments}
    return {"id": requested.id, "type": "function", "function": function}


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
