"""Files of a task and of a reply: handed over as bytes and as text, judged as text."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.contract import Json
from evaluators.documents import KINDS, Refused, text_of
from evaluators.documents.reading import suffix_of

MAX_SENT = 4_000_000
"""Bytes of a task's files that are sent as they are; of larger ones the text and the address are told."""
MAX_TEXT = 60_000
"""Characters of one file's text."""
MAX_FILES = 20
MAX_JUDGED = 150_000
KEY = "files"
MAX_TRIES = 50
"""Places at which an object is looked for before its key."""


@dataclass(frozen=True)
class Reference:
    """A file that belongs to a task, on this machine; the name is what the task calls it."""

    name: str
    path: Path


def shown(references: Sequence[Reference]) -> list[Json]:
    """Return the files as a message holds them: name, type, size, sha256, bytes in base64, text where there is one."""
    room = MAX_SENT
    rows: list[Json] = []
    for reference in references:
        content = reference.path.read_bytes()
        row: dict[str, Json] = {
            "name": reference.name,
            "media_type": mimetypes.guess_type(reference.name)[0] or "application/octet-stream",
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        if len(content) <= room:
            room -= len(content)
            row["base64"] = base64.b64encode(content).decode()
        else:
            row["not_sent"] = f"its bytes are more than a message takes ({MAX_SENT:,} for all files)"
        try:
            row["text"] = text_of(reference.name, content, characters=MAX_TEXT)
        except Refused as error:
            row["without_text"] = str(error)
        rows.append(row)
    return rows


def told(rows: Sequence[Json]) -> list[Json]:
    """Return the files as a judge is told of them: by name, and with their text."""
    return [{"name": row["name"], "text": row.get("text", f"(not shown: {row.get('without_text')})")} for row in rows]


def with_deliverables(reply: str) -> str:
    """Return a reply with its files as text, each under a line ``# name (kind)``; one without files as it is.

    Files are objects of ``name`` and ``base64`` under the key ``files`` of a JSON object in the reply. A file that
    cannot be read stands there with the reason: it is the agent's, and counts as what it is.
    """
    found = _object_with_files(reply)
    if found is None:
        return reply
    document, outside = found
    files, said = (
        document[KEY],
        [str(value) for key, value in document.items() if key != KEY and isinstance(value, str)],
    )
    parts = [_as_text(file) for file in files[:MAX_FILES]]
    if len(files) > MAX_FILES:
        parts.append(f"({len(files) - MAX_FILES} more files than the {MAX_FILES} that are read)")
    return "\n\n".join([*(text for text in (outside, *said) if text.strip()), *parts])[:MAX_JUDGED]


def _object_with_files(reply: str) -> tuple[dict[str, Any], str] | None:
    """Return the first JSON object of a reply that holds files, and the text around it."""
    key = reply.find(f'"{KEY}"')
    start, tries = reply.find("{"), 0
    while 0 <= start < key and tries < MAX_TRIES:
        try:
            document, end = json.JSONDecoder().raw_decode(reply, start)
        except (ValueError, RecursionError):
            document, end = None, start
        files = document.get(KEY) if isinstance(document, dict) else None
        if isinstance(document, dict) and isinstance(files, list) and files and all(map(_is_file, files)):
            return document, f"{reply[:start]}\n{reply[end:]}"
        start, tries = reply.find("{", max(end, start + 1)), tries + 1
    return None


def _is_file(file: Any) -> bool:
    return isinstance(file, dict) and isinstance(file.get("name"), str) and isinstance(file.get("base64"), str)


def _as_text(file: dict[str, Any]) -> str:
    name = " ".join(file["name"].split())[:120]
    kind = KINDS.get(suffix_of(name), "unknown kind")
    try:
        content = base64.b64decode(file["base64"], validate=True)
        return f"# {name} ({kind})\n{text_of(name, content, characters=MAX_TEXT)}"
    except binascii.Error:
        return f"# {name} ({kind})\n(not read: its bytes are not base64)"
    except Refused as error:
        return f"# {name} ({kind})\n(not read: {error})"
