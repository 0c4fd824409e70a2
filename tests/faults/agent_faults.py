"""Faults of the agent: about half of the tasks meet one; they have 0 and the others what they always have."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from engine.plan.build import public_id
from tests.faults import agent_replies as on_the_wire
from tests.faults.agent_proxy import AgentProxy
from tests.faults.agent_replies import Behaviour
from tests.faults.row import Fault
from tests.faults.scene import FaultFree, Scene
from tests.faults.served_agent import served_agent

EXPECTED = "0 for hit tasks, rest equal"
TURN_TIME_S = 15.0
"""What a fault that never ends takes of a run; far more than an answer of the quant takes."""
MAX_AWAY = 2
"""Tasks of a run that find nobody to answer: three in a row end a run."""
MAX_LOGGED = 201
"""The calls that a task may make, and the first of those that it may not."""


@dataclass(frozen=True)
class AgentFault:
    """One fault of the agent; ``lasts`` to the limit of the turn, or is ``away``: nobody answers."""

    name: str
    behave: Behaviour
    lasts: bool = False
    away: bool = False
    expected: str = EXPECTED

    def is_as_expected(self, seen: str) -> bool:
        """Return whether ``seen`` is what it should be."""
        return seen == self.expected


def _json(text: str | bytes) -> Behaviour:
    return on_the_wire.says(on_the_wire.body(text if isinstance(text, bytes) else text.encode()))


FAULTS = (
    AgentFault("agent-hangs", on_the_wire.hang, lasts=True),
    AgentFault("agent-byte-a-second", on_the_wire.byte_a_second, lasts=True),
    AgentFault("agent-keep-alive", on_the_wire.endless(on_the_wire.STREAM, b"8\r\n: ping\r\n\r\n", pause_s=0.05), True),
    AgentFault("agent-works-for-ever", on_the_wire.work_for_ever, lasts=True),
    AgentFault("agent-dies-in-mid-stream", on_the_wire.die_in_mid_stream, away=True),
    AgentFault("agent-resets", on_the_wire.reset, away=True),
    AgentFault("agent-429", on_the_wire.refuses("429 Too Many Requests"), away=True),
    AgentFault("agent-503", on_the_wire.refuses("503 Service Unavailable"), away=True),
    AgentFault("json-malformed", _json("<html>hello</html>")),
    AgentFault("json-truncated", _json('{"jsonrpc": "2.0", "id": ')),
    AgentFault("json-duplicate-keys", _json('{"a": 1, "a": 2}')),
    AgentFault("json-nan", _json('{"result": NaN}')),
    AgentFault("json-1e999", _json('{"result": 1e999}')),
    AgentFault("json-million-digits", _json('{"result": ' + "9" * 10**6 + "}")),
    AgentFault("json-depth-100k", _json("[" * 100_000)),
    AgentFault(
        "body-gigabyte-announced", on_the_wire.says(f"{on_the_wire.OK}Content-Length: 1000000000\r\n\r\n".encode())
    ),
    AgentFault("body-gigabyte", on_the_wire.endless(f"{on_the_wire.OK}\r\n".encode(), b" " * 10**6, pause_s=0.0)),
    AgentFault("body-gzip-bomb", on_the_wire.gzip_bomb),
    AgentFault("body-unknown-encoding", on_the_wire.says(on_the_wire.body(b"abc", more="Content-Encoding: br\r\n"))),
    AgentFault("text-not-utf8", _json(b"\xff\xfe{}")),
    AgentFault("text-surrogate", on_the_wire.answers(on_the_wire.task("\ud800 42"))),
    AgentFault("text-nul", on_the_wire.answers(on_the_wire.task("\0 42 \0"))),
    AgentFault("text-8-megabytes", on_the_wire.answers(on_the_wire.task("x" * 7_900_000))),
    AgentFault("redirect-loopback", on_the_wire.redirects("/followed")),
    AgentFault("redirect-metadata", on_the_wire.redirects("http://169.254.169.254/latest/meta-data")),
    AgentFault("reply-duplicate", on_the_wire.answers(on_the_wire.task(), on_the_wire.task())),
    AgentFault("reply-replayed", on_the_wire.answers(on_the_wire.task(), request_id="an-earlier-request")),
    AgentFault(
        "reply-foreign-task",
        on_the_wire.answers(on_the_wire.task(state="WORKING"), on_the_wire.task(name="foreign")),
    ),
    AgentFault(
        "header-flood",
        on_the_wire.endless(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"y" * 8000 + b"\r\n", pause_s=0.0),
        away=True,
    ),
    AgentFault("continue-flood", on_the_wire.endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, pause_s=0.001)),
)


def half_of(calm: FaultFree) -> list[str]:
    """Return every second task of those that score without a fault, so that a 0 is a change."""
    return [task["id"] for task in calm.result["tasks"] if task["value"] > 0][::2]


def packs(chosen: Sequence[AgentFault], calm: FaultFree) -> Iterator[list[AgentFault]]:
    """Yield the faults that share a run, each with at least one task of its own."""
    room = len(half_of(calm))
    lasting, short = [each for each in chosen if each.lasts], [each for each in chosen if not each.lasts]
    away, others = [each for each in short if each.away], [each for each in short if not each.away]
    yield from (lasting[start : start + room] for start in range(0, len(lasting), room))
    while away or others:
        some_away, away = away[:MAX_AWAY], away[MAX_AWAY:]
        free = room - len(some_away)
        yield [*some_away, *others[:free]]
        others = others[free:]


def deal(pack: Sequence[AgentFault], tasks: Sequence[str]) -> dict[str, AgentFault]:
    """Return the fault that each hit task meets; those that are away hit ``MAX_AWAY`` at most."""
    dealt: dict[str, AgentFault] = {}
    away = 0
    for task, fault in zip(tasks, itertools.cycle(pack), strict=False):
        if fault.away and away == MAX_AWAY:
            continue
        away += fault.away
        dealt[task] = fault
    return dealt


def inject(scene: Scene, pack: Sequence[AgentFault], agent_port: int) -> dict[str, str]:
    """Play one run with the faults of a pack; return what was seen of each by its name."""
    assert scene.calm is not None
    dealt = deal(pack, half_of(scene.calm))
    seed = scene.calm.result["seed"]
    hits = {public_id(seed, task): fault.behave for task, fault in dealt.items()}
    with AgentProxy(agent_port, hits) as proxy:
        limits = {"max_error_share": None, "turn_time_s": TURN_TIME_S}
        ended = scene.end(scene.start(proxy.url, config={"limits": limits}))
    if ended.status or not ended.result:
        return {fault.name: f"status {ended.status}: {ended.error[:120]}" for fault in pack}
    scene.equality(ended)
    if proxy.wandered:
        scene.complaints.append("a redirect was followed")
    after = {task["id"]: task for task in ended.result["tasks"]}
    rest = _rest(scene.calm.table, after, dealt)
    unstruck = {dealt[task].name for task in dealt if not proxy.struck[public_id(seed, task)]}
    return {
        fault.name: "no task met it" if fault.name in unstruck else _seen(fault, dealt, after, rest) for fault in pack
    }


def _rest(calm: Mapping[str, Any], after: Mapping[str, Mapping[str, Any]], dealt: Mapping[str, AgentFault]) -> str:
    """Return ``rest equal``, or the first of the tasks without a fault that differs."""
    for before in calm["tasks"]:
        seen = {name: after[before["id"]][name] for name in before}
        if before["id"] not in dealt and seen != before:
            return f"{before['id']} became {seen['state']} {seen['value']}: {seen['reason'][:80]}"
    return "rest equal"


def _seen(fault: AgentFault, dealt: Mapping[str, AgentFault], after: Mapping[str, Mapping[str, Any]], rest: str) -> str:
    wanted = ("agent_unavailable",) if fault.away else ("agent_error", "failed")
    for task in (name for name, met in dealt.items() if met is fault):
        if after[task]["value"] != 0.0 or after[task]["state"] not in wanted:
            return f"{after[task]['state']} {after[task]['value']} for a hit task, {rest}"
    return f"0 for hit tasks, {rest}"


def flood(calls: int, *, at_once: int = 8) -> Behaviour:
    """Call a tool far more often than a task may, then answer."""

    async def behave(writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        message = json.loads(request["params"]["message"]["parts"][0]["text"])
        call = {"name": "calculate_max_drawdown", "arguments": {"returns": [0.1, -0.1]}}
        rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        async with httpx.AsyncClient(trust_env=False, verify=False, timeout=None, headers=headers) as web:

            async def share() -> None:
                for _ in range(calls // at_once):
                    (await web.post(message["mcp_servers"]["risk"], json=rpc)).raise_for_status()

            await asyncio.gather(*(share() for _ in range(at_once)))
        await on_the_wire.answers(on_the_wire.task())(writer, request)

    return behave


def ten_thousand_calls(scene: Scene) -> str:
    """Let one task call a tool 10,000 times."""
    assert scene.calm is not None
    hit, before = half_of(scene.calm)[0], sum(scene.calm.result["tool_calls"].values())
    fault = AgentFault("flood", flood(10_000))
    with served_agent() as port, AgentProxy(port, {public_id(scene.calm.result["seed"], hit): fault.behave}) as proxy:
        ended = scene.end(scene.start(proxy.url))
    if not ended.result:
        return f"status {ended.status}: {ended.error[:120]}"
    after = {task["id"]: task for task in ended.result["tasks"]}
    if (more := sum(ended.result["tool_calls"].values()) - before) > MAX_LOGGED:
        scene.complaints.append(f"{more} calls were logged")
    seen = _seen(fault, {hit: fault}, after, _rest(scene.calm.table, after, {hit: fault}))
    return seen if after[hit]["reason"].startswith("limit: more than 200") else f"{seen}, {after[hit]['reason']}"


def card_changes(scene: Scene) -> str:
    """Show another card from the second look on: the run keeps the first."""
    with served_agent() as port, AgentProxy(port, {}, other_card=True) as proxy:
        return scene.finished(scene.start(proxy.url))


OWN_RUNS = (
    Fault("tool-calls-10k", EXPECTED, ten_thousand_calls),
    Fault("card-changes", "equal", card_changes),
)
