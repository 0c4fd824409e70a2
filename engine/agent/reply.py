"""One reply out of the events of an A2A response: what counts as the answer, and what is named as not read.

The text of the artifacts is the answer, else their data, else the closing message. Data beside text is added to it as
JSON, unless the text holds a JSON object itself; where the two contradict each other, both stand in the reply, so that
no reader of answers can take either. What is left out is named in a note, which the record of a task that did not pass
shows in its reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.agent import dialect as agent_dialect
from engine.agent.dialect import Event, Usage
from engine.agent.failure import AgentFailure, FailureKind, printable
from engine.agent.reply_parts import DataPart, Part, TextPart, UnreadPart, short
from engine.record import Turn
from evaluators.answers.statement import ANSWER_KEYS
from evaluators.answers.typed_json import embedded_objects

MAX_DATA_PARTS = 100


@dataclass(frozen=True)
class Reply:
    """What the agent answered.

    Attributes
    ----------
    text
        What the readers of answers are given. Often JSON.
    usage
        What it says the answer cost; zeros when it does not say.
    notes
        What of the reply was not read, or why there is none: one line each.
    """

    text: str
    usage: Usage
    notes: tuple[str, ...] = ()


@dataclass
class _Content:
    """The parts of an artifact or message; ``joined`` holds the positions that continue the text before them."""

    parts: list[Part] = field(default_factory=list)
    joined: set[int] = field(default_factory=set)

    def append(self, parts: Sequence[Part]) -> None:
        self.joined.add(len(self.parts))
        self.parts += parts

    def texts(self) -> list[str]:
        """Return the texts, chunks put together."""
        texts: list[list[str]] = []
        after_text = False
        for position, part in enumerate(self.parts):
            chunk = isinstance(part, TextPart) and not part.file
            if isinstance(part, TextPart):
                if not (chunk and after_text and position in self.joined):
                    texts.append([])
                texts[-1].append(part.text)
            after_text = chunk
        return ["".join(chunks) for chunks in texts]

    def text(self) -> str:
        texts = self.texts()
        lines, chunks = "\n".join(texts), "".join(texts)
        # A task asked for at its end has forgotten which of its texts were chunks of a stream.
        text = chunks if len(texts) > 1 and _is_object(chunks) and not embedded_objects(lines) else lines
        try:
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError as error:
            raise AgentFailure("protocol", "the agent's text holds half a character (a lone surrogate)") from error

    def data(self) -> list[Any]:
        return [part.value for part in self.parts if isinstance(part, DataPart)]

    def unread(self) -> list[str]:
        return [part.why for part in self.parts if isinstance(part, UnreadPart)]


@dataclass
class Assembly:
    """A reply in the making: the parts of each artifact, the closing message, the state."""

    task_id: str = ""
    state: str = ""
    artifacts: dict[str, _Content] = field(default_factory=dict)
    closing: _Content = field(default_factory=_Content)
    progress: _Content = field(default_factory=_Content)
    usage: Usage | None = None
    unavailable: bool = False
    finished: bool = False

    def take(self, event: Event) -> None:
        """Add what an event says."""
        self.usage = event.usage or self.usage
        self.unavailable = event.unavailable or self.unavailable
        self.state = event.state or self.state
        self.finished = event.kind == "message" or self.state in agent_dialect.FINISHED_STATES
        if event.state and not self.finished:
            self.closing = _Content()
        for name, parts in event.parts.items():
            if not name and self.finished:
                self.closing = _Content(list(parts))
            elif not name:
                self.progress = _Content(list(parts))
            elif event.append and name in self.artifacts:
                self.artifacts[name].append(parts)
            elif name not in self.artifacts or self.artifacts[name].parts != list(parts):
                self.artifacts[name] = _Content(list(parts))

    def reply(self) -> Reply:
        """Return the reply of a finished response.

        Raises
        ------
        AgentFailure
            When the agent refused, failed, gave up or wants credentials, with its own words.
        """
        text, notes = _answer(list(self.artifacts.values()), self.closing)
        if self.state in _ENDINGS:
            raise self._failure(self.closing.text() or text or "it gave no reason")
        if self.state == "input-required":
            notes.append(f"the agent asked back instead of finishing: {_quoted(self.closing.text())}")
        elif not text and not notes:
            notes.append(self._silence())
        return Reply(text, self.usage or Usage(), tuple(" ".join(printable(note).split()) for note in notes))

    def _failure(self, said: str) -> AgentFailure:
        away = self.state == "failed" and self.unavailable
        ended: FailureKind = "provider_unavailable" if away else "agent_error"
        failure = AgentFailure("rejected" if self.state == "rejected" else ended, _ENDINGS[self.state] + said)
        failure.usage = self.usage
        return failure

    def _silence(self) -> str:
        progress = self.progress.text()
        said = f" (its progress text {_quoted(progress)} is no answer)" if progress else ""
        return f"the agent finished without an answer: no artifact and no message with content{said}"


_ENDINGS = {
    "rejected": "the agent rejected the message: ",
    "failed": "the agent's task ended as failed: ",
    "canceled": "the agent cancelled its task: ",
    "auth-required": "the agent asks for credentials, which a run has none of: ",
}


def _answer(artifacts: list[_Content], closing: _Content) -> tuple[str, list[str]]:
    """Return what is read as the answer, and notes on the rest."""
    notes = [why for content in [*artifacts, closing] for why in content.unread()]
    spoken = [content for content in artifacts if content.text().strip()]
    text = "\n".join(content.text() for content in spoken)
    data = [value for content in spoken for value in content.data()]
    if spoken:
        aside = [value for content in [*artifacts, closing] if content not in spoken for value in content.data()]
        data += (answers := [value for value in aside if _is_marked(value)])
        if len(aside) > len(answers):
            notes.append("data without text was not read, because an artifact holds text")
        if (last := closing.text().strip()) and last not in text:
            notes.append(f"the closing message was not read, because an artifact holds text: {_quoted(last)}")
    else:
        text = closing.text()
        data = [value for content in [*artifacts, closing] for value in content.data()]
    if len(data) > MAX_DATA_PARTS:
        raise AgentFailure("too_large", f"the reply holds {len(data)} data parts; at most {MAX_DATA_PARTS} are read")
    if data and not text.strip():
        return "\n".join(map(_json, data)), notes
    return _with_data(text, data, notes), notes


def _with_data(text: str, data: list[Any], notes: list[str]) -> str:
    """Return the text with the data that is not left out for it; a JSON object in the text is the answer.

    Data with an answer key stands after the text. Other data stands before it: readers of plain answers take the last
    line of a text that marks none.
    """
    objects = embedded_objects(text) if data else []
    for value in data:
        if rival := _rival(value, objects):
            notes.append(f"the text and a data part contradict each other: {_shown(rival)} and {_shown(value)}")
            return "\n".join([text, *map(_json, data)])
    if objects:
        if any(value not in objects for value in data):
            notes.append("a data part was not read, because the text holds a JSON object itself")
        return text
    before, after = list[str](), list[str]()
    for value in data:
        (after if _is_marked(value) else before).append(_json(value))
    return "\n".join([*before, text, *after])


def _is_marked(value: Any) -> bool:
    """Return whether data calls itself an answer."""
    return isinstance(value, dict) and any(key in value for key in ANSWER_KEYS)


def _rival(value: Any, objects: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the first object that gives another value for a key of ``value``; all answer keys are one key."""
    if not isinstance(value, dict):
        return None
    stated = _by_meaning(value)
    for known in objects:
        other = _by_meaning(known)
        if any(stated[key] != other[key] for key in stated.keys() & other.keys()):
            return known
    return None


def _by_meaning(document: dict[str, Any]) -> dict[str, Any]:
    return {ANSWER_KEYS[0] if key in ANSWER_KEYS else key: value for key, value in document.items()}


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shown(value: Any) -> str:
    return short(_json(value))


def _quoted(text: str) -> str:
    return repr(short(" ".join(text.split()), 80)) if text.strip() else "(without a word)"


def with_notes(reason: str, transcript: Iterable[Turn]) -> str:
    """Return the reason of a task that did not pass with what of the agent's replies was not read.

    Equal notes are told once, with their number; of different ones the first three.
    """
    counts: dict[str, int] = {}
    for turn in transcript:
        for note in turn.get("notes", ()):
            counts[note] = counts.get(note, 0) + 1
    told = [note if count == 1 else f"{note} ({count} times)" for note, count in counts.items()]
    if len(told) > 3:
        told = [*told[:3], f"and {len(told) - 3} more"]
    return "; ".join([reason, *told] if reason else told)
