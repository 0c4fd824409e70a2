"""Our agents answer whatever a compatibility kit sends as a server does that holds nothing but the A2A SDK.

The requests are of the kinds that the mandatory tests of the a2a project's kit (github.com/a2aproject/a2a-tck, 0.3 and
1.0) send; the kit itself is in no package registry. The oracle is the plain server below: what it cannot do either is a
matter of the SDK, everything else would be ours.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import httpx
import pytest
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

TASK, CONTEXT = "the task before", "its context"
SEND: dict[str, dict[str, Any]] = {
    "1.0": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}]},
    "0.3": {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "hello"}]},
}
METHODS = {
    "1.0": {
        "send": "SendMessage", "stream": "SendStreamingMessage", "get": "GetTask", "cancel": "CancelTask",
        "list": "ListTasks", "subscribe": "SubscribeToTask", "card": "GetExtendedAgentCard",
        "push": "CreateTaskPushNotificationConfig", "push_get": "GetTaskPushNotificationConfig",
    },
    "0.3": {
        "send": "message/send", "stream": "message/stream", "get": "tasks/get", "cancel": "tasks/cancel",
        "list": "tasks/list", "subscribe": "tasks/resubscribe", "card": "agent/getAuthenticatedExtendedCard",
        "push": "tasks/pushNotificationConfig/set", "push_get": "tasks/pushNotificationConfig/get",
    },
}  # fmt: skip

OWN = ("id", "taskId", "contextId", "messageId", "artifactId", "timestamp", "nextPageToken")
"""What every server makes up for itself."""


class Echo(AgentExecutor):
    """The least that an agent does: a task, an artifact, the end."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        task = context.current_task or new_task_from_user_message(context.message)
        if context.current_task is None:
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        await updater.add_artifact([new_text_part(context.get_user_input())], name="answer", last_chunk=True)
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise AssertionError("no request of this file cancels a task that runs")


def plain_server() -> Starlette:
    card = AgentCard(
        name="plain",
        description="nothing but the SDK",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url="http://agent/", protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="echo", description="echo", tags=["test"])],
    )
    handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore(), agent_card=card)
    return Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, rpc_url="/", enable_v0_3_compat=True),
        ]
    )


def our_server(service: Any) -> Any:
    async def respond(text: str, context_id: str, progress: Any) -> Any:
        return service.Answer(text)

    return service.build_app(
        service.Profile("ours", "what all our programs share", "echo"), respond, url="http://agent/"
    )


