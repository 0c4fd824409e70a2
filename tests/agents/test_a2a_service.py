"""What every agent of the project serves: both protocol versions, both card addresses, bounded memory.

The outside check is the client of the A2A SDK, which is not used by the harness.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest


@pytest.fixture
def service(program: Callable[[str, str], ModuleType]) -> Any:
    return program("reference", "a2a_service")


def _client(service: Any, answer: Any) -> httpx.AsyncClient:
    async def respond(text: str, context_id: str, progress: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer if answer is not None else service.Answer(text.upper())

    app = service.build_app(service.Profile("test", "a test agent", "testing"), respond, url="http://agent/")
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agent")


def _post(service: Any, body: dict[str, Any], answer: Any = None) -> Any:
    async def run() -> Any:
        async with _client(service, answer) as client:
            headers = {"A2A-Version": "1.0"} if body["method"][0].isupper() else {}
            return (await client.post("/", json=body, headers=headers)).json()

    return asyncio.run(run())


SEND_1_0 = {
    "jsonrpc": "2.0",
    "id": "1",
    "method": "SendMessage",
    "params": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]}},
}
SEND_0_3 = {
    "jsonrpc": "2.0",
    "id": "1",
    "method": "message/send",
    "params": {
        "message": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hello"}]}
    },
}


def test_both_card_addresses_serve_a_card_with_both_versions(service: Any) -> None:
    async def run() -> list[Any]:
        async with _client(service, None) as client:
            paths = ("/.well-known/agent-card.json", "/.well-known/agent.json")
            return [(await client.get(path)).json() for path in paths]

    new, old = asyncio.run(run())
    assert new == old
    assert [row["protocolVersion"] for row in new["supportedInterfaces"]] == ["1.0", "0.3"]
    assert new["url"] == "http://agent/" and new["protocolVersion"].startswith("0.3")


def test_version_1_0_gets_one_text_part_and_the_usage(service: Any) -> None:
    usage = {"input_tokens": 12, "output_tokens": 3, "cost_usd": 0.25}
    task = _post(service, SEND_1_0, service.Answer("42", usage=usage))["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    (artifact,) = task["artifacts"]
    assert artifact["parts"] == [{"text": "42"}]
    assert artifact["metadata"]["usage"] == usage


def test_version_0_3_gets_the_same_answer(service: Any) -> None:
    task = _post(service, SEND_0_3)["result"]
    assert task["kind"] == "task" and task["status"]["state"] == "completed"
    assert [part["text"] for part in task["artifacts"][0]["parts"]] == ["HELLO"]


def test_a_refusal_is_a_rejected_task_with_a_text(service: Any) -> None:
    task = _post(service, SEND_1_0, service.Answer("not for me", rejected=True))["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_REJECTED"
    assert task["status"]["message"]["parts"] == [{"text": "not for me"}]


def test_an_agent_that_raises_fails_its_task_and_not_its_server(service: Any) -> None:
    task = _post(service, SEND_1_0, RuntimeError("broken"))["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_FAILED"
    assert "RuntimeError: broken" in task["status"]["message"]["parts"][0]["text"]


def test_the_task_store_forgets_the_oldest_finished_tasks_and_no_running_one(service: Any) -> None:
    from a2a.server.context import ServerCallContext
    from a2a.types import Task, TaskState, TaskStatus

    async def run() -> list[bool]:
        store, context = service.BoundedTaskStore(capacity=3), ServerCallContext()
        await store.save(Task(id="running", status=TaskStatus(state=TaskState.TASK_STATE_WORKING)), context)
        for index in range(10):
            finished = TaskStatus(state=TaskState.TASK_STATE_COMPLETED)
            await store.save(Task(id=f"t{index}", status=finished), context)
        return [await store.get(name, context) is not None for name in ("running", "t0", "t6", "t7", "t9")]

    assert asyncio.run(run()) == [True, False, False, True, True]


def test_a_changed_source_is_another_version(service: Any, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("answer = 1\n")
    first, same = service.sources_digest(tmp_path), service.sources_digest(tmp_path)
    (tmp_path / "agent.py").write_text("answer = 2\n")
    assert first == same != service.sources_digest(tmp_path)
    second = service.sources_digest(tmp_path)
    (tmp_path / "desks").mkdir()
    (tmp_path / "desks" / "options.py").write_text("answer = 3\n")
    assert service.sources_digest(tmp_path) != second


def test_the_client_of_the_sdk_gets_the_answer_in_both_versions(service: Any) -> None:
    from a2a.client import ClientConfig, ClientFactory
    from a2a.helpers import get_stream_response_text, new_text_message
    from a2a.types import Role, SendMessageRequest

    async def run(version: str) -> str:
        async with _client(service, None) as http:
            card = service.agent_card(service.Profile("test", "a test agent", "testing"), url="http://agent/")
            kept = [row for row in card.supported_interfaces if row.protocol_version == version]
            del card.supported_interfaces[:]
            card.supported_interfaces.extend(kept)
            client = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
            request = SendMessageRequest(message=new_text_message("hello", role=Role.ROLE_USER))
            texts = [get_stream_response_text(event) async for event in client.send_message(request)]
            return "".join(texts)

    assert [asyncio.run(run(version)) for version in ("1.0", "0.3")] == ["HELLO", "HELLO"]


RIGHT = "s3cret.of-the~operator"


@pytest.mark.parametrize(
    ("headers", "challenge"),
    [
        ([], 'Bearer realm="agent"'),
        ([("Authorization", "Bearer s3cret.of-the~operato")], 'Bearer realm="agent", error="invalid_token"'),
        ([("Authorization", f"Basic {RIGHT}")], 'Bearer realm="agent", error="invalid_token"'),
        ([("Authorization", RIGHT)], 'Bearer realm="agent", error="invalid_token"'),
        ([("Authorization", "Bearer")], 'Bearer realm="agent", error="invalid_token"'),
        ([("Authorization", "Bearer \u00e9".encode())], 'Bearer realm="agent", error="invalid_token"'),
        ([("Authorization", f"Bearer {RIGHT}")] * 2, 'Bearer realm="agent", error="invalid_token"'),
        ([("Authorization", f"Bearer {RIGHT}")], None),
        ([("authorization", f"bearer  {RIGHT}")], None),
    ],
)
def test_only_the_right_token_is_let_through(service: Any, headers: Any, challenge: str | None) -> None:
    asked = []

    async def respond(text: str, context_id: str, progress: Any) -> Any:
        asked.append(text)
        return service.Answer("42")

    async def run() -> httpx.Response:
        app = service.build_app(service.Profile("t", "a test agent", "t"), respond, url="http://agent/", token=RIGHT)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agent") as client:
            return await client.post("/", json=SEND_1_0, headers=httpx.Headers([*headers, ("A2A-Version", "1.0")]))

    reply = asyncio.run(run())
    if challenge is None:
        assert reply.json()["result"]["task"]["artifacts"][0]["parts"] == [{"text": "42"}]
    else:
        assert (reply.status_code, reply.headers["WWW-Authenticate"], asked) == (401, challenge, [])
        assert "bearer token" in reply.json()["error"] and RIGHT not in reply.text


def test_the_card_is_public_and_says_that_a_token_is_needed(service: Any) -> None:
    async def run(token: str) -> list[Any]:
        app = service.build_app(service.Profile("t", "a test agent", "t"), service.Answer, url="http://a/", token=token)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://a") as client:
            return [(await client.get(path)).json() for path in service.CARD_PATHS]

    for card in asyncio.run(run(RIGHT)):
        assert card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"] == {"scheme": "Bearer"}
        assert card["securityRequirements"] == [{"schemes": {"bearer": {}}}]
        assert card["security"] == [{"bearer": []}]
    assert all("securitySchemes" not in card and "security" not in card for card in asyncio.run(run("")))


@pytest.mark.parametrize("content", ["", "two words", "caf\u00e9", "a\nb", '"quoted"'])
def test_a_token_file_without_a_token_ends_the_program_with_one_line_that_does_not_repeat_it(
    service: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    import argparse

    path = tmp_path / "token"
    path.write_text(content)
    parser = argparse.ArgumentParser(prog="agent")
    service.add_server_flags(parser, port=1)
    monkeypatch.setattr("sys.argv", ["agent", "--token-file", str(path)])
    with pytest.raises(SystemExit, match="2"):
        service.parse_flags(parser)
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert line.startswith(f"agent: error: argument --token-file: {path}: a token is one word")
    assert content == "" or content not in line
    path.write_text(f"{RIGHT}\n")
    assert service.parse_flags(parser).token == RIGHT


def test_a_flag_of_another_platform_is_not_taken_for_one_of_ours(
    service: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import argparse

    parser = argparse.ArgumentParser(prog="agent")
    service.add_server_flags(parser, port=1)
    monkeypatch.setattr("sys.argv", ["agent", "--token", "abc", "--port", "7"])
    flags = service.parse_flags(parser)
    assert (flags.token_file, flags.token, flags.port) == (None, "", 7)
    assert "ignoring unknown arguments: --token abc" in caplog.text


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_the_client_of_the_sdk_finds_in_the_card_how_the_token_is_sent(service: Any, version: str) -> None:
    from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
    from a2a.client.auth import AuthInterceptor, CredentialService
    from a2a.helpers import get_stream_response_text, new_text_message
    from a2a.types import Role, SendMessageRequest

    class Credentials(CredentialService):
        async def get_credentials(self, security_scheme_name: str, context: Any) -> str | None:
            return {"bearer": RIGHT}.get(security_scheme_name)

    async def respond(text: str, context_id: str, progress: Any) -> Any:
        return service.Answer(text.upper())

    async def run() -> str:
        app = service.build_app(service.Profile("t", "a test agent", "t"), respond, url="http://agent/", token=RIGHT)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://agent") as http:
            card = await A2ACardResolver(http, "http://agent").get_agent_card()
            kept = [row for row in card.supported_interfaces if row.protocol_version == version]
            del card.supported_interfaces[:]
            card.supported_interfaces.extend(kept)
            factory = ClientFactory(ClientConfig(httpx_client=http, streaming=True))
            client = factory.create(card, [AuthInterceptor(Credentials())])
            request = SendMessageRequest(message=new_text_message("hello", role=Role.ROLE_USER))
            return "".join([get_stream_response_text(event) async for event in client.send_message(request)])

    assert asyncio.run(run()) == "HELLO"
