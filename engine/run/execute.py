"""Play one task with ready objects: no config, no files, no registry."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from engine import tool_times
from engine.agent.client import Agent, AgentFailure, Conversation, Insider, Reply, Usage
from engine.agent.reply import with_notes
from engine.prices import Price
from engine.record import BROKEN, VERSION, State, TaskRecord, Turn
from engine.run.tool_access import ServersDown, ToolAccess
from engine.spending import Spending
from evaluators.answers.statement import MAX_CHARS
from evaluators.contract import Case, JudgeUnavailable, Score, Session, Task
from mcp_servers.access import Grant


@dataclass(frozen=True)
class Limits:
    """What one task may cost; meeting a limit ends the task with a score of 0 and the reason.

    ``tool_time_s`` is the harness's own: a tool call that takes longer marks the task's record.
    """

    task_time_s: float
    turn_time_s: float
    max_turns: int
    max_tool_calls: int
    max_tokens: int | None
    max_cost_usd: float | None
    tool_time_s: float = tool_times.LIMIT_S


KEPT_CHARS = MAX_CHARS + 1
"""What is read and stored of a reply: one character more than any reader takes, so that each still refuses it."""
KEPT_CHARS_A_TASK = 20 * MAX_CHARS


class LimitMet(Exception):
    """The agent met a limit of the task."""


@dataclass
class _Course:
    """What happened so far in one conversation."""

    transcript: list[Turn]
    started: float
    spending: Spending = field(default_factory=Spending)


def unavailable(task: Task, reason: str, *, whose: Literal["infra", "agent"] = "infra") -> TaskRecord:
    """Return the record of an attempt that the harness could not carry out, or that found no agent."""
    state = State.INFRA_UNAVAILABLE if whose == "infra" else State.AGENT_UNAVAILABLE
    return _record(task, _Course([], time.monotonic()), state, reason)


async def execute(
    case: Case,
    *,
    public_id: str,
    grant: Grant,
    agent: Agent,
    tools: ToolAccess,
    limits: Limits,
    price: Price | None = None,
) -> TaskRecord:
    """Play ``case`` with ``agent`` and return its record (JSON).

    ``price`` is that of tokens of which the agent does not tell the cost.

    The record's ``state`` is ``passed`` or ``failed`` for a finished conversation, ``agent_error`` for one that the
    agent broke or that met a limit (value 0), ``agent_unavailable`` for one that had nobody at its other end (value 0
    too, or hanging up would be worth trying), ``infra_unavailable`` for a failure of the harness (no value).

    A conversation that is over is scored with what it has: a log of tool calls that cannot be read afterwards is named
    in ``tool_log_missing`` and changes nothing else, or who floods the servers would be asked twice. It is different
    where a server was not the same process from the first message to the last: then the calls in progress were lost,
    the answer may be wrong for it, and the attempt is the harness's failure (``server_deaths``). That holds for every
    server that the task was offered where a repeat shows nothing new; on a market only for those it needs, because who
    could bring a server down would choose among markets.
    """
    task, course = case.task, _Course([], time.monotonic(), Spending(price=price))
    missing = [name for name in task.servers if name not in tools.base_urls]
    if missing:
        why = "; ".join(f"{name}: {tools.unavailable.get(name, 'not started')}" for name in missing)
        return _record(task, course, State.INFRA_UNAVAILABLE, f"tool server not available: {why}")
    try:
        offered = () if case.afresh else tools.offered(task.servers)
        boots = await tools.ready(task.servers, offered)
    except ServersDown as error:
        return _record(task, course, State.INFRA_UNAVAILABLE, f"tool server not available: {error}")
    course.started = time.monotonic()
    broken = await _talk(case, course, public_id, grant, agent, tools, limits)
    calls, unread = await tools.finish(grant, boots)
    if deaths := await tools.died(boots):
        reason = f"tool server died or hung during the task: {', '.join(deaths)}"
        return _record(task, course, State.INFRA_UNAVAILABLE, reason, calls=calls) | {"server_deaths": deaths}
    record = await _judge(task, course, calls, limits, broken)
    if slow := tool_times.slow_calls(calls, limits.tool_time_s):
        record |= {"slow_tool_calls": slow}
    return record | {"tool_log_missing": unread} if unread else record


@dataclass(frozen=True)
class _Ending:
    """How a conversation ended: the session as it is then, and what broke it."""

    session: Session
    state: State | None = None
    reason: str = ""


async def _talk(
    case: Case, course: _Course, public_id: str, grant: Grant, agent: Agent, tools: ToolAccess, limits: Limits
) -> _Ending:
    """Hold the conversation and say how it ended."""
    session = case.open()
    conversation = agent.answering(session) if isinstance(agent, Insider) else agent.conversation(public_id)
    try:
        # they may be markets to be drawn, which other tasks of the loop do not wait for
        await tools.hand_out(grant, await asyncio.to_thread(session.handouts))
        course.started = time.monotonic()
        await _converse(session, conversation, course, _extra_fields(case.task, public_id, grant, tools), limits)
    except AgentFailure as error:
        return _Ending(
            session, State.AGENT_UNAVAILABLE if error.unavailable else State.AGENT_ERROR, f"{error.kind}: {error}"
        )
    except LimitMet as error:
        return _Ending(session, State.AGENT_ERROR, f"limit: {error}")
    except ServersDown as error:
        return _Ending(session, State.INFRA_UNAVAILABLE, f"tool server not available: {error}")
    except Exception as error:
        return _Ending(session, State.INFRA_UNAVAILABLE, f"harness failure: {type(error).__name__}: {error}")
    finally:
        await conversation.close()
    return _Ending(session)


def _extra_fields(task: Task, public_id: str, grant: Grant, tools: ToolAccess) -> dict[str, Any]:
    return {"task_id": public_id, "as_of": task.as_of.isoformat()} | tools.message_fields(grant)


async def _converse(
    session: Session, conversation: Conversation, course: _Course, extra: dict[str, Any], limits: Limits
) -> None:
    """Exchange messages until the session has what it needs."""
    message: dict[str, Any] | None = session.opening() | extra
    deadline = course.started + limits.task_time_s
    turns = kept_chars = 0
    while message is not None:
        if turns == limits.max_turns:
            raise LimitMet(f"{limits.max_turns} turns")
        turns += 1
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise LimitMet(f"task time {limits.task_time_s:g} s")
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        course.transcript.append({"role": "harness", "text": text})
        try:
            reply = await conversation.send(text, timeout_s=min(limits.turn_time_s, remaining))
        except AgentFailure as error:
            if error.sent:
                course.spending.add(error.usage or Usage())
            if error.kind == "timeout" and remaining <= limits.turn_time_s:
                raise LimitMet(f"task time {limits.task_time_s:g} s") from error
            raise
        course.spending.add(reply.usage)
        said, notes = _kept(reply)
        kept_chars += len(said)
        if kept_chars > KEPT_CHARS_A_TASK:
            raise LimitMet(f"{KEPT_CHARS_A_TASK} characters in one task")
        turn: Turn = {"role": "agent", "text": said}
        course.transcript.append(turn | {"notes": notes} if notes else turn)
        _check_spending(course.spending, limits)
        message = await asyncio.to_thread(session.reply, said)
        if message is not None:
            message = message | {"task_id": extra["task_id"]}


def _kept(reply: Reply) -> tuple[str, list[str]]:
    """Return what is read and stored of a reply, and the notes about it."""
    notes = list(reply.notes)
    if len(reply.text) > KEPT_CHARS:
        digest = hashlib.sha256(reply.text.encode("utf-8", "surrogatepass")).hexdigest()
        notes.append(f"the reply's {len(reply.text)} characters (sha256 {digest}) were read up to number {KEPT_CHARS}")
    return reply.text[:KEPT_CHARS], notes


def _check_spending(spending: Spending, limits: Limits) -> None:
    tokens = spending.input_tokens + spending.output_tokens
    if limits.max_tokens is not None and tokens > limits.max_tokens:
        raise LimitMet(f"{tokens} tokens used of {limits.max_tokens}")
    if limits.max_cost_usd is not None and spending.cost_usd > limits.max_cost_usd:
        raise LimitMet(f"cost {spending.cost_usd:.4f} USD of {limits.max_cost_usd:g} USD")


async def _judge(
    task: Task, course: _Course, calls: list[dict[str, Any]], limits: Limits, ending: _Ending
) -> TaskRecord:
    """Score what was said and add what was called."""
    state, failure = ending.state, ending.reason
    if state == State.INFRA_UNAVAILABLE:
        return _record(task, course, state, failure, calls=calls)
    if not failure and len(calls) > limits.max_tool_calls:
        state, failure = State.AGENT_ERROR, f"limit: more than {limits.max_tool_calls} tool calls"
    try:
        score = await asyncio.to_thread(ending.session.score)
    except JudgeUnavailable as error:
        if not failure:
            reason = f"not judged: {error}"
            return _record(task, course, State.INFRA_UNAVAILABLE, reason, calls=calls) | {"unjudged": True}
        score = Score(0.0, False)
    except Exception as error:
        reason = f"harness failure: {type(error).__name__}: {error}"
        return _record(task, course, State.INFRA_UNAVAILABLE, reason, calls=calls)
    if state is not None:
        return _record(task, course, state, failure, failed_score(score, failure), calls)
    state, reason = _verdict(score, course.transcript)
    return _record(task, course, state, reason, score, calls)


def _verdict(score: Score, transcript: list[Turn]) -> tuple[State, str]:
    """Return state and reason of a conversation that was judged."""
    return (State.PASSED, score.reason) if score.passed else (State.FAILED, with_notes(score.reason, transcript))


def failed_score(score: Score, reason: str) -> Score:
    """Return the score of a conversation that the agent broke: 0, or the loss made so far where losses count."""
    return Score(value=min(0.0, score.value), passed=False, details=dict(score.details) | {"broken": reason})


def _record(
    task: Task,
    course: _Course,
    state: State,
    reason: str,
    score: Score | None = None,
    calls: list[dict[str, Any]] | None = None,
) -> TaskRecord:
    """Return the stored form of a finished attempt."""
    return {
        "version": VERSION,
        "task_id": task.task_id,
        "section": task.section,
        "dataset": task.dataset,
        "category": task.category,
        "family": task.family,
        "as_of": task.as_of.isoformat(),
        "question": task.question,
        "chance_score": task.chance_score,
        "difficulty": task.difficulty,
        "wording": task.wording,
        "state": state,
        "reason": reason,
        "value": 0.0 if score is None else score.value,
        "passed": score is not None and score.passed,
        "parts": {} if score is None else dict(score.parts),
        "details": {} if score is None else dict(score.details),
        "transcript": course.transcript,
        "usage": course.spending.record(),
        "tool_calls": calls or [],
        "lookahead_attempts": sum(bool(call.get("lookahead")) for call in calls or []),
        "seconds": round(time.monotonic() - course.started, 3),
    }


def replay(case: Case, record: TaskRecord) -> TaskRecord:
    """Score a stored transcript again, without the agent: the same replies through a fresh session.

    A judge's stored verdicts are used again; what it was not asked yet, it is asked now.
    """
    if record["state"] == State.INFRA_UNAVAILABLE and not record.get("unjudged"):
        return record
    session = case.open()
    session.recall(record["details"])
    session.opening()
    replies = [turn["text"] for turn in record["transcript"] if turn["role"] == "agent"]
    for text in replies:
        session.reply(text)
    try:
        score = session.score()
    except JudgeUnavailable as error:
        if record["state"] not in BROKEN:
            return record | {"state": State.INFRA_UNAVAILABLE, "reason": f"not judged: {error}", "unjudged": True}
        score = Score(0.0, False)
    if record["state"] in BROKEN:
        score = failed_score(score, record["reason"])
        state, reason = record["state"], record["reason"]
    else:
        state, reason = _verdict(score, record["transcript"])
    judged = record.copy()
    judged.pop("unjudged", None)
    return judged | {
        "state": state,
        "reason": reason,
        "value": score.value,
        "passed": score.passed,
        "parts": dict(score.parts),
        "details": dict(score.details),
    }
