"""What a dataset gives the engine: tasks, conversations and scores.

A dataset draws :class:`Case` objects from a seed. A case holds the public :class:`Task` and opens a
:class:`Session`, the conversation about it. The session holds the truth: only what ``opening`` and ``reply``
return is ever sent to an agent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

if TYPE_CHECKING:
    from random import Random

    from evaluators.entry import Entry
    from lake.settings import LakeSettings

Json: TypeAlias = Any
"""A value that ``json.dumps(..., allow_nan=False)`` accepts."""

Section: TypeAlias = Literal[
    "knowledge_retrieval", "analytical_reasoning", "options_trading", "crypto_trading", "professional_tasks"
]
SECTIONS: tuple[Section, ...] = get_args(Section)

Difficulty: TypeAlias = Literal["easy", "hard", "expert"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
"""By the number of steps, by what distracts, and by what is missing or stands in other units than it seems."""

Given: TypeAlias = "Mapping[str, Json] | Entry"
"""A dataset's options: the checked record of a config entry, or plain data that makes one."""


@dataclass(frozen=True)
class Task:
    """One piece of work, as the agent may see it.

    Attributes
    ----------
    task_id
        Stable for a given (dataset version, seed, options); tells nothing about the answer.
    section, dataset
        Where the score counts.
    category
        The field's name for this kind of work, for example ``Greeks Analysis``.
    family
        What tasks that are not independent of each other share (question template, market window). Standard errors
        are clustered by it.
    as_of
        Simulation date: no tool serves data known later.
    question
        The text of the task, without the answer format.
    answer_format
        Plain words (or a JSON schema in words) saying how the answer is to be written, so that an honest agent never
        loses to the parser.
    answer_schema
        JSON schema of a typed answer, or None when the answer is text.
    context
        Data that belongs to the question (tables, quotes, parameters), JSON.
    servers
        MCP servers that this task needs to be answerable; when one of them is unavailable the task is
        ``infra_unavailable``. Of the servers whose data has a date only these are offered; those that calculate are
        offered to every task.
    chance_score
        Expected score, 0 to 100, of blind guessing (multiple-choice-like tasks only).
    difficulty
        Of the family, or of the draw where a family has several.
    wording
        Which of its family's wordings the question has; empty where there is one. For the record, never sent.
    """

    task_id: str
    section: Section
    dataset: str
    category: str
    family: str
    as_of: date
    question: str
    answer_format: str
    answer_schema: Mapping[str, Json] | None = None
    context: Mapping[str, Json] = field(default_factory=dict)
    servers: tuple[str, ...] = ()
    chance_score: float = 0.0
    difficulty: Difficulty = "easy"
    wording: str = ""


@dataclass(frozen=True)
class Family:
    """What a dataset can draw again and again: one kind of question.

    Attributes
    ----------
    name
        As :attr:`Task.family` has it.
    category
        As :attr:`Task.category` has it.
    difficulties
        Those it is drawn in.
    wordings
        How many different texts put the question; those held back are not among them.
    held_back
        How many more there are that only an option draws.
    """

    name: str
    category: str
    difficulties: tuple[Difficulty, ...] = ("easy",)
    wordings: int = 1
    held_back: int = 0


@dataclass(frozen=True)
class Score:
    """The verdict on one finished conversation.

    Attributes
    ----------
    value
        Score on the 0-100 scale **before** clipping. It may be negative where skill is measured around zero (crypto);
        everywhere else it lies in [0, 100]. Section means are taken over these values and clipped at the end, so that
        luck around zero does not add up to a score.
    passed
        Whether the task counts as passed.
    parts
        The dimensions the value is made of, each on 0-100.
    details
        What the report shows: expected and given values, explanations. JSON, public once the run is over.
    reason
        One line that says why the score is what it is.
    """

    value: float
    passed: bool
    parts: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Json] = field(default_factory=dict)
    reason: str = ""

    def __post_init__(self) -> None:
        if not math.isfinite(self.value) or self.value > 100.0 + 1e-9:
            raise ValueError(f"score value must be finite and at most 100, got {self.value!r}")


class Session(Protocol):
    """One conversation about one task, from the harness's side.

    Deterministic: replaying the same replies through a fresh session gives the same score, which is how stored runs
    are scored again.
    """

    def opening(self) -> dict[str, Json]:
        """Return the first message body. The engine adds ``as_of`` and ``mcp_servers`` and sends it as JSON."""
        ...

    def reply(self, text: str) -> dict[str, Json] | None:
        """Take the agent's reply; return the next message body, or None when the conversation is over."""
        ...

    def score(self) -> Score:
        """Return the verdict on what was said so far. A conversation cut short is scored on what there is."""
        ...

    def oracle(self) -> str:
        """Return the perfect reply to the latest message. Called by the in-process oracle only."""
        ...

    def handouts(self) -> Mapping[str, Json]:
        """Return the documents that tool servers show to this conversation alone, by server; made before its opening.

        They are as public as the messages, and the server tells them when the agent asks.
        """
        return {}

    def recall(self, details: Mapping[str, Json]) -> None:
        """Take the details of an earlier score of the same replies; what a judge said there is not asked again."""
        return


class JudgeUnavailable(RuntimeError):
    """No verdict can be had. A failure of the harness: the task stays unscored, it never counts 0."""


