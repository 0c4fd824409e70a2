"""Whatever an agent does on the wire, an exchange ends in bounded time: with a reply or with an AgentFailure.

The agents here are raw TCP servers, so that they can do what no HTTP library would let them do.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest

from engine.agent import client as agent_client
from engine.agent.client import AgentFailure, Reply, Usage, connect

Behaviour = Callable[[asyncio.StreamWriter, dict[str, Any]], Awaitable[None]]
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def card(port: int, *, version: str = "1.0", streaming: bool = True) -> dict[str, Any]:
    interface = {"url": f"http://127.0.0.1:{port}/", "protocolBinding": "JSONRPC", "protocolVersion": version}
    return {"name": "faulty", "supportedInterfaces": [interface], "capabilities": {"streaming": streaming}}


def http(body: bytes, *, status: str = "200 OK", kind: str = "application/json", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def sse(request: dict[str, Any], result: dict[str, Any]) -> bytes:
    event = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})
    return chunk(f"data: {event}\r\n\r\n".encode())


def completed(text: str = "done", *, task: str = "t1", context: str = "c1") -> dict[str, Any]:
    artifact = {"artifactId": "a", "parts": [{"text": text}]}
    status = {"state": "TASK_STATE_COMPLETED"}
    return {"task": {"id": task, "contextId": context, "status": status, "artifacts": [artifact]}}


def answer(request: dict[str, Any], result: dict[str, Any]) -> bytes:
    return http(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode())


async def _request(reader: asyncio.StreamReader) -> tuple[str, dict[str, Any]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next((int(line.split(":")[1]) for line in head.lower().split("\r\n") if "content-length" in line), 0)
    body = await reader.readexactly(length)
    return head.split("\r\n")[0], json.loads(body) if body else {}


async def against(
    behaviour: Behaviour, *messages: str, timeout_s: float = 60.0, **card_options: Any
) -> list[Reply | AgentFailure]:
    """Send the messages in one conversation to an agent that answers every POST with ``behaviour``."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                line, request = await _request(reader)
                if line.startswith("GET"):
                    writer.write(http(json.dumps(card(port, **card_options)).encode()))
                else:
                    await behaviour(writer, request)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    agent = await connect(f"http://127.0.0.1:{port}")
    conversation = agent.conversation("task")
    outcomes: list[Reply | AgentFailure] = []
    try:
        for message in messages or ("hello",):
            try:
                outcomes.append(await conversation.send(message, timeout_s=timeout_s))
            except AgentFailure as failure:
                outcomes.append(failure)
    finally:
        await agent.close()
        server.close()
    return outcomes


def failure(behaviour: Behaviour, **options: Any) -> AgentFailure:
    outcome = asyncio.run(against(behaviour, **options))[-1]
    assert isinstance(outcome, AgentFailure), outcome
    assert "\n" not in str(outcome) and len(str(outcome)) <= 300
    return outcome


def replying(body: bytes) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(body)

    return behave


def streaming(*results: dict[str, Any]) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(STREAM_HEAD + b"".join(sse(request, result) for result in results) + b"0\r\n\r\n")

    return behave


def test_a_streamed_reply_is_read() -> None:
    assert asyncio.run(against(streaming(completed("42"))))[0] == Reply("42", Usage())


def test_an_agent_that_hangs_before_the_headers_times_out() -> None:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        await asyncio.sleep(30)

    assert failure(behave, timeout_s=0.3).kind == "timeout"


def test_one_byte_at_a_time_does_not_extend_the_deadline() -> None:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(STREAM_HEAD)
        while True:
            writer.write(chunk(b":"))
            await writer.drain()
            await asyncio.sleep(0.02)

    assert failure(behave, timeout_s=0.4).kind == "timeout"


def test_endless_keep_alive_comments_do_not_extend_the_deadline() -> None:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(STREAM_HEAD)
        while True:
            writer.write(chunk(b": ping\r\n\r\n"))
            await writer.drain()
            await asyncio.sleep(0.01)

    assert failure(behave, timeout_s=0.4).kind == "timeout"


