"""Strict JSON out of a reply: one object, no duplicate keys, finite numbers, bounded depth and size."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]

MAX_CHARS = 200_000
MAX_DEPTH = 16
MAX_OBJECTS_TRIED = 200
SEARCH_BUDGET = 10 * MAX_CHARS
"""Limits of the search for objects inside prose, in attempts and decoded characters: no reply takes long to read."""

_TRAILING = "text after the object"
_OBJECT_START = re.compile(r"\{\s{0,40}[\"}]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
"""A string is consumed whole and never given back, closed or not, so that one scan reads every character once."""

_FENCE = re.compile(r"```[ \t]*(?:json|JSON)?[ \t]*\r?\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Refusal:
    """Why no answer could be read; counts as the agent's failure.

    Attributes
    ----------
    reason
        One line for the report.
    """

    reason: str


class _Rejected(ValueError):
    """A document that is JSON by grammar but breaks a rule of ours."""


def _no_duplicates(pairs: list[tuple[str, Any]]) -> JsonObject:
    document: JsonObject = {}
    for key, value in pairs:
        if key in document:
            raise _Rejected(f"duplicate key {key!r}")
        document[key] = value
    return document


def _finite_float(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise _Rejected(f"number out of range: {literal[:40]}")
    return value


def _bounded_int(literal: str) -> int:
    if len(literal) > 309:
        raise _Rejected(f"number out of range: {literal[:40]}...")
    return int(literal)


def _constant(literal: str) -> float:
    raise _Rejected(f"{literal} is no JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_no_duplicates,
    parse_float=_finite_float,
    parse_int=_bounded_int,
    parse_constant=_constant,
)


def _too_deep(text: str) -> bool:
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        mark = token.group()
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif mark in "]}":
            depth -= 1
    return False


def _has_lone_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _decode(text: str) -> JsonObject | Refusal:
    if _too_deep(text):
        return Refusal(f"invalid JSON: nested deeper than {MAX_DEPTH} levels")
    try:
        document, end = _DECODER.raw_decode(text)
        if text[end:].strip():
            raise json.JSONDecodeError(_TRAILING, text, end)
    except _Rejected as error:
        return Refusal(f"invalid JSON: {error}")
    except json.JSONDecodeError as error:
        return Refusal(f"invalid JSON: {error.msg} at line {error.lineno} column {error.colno}")
    if not isinstance(document, dict):
        return Refusal(f"the JSON answer must be an object, got {type(document).__name__}")
    if _has_lone_surrogate(document):
        return Refusal("invalid JSON: a string holds an unpaired surrogate")
    return document


def well_formed(text: str) -> str:
    """Return ``text`` with unpaired surrogates, which no encoding can hold, replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def embedded_objects(text: str) -> list[JsonObject]:
    """Return the top-level JSON objects that stand inside ``text``, in order; what does not parse is passed over."""
    return [document for _, _, document in embedded_spans(text)]


def embedded_spans(text: str) -> list[tuple[int, int, JsonObject]]:
    """Return where each of the :func:`embedded_objects` starts and ends, and the object."""
    found: list[tuple[int, int, JsonObject]] = []
    if len(text) > MAX_CHARS:
        return found
    tried, budget, end = 0, SEARCH_BUDGET, 0
    while tried < MAX_OBJECTS_TRIED and budget > 0 and (opening := _OBJECT_START.search(text, end)):
        tried, position = tried + 1, opening.start()
        try:
            document, end = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            budget -= error.pos - position
            end = opening.end()
        except (ValueError, RecursionError):
            budget -= len(text) - position
            end = opening.end()
        else:
            if not _too_deep(text[position:end]) and not _has_lone_surrogate(document):
                found.append((position, end, document))
    return found


def parse_json_object(text: str) -> JsonObject | Refusal:
    """Return the one JSON object that a reply consists of.

    The object may be the whole reply, stand in one fenced block, or be surrounded by prose; several different objects
    are a refusal. Duplicate keys, ``NaN``, ``Infinity``, numbers beyond double range (``1e999``), unpaired
    surrogates, more than 16 levels or more than 200,000 characters are refused with a reason. Never raises.
    """
    if len(text) > MAX_CHARS:
        return Refusal(f"the reply has {len(text)} characters, more than {MAX_CHARS}")
    body = well_formed(text).strip().removeprefix("\ufeff").strip()
    if body.startswith("{"):
        whole = _decode(body)
        if not (isinstance(whole, Refusal) and _TRAILING in whole.reason):
            return whole
    fenced = [block.strip() for block in _FENCE.findall(body) if block.strip().startswith("{")]
    objects = [_decode(block) for block in fenced] if fenced else list(embedded_objects(body))
    if not objects:
        return Refusal("the reply holds no JSON object")
    if any(candidate != objects[0] for candidate in objects):
        return Refusal(f"the reply holds {len(objects)} different JSON objects; one is asked for")
    return objects[0]


def number_field(document: Mapping[str, Any], name: str) -> float | Refusal:
    """Return the finite number under ``name``; strings, booleans and a missing key are refusals."""
    if name not in document:
        return Refusal(f"{name}: missing")
    value = document[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Refusal(f"{name}: must be a JSON number, got {json.dumps(value)[:60]}")
    try:
        number = float(value)
    except OverflowError:
        return Refusal(f"{name}: number out of range")
    return number if math.isfinite(number) else Refusal(f"{name}: number out of range")
