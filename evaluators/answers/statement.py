"""Find what a reply states as its final answer.

A reply may mark its answer by a label (``Final answer: ...``), a LaTeX box, or a JSON key (``{"answer": ...}``). When
it marks several, all of them must say the same. An unmarked reply states what its last line says.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from evaluators.answers.typed_json import JsonObject, Refusal, embedded_objects, parse_json_object, well_formed

MAX_CHARS = 200_000
"""Longer replies are refused: no answer needs them, and every rule below reads the whole text."""

MAX_STATEMENT_CHARS = 2_000
MAX_MARKS = 20
"""A reply that marks more final answers than this is refused; it also bounds the work of reading one."""

MAX_LINE_CHARS = MAX_CHARS // MAX_MARKS
"""A marked answer longer than this is refused unread, so that all of them together are no longer than a reply."""

ANSWER_KEYS = ("final_answer", "answer")

_LABEL = re.compile(
    r"(?:(?:my|the|our)\s+)?final\s+answer\s*(?:is|was|:|=)\s*:?|(?:最终)?答案\s*(?:是|为|:|=)\s*:?"
    r"|(?m:^[ \t#>]*final answer[ \t#]*$)",
    re.IGNORECASE,
)
_SOFT_LABEL = re.compile(r"\b(?:answer|result|order|sequence)\s*(?:is|are|:|=|equals|comes to)\s*:?", re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACE = re.compile(r"[{}]")

_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|false|wrong|incorrect|untrue|unlikely|hardly|anything\s+but|other\s+than"
    r"|rather\s+than|instead\s+of|(?:is|are|was|were|do|does|did|would|could|should|ca|wo)n't)\b|≠|!=|~~|\\neq?\b"
    r"|不是|并非|不等于|错误",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|might|may\s+be|could|alternatively|unsure|uncertain|between|equally)\b|或",
    re.IGNORECASE,
)
_RETRACTION = re.compile(
    r"\b(?:actually|correction|wait|wrong|incorrect|mistaken?|alternatively|on\s+second\s+thou\w+|scrap\s+that|ignore"
    r"|disregard|could\s+(?:also|equally)|might\s+be|may\s+be|either|is\s*n[o']t\s+(?:right|correct|the)|changed?\s+my)\b",
    re.IGNORECASE,
)

_CHARACTERS: dict[int, int | str | None] = {
    0x2212: "-",
    0x2010: "-",
    0x2011: "-",
    0x2012: "-",
    0xFE63: "-",
    0x3000: " ",
    0x3002: ".",
}
_CHARACTERS |= {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_CHARACTERS |= dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD), None)
_CHARACTERS |= {0x2019: "'", 0x00A0: " ", 0x2007: " "}
_LATEX = (
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\([$%])"), r"\1"),
    (re.compile(r"\\[,;:! ]|~(?=\\)"), " "),
    (re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\approx"), "≈"),
    (re.compile(r"\\[()\[\]]"), " "),
    (re.compile(r"\*\*|__|`"), ""),
)


@dataclass(frozen=True)
class Statement:
    """What a reply states.

    Attributes
    ----------
    text
        The statement, with typographic characters, Markdown and LaTeX marks made plain.
    labelled
        Whether the reply marked it as its final answer.
    """

    text: str
    labelled: bool


def plain(text: str) -> str:
    """Return ``text`` with full-width characters, Markdown and LaTeX marks made plain."""
    text = text.translate(_CHARACTERS)
    text = re.sub(r"(?<=[0-9])[\u202f\u2009'_](?=[0-9]{3}(?![0-9]))", ",", text)
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    stripped = text.strip()
    if len(stripped) > 2 and stripped[0] == stripped[-1] == "$":
        return stripped.strip("$").strip()
    return text


def _answer_of(document: JsonObject) -> Statement | Refusal | None:
    """Return the statement under the answer key of a JSON reply, None when it has no such key."""
    keys = [key for key in ANSWER_KEYS if key in document]
    if not keys:
        return None
    if len(keys) > 1 and document[keys[0]] != document[keys[1]]:
        return Refusal("two different answers: 'answer' and 'final_answer' disagree")
    unit = document.get("unit", "")
    return _json_statement(document[keys[0]], unit if isinstance(unit, str) else "")


def _json_statement(value: Any, unit: str) -> Statement | Refusal:
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        return Refusal(f"the JSON answer must be a number, a string or a list, got {json.dumps(value)[:80]}")
    if isinstance(value, list):
        if not all(isinstance(item, int | float | str) and not isinstance(item, bool) for item in value):
            return Refusal("the JSON answer list must hold numbers or strings only")
        return Statement(", ".join(str(item) for item in value), labelled=True)
    return Statement(plain(f"{value} {unit}".strip()), labelled=True)


def _boxed(text: str) -> list[str]:
    """Return what stands inside each of the last LaTeX boxes, braces balanced, in one pass over the braces."""
    starts = [match.end() for match in _BOX.finditer(text)][-MAX_MARKS:]
    if not starts:
        return []
    ends, opened = dict[int, int](), list[int]()
    for brace in _BRACE.finditer(text, starts[0] - 1):
        if brace.group() == "{":
            opened.append(brace.end())
        elif opened:
            ends[opened.pop()] = brace.start()
    return [text[start : ends[start]] for start in starts if start in ends]


def _line_at(text: str, position: int) -> tuple[str, int]:
    """Return the rest of the line at ``position`` (the next line with content when it is empty) and where it ends."""
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        if line := text[position:end].strip():
            return line, end
        position = end + 1
    return "", len(text)


def _labelled(text: str) -> list[Statement | Refusal]:
    """Return what stands beside each label, up to the first that states nothing."""
    found: list[Statement | Refusal] = []
    labels = list(_LABEL.finditer(text))
    if len(labels) > MAX_MARKS:
        return [Refusal(f"the reply marks {len(labels)} final answers")]
    taken_back = max((match.start() for match in _RETRACTION.finditer(text)), default=-1)
    read = 0
    for match in labels:
        # What stands before an earlier label of the same line was looked at there.
        before = text[max(read, text.rfind("\n", 0, match.start()) + 1) : match.start()]
        line, end = _line_at(text, match.end())
        read = match.end()
        if _NEGATION.search(before) or _HEDGE.search(before):
            return [*found, Refusal(f"the final answer is negated or hedged: {before.strip()[-60:]!r}")]
        if taken_back > end:
            return [*found, Refusal("the final answer is taken back in the text after it")]
        inner = _boxed(line) if len(line) <= MAX_LINE_CHARS else []
        found.append(_marked(inner[-1] if inner else line))
    return found


def _marked(text: str) -> Statement | Refusal:
    if len(text) > MAX_LINE_CHARS:
        return Refusal(f"the stated answer has {len(text)} characters, more than {MAX_STATEMENT_CHARS}")
    return Statement(plain(text).strip(), labelled=True)


def _unlabelled(text: str) -> Statement | Refusal:
    lines = [line.strip() for line in text.splitlines() if line.strip(" \t`-*_#>|")]
    if not lines:
        return Refusal("the reply is empty")
    line = plain(lines[-1]).strip().strip("\"'").strip()
    soft = list(_SOFT_LABEL.finditer(line))
    if soft and not _NEGATION.search(line[: soft[-1].start()]):
        line = line[soft[-1].end() :].strip()
    return Statement(re.sub(r"^[0-9]+[.)]\s+(?=.*[0-9])", "", line), labelled=False)


def stated_answers(text: str) -> tuple[Statement, ...] | Refusal:
    """Return every statement that ``text`` marks as its final answer, or its last line when it marks none.

    Parameters
    ----------
    text
        The whole reply of an agent.

    Returns
    -------
    tuple of Statement or Refusal
        At least one statement; a refusal when the reply is empty or too long, negates, hedges or takes back its
        answer, or is a JSON document without an answer key.
    """
    if len(text) > MAX_CHARS:
        return Refusal(f"the reply has {len(text)} characters, more than {MAX_CHARS}")
    text = well_formed(text)
    if text.strip().startswith("{") and text.strip().endswith("}"):
        document = parse_json_object(text)
        if isinstance(document, Refusal):
            return document
        only = _answer_of(document)
        if only is None:
            return Refusal(f"the JSON reply has no 'answer' key (keys: {', '.join(list(document)[:8])})")
        return only if isinstance(only, Refusal) else checked_statements((only,))
    clean = text.translate(_CHARACTERS).replace("**", "").replace("__", "")
    marked: list[Statement | Refusal] = [s for d in embedded_objects(text) if (s := _answer_of(d)) is not None]
    if marked and _RETRACTION.search(text.rpartition("}")[2]):
        return Refusal("the JSON answer is taken back in the text after it")
    marked += _labelled(clean)
    marked += map(_marked, _boxed(clean))
    refusals = [found for found in marked if isinstance(found, Refusal)]
    if refusals:
        return refusals[0]
    statements = tuple(found for found in marked if isinstance(found, Statement))
    if statements:
        return checked_statements(statements)
    last = _unlabelled(clean)
    return last if isinstance(last, Refusal) else checked_statements((last,))


def checked_statements(statements: tuple[Statement, ...]) -> tuple[Statement, ...] | Refusal:
    """Return ``statements`` unless one of them is empty or too long, or negates or hedges a value."""
    for statement in statements:
        if not statement.text:
            return Refusal("the final answer is empty")
        if len(statement.text) > MAX_STATEMENT_CHARS:
            return Refusal(f"the stated answer has {len(statement.text)} characters, more than {MAX_STATEMENT_CHARS}")
        if not re.search(r"[0-9]", statement.text):
            continue  # There is no value here to negate: what the caller looks for is missing.
        if match := _NEGATION.search(statement.text):
            return Refusal(f"the stated answer is negated ({match.group()!r}): {statement.text[:80]!r}")
        if match := _HEDGE.search(statement.text):
            return Refusal(f"the stated answer is hedged ({match.group()!r}): {statement.text[:80]!r}")
    return statements