def test_an_agent_that_dies_in_mid_stream_is_unreachable() -> None:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(STREAM_HEAD + b'1000\r\ndata: {"jsonrpc"')
        await writer.drain()
        writer.close()

    assert failure(behave).kind == "unreachable"


def test_a_stream_that_ends_before_the_task_is_a_protocol_failure() -> None:
    working = {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}
    outcome = failure(streaming(working))
    assert outcome.kind == "protocol" and "'working'" in str(outcome)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b'{"jsonrpc": "2.0", "id": ', "not valid JSON"),
        (b"<html>hello</html>", "not valid JSON"),
        (b"\xff\xfe{}", "not valid JSON"),
        (b'{"result": NaN}', "NaN is not JSON"),
        (b'{"result": 1e999}', "out of range"),
        (b'{"result": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"a": 1, "a": 2}', "same key twice"),
        (b"[" * 100_000, "deeper than 64"),
        (b"[" * 80 + b"]" * 80, "deeper than 64"),
        (b"[]", "must be a JSON object"),
        (b'{"id": "another", "result": {}}', "another request"),
        (b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "broken\\nhere"}}', "broken here"),
    ],
)
def test_a_body_that_is_no_answer_is_refused(body: bytes, complaint: str) -> None:
    assert complaint in str(failure(replying(http(body))))


def test_a_body_announced_as_a_gigabyte_is_not_read() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n"
    assert failure(replying(head)).kind == "too_large"


def test_an_endless_body_is_cut_at_the_cap() -> None:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            writer.write(b" " * 1_000_000)
            await writer.drain()

    assert failure(behave).kind == "too_large"


def test_an_endless_line_of_a_stream_is_cut_at_the_cap() -> None:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(STREAM_HEAD)
        while True:
            writer.write(chunk(b"x" * 1_000_000))
            await writer.drain()

    assert failure(behave).kind == "too_large"


def test_a_gzip_bomb_never_unfolds_in_memory() -> None:
    bomb = gzip.compress(b" " * 256_000_000, compresslevel=9)
    tracemalloc.start()
    outcome = failure(replying(http(bomb, more="Content-Encoding: gzip\r\n")))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome.kind == "too_large"
    assert peak_bytes < 64_000_000


def test_a_small_compressed_answer_is_still_understood() -> None:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": completed("packed")}).encode()
        writer.write(http(gzip.compress(body), more="Content-Encoding: gzip\r\n"))

    outcome = asyncio.run(against(behave))[0]
    assert isinstance(outcome, Reply) and outcome.text == "packed"


@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_an_unreadable_content_encoding_is_a_protocol_failure(encoding: str) -> None:
    assert failure(replying(http(b"abc", more=f"Content-Encoding: {encoding}\r\n"))).kind == "protocol"


@pytest.mark.parametrize("target", ["http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data"])
def test_a_redirect_is_refused_and_not_followed(target: str) -> None:
    outcome = failure(replying(http(b"", status="307 Temporary Redirect", more=f"Location: {target}\r\n")))
    assert outcome.kind == "protocol" and "redirects are refused" in str(outcome)


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_a_huge_retry_after_is_not_waited_for(status: str) -> None:
    outcome = failure(replying(http(b"", status=status, more="Retry-After: 99999999\r\n")))
    assert outcome.kind == "unreachable" and outcome.unavailable and status[:3] in str(outcome)


def test_any_other_http_error_is_a_failure_of_the_agent() -> None:
    outcome = failure(replying(http(b"", status="403 Forbidden")))
    assert outcome.kind == "agent_error" and not outcome.unavailable


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_an_agent_can_say_that_its_provider_is_away_and_what_the_failure_cost(version: str) -> None:
    said = {"usage": {"input_tokens": 7, "cost_usd": 0.5}, "traderbench": {"error": "provider_unavailable"}}
    if version == "1.0":
        message: dict[str, Any] = {"parts": [{"text": "HTTP 429"}], "metadata": said}
        status = {"state": "TASK_STATE_FAILED", "message": message}
        result = {"statusUpdate": {"taskId": "t", "contextId": "c", "status": status}}
    else:
        message = {"kind": "message", "parts": [{"kind": "text", "text": "HTTP 429"}], "metadata": said}
        status = {"state": "failed", "message": message}
        result = {"kind": "status-update", "taskId": "t", "contextId": "c", "status": status, "final": True}
    outcome = failure(streaming(result), version=version)
    assert outcome.kind == "provider_unavailable" and outcome.unavailable and "HTTP 429" in str(outcome)
    assert outcome.usage == Usage(input_tokens=7, cost_usd=0.5)


