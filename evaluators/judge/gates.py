"""What code refuses before any judge is asked. A refused reply has 0 and costs no call."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from evaluators.answers.statement import MAX_CHARS
from evaluators.contract import Json
from evaluators.judge.rubric import Criterion
from evaluators.judge.text import clean, collapsed, covered, words

COPY_RUN = 5
"""Words in a row that make a passage a copy."""

RUBRIC_RUN = 6
RUBRIC_SHARE = 0.8
"""Share of a criterion's words that make it copied."""

_EMPTY_PHRASE = (
    r"(?:sure|certainly|of course|absolutely|great question|thank you|thanks|okay|ok|hello|hi|n/?a|unknown)"
    r"|(?:thought process|solution|answer|final answer|response|analysis|step by step|result)"
    r"|let(?:'|’)?s (?:think|solve|work|analy[sz]e|break)[^.!?:\n0-9]{0,60}"
    r"|(?:here is|here(?:'|’)s|below is|i can help|i(?:(?:'|’)d| would) be happy)[^.!?:\n0-9]{0,80}"
    r"|i(?:(?:'|’)ll| will)(?: now)? (?:answer|help|analy[sz]e|provide|address|start|begin|explain|work)"
    r"[^.!?:\n0-9]{0,80}"
    r"|to (?:solve|answer) this[^.!?:\n0-9]{0,60}"
    r"|(?:i(?:(?:'|’)m| am) )?(?:sorry|unable to|not able to)[^.!?\n0-9]{0,120}"
    r"|i (?:do not|don(?:'|’)t) (?:know|have)[^.!?\n0-9]{0,120}"
    r"|i (?:cannot|can(?:'|’)t|can not|won(?:'|’)t|will not) (?:help|provide|answer|assist|give|comply|complete"
    r"|access|fulfil|offer|do)[^.!?\n0-9]{0,120}|as an ai[^.!?\n0-9]{0,120}"
)
_OPENER = re.compile(rf"(?:\s*(?:{_EMPTY_PHRASE})\s*(?:[.!?:,\n]+|\Z))+\s*\Z", re.IGNORECASE)
_VERDICT_TERM = r"(?:met|satisfied|fulfilled|passed|pass|true|full (?:marks|points|credit|score)|100%)"
_ORDERS = (
    re.compile(
        r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|preceding|all|any|your|the)"
        r"\b[^.\n]{0,40}\b(?:instruction|prompt|guideline|criteri|rubric|system)",
        re.IGNORECASE,
    ),
    re.compile(r"""["']?\bmet["']?\s*[:=]\s*["']?true\b""", re.IGNORECASE),
    re.compile(
        rf"\b(?:judge|grader|evaluator|examiner|marker|assessor|grading model)s?\b[^.\n]{{0,80}}\b(?:must|should|shall"
        rf"|please|mark|return|output|answer|reply|respond|set|give|award)\b[^.\n]{{0,80}}\b{_VERDICT_TERM}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:mark|set|treat|count|score|rate|consider|answer)\b[^.\n]{{0,40}}\b(?:every|all|each|any|this|the)\b[^.\n]"
        rf"{{0,20}}\bcriteri(?:on|a)\b[^.\n]{{0,40}}\b{_VERDICT_TERM}\b",
        re.IGNORECASE,
    ),
    re.compile(r"<\|(?:im_start|im_end|system|assistant|user)\|>|\[/?INST\]|<</?SYS>>|^\s*#+\s*system\s*(?:prompt)?\s*:?\s*$",
               re.IGNORECASE),
)  # fmt: skip


def refusal(reply: str, *, message: Mapping[str, Json], criteria: Sequence[Criterion]) -> str:
    """Return why ``reply`` is worth 0 whatever a judge may say; empty when it goes on to the judge.

    Parameters
    ----------
    message
        What the agent was sent; a reply that only repeats it says nothing.
    criteria
        Criteria whose wording is no answer. Empty where the criteria are themselves the facts of the answer.
    """
    if len(reply) > MAX_CHARS:
        return f"the reply has {len(reply)} characters, more than {MAX_CHARS}"
    text = clean(reply)
    spoken = words(text)
    if not spoken:
        return "the reply is empty"
    if len(spoken) <= 80 and _OPENER.match(text):
        return "the reply is an opener or a refusal and holds no answer"
    if _repeats(text, spoken, message):
        return "the reply only repeats the task"
    if not words(without_orders(text)[0]):
        return "the reply only gives orders to the judge"
    copied = [criterion for criterion in criteria if is_copied(criterion, spoken)]
    if len(copied) >= 2 and 2 * len(copied) >= len(criteria):
        return f"the reply copies {len(copied)} of {len(criteria)} criteria of the rubric"
    return ""


def without_orders(text: str) -> tuple[str, list[str]]:
    """Return ``text`` without the lines that speak to a judge instead of doing the task, and those lines.

    They are cut out, not punished: a report on grading may hold such words honestly.
    """
    kept: list[str] = []
    cut: list[str] = []
    for line in clean(text).split("\n"):
        (cut if any(pattern.search(line) for pattern in _ORDERS) else kept).append(line)
    return "\n".join(kept), [collapsed(line) for line in cut]


def is_copied(criterion: Criterion, spoken: list[str]) -> bool:
    """Return whether a reply, as words, holds most of the criterion's wording."""
    wording = words(criterion.text)
    if len(wording) < RUBRIC_RUN:
        return False
    return sum(covered(wording, spoken, run=RUBRIC_RUN)) >= RUBRIC_SHARE * len(wording)


def _repeats(text: str, spoken: list[str], message: Mapping[str, Json]) -> bool:
    if text.lstrip().startswith("{"):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict) and document.get("question") == message.get("question"):
            return True
    sent = [*words(str(message.get("question", ""))), *words(json.dumps(message, ensure_ascii=False))]
    if len(spoken) < COPY_RUN:
        return False
    return all(covered(spoken, sent, run=COPY_RUN))