@dataclass(frozen=True)
class Claim:
    """One figure that a reply states, and whether it is right.

    Attributes
    ----------
    name
        Which figure of the task it is: the same in every reply.
    meaning
        What it is, in words that fit behind "for".
    value, stated
        The figure as a number, and as it can be quoted to the agent.
    right
        Whether the marking accepts it.
    """

    name: str
    meaning: str
    value: float
    stated: str
    right: bool


class CheckFigure(Protocol):
    """The right figure of a check, as :class:`evaluators.answers.expected.ExpectedNumber` is one."""

    @property
    def kind(self) -> Literal["number", "currency", "percent", "any"]:
        """What kind of number it is."""
        ...

    @property
    def gold(self) -> float:
        """The right figure in full units."""
        ...

    def written(self) -> str:
        """Return the right figure as it is written."""
        ...

    def grade(self, reply: str) -> Score:
        """Return 100 where the reply states it, else 0."""
        ...


@dataclass(frozen=True)
class Check:
    """A figure that proves work: it can be worked out by who can do the task, and not be read off the answer.

    Attributes
    ----------
    question
        What is asked; holds no part of the task's answer.
    expected
        The right figure.
    """

    question: str
    expected: CheckFigure


@dataclass(frozen=True)
class Dispute:
    """What can be argued about an answer to a task whose figures are computed (:mod:`evaluators.debate`).

    Attributes
    ----------
    claims
        The figures that a reply states; none of one that cannot be read.
    check
        Draws the figure that a rebuttal has to give as its evidence.
    """

    claims: Callable[[str], Sequence[Claim]]
    check: Callable[[Random], Check]


@dataclass(frozen=True)
class Case:
    """A task and the way to open a conversation about it.

    Attributes
    ----------
    task
        What the agent may see.
    open
        Starts a conversation.
    check
        Raises ``ValueError`` where the task's own data cannot be used; called for every task of a run before the agent
        is spoken to. None where nothing can be wrong.
    afresh
        The same work on the n-th draw (2, 3, ...) of what it is about, for a conversation that has to be repeated
        although the agent has seen how this one goes on. None where a second look tells nothing.
    dispute
        What of the answer a debate can challenge. None where no figure of it is computed: such a task is not debated.
    """

    task: Task
    open: Callable[[], Session]
    check: Callable[[], object] | None = None
    afresh: Callable[[int], Case] | None = None
    dispute: Dispute | None = None

    def drawn(self, number: int) -> Case:
        """Return the case as its ``number``-th draw has it; the first is the case itself."""
        return self if number == 1 or self.afresh is None else self.afresh(number)


class Dataset(Protocol):
    """A source of cases. One folder of ``evaluators/`` each; one row in ``evaluators.registry.DATASETS``."""

    name: str
    section: Section
    version: str

    def judged_by(self, judge: Mapping[str, Json] | None) -> Dataset:
        """Return the dataset with the run's judge, where its scores need one; the same dataset elsewhere."""
        return self

    def over(self, lake: LakeSettings) -> Dataset:
        """Return the dataset with the run's lake, where its tasks are drawn from it; the same dataset elsewhere."""
        return self

    def families(self) -> Sequence[Family]:
        """Return the families that are drawn without options; none where they are known from a user's file only."""
        return ()

    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases; the same arguments give the same cases, and a longer draw starts with a shorter one.

        ``options`` are the dataset's own keys of the YAML entry, as the record ``Options`` of its folder or as what
        makes one; an unknown key or value raises ``ValueError`` naming the key, the value and what is allowed.
        """
        ...

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of everything that a score depends on besides seed and options (bank files, tables)."""
        ...


def question_message(task: Task) -> dict[str, Json]:
    """Return the message body of a one-question task, readable by people, models and existing purple agents."""
    body: dict[str, Json] = {
        "type": "question",
        "question": f"{task.question}\n\n{task.answer_format}",
        "category": task.category,
        "answer_format": task.answer_format,
    }
    if task.answer_schema is not None:
        body["answer_schema"] = dict(task.answer_schema)
    if task.context:
        body["context"] = dict(task.context)
    for key in ("ticker", "fiscal_year"):
        if key in task.context:
            body[key] = task.context[key]
    return body


CONTEXT_FILE = "context.json"
"""What the sandbox calls the context of a task."""


@dataclass
class SingleTurn(Session):
    """The session of a task that is answered by one reply."""

    task: Task
    judge: Callable[[str], Score]
    gold_text: str
    answer: str = ""

    def opening(self) -> dict[str, Json]:
        """Return the question."""
        return question_message(self.task)

    def handouts(self) -> Mapping[str, Json]:
        """Return the context as a file for the sandbox: an agent's code can open what its message holds."""
        if not self.task.context:
            return {}
        return {"sandbox": {"files": {CONTEXT_FILE: json.dumps(self.task.context, ensure_ascii=False)}}}

    def reply(self, text: str) -> None:
        """Keep the answer; the conversation is over."""
        self.answer = text

    def score(self) -> Score:
        """Judge the answer (an empty one when there was none)."""
        return self.judge(self.answer)

    def oracle(self) -> str:
        """Return the gold answer as an agent would write it."""
        return self.gold_text
