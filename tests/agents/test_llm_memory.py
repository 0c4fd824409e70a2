"""What travels with every call of the model: messages as tables, the format once, few remembered texts, few tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import ModuleType
from typing import Any

import pytest
from openai import AsyncOpenAI

from engine import config
from engine.plan import sampling
from mcp_servers import risk, sandbox
from mcp_servers.sandbox import tiers
from mcp_servers.sandbox.pool import Pool
from mcp_servers.sandbox.protection import Tier
from tests.agents.chat_endpoint import Endpoint, converse, serving, tool_call

PROMPT_TOKENS = 200_000
"""At most, by four characters each, of one default crypto task with a tool call a message; it was 3.2 million."""
VAR = tool_call("risk__calculate_var", json.dumps({"returns": [0.01, -0.02, 0.015, 0.003] * 8}))


def tools_app(server: Any, **given: Any) -> Any:
    return server.build_server(**given).streamable_http_app(
        streamable_http_path="/mcp", stateless_http=True, json_response=True
    )


@pytest.mark.slow
def test_a_crypto_task_with_a_tool_call_a_message_stays_below_200_000_tokens(dialogue: Any) -> None:
    entry = {"type": "crypto", "limit": 1}
    (case,) = sampling.draw(config.parse({"name": "n", "datasets": [entry]}, source="n"))
    session = case.open()

    def say(request: dict[str, Any]) -> dict[str, Any]:
        if "tools" in request and request["messages"][-1]["role"] == "user":
            return VAR
        return {"content": session.oracle()}

    endpoint = Endpoint([say])

    async def run() -> int:
        async with AsyncExitStack() as stack:
            api = await stack.enter_async_context(serving(endpoint.app()))
            pool = stack.enter_context(Pool(strongest_tier()))
            apps = {"risk": tools_app(risk), "sandbox": tools_app(sandbox, pool=pool)}
            urls = {name: f"{await stack.enter_async_context(serving(app))}/mcp" for name, app in apps.items()}
            client = await stack.enter_async_context(AsyncOpenAI(api_key="test", base_url=f"{api}/v1"))
            limits = dialogue.Limits(16, 1.0, 0, dialogue.Patience(600.0, 6000.0, 600.0))
            agent = dialogue.Dialogues(
                dialogue.Provider(client, "local"), limits=limits, prices=dialogue.Prices(0.0, 0.0)
            )
            message: dict[str, Any] | None = session.opening() | {"mcp_servers": urls, "as_of": "2024-06-03"}
            turns = 0
            while message is not None:
                answer = await agent.reply(json.dumps(message), "c", dialogue.Progress(ignore))
                turns += 1
                message = session.reply(answer.text)
            return turns

    turns = asyncio.run(run())
    assert (turns, len(endpoint.requests)) == (12, 24)
    assert not session.faults, "every decision was read"
    assert 40_000 < sum(endpoint.sizes) / 4 <= PROMPT_TOKENS, sum(endpoint.sizes)


def strongest_tier() -> Tier:
    found = tiers.selftest()
    assert found.tier is not None, found.reason
    return found.tier


async def ignore(text: str) -> None:
    pass


ROW = {"state": {"symbol": "A", "ohlcv": {"close": 10.123456789}, "account": {"equity": 1.0, "positions": []}}}
FORMAT = "Reply with decisions."


def trading(number: int, **more: Any) -> dict[str, Any]:
    rows = [{"episode": f"e{row:02d}"} | ROW for row in range(2)]
    return {"type": "trading_decisions", "episodes": rows, "decision": number, "decisions": 9} | more


def test_the_format_of_decisions_is_told_in_every_request_though_only_the_first_message_has_it(dialogue: Any) -> None:
    found = converse(dialogue, [{"content": "{}"}], trading(1, answer_format=FORMAT), trading(2), trading(3))
    assert [json.dumps(request["messages"]).count(FORMAT) for request in found.requests] == [1, 1, 1]
    assert all(FORMAT in request["messages"][0]["content"] for request in found.requests)


def test_the_format_of_an_answer_stands_once(dialogue: Any) -> None:
    body = {"question": f"What is twice 21?\n\n{FORMAT}", "answer_format": FORMAT, "category": "Sums", "task_id": "t1"}
    found = converse(dialogue, [{"content": "42"}], body)
    said = found.requests[0]["messages"][-1]["content"]
    assert said == f"What is twice 21?\n\n{FORMAT}\ncategory: Sums"


def test_two_messages_are_remembered_of_trading_in_short(dialogue: Any) -> None:
    said = {"decisions": [{"episode": "e00", "action": "BUY", "size": 1, "stop_loss": None, "reasoning": "up"}]}
    found = converse(dialogue, [{"content": json.dumps(said)}], trading(1), trading(2), trading(3))
    roles = [[message["role"] for message in request["messages"]] for request in found.requests]
    assert roles == [["system", "user"], *[["system", "user", "assistant", "user"]] * 2]
    state, decided = found.requests[2]["messages"][1:3]
    assert "decision: 2" in state["content"] and "close=10.12346" in state["content"]
    assert json.loads(decided["content"]) == {"decisions": [{"episode": "e00", "action": "BUY", "size": 1}]}


def test_tools_that_trading_does_not_use_are_offered_in_two_messages_only(dialogue: Any) -> None:
    found = converse(dialogue, [{"content": "{}"}], *(trading(number) for number in range(1, 5)))
    assert ["tools" in request for request in found.requests] == [True, True, False, False]
    call = tool_call("desk__double", '{"value": 21}')
    found = converse(dialogue, [call, {"content": "{}"}], *(trading(number) for number in range(1, 5)))
    assert ["tools" in request for request in found.requests] == [True] * 5


def test_a_table_holds_every_value_of_the_rows(program: Callable[[str, str], ModuleType]) -> None:
    table = program("llm", "table").table
    held = {"positions": [{"size": -2.5, "exposure": 0.123456789}]}
    rows = [
        {"episode": "e01", "state": {"symbol": "A", "close": 1.0, "account": {"equity": 10.0, "positions": []}}},
        {"episode": "e02", "state": {"symbol": "B, C", "close": 1.0, "account": {"equity": 11.0} | held}},
    ]
    assert table(rows).splitlines() == [
        "all rows: close=1",
        "episode,symbol,equity,positions.size,positions.exposure",
        "e01,A,10,,",
        'e02,"B, C",11,-2.5,0.1234568',
    ]


def test_a_schema_keeps_what_a_caller_needs(program: Callable[[str, str], ModuleType]) -> None:
    compact = program("llm", "functions").compact
    schema = {
        "title": "Call",
        "type": "object",
        "properties": {
            "title": {"type": "string", "title": "Title"},
            "rate": {"anyOf": [{"type": "number", "maximum": 1}, {"type": "null"}], "default": None, "title": "Rate"},
            "side": {"enum": ["buy", "sell"], "default": "buy"},
        },
        "required": ["title"],
        "additionalProperties": False,
    }
    assert compact(schema) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "rate": {"type": "number", "maximum": 1},
            "side": {"enum": ["buy", "sell"], "default": "buy"},
        },
        "required": ["title"],
    }
