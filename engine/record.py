"""The record of one attempt at a task, stored as JSON of these fields. States of tasks are named here alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, NotRequired, TypedDict, cast

from engine.errors import StoreCorrupt
from evaluators.contract import Difficulty, Json, Section

VERSION = 2
"""Of the fields below. Counts up when one is added that readers need, or changes its meaning.

1: the records before they told a version; the same fields.
"""


class State(StrEnum):
    """How an attempt ended."""

    PASSED = "passed"
    """The conversation ended and was judged: enough for the task."""
    FAILED = "failed"
    """The conversation ended and was judged: not enough."""
    AGENT_ERROR = "agent_error"
    """The agent hung, sent garbage, met a limit or said that it failed: value 0, or the loss made before."""
    AGENT_UNAVAILABLE = "agent_unavailable"
    """Nobody was there, or the connection broke: value 0 too, and ``resume --retry-errors`` plays it again."""
    INFRA_UNAVAILABLE = "infra_unavailable"
    """A failure of the harness: no value."""
    NOT_RUN = "not_run"
    """The run ended before the task: no value. Never stored."""


JUDGED = (State.PASSED, State.FAILED)
"""The conversation came to its end."""
BROKEN = (State.AGENT_ERROR, State.AGENT_UNAVAILABLE)
"""The agent's side broke the conversation: it failed, or nobody was there. Both count 0."""
UNSCORED = (State.INFRA_UNAVAILABLE, State.NOT_RUN)
"""There is no score because of the harness, not of the agent."""


class Turn(TypedDict):
    """One message; ``notes`` say what of the agent's reply was not read."""

    role: Literal["harness", "agent"]
    text: str
    notes: NotRequired[list[str]]


class Spent(TypedDict):
    """What an attempt cost; ``cost_usd`` is a lower bound unless ``cost_known``, which is true where it is absent."""

    input_tokens: int
    output_tokens: int
    cost_usd: float
    cost_known: NotRequired[bool]


class Attempt(TypedDict, total=False):
    """What a task's record tells of an attempt that is not its result."""

    state: State
    reason: str
    retry: bool
    usage: Spent
    draw: int
    server_deaths: list[str]


class TaskRecord(TypedDict):
    """One attempt at a task.

    Attributes
    ----------
    version
        Of these fields; absent in version 1.
    task_id, section, dataset, category, family, as_of, question, chance_score, difficulty, wording
        As the :class:`evaluators.contract.Task` has them; the date in ISO form, None of a task that was not run.
    state, reason
        How it ended, and why in one line.
    value, passed, parts, details
        As the :class:`evaluators.contract.Score` has them; 0, false and empty without one.
    transcript
        Every message, in order.
    usage
        What the agent says it used.
    tool_calls
        Rows of the servers' logs, each with its ``server``.
    lookahead_attempts
        Tool calls that asked for something later than the task's date.
    seconds
        From the first message to the verdict.
    draw
        Which draw of the task's market was played; 1 where it is absent.
    unjudged
        The conversation stands, only the judge was missing.
    lost
        The worker was lost: nobody knows what the agent has seen.
    server_deaths
        Tool servers that were not the same process from the first message to the last.
    tool_log_missing
        Servers whose log of calls could not be read afterwards.
    slow_tool_calls
        Calls over ``limits.tool_time_s`` on the harness's side.
    after_later_data
        The tools had already served this run later data than the task's date.
    retry
        Played again on request after an error of transport.
    former
        The other attempts at the task; added when a run is read, never stored.
    """

    version: NotRequired[int]
    task_id: str
    section: Section
    dataset: str
    category: str
    family: str
    as_of: str | None
    question: str
    chance_score: float
    difficulty: NotRequired[Difficulty]
    wording: NotRequired[str]
    state: State
    reason: str
    value: float
    passed: bool
    parts: dict[str, float]
    details: dict[str, Json]
    transcript: list[Turn]
    usage: Spent
    tool_calls: list[dict[str, Any]]
    lookahead_attempts: int
    seconds: float
    draw: NotRequired[int]
    unjudged: NotRequired[bool]
    lost: NotRequired[bool]
    server_deaths: NotRequired[list[str]]
    tool_log_missing: NotRequired[list[str]]
    slow_tool_calls: NotRequired[int]
    after_later_data: NotRequired[bool]
    retry: NotRequired[bool]
    former: NotRequired[list[Attempt]]


def read(raw: Any, source: object) -> TaskRecord:
    """Return a stored record of this or a former version; ``source`` names it in errors.

    Raises
    ------
    StoreCorrupt
        When it is of a later version, or has an unknown state.
    """
    if not isinstance(raw, dict):
        raise StoreCorrupt(f"{source}: a record is a JSON object, got {str(raw)[:80]!r}")
    version = raw.get("version", 1)
    if not isinstance(version, int) or version > VERSION:
        raise StoreCorrupt(
            f"{source}: its record has version {version!r}, and this TraderBench reads versions up to {VERSION}; use "
            "the one that wrote it"
        )
    try:
        raw["state"] = State(str(raw.get("state")))
    except ValueError as error:
        raise StoreCorrupt(f"{source}: state must be one of {', '.join(State)}, got {raw.get('state')!r}") from error
    return cast(TaskRecord, raw)
