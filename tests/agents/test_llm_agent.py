"""The language-model agent against a local endpoint that speaks the chat API and a local MCP server, both over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from openai import AsyncOpenAI

from engine.agent.builtin import start
from engine.agent.client import A2AConversation, AgentFailure, Reply, Usage
from tests.agents.chat_endpoint import Endpoint, converse, desk, serving, tool_call

QUESTION = {"type": "question", "question": "What is twice 21?"}


CALL = tool_call("desk__double", '{"value": 21}')


def test_the_model_calls_a_tool_over_http_and_answers_with_its_result(dialogue: Any) -> None:
    (answer,), requests, _ = converse(dialogue, [CALL, {"content": "42"}], QUESTION)
    assert answer.text == "42"
    assert [tool["function"]["name"] for tool in requests[0]["tools"]] == ["desk__double"]
    assert requests[0]["tools"][0]["function"]["parameters"]["required"] == ["value"]
    answered = requests[1]["messages"][-1]
    assert answered["role"] == "tool" and json.loads(answered["content"]) == {"doubled": 42.0}


def test_tokens_and_cost_are_metered_over_all_calls(dialogue: Any) -> None:
    (answer,), _, _ = converse(dialogue, [CALL, {"content": "42"}], QUESTION, input_usd=2.0, output_usd=8.0)
    assert answer.usage == {"input_tokens": 2000, "output_tokens": 20, "cost_usd": (2000 * 2.0 + 20 * 8.0) / 1e6}


def test_the_model_never_sees_the_addresses_of_the_tools(dialogue: Any) -> None:
    _, requests, _ = converse(dialogue, [{"content": "42"}], QUESTION)
    assert "127.0.0.1" not in json.dumps(requests[0]["messages"])


def test_a_model_that_only_calls_tools_is_made_to_answer_at_the_limit_of_turns(dialogue: Any) -> None:
    (answer,), requests, _ = converse(dialogue, [CALL, CALL, CALL, {"content": "enough"}], QUESTION, model_calls=4)
    assert answer.text == "enough"
    assert len(requests) == 4
    assert "tools" not in requests[3] and "final answer now" in requests[3]["messages"][-1]["content"]


def test_the_cost_cap_ends_the_tool_calls(dialogue: Any) -> None:
    _, requests, _ = converse(dialogue, [CALL], QUESTION, input_usd=100.0, cost_usd=0.15)
    assert len(requests) == 3
    assert "tools" not in requests[2]


def test_wrong_calls_are_told_to_the_model(dialogue: Any) -> None:
    script = [
        tool_call("desk__double", "{not json"),
        tool_call("nothing__there", "{}"),
        tool_call("desk__double", '{"value": "many"}'),
        {"content": "sorry"},
    ]
    (answer,), requests, _ = converse(dialogue, script, QUESTION)
    assert answer.text == "sorry"
    results = [request["messages"][-1]["content"] for request in requests[1:]]
    assert all(result.startswith("error:") for result in results), results
    assert "not valid JSON" in results[0] and "'nothing'" in results[1]


def test_the_conversation_and_its_tools_are_remembered_in_later_turns(dialogue: Any) -> None:
    fenced = {"content": '```json\n{"a": 42}\n```'}
    (_, second), requests, _ = converse(
        dialogue, [{"content": "first"}, CALL, fenced], QUESTION, {"question": "And twice 21?"}
    )
    assert json.loads(second.text) == {"a": 42}
    assert [message["role"] for message in requests[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert json.loads(requests[2]["messages"][-1]["content"]) == {"doubled": 42.0}


def test_an_objection_is_told_once_beside_the_answer_that_it_is_to(dialogue: Any) -> None:
    told = (
        "Your 42 for the answer does not survive.\n\nCheck question: what is twice 20?\n\nReply with one JSON object."
    )
    debate = {
        "type": "debate",
        "question": told,
        "objection": "Your 42 for the answer does not survive.",
        "challenged": {"figure": "answer", "stated": "42"},
        "check_question": "what is twice 20?",
        "answer_format": "Reply with one JSON object.",
    }
    rebuttal = json.dumps({"restated": "42", "check": 40})
    (_, second), requests, _ = converse(dialogue, [{"content": "42"}, {"content": rebuttal}], QUESTION, debate)
    assert second.text == rebuttal
    (_, first, answer, last) = requests[1]["messages"]
    assert (first["content"], answer["content"]) == ("What is twice 21?", "42")
    assert last["content"] == told


PRICES = {"OPENAI_INPUT_PRICE": "2.0", "OPENAI_OUTPUT_PRICE": "1.0"}


def serve_and_ask(script: Endpoint | Sequence[dict[str, Any]], body: dict[str, Any] | None = None) -> Reply:
    endpoint = script if isinstance(script, Endpoint) else Endpoint(script)

    async def run() -> Reply:
        async with serving(endpoint.app()) as api, serving(desk()) as tools:
            env = {"OPENAI_BASE_URL": f"{api}/v1", "OPENAI_API_KEY": "test", "OPENAI_MODEL": "local"}
            async with start("llm", env=env | PRICES) as agent:
                said = (
                    "What is twice 21?"
                    if body is None
                    else json.dumps(body | {"mcp_servers": {"desk": f"{tools}/mcp"}})
                )
                return await agent.conversation("task").send(said, timeout_s=60.0)

    return asyncio.run(run())


def test_the_program_answers_over_a2a_with_its_usage() -> None:
    reply = serve_and_ask([{"content": "42"}])
    assert reply == Reply("42", Usage(input_tokens=1000, output_tokens=10, cost_usd=2e-3 + 1e-5))


def test_a_provider_that_goes_away_is_told_as_an_outage_and_what_was_spent_is_counted() -> None:
    """In each way, one after another, so that the agent is also seen to come back."""
    endpoint = Endpoint([{"content": "OK"}])

    async def run() -> None:
        async with serving(endpoint.app()) as api, serving(desk()) as tools:
            env = {"OPENAI_BASE_URL": f"{api}/v1", "OPENAI_API_KEY": "test", "OPENAI_MODEL": "local"}
            said = json.dumps(QUESTION | {"mcp_servers": {"desk": f"{tools}/mcp"}})
            async with start("llm", env=env | PRICES) as agent:
                for status in (401, 402, 404, 429, 503):
                    endpoint.requests.clear()
                    endpoint.script = [tool_call("desk__double", "{}"), {"status": status}]
                    with pytest.raises(AgentFailure, match=f"HTTP {status}") as caught:
                        await agent.conversation(f"task {status}").send(said, timeout_s=60.0)
                    assert caught.value.kind == "provider_unavailable" and caught.value.unavailable
                    assert caught.value.usage == Usage(input_tokens=1000, output_tokens=10, cost_usd=2e-3 + 1e-5)

    asyncio.run(run())


def test_a_request_that_the_endpoint_refuses_is_a_failure_of_the_agent() -> None:
    with pytest.raises(AgentFailure, match="no such model") as caught:
        serve_and_ask([{"content": "OK"}, {"status": 400}])
    assert caught.value.kind == "agent_error"


def test_the_look_at_the_endpoint_is_short_whichever_limit_it_takes(dialogue: Any) -> None:
    async def run(endpoint: Endpoint) -> list[dict[str, Any]]:
        async with (
            serving(endpoint.app()) as api,
            AsyncOpenAI(api_key="test", base_url=f"{api}/v1", max_retries=0) as client,
        ):
            await dialogue.Provider(client, "local").check()
        return [{k: v for k, v in request.items() if k.startswith("max")} for request in endpoint.requests]

    assert asyncio.run(run(Endpoint([{"content": "OK"}]))) == [{"max_tokens": 16}]
    refusing = Endpoint([{"status": 400}, {"content": "OK"}])
    assert asyncio.run(run(refusing)) == [{"max_tokens": 16}, {"max_completion_tokens": 16}]


def test_no_model_named_is_an_error_and_no_default() -> None:
    async def run() -> None:
        async with start("llm", env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}):
            pass

    with pytest.raises(AgentFailure, match="set OPENAI_MODEL"):
        asyncio.run(run())


def test_tokens_without_a_price_cost_an_unknown_amount(dialogue: Any) -> None:
    meter = dialogue.Meter(dialogue.Prices(None, None), input_tokens=7)
    assert meter.report() == {"input_tokens": 7, "output_tokens": 0, "cost_usd": None}
    priced = dialogue.Meter(dialogue.Prices(1.0, 1.0))
    assert priced.report()["cost_usd"] == 0.0
    priced.add(None)
    assert priced.report()["cost_usd"] is None


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_a_task_that_is_given_up_is_cancelled_and_the_model_is_asked_no_more(version: str) -> None:
    endpoint = Endpoint([{"content": "OK"}, CALL, CALL, CALL])
    endpoint.hold_from = 4

    async def run() -> None:
        async with serving(endpoint.app()) as api, serving(desk()) as tools:
            env = {"OPENAI_BASE_URL": f"{api}/v1", "OPENAI_MODEL": "local"}
            async with start("llm", env=env | PRICES) as agent:
                spoken = replace(agent._endpoint, version=version)
                given_up, later = (A2AConversation(agent._client, spoken) for _ in range(2))
                body = QUESTION | {"mcp_servers": {"desk": f"{tools}/mcp"}}
                sending = asyncio.create_task(given_up.send(json.dumps(body), timeout_s=120.0))
                while len(endpoint.requests) < 4:
                    await asyncio.sleep(0.01)
                sending.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await sending
                spent = await given_up._cancel()
                assert spent is not None and spent.input_tokens == 2000
                endpoint.script = [{"content": "done"}]
                endpoint.released.set()
                assert (await later.send("Something else", timeout_s=120.0)).text == "done"

    asyncio.run(run())
    assert len(endpoint.requests) == 5
    assert endpoint.requests[4]["messages"][-1]["content"] == "Something else"