def bodies(version: str) -> dict[str, Any]:
    """Return requests by what is asked or wrong; ``TASK`` and ``CONTEXT`` stand for those of the first request."""
    methods, message = METHODS[version], SEND[version]

    def call(name: str, params: Any, **changed: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": "1", "method": methods.get(name, name), "params": params} | changed

    def without(key: str) -> dict[str, Any]:
        return {name: value for name, value in message.items() if name != key}

    part = message["parts"][0]
    return {
        "a message": call("send", {"message": message}),
        "the task": call("get", {"id": TASK}),
        "a task with its history": call("get", {"id": TASK, "historyLength": 1}),
        "a history below 0": call("get", {"id": TASK, "historyLength": -1}),
        "a task that there is not": call("get", {"id": "no-such-task"}),
        "a task without its id": call("get", {}),
        "a task id of another type": call("get", {"id": 7}),
        "a finished task cancelled": call("cancel", {"id": TASK}),
        "no task cancelled": call("cancel", {"id": "no-such-task"}),
        "cancelled without an id": call("cancel", {}),
        "a finished task sent to": call("send", {"message": message | {"taskId": TASK, "contextId": CONTEXT}}),
        "no task sent to": call("send", {"message": message | {"taskId": "no-such-task"}}),
        "its context sent to": call("send", {"message": message | {"messageId": "m2", "contextId": CONTEXT}}),
        "tasks listed": call("list", {}),
        "a page of none": call("list", {"pageSize": 0}),
        "a page too large": call("list", {"pageSize": 1000}),
        "a page of one": call("list", {"pageSize": 1, "contextId": CONTEXT}),
        "a page that there is not": call("list", {"pageToken": "no-such-page"}),
        "no push notifications": call("push", {"taskId": TASK, "url": "http://127.0.0.1:9/", "id": "p"}),
        "none to be got": call("push_get", {"taskId": TASK, "id": "p"}),
        "no extended card": call("card", {}),
        "a stream": call("stream", {"message": message | {"messageId": "m3"}}),
        "a stream of a finished task": call("subscribe", {"id": TASK}),
        "a stream of no task": call("subscribe", {"id": "no-such-task"}),
        "a stream of nothing": call("stream", {}),
        "no message": call("send", {}),
        "no params": {"jsonrpc": "2.0", "id": "1", "method": methods["send"]},
        "params that are a list": call("send", []),
        "params that are a text": call("send", "text"),
        "a message that is a text": call("send", {"message": "text"}),
        "parts that are a text": call("send", {"message": message | {"parts": "text"}}),
        "no parts": call("send", {"message": message | {"parts": []}}),
        "parts missing": call("send", {"message": without("parts")}),
        "no role": call("send", {"message": without("role")}),
        "an unknown role": call("send", {"message": message | {"role": "nobody"}}),
        "no message id": call("send", {"message": without("messageId")}),
        "an unknown field": call("send", {"message": message | {"unknown": 1}}),
        "a part without content": call("send", {"message": message | {"parts": [{"metadata": {}}]}}),
        "a text that is a number": call("send", {"message": message | {"parts": [part | {"text": 7}]}}),
        "an empty text": call("send", {"message": message | {"parts": [part | {"text": ""}]}}),
        "a long text": call("send", {"message": message | {"parts": [part | {"text": "x" * 200_000}]}}),
        "an unknown method": call("nonexistent/method", {}),
        "a method that is a number": call("send", {}, method=7),
        "no method": {"jsonrpc": "2.0", "id": "1", "params": {}},
        "another JSON-RPC": call("send", {"message": message}, jsonrpc="1.0"),
        "no JSON-RPC": {"id": "1", "method": methods["send"], "params": {"message": message}},
        "an id that is an object": call("send", {"message": message}, id={"bad": 1}),
        "an id that is a list": call("send", {"message": message}, id=[1]),
        "an id that is a number": call("get", {"id": TASK}, id=7),
        "an id that is null": call("get", {"id": TASK}, id=None),
        "a batch": [call("get", {"id": TASK}), call("get", {"id": TASK})],
        "an empty batch": [],
        "a number": 7,
        "broken JSON": '{"jsonrpc": "2.0", "method": "x", "params": {',
        "nothing": "",
    }  # fmt: skip


def told(response: httpx.Response) -> Any:
    """Return what a client can see of a reply: the status, and the error's code or the shape of the result."""
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        events = [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:")]
        return response.status_code, [outcome(event) for event in events]
    return response.status_code, outcome(response.json())


def outcome(reply: Any) -> Any:
    if not isinstance(reply, dict):
        return type(reply).__name__
    if "error" in reply:
        return reply["error"]["code"], reply.get("id")
    return shape(reply.get("result")), reply.get("id")


def shape(value: Any) -> Any:
    """Return the keys of a result, and what its states and texts are; ids and times are the server's own."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items() if key not in OWN}
    return [shape(item) for item in value] if isinstance(value, list) else value


async def replies(app: Any, version: str) -> dict[str, Any]:
    """Return what a server says to every request, in their order."""
    found: dict[str, Any] = {}
    known: dict[str, str] = {}
    headers = {"A2A-Version": "1.0"} if version == "1.0" else {}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://agent", headers=headers
    ) as client:
        for name, body in bodies(version).items():
            text = body if isinstance(body, str) else json.dumps(body)
            for placeholder, value in known.items():
                text = text.replace(placeholder, value)
            response = await client.post("/", content=text, headers={"Content-Type": "application/json"})
            found[name] = told(response)
            if not known:
                result = response.json()["result"]
                task = result.get("task", result)
                known = {TASK: task["id"], CONTEXT: task["contextId"]}
        card = (await client.get("/.well-known/agent-card.json")).json()
        found["the keys of the card"] = sorted(card)
        found["the keys of its skills"] = sorted(card["skills"][0])
    return found


@pytest.mark.parametrize("version", sorted(METHODS))
def test_every_request_is_answered_as_by_a_plain_server_of_the_sdk(
    program: Callable[[str, str], ModuleType], version: str
) -> None:
    ours = asyncio.run(replies(our_server(program("reference", "a2a_service")), version))
    plain = asyncio.run(replies(plain_server(), version))
    assert len(ours) == len(bodies(version)) + 2
    assert ours == plain
    codes = [reply[1][0] for reply in plain.values() if isinstance(reply, tuple) and isinstance(reply[1], tuple)]
    assert {-32700, -32600, -32601, -32602} <= {code for code in codes if isinstance(code, int)}, "it was asked badly"
