"""Find what a reply states as its final answer.

A reply may mark its answer by a label (``Final answer: ...``), a LaTeX box, or a JSON key (``{"answer": ...}``). When
it marks several, all of them must say the same. An unmarked reply states what its last line says.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from evaluators.answers.clause import last_sentence, stating_clause
from evaluators.answers.surroundings import surroundings
from evaluators.answers.typed_json import JsonObject, Refusal, embedded_spans, parse_json_object, well_formed
from evaluators.answers.typography import characters, plain

MAX_CHARS = 200_000
"""Longer replies are refused: no answer needs them, and every rule below reads the whole text."""

MAX_STATEMENT_CHARS = 2_000
MAX_MARKS = 20
"""A reply that marks more final answers than this is refused; it also bounds the work of reading one."""

MAX_LINE_CHARS = MAX_CHARS // MAX_MARKS
"""A marked answer longer than this is refused unread, so that all of them together are no longer than a reply."""

ANSWER_KEYS = ("final_answer", "answer")
UNIT_KEYS = ("scale", "unit", "units", "currency")
"""Keys beside an answer that say what it is counted in; also as ``answer_unit`` and ``Unit``."""

NO_UNIT = (None, "none", "None", "no unit")

_LABEL = re.compile(
    r"(?:(?:my|the|our)\s+)?final\s+answer\s{0,9}(?P<note>\([^()\n]{0,80}\))?\s{0,9}(?P<mark>is|was|:|=|→|->|[-—](?=\s))\s*:?"
    r"|(?:最终)?答案\s*(?:是|为|:|=)\s*:?|(?m:^[ \t#>]*final answer[ \t#]*$)",
    re.IGNORECASE,
)
_ANNOUNCEMENT = re.compile(
    r"\b(?:below|follow(?:s|ing)|comput|calculat|deriv|given|shown|stated|presented|(?:next|last)\s+(?:line|section|step))",
    re.IGNORECASE,
)
_SOFT_LABEL = re.compile(r"\b(?:answer|result|order|sequence)\s*(?:is|are|:|=|equals|comes to)\s*:?", re.IGNORECASE)
_RESTATEMENT = re.compile(
    r"(?<!final )\b(?:answer\s{0,9}(?:is|was|are|:|=|→|->|equals|comes to)|(?:result|order|sequence)\s{0,9}[:=])"
    r"\s{0,9}:?"
    r"(?!\s{0,9}(?:based|derived|taken|computed|calculated|consistent|in\s{1,9}line|rounded|within|accurate|correct)\b)"
    r"(?=[^\n]{0,60}[0-9])",
    re.IGNORECASE,
)
_NUMBER_INSIDE = re.compile(r"[^\n]{0,80}[0-9]")
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACE = re.compile(r"[{}]")
_CONTENT = re.compile(r"\S[^\n]*")
_ROWS = re.compile(r"\|[^\n]*(?:\n[^\S\n]*\|[^\n]*)*")
_TAG = re.compile(r"<(final[ _-]?answer|answer)>\s*", re.IGNORECASE)
_RULE = re.compile(r"[\s:|-]*-[\s:|-]*")

_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|false|wrong|incorrect|untrue|unlikely|hardly|anything\s+but|other\s+than"
    r"|rather\s+than|instead\s+of|(?:is|are|was|were|do|does|did|would|could|should|ca|wo)n't)\b|≠|!=|~~|\\neq?\b"
    r"|不是|并非|不等于|错误",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b(?:accession|filing|file|document|registration)\s+no\b\.?:?|\bno\b\.?:?\s{0,4}(?=[0-9]{10}-?[0-9]{2})"
    r"|\b(?:not|no|non)[\s-]+(?:further\s+|seasonally\s+|yet\s+|been\s+)?(?:in\s+(?:thousand|million|billion)s"
    r"|annuali[sz]ed|rounded|rounding|adjusted|adjustments?|restated|audited|diluted|compounded|dividends?|leverage|gaap"
    r"|discounting|taxes|fees|costs|per\s+share)\b(?:\s+(?:applied|included|made|needed|assumed|used|for\s+splits))?"
    r"|\b(?:profit|gain|income|increase|earnings)s?\s+or\s+(?:loss(?:es)?|decrease)\b(?!\s+of)",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:either|maybe|perhaps|possibly|might|may\s+be|could|alternatively|unsure|uncertain|equally)\b|可能|也许",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(r"\b(?:or|between)\b|或", re.IGNORECASE)
_OTHERWISE = re.compile(r"\bor\b|或", re.IGNORECASE)
_RETRACTION = re.compile(
    r"\b(?:actually|correction|wait|wrong|incorrect|mistaken?|alternatively|on\s{1,9}second\s{1,9}thou\w+|scrap\s{1,9}that"
    r"|ignore|disregard|could\s{1,9}(?:also|equally)"
    r"|m(?:ight|ay)\s{1,9}be(?!\s{1,9}(?:due|rounded|slightly|subject|small|off\s+by))|either"
    r"|is\s*n[o']t\s{1,9}(?:right|correct|the)|changed?\s{1,9}my|scratch\s{1,9}that|on\s{1,9}reflection"
    r"|sorry(?!\s{1,9}(?:for\s{1,9}(?:the|any)|if)\b)"
    r"|(?:edit(?:ed)?|revis(?:e|ed|ion|ing)|updated?)\b(?=[^\n]{0,60}[0-9])"
    r"|should\s{1,9}(?:be|have\s{1,9}been)\b(?!\s{1,9}(?:noted|within|rounded))(?=[^\n]{0,60}[0-9]))\b|更正|抱歉",
    re.IGNORECASE,
)
_MORE_THAN_A_REMARK = re.compile(r"[0-9]|\b(?:thousand|million|billion|percent)s?\b|%", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """What a reply states.

    Attributes
    ----------
    text
        The statement, with typographic characters, Markdown and LaTeX marks made plain.
    labelled
        Whether the reply marked it as its final answer.
    line
        The statement with the words of its line that belong to it, empty when it is a line of its own.
    items
        How many items the list has that it was written as; 1 when it was written as none.
    """

    text: str
    labelled: bool
    line: str = ""
    items: int = 1


def _answer_of(document: JsonObject) -> Statement | Refusal | None:
    """Return the statement under the answer key of a JSON reply, None when it has no such key."""
    keys = [key for key in ANSWER_KEYS if key in document]
    if not keys:
        return None
    if len(keys) > 1 and document[keys[0]] != document[keys[1]]:
        return Refusal("two different answers: 'answer' and 'final_answer' disagree")
    units = [value for key, value in document.items() if _names_a_unit(key) and value not in NO_UNIT]
    if not all(isinstance(unit, str) for unit in units):
        return Refusal(f'{" and ".join(UNIT_KEYS)} beside the JSON answer must be words, such as "million USD"')
    return _json_statement(document[keys[0]], " ".join(units))


def _names_a_unit(key: str) -> bool:
    return key.lower().removeprefix("final_").removeprefix("answer_") in UNIT_KEYS


def _json_statement(value: Any, unit: str) -> Statement | Refusal:
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        return Refusal(f"the JSON answer must be a number, a string or a list, got {json.dumps(value)[:80]}")
    if isinstance(value, list):
        if not all(isinstance(item, int | float | str) and not isinstance(item, bool) for item in value):
            return Refusal("the JSON answer list must hold numbers or strings only")
        if len(value) != 1:
            return Statement(", ".join(str(item) for item in value), labelled=True, items=len(value))
        (value,) = value
    return Statement(plain(f"{value} {unit}".strip()), labelled=True)


def _boxes(text: str) -> list[tuple[re.Match[str], int]]:
    """Return the opening of each of the last LaTeX boxes and where its inside ends, in one pass over the braces."""
    boxes = list(_BOX.finditer(text))[-MAX_MARKS:]
    if not boxes:
        return []
    ends, opened = dict[int, int](), list[int]()
    for brace in _BRACE.finditer(text, boxes[0].start()):
        if brace.group() == "{":
            opened.append(brace.end())
        elif opened:
            ends[opened.pop()] = brace.start()
    return [(box, ends[box.end()]) for box in boxes if box.end() in ends]


def _boxed(text: str) -> list[Statement | Refusal]:
    """Return what the last LaTeX boxes state."""
    return [_within(text, box.start(), _marked(text[box.end() : end]), end + 1) for box, end in _boxes(text)]


def _within(text: str, start: int, inside: Statement | Refusal, end: int) -> Statement | Refusal:
    """Return the statement of the mark ``text[start:end]``, unless its line denies or doubts it."""
    around = surroundings(text, start, end)
    if isinstance(inside, Refusal):
        return inside
    if isinstance(around, Refusal):
        return around
    words = without_harmless(f"{around.clause}... {around.behind}")
    if _denied(around.clause, around.behind) or _HEDGE.search(words) or _OTHERWISE.search(words, 0, len(around.clause)):
        return Refusal(f"the marked answer is negated or hedged: {words.strip()[-60:]!r}")
    line = plain(f"{around.before}{inside.text}{around.behind}").strip()
    return replace(inside, line="" if line == inside.text else line)


def _denied(before: str, behind: str = "") -> re.Match[str] | None:
    """Return the negation of a number in its own clause, which ends with ``before`` and goes on ``behind``."""
    return _NEGATION.search(without_harmless(f"{stating_clause(before)}... {behind}"))


def _never_closed(text: str) -> Refusal | None:
    """Return a refusal when one of the last LaTeX boxes holds a number and is not closed."""
    starts = [match.end() for match in _BOX.finditer(text)][-MAX_MARKS:]
    if len(_boxes(text)) == len(starts) or not any(_NUMBER_INSIDE.match(text, start) for start in starts):
        return None
    return Refusal("a box around an answer is never closed")


def _restated(text: str) -> list[Statement | Refusal]:
    """Return what stands beside each plain label (``Answer: ...``) of the text after a marked answer."""
    labels = list(_RESTATEMENT.finditer(text))
    if len(labels) > MAX_MARKS:
        return [Refusal(f"the reply states {len(labels)} more answers after its final answer")]
    return [_marked(_line_at(text, match.end())[0]) for match in labels]


def _line_at(text: str, position: int) -> tuple[str, int]:
    """Return the rest of the line at ``position`` (the next line with content when it is empty) and where it ends."""
    content = _CONTENT.search(text, position)
    return (content.group().rstrip(), content.end()) if content else ("", len(text))


def _table(rows: list[str]) -> str:
    """Return the rows of a Markdown table as one line, the words of its header first."""
    cells = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in rows]
    if len(rows) > 2 and _RULE.fullmatch(rows[1].strip()):
        return f"{' '.join(cells[0])}: {'; '.join(' | '.join(row) for row in cells[2:])}"
    return "; ".join(" | ".join(row) for row in cells)


def _beside(text: str, position: int) -> tuple[str, int]:
    """Return what stands at ``position``: a line with the remark in parentheses below it, or a table."""
    content = _CONTENT.search(text, position)
    if content and (rows := _ROWS.match(text, content.start())):
        return _table(rows.group().split("\n")), rows.end()
    line, end = _line_at(text, position)
    below, below_end = _line_at(text, end)
    if re.fullmatch(r"\([^()]{1,80}\)\.?", below):
        return f"{line} {below}", below_end
    return line, end


def _labelled(text: str) -> list[Statement | Refusal]:
    """Return what stands beside each label, up to the first that states nothing."""
    found: list[Statement | Refusal] = []
    labels = list(_LABEL.finditer(text))
    if len(labels) > MAX_MARKS:
        return [Refusal(f"the reply marks {len(labels)} final answers")]
    taken_back = [match.start() for match in _RETRACTION.finditer(text)]
    read, stated = 0, len(text)
    for match in labels:
        # What stands before an earlier label of the same line was looked at there.
        before = text[max(read, text.rfind("\n", 0, match.start())) : match.start()]
        line, end = _beside(text, match.end())
        read = match.end()
        if match["mark"] in ("is", "was") and not re.search(r"[0-9]", line) and _ANNOUNCEMENT.search(line[:200]):
            continue
        before = last_sentence(before)
        words = match.group().replace(match["note"] or "", "")
        if _denied(before + words) or _HEDGE.search(before) or _OTHERWISE.search(before):
            return [*found, Refusal(f"the final answer is negated or hedged: {before.strip()[-60:]!r}")]
        if any(place > end for place in taken_back):
            return [*found, Refusal("the final answer is taken back in the text after it")]
        inner = _boxed(line) if len(line) <= MAX_LINE_CHARS else []
        note = match["note"] or ""
        found.append(_after_note(note, inner[-1]) if inner else _marked(f"{note} {line}".strip()))
        stated = min(stated, end)
    return [*found, *_restated(text[stated:])]


def _after_note(note: str, boxed: Statement | Refusal) -> Statement | Refusal:
    """Return what a box states behind a label with a note such as ``(in millions)``."""
    return boxed if isinstance(boxed, Refusal) else replace(boxed, line=f"{note} {boxed.line or boxed.text}".strip())


def _tagged(text: str) -> list[Statement | Refusal]:
    """Return what stands inside each pair of answer tags."""
    found: list[Statement | Refusal] = []
    lower, position, stated = text.lower(), 0, len(text)
    while opening := _TAG.search(text, position):
        position = lower.find(f"</{opening[1].lower()}>", opening.end())
        if position == -1:
            if any(_NUMBER_INSIDE.match(text, tag.end()) for tag in _TAG.finditer(text, opening.start())):
                return [Refusal(f"the tag <{opening[1]}> around an answer is never closed")]
            break
        if len(found) == MAX_MARKS:
            return [Refusal(f"the reply marks more than {MAX_MARKS} final answers")]
        stated = min(stated, position)
        inside = text[opening.end() : position].strip()
        end = position + len(f"</{opening[1]}>")
        found.append(_within(text, opening.start(), _marked(inside.replace("\n", "; ")), end))
    if found and _RETRACTION.search(text[max(position, lower.rfind("</")) :]):
        return [Refusal("the final answer is taken back in the text after it")]
    return [*found, *_restated(text[stated:])]


def _marked(text: str) -> Statement | Refusal:
    if len(text) > MAX_LINE_CHARS:
        return Refusal(f"the stated answer has {len(text)} characters, more than {MAX_STATEMENT_CHARS}")
    return Statement(plain(text).strip(), labelled=True)


def _is_remark(line: str) -> bool:
    """Return whether a line after the answer says nothing about it (``Let me know if you need more.``)."""
    return not any(rule.search(line) for rule in (_MORE_THAN_A_REMARK, _NEGATION, _HEDGE, _RETRACTION))


def _unlabelled(text: str) -> Statement | Refusal:
    lines = [line.strip() for line in text.splitlines() if line.strip(" \t`-*_#>|")]
    if not lines:
        return Refusal("the reply is empty")
    last = len(lines) - 1
    while last > max(0, len(lines) - 4) and len(lines[last]) <= MAX_STATEMENT_CHARS and _is_remark(lines[last]):
        last -= 1
    last = last if re.search(r"[0-9]", lines[last]) else len(lines) - 1
    if lines[last].startswith("|"):
        first = last
        while first > max(0, last - MAX_MARKS) and lines[first - 1].startswith("|"):
            first -= 1
        return Statement(plain(_table(lines[first : last + 1])).strip(), labelled=False)
    line = plain(lines[last]).strip().strip("\"'").strip()
    soft = list(_SOFT_LABEL.finditer(line))
    if soft and not _NEGATION.search(line[: soft[-1].start()]):
        line = line[soft[-1].end() :].strip()
    return Statement(re.sub(r"^[0-9]{1,2}[.)]\s+(?=.*[0-9])", "", line), labelled=False)


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
    clean = characters(_TAG.sub(lambda match: f"<{match[1]}>", text)).replace("**", "").replace("__", "")
    marked: list[Statement | Refusal] = [
        _within(text, start, stated, end)
        for start, end, document in embedded_spans(text)
        if (stated := _answer_of(document)) is not None
    ]
    if marked and _RETRACTION.search(text.rpartition("}")[2]):
        return Refusal("the JSON answer is taken back in the text after it")
    marked += _restated(clean.rpartition("}")[2]) if marked else []
    marked += _labelled(clean)
    marked += _tagged(clean)
    boxes = _boxed(clean)
    if boxes and _RETRACTION.search(clean.rpartition("}")[2]):
        return Refusal("the boxed answer is taken back in the text after it")
    marked += boxes
    marked += _restated(clean[clean.find("}", opening.end()) :]) if boxes and (opening := _BOX.search(clean)) else []
    marked += [unclosed] if (unclosed := _never_closed(clean)) else []
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
        text = without_harmless(statement.text)
        number = re.search(r"[0-9]", text)
        if not number:
            continue  # There is no value here to negate: what the caller looks for is missing.
        if match := _NEGATION.search(stating_clause(text[: number.start()]) + text[number.start() :]):
            return Refusal(f"the stated answer is negated ({match.group()!r}): {statement.text[:80]!r}")
        if match := _HEDGE.search(text):
            return Refusal(f"the stated answer is hedged ({match.group()!r}): {statement.text[:80]!r}")
    return statements


def without_harmless(text: str) -> str:
    """Return ``text`` with blanks for what looks like a negation and denies no value (``No.``, ``not annualised``)."""
    return _HARMLESS.sub(lambda match: " " * len(match.group()), text)


def alternatives(statement: Statement) -> Refusal | None:
    """Return a refusal when the statement offers alternatives; for answers that have one spelling."""
    match = _ALTERNATIVE.search(statement.text)
    return Refusal(f"the stated answer is hedged ({match.group()!r}): {statement.text[:80]!r}") if match else None