@pytest.mark.parametrize(("version", "method"), [("1.0", "CancelTask"), ("0.3", "tasks/cancel")])
def test_a_task_over_its_time_is_cancelled_at_the_agent_which_tells_what_it_spent(version: str, method: str) -> None:
    seen: list[tuple[str, str]] = []

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        state = {"1.0": "TASK_STATE_", "0.3": ""}[version]
        seen.append((request["method"], request["params"].get("id", "")))
        if len(seen) == 1:
            task = {
                "id": "t",
                "contextId": "c",
                "status": {"state": state + {"1.0": "WORKING", "0.3": "working"}[version]},
            }
            writer.write(STREAM_HEAD + sse(request, {"task": task} if version == "1.0" else task | {"kind": "task"}))
            await writer.drain()
            writer.write(chunk(b": working\r\n\r\n"))
            return
        usage = {"usage": {"input_tokens": 30, "output_tokens": 4}}
        ended = {"state": state + {"1.0": "CANCELED", "0.3": "canceled"}[version], "message": {"metadata": usage}}
        writer.write(answer(request, {"kind": "task", "id": "t", "contextId": "c", "status": ended}))

    outcome = failure(behave, timeout_s=0.5, version=version)
    assert outcome.kind == "timeout"
    assert seen[1:] == [(method, "t")]
    assert outcome.usage == Usage(input_tokens=30, output_tokens=4, cost_usd=None)


def _late_agent(refusals: int) -> tuple[Any, list[str]]:
    """Return an in-memory transport that refuses the first connections, and the methods that arrived."""
    arrived: list[str] = []
    left = refusals

    async def handle(request: httpx.Request) -> httpx.Response:
        nonlocal left
        if left:
            left -= 1
            raise httpx.ConnectError("refused")
        body = json.loads(request.content)
        arrived.append(body["method"])
        raw = json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": completed("back")}).encode()

        async def content() -> AsyncIterator[bytes]:
            yield raw

        return httpx.Response(200, content=content())

    return httpx.MockTransport(handle), arrived


@pytest.mark.parametrize(("refusals", "comes"), [(2, True), (3, False)])
def test_a_message_that_found_no_connection_is_offered_twice_again(
    refusals: int, comes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_client, "CONNECT_BACKOFF_S", (0.0, 0.0))

    async def run() -> Reply | AgentFailure:
        transport, arrived = _late_agent(refusals)
        async with httpx.AsyncClient(transport=transport) as client:
            endpoint = agent_client.Endpoint("http://agent/", "1.0", stream=True)
            try:
                reply = await agent_client.A2AConversation(client, endpoint).send("hello", timeout_s=5.0)
            except AgentFailure as error:
                return error
        assert arrived == ["SendStreamingMessage"]
        return reply

    outcome = asyncio.run(run())
    assert isinstance(outcome, Reply) == comes
    if isinstance(outcome, AgentFailure):
        assert outcome.kind == "unreachable" and not outcome.sent


def test_a_message_that_the_agent_may_have_seen_is_never_sent_again() -> None:
    seen: list[str] = []

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        seen.append(request["method"])
        writer.close()

    outcome = failure(behave)
    assert outcome.kind == "unreachable" and outcome.sent
    assert seen == ["SendStreamingMessage"]


