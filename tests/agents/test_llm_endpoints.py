"""What endpoints take, refuse and ask for: parameters, waiting, time; each as real servers do it."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from engine.agent.builtin import start
from engine.agent.client import AgentFailure
from tests.agents.chat_endpoint import Endpoint, converse, desk, serving, tool_call

QUESTION = {"type": "question", "question": "What is twice 21?"}
CALL = tool_call("desk__double", '{"value": 21}')
OPTIONAL = ("max_tokens", "max_completion_tokens", "temperature", "seed")


def refusing(*names: str, named: bool = True, answer: Any = None) -> Any:
    """Return an endpoint that refuses these parameters, as hosted reasoning models do."""

    def say(request: dict[str, Any]) -> dict[str, Any]:
        for name in names:
            if name in request:
                return {"status": 400, "error": f"Unsupported parameter: '{name}'" if named else "bad request"}
        return answer(request) if callable(answer) else {"content": "42"}

    return say


def failure_of(dialogue: Any, *script: Any, **options: Any) -> BaseException:
    """Return how the answer to the question failed, out of the groups of the tool client."""
    with pytest.raises(Exception) as caught:
        converse(dialogue, script, QUESTION, **options)
    error: BaseException = caught.value
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def optional(request: dict[str, Any]) -> dict[str, Any]:
    return {name: request[name] for name in OPTIONAL if name in request}


def played(dialogue: Any, endpoint: Any, **options: Any) -> Any:
    return converse(dialogue, [endpoint], QUESTION, check=True, output_tokens=500, **options)


def test_by_default_nothing_but_a_limit_is_sent(dialogue: Any) -> None:
    found = played(dialogue, {"content": "42"})
    assert [optional(request) for request in found.requests] == [{"max_tokens": 16}, {"max_tokens": 500}]
    assert found.told == []


@pytest.mark.parametrize("named", [True, False])
def test_a_limit_is_sent_under_the_name_that_the_endpoint_takes(dialogue: Any, named: bool) -> None:
    found = played(dialogue, refusing("max_tokens", named=named))
    assert optional(found.requests[-1]) == {"max_completion_tokens": 500}
    assert found.answers[0].text == "42" and len(found.requests) == 3


def test_a_limit_that_is_ignored_is_sent_under_its_other_name(dialogue: Any) -> None:
    """A server that does not know a parameter answers without it, to the end of its context."""

    def say(request: dict[str, Any]) -> dict[str, Any]:
        return {"content": "42", "completion_tokens": min(900, request.get("max_completion_tokens", 900))}

    found = played(dialogue, say)
    assert optional(found.requests[-1]) == {"max_completion_tokens": 500}


@pytest.mark.parametrize("named", [True, False])
def test_a_temperature_that_is_refused_is_left_out_and_told_once(dialogue: Any, named: bool) -> None:
    found = played(dialogue, refusing("temperature", named=named), wanted={"temperature": 0.2, "seed": 7})
    assert found.told == ["temperature 0.2 is refused by the endpoint and left out"]
    assert optional(found.requests[-1]) == {"max_tokens": 500, "seed": 7}


def test_a_temperature_is_refused_by_a_model_that_refuses_max_tokens_too(dialogue: Any) -> None:
    found = played(dialogue, refusing("max_tokens", "temperature"), wanted={"temperature": 0.0})
    assert optional(found.requests[-1]) == {"max_completion_tokens": 500}
    assert found.told == ["temperature 0 is refused by the endpoint and left out"]


def test_a_model_that_reasons_past_the_short_limit_takes_it_all_the_same(dialogue: Any) -> None:
    said = "Could not finish the message because max_tokens or model output limit was reached."
    found = converse(dialogue, [{"status": 400, "error": said}, {"content": "42"}], QUESTION, check=True)
    assert [optional(request) for request in found.requests] == [{"max_tokens": 16}, {}]


def test_settings_stand_in_the_card_with_what_is_left_out() -> None:
    async def card(*arguments: str) -> str:
        async with serving(Endpoint([refusing("temperature")]).app()) as api:
            env = {"OPENAI_BASE_URL": f"{api}/v1", "OPENAI_MODEL": "local"}
            async with start("llm", env=env, arguments=arguments) as agent:
                return str(agent.card["description"])

    text = asyncio.run(card("--temperature=0.3", "--seed-model=5", "--max-turns=3", "--servers=risk,sandbox"))
    assert "at most 3 model calls per message and 8192 output tokens" in text
    assert "tool servers: risk, sandbox" in text and "seed 5" in text
    assert "temperature 0.3 is refused by the endpoint and left out" in text


def strict_local_server(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as llama-cpp-python does: no missing content, no tools without a choice, a short context."""
    if any(
        "content" not in message or set(message) - {"role", "content", "tool_calls", "tool_call_id"}
        for message in request["messages"]
    ):
        return {"status": 500, "error": "'dict object' has no attribute 'content'"}
    for message in request["messages"]:
        for call in message.get("tool_calls", ()):
            json.loads(call["function"]["arguments"])
    tokens = len(json.dumps(request)) // 4
    if tokens > 700:
        said = f"This model's maximum context length is 700 tokens, however you requested {tokens} tokens"
        return {"status": 400, "error": f"{said} ({tokens} in the messages, 16 in the completion)."}
    offered = request.get("tool_choice") == "auto" and request.get("tools")
    if offered and request["messages"][-1]["role"] == "user":
        return tool_call("desk__double", "{not json")
    return {"content": "42", "completion_tokens": min(request.get("max_tokens", 4096), 30)}


