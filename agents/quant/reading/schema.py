"""What a schema of an answer asks for, and the reply put together by it."""

from __future__ import annotations

from typing import Any


def asked_figures(schema: dict[str, Any], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """Return the description of every figure that a schema asks for, by its path."""
    found: dict[tuple[str, ...], str] = {}
    for name, part in schema.get("properties", {}).items():
        if not isinstance(part, dict):
            continue
        kinds = part.get("type")
        if "number" in (kinds if isinstance(kinds, list) else [kinds]):
            found[*path, name] = f"{name.replace('_', ' ')}: {part.get('description', '')}"
        found |= asked_figures(part, (*path, name))
    return found


def formula_places(schema: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return where a schema asks for a formula as text."""
    found = []
    for name, part in schema.get("properties", {}).items():
        if isinstance(part, dict):
            if part.get("type") == "string" and "formula" in str(part.get("description", "")).lower():
                found.append((*path, name))
            found += formula_places(part, (*path, name))
    return found


def put(reply: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Set the value at ``path`` of a nested reply."""
    for name in path[:-1]:
        reply = reply.setdefault(name, {})
    reply[path[-1]] = value