def test_an_event_of_a_foreign_task_is_refused() -> None:
    working = {"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}}
    assert "foreign task" in str(failure(streaming(working, completed(task="t2"))))


def test_a_foreign_context_is_refused_in_a_later_turn() -> None:
    turns = iter([completed(task="t1", context="c1"), completed(task="t2", context="c2")])

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(answer(request, next(turns)))

    first, second = asyncio.run(against(behave, "one", "two"))
    assert isinstance(first, Reply)
    assert isinstance(second, AgentFailure) and "foreign context" in str(second)


def test_a_replayed_task_is_refused_in_a_later_turn() -> None:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(answer(request, completed()))

    first, second = asyncio.run(against(behave, "one", "two"))
    assert isinstance(first, Reply)
    assert isinstance(second, AgentFailure) and "replayed task" in str(second)


def test_a_task_left_open_for_input_is_continued_by_its_id() -> None:
    requests: list[dict[str, Any]] = []

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        requests.append(request["params"]["message"])
        state = "TASK_STATE_INPUT_REQUIRED" if len(requests) == 1 else "TASK_STATE_COMPLETED"
        status = {"state": state, "message": {"parts": [{"text": f"turn {len(requests)}"}]}}
        writer.write(answer(request, {"task": {"id": "t1", "contextId": "c1", "status": status}}))

    replies = asyncio.run(against(behave, "one", "two"))
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == ["turn 1", "turn 2"]
    assert (requests[1]["taskId"], requests[1]["contextId"]) == ("t1", "c1")
    assert "taskId" not in requests[0] and "contextId" not in requests[0]


def test_a_task_that_is_shown_as_it_was_left_before_the_agent_works_on_it_is_not_the_reply() -> None:
    turns = 0

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        nonlocal turns
        turns += 1
        left = {"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_INPUT_REQUIRED"}}}
        status = {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"parts": [{"text": f"turn {turns}"}]}}
        said = {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": status}}
        writer.write(STREAM_HEAD + b"".join(sse(request, event) for event in (left, said)[turns == 1 :]))
        writer.write(b"0\r\n\r\n")

    replies = asyncio.run(against(behave, "one", "two"))
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == ["turn 1", "turn 2"]


def test_half_a_character_in_the_text_is_refused() -> None:
    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(answer(request, completed("\ud800")))

    assert "surrogate" in str(failure(behave))


@pytest.mark.parametrize(
    ("state", "kind"), [("REJECTED", "rejected"), ("FAILED", "agent_error"), ("CANCELED", "agent_error")]
)
def test_a_task_that_ends_badly_is_a_failure(state: str, kind: str) -> None:
    status = {"state": f"TASK_STATE_{state}", "message": {"parts": [{"text": "because"}]}}
    outcome = failure(streaming({"task": {"id": "t", "contextId": "c", "status": status}}))
    assert outcome.kind == kind and "because" in str(outcome)


@pytest.mark.parametrize("tokens", [-1, "many", True, 1e300])
def test_a_nonsense_usage_is_refused(tokens: Any) -> None:
    result = completed()
    result["task"]["artifacts"][0]["metadata"] = {"usage": {"input_tokens": tokens}}
    assert "usage.input_tokens" in str(failure(streaming(result)))


def test_chunks_that_append_to_an_artifact_are_joined_and_the_others_replace_it() -> None:
    def artifact(text: str, append: bool) -> dict[str, Any]:
        body = {"artifactId": "a", "parts": [{"text": text}]}
        return {"artifactUpdate": {"taskId": "t1", "contextId": "c1", "artifact": body, "append": append}}

    done = {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"}}}
    outcome = asyncio.run(
        against(streaming(artifact("draft", False), artifact("4", False), artifact("2", True), done))
    )[0]
    assert isinstance(outcome, Reply) and outcome.text == "42"


def test_a_0_3_agent_that_answers_early_is_polled_until_it_is_done() -> None:
    seen: list[str] = []

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        seen.append(request["method"])
        state = "working" if len(seen) < 3 else "completed"
        artifacts = [{"artifactId": "a", "parts": [{"kind": "text", "text": "late"}]}] if state == "completed" else []
        task = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": state}, "artifacts": artifacts}
        writer.write(answer(request, task))

    outcome = asyncio.run(against(behave, version="0.3.0", streaming=False))[0]
    assert isinstance(outcome, Reply) and outcome.text == "late"
    assert seen == ["message/send", "tasks/get", "tasks/get"]


def test_failures_leave_no_file_descriptor_open() -> None:
    async def dies(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        writer.write(STREAM_HEAD)
        await writer.drain()
        writer.close()

    async def hangs(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        await asyncio.sleep(0.2)

    before = len(os.listdir("/proc/self/fd"))
    for behaviour in (dies, hangs, replying(http(b"{}")), streaming(completed())):
        asyncio.run(against(behaviour, *["message"] * 5, timeout_s=0.05))
    assert len(os.listdir("/proc/self/fd")) <= before


def test_the_card_is_read_once_and_a_later_change_of_it_has_no_effect() -> None:
    async def run() -> tuple[list[str], int]:
        names, asked = ["first", "second", "third"], 0

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            line, request = await _request(reader)
            if line.startswith("GET"):
                writer.write(http(json.dumps(card(port) | {"name": names[asked]}).encode()))
                asked += 1
            else:
                writer.write(answer(request, completed()))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        agent = await connect(f"http://127.0.0.1:{port}")
        for _ in range(2):
            await agent.conversation("task").send("hello", timeout_s=60.0)
        await agent.close()
        server.close()
        return [agent.name], asked

    assert asyncio.run(run()) == (["first"], 1)


def test_the_card_chooses_the_path_but_never_the_host() -> None:
    async def run() -> str:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _request(reader)
            body = card(1)
            body["supportedInterfaces"][0]["url"] = "http://169.254.169.254/rpc"
            writer.write(http(json.dumps(body).encode()))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        agent = await connect(f"http://127.0.0.1:{port}")
        await agent.close()
        server.close()
        assert agent.url == f"http://127.0.0.1:{port}/rpc"
        return agent.url

    asyncio.run(run())


@pytest.mark.parametrize(
    ("given", "advertised", "expected"),
    [
        ("http://here:1", "http://0.0.0.0:9009/", "http://here:1/"),
        ("http://here:1/", "http://inside:9009/a2a", "http://here:1/a2a"),
        ("https://proxy/agents/7/", "http://0.0.0.0:9009/", "https://proxy/agents/7/"),
        ("https://here/.well-known/agent-card.json", "https://here/rpc?v=1", "https://here/rpc?v=1"),
    ],
)
def test_the_address_of_the_agent_is_the_given_host_with_the_path_of_the_card(
    given: str, advertised: str, expected: str
) -> None:
    agent = {"supportedInterfaces": [{"url": advertised, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}
    assert agent_client.endpoint_of(given, agent).url == expected


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ({"url": "http://a/", "protocolVersion": "0.3.0"}, "0.3"),
        ({"url": "http://a/"}, "0.3"),
        ({"url": "http://a/", "protocolVersion": "0.2.6"}, "0.3"),
        (
            {
                "supportedInterfaces": [
                    {"url": "http://a/g", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
                    {"url": "http://a/", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
                    {"url": "http://a/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
                ]
            },
            "1.0",
        ),
    ],
)
def test_the_newest_version_that_both_sides_speak_is_chosen(agent: dict[str, Any], expected: str) -> None:
    assert agent_client.endpoint_of("http://a", agent).version == expected


def test_an_agent_without_json_rpc_says_what_it_offers() -> None:
    agent = {"supportedInterfaces": [{"url": "http://a/", "protocolBinding": "GRPC", "protocolVersion": "1.0"}]}
    with pytest.raises(AgentFailure, match=r"it offers: GRPC 1\.0"):
        agent_client.endpoint_of("http://a", agent)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "http://", "nonsense"])
def test_an_address_that_is_none_is_one_clear_failure(url: str) -> None:
    with pytest.raises(AgentFailure, match="agent URL must be") as caught:
        asyncio.run(connect(url))
    assert caught.value.kind == "unreachable"


def test_nobody_at_the_address_is_unreachable() -> None:
    async def free_port() -> int:
        server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
        port = int(server.sockets[0].getsockname()[1])
        server.close()
        return port

    with pytest.raises(AgentFailure, match="no agent answers") as caught:
        asyncio.run(connect(f"http://127.0.0.1:{asyncio.run(free_port())}"))
    assert caught.value.kind == "unreachable"
