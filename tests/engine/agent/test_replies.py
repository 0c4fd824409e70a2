"""What of a reply is the answer, in both protocol versions, streamed, whole and polled.

The agents are servers of the A2A SDK, whose task store is the outside check of what a stream of chunks comes to.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, Message, Part, Role
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette

from engine.agent import client as agent_client
from engine.agent import dialect as agent_dialect
from engine.agent.client import A2AConversation, Endpoint
from engine.agent.dialect import Usage, Version
from engine.agent.failure import AgentFailure
from engine.agent.reply import Assembly, Reply, with_notes
from engine.agent.reply_parts import UnreadPart, read_part
from evaluators.answers import Refusal, Statement, parse_json_object, read_number, stated_answers

VERSIONS: tuple[Version, ...] = ("1.0", "0.3")
WAYS = [(version, way) for version in VERSIONS for way in ("stream", "whole", "polled")]


def text(value: str) -> Part:
    return Part(text=value)


def data(value: Any) -> Part:
    return Part(data=ParseDict(value, Value()))


def file(content: bytes, media_type: str, name: str = "answer") -> Part:
    return Part(raw=content, media_type=media_type, filename=name)


class Said(AgentExecutor):
    """Does with the task what the function says."""

    def __init__(self, act: Callable[[TaskUpdater, EventQueue], Any]) -> None:
        self.act = act

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        await event_queue.enqueue_event(task := new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        await self.act(updater, event_queue)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


class Early(DefaultRequestHandler):
    """Answers before the work is done, so that the client has to ask again."""

    async def on_message_send(self, params: Any, context: Any) -> Any:
        params.configuration.return_immediately = True
        return await super().on_message_send(params, context)


async def exchange(executor: AgentExecutor, version: Version, way: str) -> Reply:
    card = AgentCard(
        name="said",
        version="1",
        supported_interfaces=[
            AgentInterface(url="http://agent/", protocol_binding="JSONRPC", protocol_version=v) for v in ("1.0", "0.3")
        ],
        capabilities=AgentCapabilities(streaming=True),
    )
    kind = Early if way == "polled" else DefaultRequestHandler
    handler = kind(agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card)
    app = Starlette(routes=create_jsonrpc_routes(handler, rpc_url="/", enable_v0_3_compat=True))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
        conversation = A2AConversation(client, Endpoint("http://agent/", version, way == "stream"))
        return await conversation.send("hello", timeout_s=20.0)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_client, "POLL_INTERVAL_S", 0.01)


def replies(act: Callable[[TaskUpdater, EventQueue], Any], ways: list[tuple[Version, str]] = WAYS) -> Reply:
    """Return the one reply that every version and way gives."""
    found = [asyncio.run(exchange(Said(act), *way)) for way in ways]
    assert all(reply == found[0] for reply in found), found
    return found[0]


def artifacts(*parts: list[Part], closing: str = "") -> Reply:
    async def act(updater: TaskUpdater, queue: EventQueue) -> None:
        for number, row in enumerate(parts):
            await updater.add_artifact(row, artifact_id=f"a{number}")
        await updater.complete(updater.new_agent_message([text(closing)]) if closing else None)

    return replies(act)


def failure(act: Callable[[TaskUpdater, EventQueue], Any], way: tuple[Version, str]) -> AgentFailure:
    with pytest.raises(AgentFailure) as caught:
        asyncio.run(exchange(Said(act), *way))
    return caught.value


def test_text_after_a_data_artifact_is_the_answer() -> None:
    """As the published purple agent answers after a tool call."""
    reply = artifacts([data({"tool_calls": [{"name": "get_quote"}]})], [text('{"action": "HOLD", "size": 0}')])
    assert parse_json_object(reply.text) == {"action": "HOLD", "size": 0}
    assert reply.notes == ("data without text was not read, because an artifact holds text",)


def test_data_alone_is_the_answer() -> None:
    reply = artifacts([data({"answer": 5})])
    assert parse_json_object(reply.text) == {"answer": 5} and not reply.notes


def test_data_beside_a_text_without_an_answer_is_the_answer() -> None:
    reply = artifacts([text("I was wrong at first, see the data."), data({"answer": 5})])
    assert parse_json_object(reply.text) == {"answer": 5}
    assert stated_answers(reply.text) == (Statement("5.0", labelled=True),)
    assert not reply.notes


def test_data_beside_a_closing_word_is_the_answer() -> None:
    assert parse_json_object(artifacts([data({"delta": 0.5})], closing="Done.").text) == {"delta": 0.5}


def test_a_number_in_words_is_not_lost_to_metadata_beside_it() -> None:
    reply = artifacts([text("It comes to\n42"), data({"confidence": 0.9})])
    assert stated_answers(reply.text) == (Statement("42", labelled=False),)


def test_a_json_text_is_the_answer_and_metadata_beside_it_is_named() -> None:
    reply = artifacts([text('{"answer": 5}'), data({"model": "m"})])
    assert reply.text == '{"answer": 5}'
    assert reply.notes == ("a data part was not read, because the text holds a JSON object itself",)


def test_the_same_answer_as_text_and_as_data_is_one_answer() -> None:
    reply = artifacts([text('{"answer": 5, "unit": "USD"}'), data({"answer": 5, "unit": "USD"})])
    assert parse_json_object(reply.text) == {"answer": 5, "unit": "USD"} and not reply.notes


@pytest.mark.parametrize("key", ["answer", "final_answer"])
def test_text_and_data_that_contradict_each_other_are_refused_and_named(key: str) -> None:
    reply = artifacts([text('{"answer": 5}'), data({key: 6})])
    assert isinstance(parse_json_object(reply.text), Refusal) and isinstance(stated_answers(reply.text), Refusal)
    told = f'the text and a data part contradict each other: {{"answer": 5}} and {{"{key}": 6.0}}'
    assert reply.notes == (told,)


def test_several_text_artifacts_are_read_in_order() -> None:
    reply = artifacts([text("Reasoning")], [text("Final answer: 42")], closing="All done")
    assert reply.text == "Reasoning\nFinal answer: 42"
    assert reply.notes == ("the closing message was not read, because an artifact holds text: 'All done'",)


def test_an_inline_text_or_json_file_is_read() -> None:
    assert artifacts([file(b'{"answer": 5}', "application/json")]).text == '{"answer": 5}'
    reply = artifacts([text("see the file"), file("Endgültig: 5".encode(), "text/markdown; charset=utf-8")])
    assert reply.text == "see the file\nEndgültig: 5" and not reply.notes


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (
            file(b"PK", "application/vnd.ms-excel", "report.xls"),
            "report.xls was not read: application/vnd.ms-excel is neither text nor JSON",
        ),
        (file(b"\xff\xfe", "text/plain", "a.txt"), "a.txt was not read: its text is not UTF-8"),
        (
            Part(url="http://127.0.0.1:1/x.json", filename="x.json", media_type="application/json"),
            "x.json was not read: it is a link (http://127.0.0.1:1/x.json), and links are not fetched",
        ),
    ],
)
def test_a_file_that_is_not_read_is_named(part: Part, why: str) -> None:
    reply = artifacts([part])
    assert (reply.text, reply.notes) == ("", (f"the reply's file part {why}",))
    assert artifacts([text("42"), part]).text == "42"


def test_a_file_whose_bytes_are_no_base64_is_named() -> None:
    said = {
        "id": "r",
        "result": {"kind": "message", "parts": [{"kind": "file", "file": {"bytes": "%", "name": "a.txt"}}]},
    }
    assembly = Assembly()
    assembly.take(agent_dialect.read_response(said, request_id="r"))
    assert assembly.reply().notes == ("the reply's file part a.txt was not read: its bytes are not base64",)


def test_a_message_without_a_task_is_read_part_by_part() -> None:
    class Speaks(AgentExecutor):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            parts = [text("see the data"), data({"answer": 5})]
            await event_queue.enqueue_event(
                Message(message_id="m", role=Role.ROLE_AGENT, parts=parts, context_id=str(context.context_id))
            )

        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
            raise NotImplementedError

    for version, way in WAYS:
        reply = asyncio.run(exchange(Speaks(), version, way))
        assert parse_json_object(reply.text) == {"answer": 5} and not reply.notes


def test_a_silent_agent_has_no_answer_whatever_its_progress_said() -> None:
    async def act(updater: TaskUpdater, queue: EventQueue) -> None:
        await updater.start_work(updater.new_agent_message([text("Final answer: 42")]))
        await updater.complete()

    silence = "the agent finished without an answer: no artifact and no message with content"
    for version in VERSIONS:
        streamed = asyncio.run(exchange(Said(act), version, "stream"))
        assert (streamed.text, streamed.notes) == (
            "",
            (f"{silence} (its progress text 'Final answer: 42' is no answer)",),
        )
        whole = asyncio.run(exchange(Said(act), version, "whole"))
        assert (whole.text, whole.notes) == ("", (silence,))


def test_an_agent_that_asks_back_is_read_and_its_question_is_named() -> None:
    async def act(updater: TaskUpdater, queue: EventQueue) -> None:
        await updater.requires_input(updater.new_agent_message([text("Which year?")]))

    reply = replies(act)
    assert reply.text == "Which year?"
    assert reply.notes == ("the agent asked back instead of finishing: 'Which year?'",)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("end", "kind", "said"),
    [
        ("failed", "agent_error", "the agent's task ended as failed: no key"),
        ("reject", "rejected", "the agent rejected the message: no key"),
        ("cancel", "agent_error", "the agent cancelled its task: no key"),
        ("requires_auth", "agent_error", "the agent asks for credentials, which a run has none of: no key"),
    ],
)
def test_an_agent_that_gives_up_says_why(way: tuple[Version, str], end: str, kind: str, said: str) -> None:
    async def act(updater: TaskUpdater, queue: EventQueue) -> None:
        await updater.add_artifact([text("half an answer")])
        await getattr(updater, end)(updater.new_agent_message([text("no key")]))

    caught = failure(act, way)
    assert (caught.kind, str(caught)) == (kind, said)


def test_a_failure_without_a_word_says_so() -> None:
    async def act(updater: TaskUpdater, queue: EventQueue) -> None:
        await updater.failed()

    assert str(failure(act, ("1.0", "stream"))) == "the agent's task ended as failed: it gave no reason"


def test_chunks_of_a_json_answer_are_one_answer_streamed_whole_and_polled() -> None:
    async def act(updater: TaskUpdater, queue: EventQueue) -> None:
        for number, chunk in enumerate(['{"ans', 'wer": "4', '2"}']):
            await updater.add_artifact([text(chunk)], artifact_id="a", append=number > 0, last_chunk=number == 2)
        await updater.complete()

    assert replies(act).text == '{"answer": "42"}'


def test_a_part_of_no_known_kind_is_named() -> None:
    said = {"id": "r", "result": {"kind": "message", "parts": [{"kind": "hologram", "beam": 1}]}}
    assembly = Assembly()
    assembly.take(agent_dialect.read_response(said, request_id="r"))
    assert assembly.reply() == Reply(
        "", Usage(), ("a part of the reply was not read: no text, data or file in it, but ['beam', 'kind']",)
    )


def test_a_reply_of_very_many_data_parts_is_refused() -> None:
    parts = [{"kind": "text", "text": '{"a": 1}'}] + [{"kind": "data", "data": {"b": n}} for n in range(101)]
    assembly = Assembly()
    assembly.take(
        agent_dialect.read_response({"id": "r", "result": {"kind": "message", "parts": parts}}, request_id="r")
    )
    with pytest.raises(AgentFailure, match="the reply holds 101 data parts; at most 100 are read"):
        assembly.reply()


def test_notes_of_many_turns_are_told_once_with_their_number() -> None:
    turns = [
        {"role": "harness", "text": ""},
        *[{"role": "agent", "text": "", "notes": ["x", f"y{n}"]} for n in range(3)],
    ]
    assert with_notes("no answer", turns) == "no answer; x (3 times); y0; y1; and 1 more"
    assert with_notes("no answer", turns[:1]) == "no answer"


UNITS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
PARTS = st.one_of(
    UNITS.map(lambda value: {"text": value}),
    st.dictionaries(st.sampled_from(["answer", "b"]), st.integers(0, 2), min_size=1).map(lambda value: {"data": value}),
    UNITS.map(lambda value: {"raw": base64.b64encode(value.encode()).decode(), "mediaType": "text/plain"}),
)
DRAFTS = st.lists(st.lists(PARTS, min_size=1, max_size=3), min_size=1, max_size=3)


def chunks_of(artifact: list[dict[str, Any]], draw: Any) -> list[list[dict[str, Any]]]:
    """Return the artifact cut into chunks: beside data and inside texts, there also inside a pair of UTF-16."""
    chunks: list[list[dict[str, Any]]] = [[]]
    for part in artifact:
        if "text" not in part:
            if draw(st.booleans()):
                chunks.append([])
            chunks[-1].append(part)
            continue
        units = part["text"].encode("utf-16-le")
        cuts = sorted(draw(st.sets(st.integers(0, len(units) // 2), max_size=3)))
        first, *rest = [
            units[2 * a : 2 * b].decode("utf-16-le", "surrogatepass")
            for a, b in zip([0, *cuts], [*cuts, len(units) // 2], strict=True)
        ]
        chunks[-1].append({"text": first})
        chunks += [[{"text": piece}] for piece in rest]
    return chunks


def assembled(events: list[dict[str, Any]]) -> Reply | str:
    assembly = Assembly()
    for event in events:
        response = json.loads(json.dumps({"id": "r", "result": event}))
        assembly.take(agent_dialect.read_response(response, request_id="r"))
    try:
        return assembly.reply()
    except AgentFailure as error:
        return str(error)


@settings(max_examples=300)
@given(drafts=DRAFTS, choices=st.data())
def test_what_is_assembled_never_depends_on_the_chunking(drafts: list[list[dict[str, Any]]], choices: Any) -> None:
    done = {"status": {"state": "TASK_STATE_COMPLETED"}}
    whole: list[dict[str, Any]] = []
    pieces: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    for number, artifact in enumerate(drafts):
        name = {"artifactId": f"a{number}"}
        whole.append({"artifactUpdate": {"artifact": name | {"parts": artifact}}})
        chunks = chunks_of(artifact, choices.draw)
        pieces += [
            {"artifactUpdate": {"artifact": name | {"parts": chunk}, "append": position > 0}}
            for position, chunk in enumerate(chunks)
        ]
        kept.append(name | {"parts": [part for chunk in chunks for part in chunk]})
    expected = assembled([*whole, {"statusUpdate": done}])
    assert isinstance(expected, Reply)
    assert assembled([*pieces, {"statusUpdate": done}]) == expected
    # the end of the stream may show the whole task, whose parts are the chunks as the SDK stores them
    assert assembled([*pieces, {"task": {"id": "t", **done, "artifacts": kept}}]) == expected


def test_a_second_answer_in_an_artifact_of_its_own_is_a_contradiction_not_a_choice() -> None:
    rival = artifacts([text("Final answer: 5")], [data({"answer": 7})])
    assert isinstance(read_number(rival.text, kind="number"), Refusal)
    same = artifacts([text("Final answer: 5")], [data({"answer": 5})])
    stated = read_number(same.text, kind="number")
    assert not isinstance(stated, Refusal) and stated.value == 5.0


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["é", "\ud800", "a", "QQ=="]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "data", "raw", "url", "file", "bytes", "uri", "mimeType", "mediaType", "name"])
            | st.sampled_from(["filename", "kind", "parts", "artifactId", "metadata", "usage", "traderbench"]),
            inner | st.sampled_from(["text/plain", "application/json"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("part", [{"raw": "é"}, {"file": {"bytes": "é"}}], ids=["1.0", "0.3"])
def test_bytes_that_are_no_base64_are_named_whatever_letters_they_hold(part: dict[str, Any]) -> None:
    kinds = {"mediaType": "text/plain", "mimeType": "text/plain"}
    held = part | kinds if "raw" in part else {"file": part["file"] | kinds}
    assert read_part(held) == UnreadPart("the reply's file part without a name was not read: its bytes are not base64")


@settings(max_examples=300)
@given(parts=st.lists(st.dictionaries(st.sampled_from(["text", "data", "raw", "file", "url"]), ODD, max_size=3) | ODD))
def test_whatever_an_agent_sends_is_read_or_is_its_own_failure(parts: list[Any]) -> None:
    """An exception of another kind would be a failure of the harness, which plays the task again: a second look."""
    artifact = {"artifactId": "a", "parts": parts}
    status = {"state": "TASK_STATE_COMPLETED", "message": {"parts": parts}}
    body = {"jsonrpc": "2.0", "id": "r", "result": {"task": {"id": "t", "status": status, "artifacts": [artifact]}}}
    try:
        assembly = Assembly()
        assembly.take(agent_dialect.read_response(body, request_id="r"))
        assembly.reply()
    except AgentFailure:
        pass


def test_a_reply_that_breaks_its_reader_is_the_agents_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(agent_dialect, "read_response", breaks)

    async def act(updater: TaskUpdater, queue: EventQueue) -> None:
        await updater.complete()

    broken = failure(act, ("1.0", "whole"))
    assert (broken.kind, broken.sent) == ("protocol", True)
    assert "the reply cannot be read (IndexError: list index out of range)" in str(broken)
