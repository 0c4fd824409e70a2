"""Files inside a reply: a JSON object or fenced blocks that name their file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.answers import Refusal, parse_json_object
from evaluators.answers.typed_json import well_formed

MAX_FILES = 10
MAX_CHARS = 100_000
_OPENING = re.compile(r"(`{3,}|~{3,})[ \t]*(?:[a-z]+[ \t]+)?([\w.-]+\.[a-z]{2,4})[ \t]*")

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "deliverables": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "content": {"type": "string"}},
                "required": ["name", "content"],
            },
        }
    },
    "required": ["deliverables"],
}
"""JSON schema of the reply."""


def answer_format(names: Sequence[str]) -> str:
    """Return how the files are to be handed in."""
    listed = " and ".join(names)
    return (
        f"Hand in {listed} inside your reply, each exactly once, as one JSON object "
        '{"deliverables": [{"name": "the file name", "content": "the whole file as a string"}, ...]}. '
        "Fenced blocks whose opening line names the file (three backticks, a space, the file name) are read as well. "
        "Completion, accuracy, format and professionalism count 25 points each; the figures are checked by "
        "computation, and the other dimensions count only as far as the figures are right."
    )


def _from_json(reply: str) -> list[tuple[str, str]] | Refusal:
    document = parse_json_object(reply)
    if isinstance(document, Refusal):
        return document
    listed = document.get("deliverables")
    if not isinstance(listed, list) or not listed:
        return Refusal("the JSON reply has no list 'deliverables'")
    files = []
    for entry in listed:
        if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("name", "content")):
            return Refusal("each deliverable needs a 'name' and a 'content', both strings")
        files.append((entry["name"], entry["content"]))
    return files


def _fenced(reply: str) -> list[tuple[str, str]]:
    """Return the blocks whose opening line names a file; a block that is never closed is none."""
    files = []
    fence, name, lines = "", "", list[str]()
    for line in reply.splitlines(keepends=True):
        opening = _OPENING.fullmatch(line.rstrip("\r\n"))
        if not fence and opening:
            fence, name, lines = opening[1], opening[2], []
        elif fence and line.strip() == fence:
            files.append((name, "".join(lines)))
            fence = ""
        elif fence:
            lines.append(line)
    return files


def read_deliverables(reply: str) -> dict[str, str] | Refusal:
    """Return file name -> content; a refusal when there are none, a name comes twice, or one is too long."""
    reply = well_formed(reply)
    in_json = _from_json(reply)
    files = _fenced(reply) if isinstance(in_json, Refusal) else in_json
    if not files:
        return in_json if isinstance(in_json, Refusal) else Refusal("the reply holds no file")
    if len(files) > MAX_FILES:
        return Refusal(f"the reply holds {len(files)} files, more than {MAX_FILES}")
    names = [name for name, _ in files]
    for name, content in files:
        if names.count(name) > 1:
            return Refusal(f"{name} is handed in {names.count(name)} times")
        if len(content) > MAX_CHARS:
            return Refusal(f"{name} has {len(content)} characters, more than {MAX_CHARS}")
    return dict(files)
