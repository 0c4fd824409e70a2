"""What is left out when the model's context is full: results, then the history, then tools, and it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.chat_endpoint import converse, tool_call

QUESTION = {"type": "question", "question": "What is twice 21?"}
CALL = tool_call("desk__double", '{"value": 21}')
TOO_LONG = {"status": 400, "error": "prompt is too long"}
DROPPED = "[dropped: the context was full]"


def parts(request: dict[str, Any]) -> tuple[int, int, bool]:
    """Return how many results a request still holds, how many remembered messages, and whether it offers tools."""
    messages = request["messages"]
    results = [message for message in messages if message["role"] == "tool" and message["content"] != DROPPED]
    last_question = max(row for row, message in enumerate(messages) if message["role"] == "user")
    return len(results), last_question - 1, "tools" in request


def test_results_go_first_then_the_history_then_the_tools(dialogue: Any) -> None:
    script = [{"content": "first"}, CALL, CALL, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, {"content": "42"}]
    found = converse(dialogue, script, QUESTION, {"question": "And now?"})
    assert [parts(request) for request in found.requests[1:]] == [
        (0, 2, True),
        (1, 2, True),
        (2, 2, True),
        (1, 2, True),
        (0, 2, True),
        (0, 0, True),
        (0, 0, False),
    ]
    assert found.answers[1].text == "42"
    shown = found.requests[-1]["messages"][-1]["content"]
    for note in ("tool results were dropped", "earlier messages were dropped", "the tools were dropped"):
        assert note in shown and sum(note in told for told in found.told) >= 1, note


def test_tools_that_found_no_room_are_not_offered_again_in_the_conversation(dialogue: Any) -> None:
    script = [TOO_LONG, {"content": "42"}, {"content": "84"}]
    found = converse(dialogue, script, QUESTION, {"question": "And now?"})
    assert ["tools" in request for request in found.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9160 tokens."),
        (400, "the request exceeds the available context size, try increasing it"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (413, "Please reduce the length of the messages or completion."),
        (422, "The input token count (9000) exceeds the maximum number of tokens allowed (8192)."),
        (500, "Requested tokens (9160) exceed context window of 8192"),
    ],
)
def test_the_words_of_many_servers_are_understood(dialogue: Any, status: int, said: str) -> None:
    found = converse(dialogue, [{"status": status, "error": said}, {"content": "42"}], QUESTION)
    assert found.answers[0].text == "42" and "tools" not in found.requests[1]


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens, however you requested 12096 tokens (4000 in the messages, "
        "8096 in the completion).",
        "'max_tokens' is too large: 8096. This model's maximum context length is 8192 tokens and your request has 4000 "
        "input tokens",
    ],
)
def test_a_reply_that_is_too_long_for_the_context_is_shortened_and_nothing_is_dropped(dialogue: Any, said: str) -> None:
    script = [{"status": 400, "error": said}, {"content": "42"}]
    found = converse(dialogue, script, QUESTION, output_tokens=8096)
    assert [request["max_tokens"] for request in found.requests] == [8096, 4192]
    assert "tools" in found.requests[1]


def test_a_question_that_is_too_long_alone_is_a_failure_that_says_so(dialogue: Any) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        converse(dialogue, [TOO_LONG], QUESTION)
    assert "ContextFull" in repr(caught.value) and "prompt is too long" in repr(caught.value)


def test_other_refusals_drop_nothing(dialogue: Any) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        converse(dialogue, [{"status": 400, "error": "messages.0: invalid role"}], QUESTION)
    assert "BadRequestError" in repr(caught.value)


def test_only_the_servers_that_are_named_are_offered(dialogue: Any) -> None:
    found = converse(dialogue, [{"content": "42"}], QUESTION, servers=("risk",))
    assert "tools" not in found.requests[0]
    found = converse(dialogue, [{"content": "42"}], QUESTION, servers=("desk",))
    assert [tool["function"]["name"] for tool in found.requests[0]["tools"]] == ["desk__double"]
    assert json.dumps(found.requests[0]["tools"]).count("title") == 0
