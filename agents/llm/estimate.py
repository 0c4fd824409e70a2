"""What conversations would cost that have not been held: the requests that this agent would send, counted.

The requests are made by the agent's own code from real messages; only what the model would do is assumed.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import tokens
from functions import described
from memory import Memory

CALLS_WITH_DATA = 3
"""Tool calls per message of a task that needs a tool server; other tasks call one tool."""
CALLS_WITHOUT_DATA = 1
ARGUMENT_CHARACTERS = 120
RESULT_CHARACTERS = 1500
THOUGHT_TOKENS = 150
"""What a model writes around each answer besides the answer itself; one that reasons at length writes more."""

ASSUMED = {
    "tool_calls_with_data": CALLS_WITH_DATA,
    "tool_calls_without_data": CALLS_WITHOUT_DATA,
    "tool_result_characters": RESULT_CHARACTERS,
    "thought_tokens": THOUGHT_TOKENS,
}


def estimate(given: dict[str, Any], *, servers: Collection[str] | None, model_calls: int) -> dict[str, Any]:
    """Return the expected use of every task.

    Parameters
    ----------
    given
        ``tools``: the tools of each server (``name``, ``description``, ``schema``); ``tasks``: each with the
        ``servers`` it is offered, whether it ``needs_data`` of one, and its ``messages`` with the ``replies`` to them.
    servers, model_calls
        Settings of the agent.

    Returns
    -------
    dict
        ``tasks``, each with ``messages``, ``model_calls``, ``input_tokens`` and ``output_tokens``; and what is
        ``assumed``.
    """
    functions = {
        server: [described(server, **tool) for tool in tools]
        for server, tools in given["tools"].items()
        if servers is None or server in servers
    }
    rows = []
    for task in given["tasks"]:
        offered = [item for server in task["servers"] for item in functions.get(server, [])]
        calls = min(CALLS_WITH_DATA if task["needs_data"] else CALLS_WITHOUT_DATA, model_calls - 1)
        rows.append(_task(task["messages"], task["replies"], offered, calls))
    return {"tasks": rows, "assumed": ASSUMED}


def _task(
    messages: list[dict[str, Any]], replies: list[str], functions: list[dict[str, Any]], calls: int
) -> dict[str, int]:
    memory = Memory.of(messages[0])
    model_calls = read = written = 0
    for body, reply in zip(messages, replies, strict=True):
        turn = memory.turn(body, functions, output_tokens=0)
        for number in range(calls if turn.functions else 0):
            read += tokens.of_request(turn.request())
            name = turn.functions[0]["function"]["name"]
            memory.called.add(name)
            function = {"name": name, "arguments": json.dumps({"given": "x" * ARGUMENT_CHARACTERS})}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            turn.add({"role": "assistant", "content": "", "tool_calls": [call]})
            turn.add({"role": "tool", "tool_call_id": call["id"], "content": "0.125, " * (RESULT_CHARACTERS // 7)})
            written += tokens.count(json.dumps(function))
            model_calls += 1
        read += tokens.of_request(turn.request())
        written += tokens.count(reply) + THOUGHT_TOKENS
        model_calls += 1
        memory.keep(body, reply)
    return {"messages": len(messages), "model_calls": model_calls, "input_tokens": read, "output_tokens": written}
