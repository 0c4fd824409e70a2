"""The parts of an A2A message or artifact of either version: as text, as data, or as why they are not read."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class TextPart:
    """Text; ``file`` when it is the content of a text or JSON file that was sent inline."""

    text: str
    file: bool = False


@dataclass(frozen=True)
class DataPart:
    """A JSON value."""

    value: Any


@dataclass(frozen=True)
class UnreadPart:
    """A part that holds no text and no data; ``why`` is one line for the record."""

    why: str


Part: TypeAlias = TextPart | DataPart | UnreadPart


def read_part(part: Mapping[str, Any]) -> Part:
    """Read one part as it stands on the wire. Links are never followed.

    A2A 1.0 writes ``{"text"}``, ``{"data"}``, ``{"raw", "mediaType", "filename"}`` or ``{"url"}``; 0.3 adds ``kind``
    and writes files as ``{"file": {"bytes" or "uri", "mimeType", "name"}}``.
    """
    if isinstance(part.get("text"), str):
        return TextPart(part["text"])
    if "data" in part:
        return DataPart(part["data"])
    file = part.get("file")
    if isinstance(file, dict):
        return _file(file.get("bytes"), file.get("uri"), file.get("mimeType"), file.get("name"))
    if "raw" in part or "url" in part:
        return _file(part.get("raw"), part.get("url"), part.get("mediaType"), part.get("filename"))
    return UnreadPart(f"a part of the reply was not read: no text, data or file in it, but {short(sorted(part))}")


def short(value: Any, limit: int = 60) -> str:
    """Return the value as text of at most ``limit`` characters."""
    text = str(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _file(content: Any, link: Any, media_type: Any, name: Any) -> Part:
    name = short(name) if isinstance(name, str) and name else "without a name"
    media_type = media_type if isinstance(media_type, str) and media_type else mimetypes.guess_type(name)[0] or ""
    kind = media_type.partition(";")[0].strip().lower()

    def unread(why: str) -> UnreadPart:
        return UnreadPart(f"the reply's file part {name} was not read: {why}")

    if not isinstance(content, str):
        return unread(f"it is a link ({short(link)}), and links are not fetched" if link else "it holds no bytes")
    if not (kind.startswith("text/") or kind == "application/json" or kind.endswith("+json")):
        return unread(f"{short(kind) or 'its unstated type'} is neither text nor JSON")
    try:
        return TextPart(base64.b64decode(content, validate=True).decode("utf-8-sig"), file=True)
    except UnicodeDecodeError:
        return unread("its text is not UTF-8")
    except ValueError:
        return unread("its bytes are not base64")