def test_a_server_of_ones_own_gets_requests_that_it_can_take(dialogue: Any) -> None:
    found = played(dialogue, strict_local_server)
    assert found.answers[0].text == "42"
    asked, answered = found.requests[1:]
    assert asked["tool_choice"] == "auto" and asked["max_tokens"] == 500
    echoed = answered["messages"][-2]
    assert echoed["content"] == "" and echoed["tool_calls"][0]["function"]["arguments"] == "{}"
    assert set(echoed) == {"role", "content", "tool_calls"}
    assert "not valid JSON" in answered["messages"][-1]["content"]


def test_a_question_that_a_short_context_has_no_room_for_with_tools_is_answered_without(dialogue: Any) -> None:
    long = {"type": "question", "question": "What is twice 21? " + "It was a dark and stormy night. " * 60}
    found = converse(dialogue, [strict_local_server], long)
    assert found.answers[0].text == "42"
    assert "tools" in found.requests[0] and "tools" not in found.requests[-1]
    assert "the tools were dropped" in found.told[-1]


def test_an_endpoint_that_takes_no_tools_is_asked_without(dialogue: Any) -> None:
    said = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    found = converse(dialogue, [{"status": 400, "error": said}, {"content": "42"}], QUESTION)
    assert found.answers[0].text == "42" and "tools" not in found.requests[1]
    assert "the tools were dropped, because the endpoint refuses them" in found.requests[1]["messages"][-1]["content"]


def test_a_rate_limit_is_waited_for_as_long_as_it_says(dialogue: Any) -> None:
    busy = {"status": 429, "error": "slow down", "headers": {"retry-after": "1"}}
    began = time.monotonic()
    found = converse(dialogue, [busy, busy, busy, busy, {"content": "42"}], QUESTION)
    assert found.answers[0].text == "42" and len(found.requests) == 5
    assert 4.0 <= time.monotonic() - began < 30.0


def test_a_rate_limit_that_outlasts_the_question_is_an_outage_at_once(dialogue: Any) -> None:
    busy = {"status": 429, "error": "slow down", "headers": {"retry-after": "3600"}}
    began = time.monotonic()
    error = failure_of(dialogue, busy)
    assert type(error).__name__ == "ProviderUnavailable" and time.monotonic() - began < 10.0
    assert "HTTP 429 (slow down); it asks to wait 3600 s, and this message has 5" in str(error)


def test_a_slow_model_ends_before_the_other_side_gives_up_and_its_spending_is_told() -> None:
    endpoint = Endpoint([{"content": "OK"}, CALL, {"content": "late", "seconds": 30.0}])

    async def run() -> None:
        async with serving(endpoint.app()) as api, serving(desk()) as tools:
            env = {"OPENAI_BASE_URL": f"{api}/v1", "OPENAI_MODEL": "local"}
            prices = ("--input-price=2", "--output-price=1")
            said = json.dumps(QUESTION | {"mcp_servers": {"desk": f"{tools}/mcp"}})
            async with start("llm", env=env, arguments=("--turn-time=4", *prices)) as agent:
                with pytest.raises(AgentFailure, match=r"ModelTooSlow: model 'local' gave no answer within") as caught:
                    await agent.conversation("task").send(said, timeout_s=4.0)
                assert caught.value.kind == "agent_error"
                assert caught.value.usage is not None and caught.value.usage.input_tokens == 1000
                assert caught.value.usage.cost_usd == pytest.approx(2e-3 + 1e-5)

    asyncio.run(run())


def test_a_model_that_is_short_of_time_is_made_to_answer(dialogue: Any) -> None:
    def say(request: dict[str, Any]) -> dict[str, Any]:
        return (CALL if "tools" in request else {"content": "in time"}) | {"seconds": 0.6}

    found = converse(dialogue, [say], QUESTION, message_s=4.0, task_s=60.0, request_s=4.0)
    assert found.answers[0].text == "in time"
    assert 2 <= len(found.requests) < 6 and "tools" not in found.requests[-1]


def test_the_messages_of_a_conversation_share_its_time(dialogue: Any) -> None:
    """Thirty seconds for thirty messages: one that calls tools as long as it may would leave none for the others."""

    def say(request: dict[str, Any]) -> dict[str, Any]:
        return (CALL if "tools" in request else {"content": "{}"}) | {"seconds": 0.3}

    body = {"type": "trading_decisions", "episodes": [], "decision": 1, "decisions": 30}
    found = converse(dialogue, [say], body, message_s=60.0, task_s=30.0, request_s=60.0)
    assert len(found.requests) <= 3


def test_a_model_that_thinks_aloud_is_read_behind_its_thoughts(dialogue: Any) -> None:
    found = converse(dialogue, [{"content": '<think>\n{"a": 1}\n</think>\n\n```json\n{"a": 42}\n```'}], QUESTION)
    assert json.loads(found.answers[0].text) == {"a": 42}


def test_an_endpoint_without_a_choice_is_a_clear_failure(dialogue: Any) -> None:
    assert "a completion without a choice" in str(failure_of(dialogue, {"no_choice": True}))
