r"""What stands on the line of a marked answer and belongs to it: ``not \boxed{5}``, ``-\boxed{5}``, ``\boxed{5}\%``."""

from __future__ import annotations

import re
from typing import NamedTuple

from evaluators.answers.clause import last_sentence
from evaluators.answers.direction import is_fall
from evaluators.answers.typed_json import Refusal
from evaluators.answers.typography import characters

MAX_CHARS = 1_000
"""Characters of the line before and after a mark that are looked at."""

_ANOTHER_MARK = re.compile(r"\\(?:boxed|fbox)\s*\{|</?(?:final[ _-]?answer|answer)>|\{\s*\"", re.IGNORECASE)
_LEAD = re.compile(r"\A(?:\s*>)*\s*(?:[-*+•]\s+)?")
_TO_THE_LAST_NUMBER = re.compile(r"\A.*[0-9][^\s=≈:→(]*", re.DOTALL)
_NUMBER = re.compile(r"[0-9](?:[^\s=≈:→(]*[^\s=≈:→(.,;)])?(?:\s?%)?")
_SEPARATOR = re.compile(r"(?:\s\u2014|(?<=answer)\s-|(?<=result)\s-)\s+\Z", re.IGNORECASE)
_OPERATOR = r"(?:[-+*/^×÷]|\\(?:times|cdot|div)(?![a-z]))"
_PART_OF_A_TERM = re.compile(
    rf"[0-9%)}}]\s*{_OPERATOR}\s*(?:\\?\$)?\Z|[0-9]\Z|\bbetween\s+\S{{0,20}}[0-9]\S{{0,20}}\s+and\s+\Z"
)
_TERM_GOES_ON = re.compile(rf"\s*(?:{_OPERATOR}|\bto\b)\s*(?:\\?\$)?\(?[0-9]|\.?[0-9]|\^")
_DOLLAR = re.compile(r"(?<!\\)\$")
_BEHIND = re.compile(
    r"(?:[^0-9.,;:!?|()\n\\]|\\[^\n()])*"
    r"(?:\((?:[^()0-9\n]|000){1,80}\)|,\s*(?:all\s+|expressed\s+|stated\s+)?in\s+[a-z ]{1,40}|\?)?",
    re.IGNORECASE,
)


class Surroundings(NamedTuple):
    """What stands before and behind a mark.

    Attributes
    ----------
    clause
        The words before it, back to where its sentence or an earlier mark of the line ends.
    before
        The end of the clause without the numbers in it; all of it where it makes the mark a fall.
    behind
        What follows up to the next number or punctuation mark.
    """

    clause: str
    before: str
    behind: str


def _without_math_signs(before: str, behind: str) -> tuple[str, str]:
    """Return both without the pair of dollars that encloses the mark as a formula."""
    before, behind = before.replace("$$", " "), behind.replace("$$", " ")
    opening, closing = list(_DOLLAR.finditer(before)), _DOLLAR.search(behind)
    if not opening or not closing:
        return before, behind
    start, end = opening[-1].start(), closing.start()
    glued = not before[start + 1 :].strip() and not behind[:end].strip()
    if not glued and len(opening) % 2 == 0:
        return before, behind
    return f"{before[:start]} {before[start + 1 :]}".rstrip(" ") + _gap(before), behind[:end] + behind[end + 1 :]


def _gap(before: str) -> str:
    """Return the blank before the mark, if there is one."""
    return " " if before[-1:].isspace() or before.endswith("$") else ""


def surroundings(text: str, start: int, end: int) -> Surroundings | Refusal:
    """Return what stands around the mark ``text[start:end]``; a refusal when it is part of a longer term."""
    line_start = max(text.rfind("\n", 0, start) + 1, start - MAX_CHARS)
    line_end = text.find("\n", end)
    before = characters(text[line_start:start]).replace("**", "").replace("__", "")
    behind = characters(text[end : end + MAX_CHARS if line_end == -1 else min(line_end, end + MAX_CHARS)])
    before = _LEAD.sub("", _ANOTHER_MARK.split(before)[-1])
    behind = _ANOTHER_MARK.split(behind.replace("**", "").replace("__", ""))[0]
    before, behind = _without_math_signs(before, behind)
    before = _SEPARATOR.sub(": ", before)
    clause = last_sentence(before)
    if _PART_OF_A_TERM.search(clause) or _TERM_GOES_ON.match(behind):
        shown = f"{clause[-30:]}...{behind[:30]}".strip()
        return Refusal(f"the marked answer is part of a longer term: {shown!r}")
    following = _BEHIND.match(behind)
    return Surroundings(clause, _without_numbers(clause), following.group() if following else "")


def _without_numbers(clause: str) -> str:
    """Return what stands behind the last number, or the clause without them: ``The loss on the 4 shares is``."""
    near, whole = _TO_THE_LAST_NUMBER.sub("", clause), _NUMBER.sub(" ", clause)
    return whole if _ends_as_a_fall(whole) and not _ends_as_a_fall(near) else near


def _ends_as_a_fall(words: str) -> bool:
    return is_fall(words, len(words), len(words))
