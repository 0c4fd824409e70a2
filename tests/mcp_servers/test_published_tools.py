"""What every tool says of itself in its description and its schema, which are all that reaches a model.

Frameworks drop a server's instructions and the schemas of answers; hosts ask their user by the annotations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import engine
from mcp_servers import arguments
from mcp_servers.catalog import SERVERS
from mcp_servers.toolset import Effect, ToolServer, build, together
from tests.mcp_servers.test_unknown_arguments import every_tool, server_of, tools_of

UNITS = {
    "USD": r"\bUSD\b",
    "shares": r"\bshares\b",
    "a year": r"\byears?\b",
    "annualised": r"\bannualised\b",
    "a calendar day": r"\bcalendar day\b",
    "a decimal or fraction": r"\bdecimals?\b|\bfractions?\b",
    "percent": r"\bpercent\b",
    "a percentage point": r"\bpercentage points?\b",
    "1.00 of spot": r"\b1\.00 of spot\b",
    "1.00 of volatility": r"\b1\.00 of volatility\b",
    "1.00 of rate": r"\b1\.00 of (volatility and of )?rate\b",
    "seconds": r"\bseconds\b",
    "bytes": r"\bbytes\b",
}
CHANGING = {
    "open_account": Effect(destructive=False, idempotent=True),
    "place_order": Effect(destructive=False, idempotent=True),
    "cancel_order": Effect(destructive=True, idempotent=True),
    "exercise_option": Effect(destructive=True, idempotent=False),
    "advance": Effect(destructive=True, idempotent=False),
}


def objects(schema: Any) -> Iterator[Any]:
    return (node for node in (schema, *schema.get("$defs", {}).values()) if "properties" in node)


@pytest.mark.parametrize(("server", "tool"), every_tool())
def test_the_description_names_the_units_of_the_answer(server: str, tool: Any) -> None:
    said = [
        text
        for node in objects(tool.output_schema)
        for text in (
            node.get("description", ""),
            *(field.get("description", "") for field in node["properties"].values()),
        )
    ]
    description = " ".join(tool.description.split())
    for unit, pattern in UNITS.items():
        in_the_answer = [text for text in said if re.search(pattern, text, re.IGNORECASE)]
        assert not in_the_answer or re.search(pattern, description, re.IGNORECASE), (unit, in_the_answer)


@pytest.mark.parametrize(("server", "tool"), every_tool())
def test_every_fraction_in_an_answer_says_what_it_is_in(server: str, tool: Any) -> None:
    """A number with a fraction has a description of its own, or its columns have a common one with a unit."""
    pattern = "|".join(UNITS.values())
    for node in objects(tool.output_schema):
        common = re.search(pattern, f"{node.get('description', '')} {tool.description}", re.IGNORECASE)
        for name, field in node["properties"].items():
            if "number" in re.findall(r"'type': '(\w+)'", str(field)):
                assert field.get("description") or common, (tool.name, name)


@pytest.mark.parametrize(("server", "tool"), every_tool())
def test_every_key_of_every_object_is_described_beside_anyof(server: str, tool: Any) -> None:
    for node in objects(tool.input_schema):
        for name, field in node["properties"].items():
            said = field.get("description", "")
            assert len(said) > 2 and not said.startswith("Also taken as"), (tool.name, name, said)
            assert not any("description" in part for part in field.get("anyOf", ()))


@pytest.mark.parametrize(("server", "tool"), every_tool())
def test_every_hint_is_given_and_true(server: str, tool: Any) -> None:
    effect = CHANGING.get(tool.name)
    hints = tool.annotations
    assert hints.read_only_hint is (effect is None)
    assert (hints.destructive_hint, hints.idempotent_hint) == (effect or Effect(destructive=False, idempotent=True))
    assert hints.open_world_hint is False


@pytest.mark.parametrize(("server", "tool"), every_tool())
def test_a_description_is_a_sentence_without_the_margin_of_the_source(server: str, tool: Any) -> None:
    assert tool.description[0].isupper() and tool.description.endswith(".")
    assert "\n " not in tool.description


@pytest.mark.parametrize(("server", "tool"), every_tool())
def test_every_tool_that_takes_something_shows_a_call_that_its_schema_takes(server: str, tool: Any) -> None:
    if not tool.input_schema["properties"]:
        return
    (example,) = re.findall(r"`(\{.*?\})`", " ".join(tool.description.split()))
    assert arguments.read(tool.name, tool.input_schema, json.loads(example)) == json.loads(example)


def test_the_servers_tell_the_version_of_the_package() -> None:
    assert {server_of(name).version for name in SERVERS} == {engine.__version__}


def test_the_names_of_all_tools_differ_and_fit_what_clients_make_of_them() -> None:
    names = [tool.name for name in SERVERS for tool in tools_of(name)]
    assert len(names) == len(set(names)) == 56
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
    # Claude and others call a tool mcp__SERVER__NAME, of at most 64 characters
    assert max(len(f"mcp__traderbench__{name}") for name in names) <= 64


def test_two_tools_of_one_name_are_refused() -> None:
    def get_quote() -> float:
        """Return nothing."""
        return 0.0

    other = build("other", title="Other", instructions="", tools=(get_quote,))
    market = server_of("yfinance")
    assert isinstance(market, ToolServer)
    with pytest.raises(ValueError, match="two servers have a tool of this name: get_quote; rename one of them"):
        together([market, other], name="all", title="All")
