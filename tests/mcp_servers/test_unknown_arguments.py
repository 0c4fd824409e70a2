"""No tool of any server lets an unknown key pass, at any depth; the tools are asked for, not listed here."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from importlib import import_module
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server import MCPServer

from lake.vocabulary import OTHER_NAMES, OTHER_UNITS
from mcp_servers import access, caller
from mcp_servers.access import Grant
from mcp_servers.catalog import SERVERS
from mcp_servers.server_set import start_servers
from tests.mcp_servers.call_logs import calls_of

Ask = Callable[..., Any]
Path = tuple[str | int, ...]
UNDERSTOOD = {name for names in OTHER_NAMES.values() for name in names} | {*OTHER_UNITS, "action"}


class NoPool:
    """A sandbox that runs nothing: a call that gets here was let through."""

    def execute(self, *arguments: Any, **named: Any) -> None:
        raise AssertionError("the call was let through")


@cache
def server_of(name: str) -> MCPServer:
    module = import_module(SERVERS[name].module)
    server: MCPServer = module.build_server(**({"pool": NoPool()} if name == "sandbox" else {}))
    return server


@cache
def tools_of(name: str) -> tuple[Any, ...]:
    async def listed() -> tuple[Any, ...]:
        async with Client(server_of(name)) as client:
            return tuple((await client.list_tools()).tools)

    return anyio.run(listed)


def every_tool() -> list[Any]:
    return [pytest.param(name, tool, id=f"{name}.{tool.name}") for name in SERVERS for tool in tools_of(name)]


def branch(schema: Any, definitions: Any) -> Any:
    if "$ref" in schema:
        return branch(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return branch(next(part for part in schema["anyOf"] if part.get("type") != "null"), definitions)
    return schema


def sample(schema: Any, definitions: Any) -> Any:
    """Return a value of the right types with every object in it, whether or not it is optional."""
    schema = branch(schema, definitions)
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        fields = schema["properties"].items()
        return {name: sample(part, definitions) for name, part in fields if name != "action"}
    return {
        "array": lambda: [sample(schema["items"], definitions)],
        "object": lambda: {"X": 0.2},
        "string": lambda: "2012-01-03" if schema.get("format") == "date" else "X",
        "integer": lambda: schema.get("minimum", 1),
        "number": lambda: 0.6,
        "boolean": lambda: True,
    }.get(schema.get("type"), lambda: None)()


def objects(schema: Any, definitions: Any, path: Path = ()) -> Iterator[tuple[Path, list[str]]]:
    """Yield every object of the schema that has named fields: where it stands, and its fields."""
    schema = branch(schema, definitions)
    if "properties" in schema:
        yield path, list(schema["properties"])
        for name, part in schema["properties"].items():
            yield from objects(part, definitions, (*path, name))
    elif schema.get("type") == "array":
        yield from objects(schema["items"], definitions, (*path, 0))


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def misspelt(name: str) -> set[str]:
    return {name.upper(), f"{name}s", f"{name}_", name[:-1], name[1:], name[0] + name, name.replace("_", "")} - {
        name,
        "",
    }


def refused_calls(tool: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an unknown key, and a call that holds it: every field of every object misspelt, and strangers beside."""
    definitions = tool.input_schema.get("$defs", {})
    good = sample(tool.input_schema, definitions)
    for path, fields in objects(tool.input_schema, definitions):
        for stranger in ("zzz_unknown", "", "a" * 500, "\n"):
            call = copy.deepcopy(good)
            at(call, path)[stranger] = 1
            yield stranger, call
        for name in fields:
            for wrong in misspelt(name) - set(fields) - UNDERSTOOD:
                call = copy.deepcopy(good)
                holder = at(call, path)
                holder[wrong] = holder.pop(name, "buy")
                yield wrong, call
                call = copy.deepcopy(good)
                at(call, path)[wrong] = None
                yield wrong, call


def answers(name: str, tool: str, calls: list[dict[str, Any]]) -> list[Any]:
    async def talk() -> list[Any]:
        with caller.acting_as(Grant("run", "task", date(2012, 9, 19), 0)):
            async with Client(server_of(name)) as client:
                return [await client.call_tool(tool, arguments) for arguments in calls]

    return anyio.run(talk)


@pytest.mark.parametrize(("server", "tool"), every_tool())
def test_an_unknown_key_at_any_depth_is_an_error_that_names_it(server: str, tool: Any) -> None:
    cases = list(refused_calls(tool))
    assert cases
    silent = []
    for (wrong, call), answer in zip(cases, answers(server, tool.name, [call for _, call in cases]), strict=True):
        text = answer.content[0].text if answer.is_error else ""
        what = (f"unknown argument {wrong!r:.60}", f"unknown key {wrong!r:.60}")
        if not text.startswith(f"{tool.name}: {what[0]}") and not text.startswith(f"{tool.name}: {what[1]}"):
            silent.append((wrong, call, text))
        assert "\n" not in text
    assert silent == []


@pytest.mark.parametrize(("server", "tool"), every_tool())
def test_every_published_key_is_known_and_every_object_is_closed_in_the_schema(server: str, tool: Any) -> None:
    definitions = tool.input_schema.get("$defs", {})
    (answer,) = answers(server, tool.name, [sample(tool.input_schema, definitions)])
    assert "unknown" not in (answer.content[0].text if answer.is_error else "")
    nodes = [tool.input_schema, *definitions.values()]
    assert all(node["additionalProperties"] is False for node in nodes if "properties" in node)


@pytest.mark.parametrize(("server", "tool"), every_tool())
def test_every_argument_is_described_beside_anyof_and_the_tool_says_whether_it_only_reads(
    server: str, tool: Any
) -> None:
    for name, field in tool.input_schema["properties"].items():
        assert field.get("description"), (tool.name, name)
        assert not any("description" in part for part in field.get("anyOf", ()))
    writes = tool.name in {"open_account", "place_order", "cancel_order", "exercise_option", "advance"}
    assert tool.annotations.read_only_hint is not writes


def test_the_message_names_the_nearest_and_lists_what_is_known(ask: Ask) -> None:
    assert ask(server_of("yfinance"), "get_quote", ticker="AAPL", datte="2012-09-18") == (
        "get_quote: unknown argument 'datte'; did you mean 'date'? known: ticker, date"
    )
    legs = [{"option_type": "call", "quantity": 1, "premium": 1, "strik": 100}]
    assert ask(server_of("options"), "analyze_strategy", legs=legs).startswith(
        "analyze_strategy: unknown key 'strik' in legs[0]; did you mean 'strike'? known: option_type, quantity,"
    )
    text = ask(server_of("edgar"), "list_line_items", exchange="NYSE")
    assert text == "list_line_items: unknown argument 'exchange'; known: none, it takes no arguments"


def test_a_refused_key_is_written_down_as_an_error() -> None:
    async def talk(url: str) -> None:
        async with Client(url) as client:
            await client.call_tool("calculate_var", {"returns": [0.01, -0.01], "level": 0.99})
            await client.call_tool("calculate_var", {"returns": [0.01, -0.01], "confidence": 0.99})

    with start_servers(["risk"], ports="auto") as servers:
        token = access.issue(Grant("run", "task", date(2020, 1, 2), 0), servers.key)
        anyio.run(talk, servers.urls(token)["risk"])
        first, second = calls_of(servers, "risk", token)
    assert not first["ok"] and first["error"].startswith("calculate_var: unknown argument 'level'")
    assert second["ok"] and second["error"] is None
