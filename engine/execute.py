"""Play one task with ready objects: no config, no files, no registry."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from engine import tool_times
from engine.agent_client import Agent, AgentFailure, Conversation, Usage
from engine.agent_failure import BROKEN
from engine.oracle import Oracle
from engine.reply import with_notes
from engine.spending import Spending
from engine.tool_access import ToolAccess
from evaluators.contract import Case, Score, Session, Task
from evaluators.judge import JudgeUnavailable, RubricSession
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


class LimitMet(Exception):
    """The agent met a limit of the task."""


@dataclass
class _Course:
    """What happened so far in one conversation."""

    transcript: list[dict[str, Any]]
    started: float
    spending: Spending = field(default_factory=Spending)


def unavailable(task: Task, reason: str, *, whose: Literal["infra", "agent"] = "infra") -> dict[str, Any]:
    """Return the record of an attempt that the harness could not carry out, or that found no agent."""
    return _record(task, _Course([], time.monotonic()), f"{whose}_unavailable", reason)


async def execute(
    case: Case,
    *,
    public_id: str,
    grant: Grant,
    agent: Agent,
    tools: ToolAccess,
    limits: Limits,
    log_required: bool = True,
) -> dict[str, Any]:
    """Play ``case`` with ``agent`` and return its record (JSON).

    Where the log of tool calls cannot be read afterwards, the attempt is a failure of the harness and is repeated; with
    ``log_required=False`` (the last attempt) the conversation is scored all the same and the record says
    ``tool_log_missing``, because an agent that floods the servers must not thereby take a task out of its mean.

    The record's ``state`` is ``passed`` or ``failed`` for a finished conversation, ``agent_error`` for one that the
    agent broke or that met a limit (value 0), ``agent_unavailable`` for one that had nobody at its other end (value 0
    too, or hanging up would be worth trying), ``infra_unavailable`` for a failure of the harness (no value).
    """
    course = _Course([], time.monotonic())
    missing = [name for name in case.task.servers if name not in tools.base_urls]
    if missing:
        why = "; ".join(f"{name}: {tools.unavailable.get(name, 'not started')}" for name in missing)
        return _record(case.task, course, "infra_unavailable", f"tool server not available: {why}")
    session = case.open()
    conversation = agent.answering(session) if isinstance(agent, Oracle) else agent.conversation(public_id)
    failure, broken_state = "", "agent_error"
    try:
        await _converse(session, conversation, course, _extra_fields(case.task, public_id, grant, tools), limits)
    except AgentFailure as error:
        failure = f"{error.kind}: {error}"
        broken_state = "agent_unavailable" if error.unavailable else "agent_error"
    except LimitMet as error:
        failure = f"limit: {error}"
    except Exception as error:
        return _record(case.task, course, "infra_unavailable", f"harness failure: {type(error).__name__}: {error}")
    finally:
        await conversation.close()
    try:
        calls, log_missing = await tools.finish(grant), False
    except httpx.HTTPError as error:
        if log_required:
            return _record(case.task, course, "infra_unavailable", f"tool log not readable: {type(error).__name__}")
        calls, log_missing = [], True
    record = await _judge(case.task, session, course, calls, limits, failure, broken_state)
    if slow := tool_times.slow_calls(calls, limits.tool_time_s):
        record |= {"slow_tool_calls": slow}
    return record | {"tool_log_missing": True} if log_missing else record


def _extra_fields(task: Task, public_id: str, grant: Grant, tools: ToolAccess) -> dict[str, Any]:
    return {"task_id": public_id, "as_of": task.as_of.isoformat()} | tools.message_fields(grant)


async def _converse(
    session: Session, conversation: Conversation, course: _Course, extra: dict[str, Any], limits: Limits
) -> None:
    """Exchange messages until the session has what it needs."""
    message: dict[str, Any] | None = session.opening() | extra
    deadline = course.started + limits.task_time_s
    turns = 0
    while message is not None:
        if turns == limits.max_turns:
            raise LimitMet(f"{limits.max_turns} turns")
        turns += 1
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise LimitMet(f"task time {limits.task_time_s:g} s")
        text = json.dumps(message, ensure_ascii=False, allow_nan=False)
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
        notes = {"notes": list(reply.notes)} if reply.notes else {}
        course.transcript.append({"role": "agent", "text": reply.text, **notes})
        _check_spending(course.spending, limits)
        message = await asyncio.to_thread(session.reply, reply.text)
        if message is not None:
            message = message | {"task_id": extra["task_id"]}


def _check_spending(spending: Spending, limits: Limits) -> None:
    tokens = spending.input_tokens + spending.output_tokens
    if limits.max_tokens is not None and tokens > limits.max_tokens:
        raise LimitMet(f"{tokens} tokens used of {limits.max_tokens}")
    if limits.max_cost_usd is not None and spending.cost_usd > limits.max_cost_usd:
        raise LimitMet(f"cost {spending.cost_usd:.4f} USD of {limits.max_cost_usd:g} USD")


async def _judge(
    task: Task,
    session: Session,
    course: _Course,
    calls: list[dict[str, Any]],
    limits: Limits,
    failure: str,
    broken_state: str,
) -> dict[str, Any]:
    """Score what was said and add what was called."""
    if not failure and len(calls) > limits.max_tool_calls:
        failure, broken_state = f"limit: more than {limits.max_tool_calls} tool calls", "agent_error"
    try:
        score = await asyncio.to_thread(session.score)
    except JudgeUnavailable as error:
        if not failure:
            return _record(task, course, "infra_unavailable", f"not judged: {error}", calls=calls) | {"unjudged": True}
        score = Score(0.0, False)
    except Exception as error:
        return _record(task, course, "infra_unavailable", f"harness failure: {type(error).__name__}: {error}")
    if failure:
        return _record(task, course, broken_state, failure, failed_score(score, failure), calls)
    state, reason = _verdict(score, course.transcript)
    return _record(task, course, state, reason, score, calls)


def _verdict(score: Score, transcript: list[dict[str, Any]]) -> tuple[str, str]:
    """Return state and reason of a conversation that was judged."""
    return ("passed", score.reason) if score.passed else ("failed", with_notes(score.reason, transcript))


def failed_score(score: Score, reason: str) -> Score:
    """Return the score of a conversation that the agent broke: 0, or the loss made so far where losses count."""
    return Score(value=min(0.0, score.value), passed=False, details=dict(score.details) | {"broken": reason})


def _record(
    task: Task,
    course: _Course,
    state: str,
    reason: str,
    score: Score | None = None,
    calls: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the stored form of a finished attempt."""
    return {
        "task_id": task.task_id,
        "section": task.section,
        "dataset": task.dataset,
        "category": task.category,
        "family": task.family,
        "as_of": task.as_of.isoformat(),
        "question": task.question,
        "chance_score": task.chance_score,
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


def replay(case: Case, record: dict[str, Any]) -> dict[str, Any]:
    """Score a stored transcript again, without the agent: the same replies through a fresh session.

    A judge's stored verdicts are used again; what it was not asked yet, it is asked now.
    """
    if record["state"] == "infra_unavailable" and not record.get("unjudged"):
        return record
    session = case.open()
    if isinstance(session, RubricSession):
        session.recall(record["details"])
    session.opening()
    replies = [turn["text"] for turn in record["transcript"] if turn["role"] == "agent"]
    for text in replies:
        session.reply(text)
    try:
        score = session.score()
    except JudgeUnavailable as error:
        if record["state"] not in BROKEN:
            return record | {"state": "infra_unavailable", "reason": f"not judged: {error}", "unjudged": True}
        score = Score(0.0, False)
    if record["state"] in BROKEN:
        score = failed_score(score, record["reason"])
        state, reason = record["state"], record["reason"]
    else:
        state, reason = _verdict(score, record["transcript"])
    judged = {name: value for name, value in record.items() if name != "unjudged"}
    return judged | {
        "state": state,
        "reason": reason,
        "value": score.value,
        "passed": score.passed,
        "parts": dict(score.parts),
        "details": dict(score.details),
    }
