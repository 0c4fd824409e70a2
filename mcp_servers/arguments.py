"""Arguments of a tool call, read against the schema that the client was shown: nothing unknown passes, at any depth."""

from __future__ import annotations

import copy
from typing import Any, TypeAlias

from pydantic import ValidationError

from lake.vocabulary import OTHER_NAMES, OTHER_UNITS, SIDES, canonical, nearest, signed_quantity

Schema: TypeAlias = dict[str, Any]
SHOWN_PROBLEMS = 3
ACTION: Schema = {
    "enum": list(SIDES),
    "description": "Another way to give the sign of `quantity`, which is then positive",
}
_JSON_TYPES: dict[type, tuple[str, ...]] = {dict: ("object",), list: ("array",), bool: ("boolean", "number", "integer")}


def published(schema: Schema) -> Schema:
    """Return a tool's schema as clients see it: closed, with the other names of each field in its description."""
    closed = copy.deepcopy(schema)
    _close(closed)
    return closed


def _close(node: Any) -> None:
    if isinstance(node, list):
        for item in node:
            _close(item)
    if not isinstance(node, dict):
        return
    for item in node.values():
        _close(item)
    fields = node.get("properties")
    if node.get("type") != "object" or not isinstance(fields, dict):
        return
    node["additionalProperties"] = False
    for name, field in fields.items():
        _describe(name, field, fields)
    if "quantity" in fields and "side" not in fields:
        fields["action"] = dict(ACTION)


def _describe(name: str, field: Schema, fields: Schema) -> None:
    """Write the description beside ``anyOf``, where every client reads it, and the other names into it."""
    inner = [branch.pop("description") for branch in field.get("anyOf", ()) if "description" in branch]
    said = field.get("description") or next(iter(inner), "")
    others = [other for other in OTHER_NAMES.get(name, ()) if other not in fields and canonical(other, fields) == name]
    others += [other for other, unit in OTHER_UNITS.items() if unit.field == name and other not in fields]
    texts = [said, f"Also taken as {', '.join(others)}" if others else ""]
    if any(texts):
        field["description"] = ". ".join(text for text in texts if text)


def read(tool: str, schema: Schema, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return ``arguments`` under their canonical names and in their units.

    Parameters
    ----------
    tool
        Its name, for the message.
    schema
        What :func:`published` returned for it.

    Raises
    ------
    ValueError
        For a key that the schema does not have, a field that is given twice, an ``action`` that contradicts the sign
        of its quantity, a truth value where a number stands. The message is one line that starts with the tool's name.
    """
    try:
        return _object(arguments, schema, schema.get("$defs", {}), "")
    except ValueError as error:
        raise ValueError(f"{tool}: {error}") from error


def _value(value: Any, node: Schema, definitions: Schema, place: str) -> Any:
    node = _branch(node, value, definitions)
    if isinstance(value, bool) and node.get("type") in ("number", "integer"):
        raise ValueError(f"{place} must be a number, got {str(value).lower()}")
    if isinstance(value, list) and "items" in node:
        return [_value(item, node["items"], definitions, f"{place}[{row}]") for row, item in enumerate(value)]
    if isinstance(value, dict) and "properties" in node:
        return _object(value, node, definitions, place)
    if isinstance(value, dict) and isinstance(node.get("additionalProperties"), dict):
        inner = node["additionalProperties"]
        return {key: _value(item, inner, definitions, f"{place}.{key:.60}") for key, item in value.items()}
    return value


def _branch(node: Schema, value: Any, definitions: Schema) -> Schema:
    """Return the schema that ``value`` has to fulfil: references followed, the alternative of its type."""
    if "$ref" in node:
        return _branch(definitions[node["$ref"].rpartition("/")[2]], value, definitions)
    branches = [_branch(branch, value, definitions) for branch in node.get("anyOf", ())]
    wanted = _JSON_TYPES.get(type(value), ())
    return next((branch for branch in branches if branch.get("type") in wanted), node)


def _object(given: dict[str, Any], node: Schema, definitions: Schema, place: str) -> dict[str, Any]:
    fields = node["properties"]
    values: dict[str, Any] = {}
    named: dict[str, str] = {}
    for key, item in given.items():
        name, value = _canonical(key, item, fields, place)
        if name in named:
            raise ValueError(f"{named[name]!r} and {key!r} are the same{_in(place)}; give one of them")
        named[name] = key
        values[name] = _value(value, fields[name], definitions, f"{place}.{name}" if place else name)
    if "action" in values and fields["action"] == ACTION:
        _apply_action(values, place)
    return values


def _canonical(key: str, item: Any, fields: Schema, place: str) -> tuple[str, Any]:
    if key in fields:
        return key, item
    unit = OTHER_UNITS.get(key)
    if unit is not None and unit.field in fields:
        if item is None:
            return unit.field, None
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise ValueError(f"{key}{_in(place)} must be a number, got {item!r:.60}")
        if 0 < abs(item) < unit.least:
            raise ValueError(f"{key}{_in(place)} is in days, 0 or at least 1, got {item:g}; for years: {unit.field}")
        return unit.field, item * unit.factor
    name = canonical(key, fields)
    if name is None:
        raise ValueError(_unknown(key, fields, place))
    return name, item


def _apply_action(values: dict[str, Any], place: str) -> None:
    action, quantity = values.pop("action"), values.get("quantity")
    if action is None:
        return
    if isinstance(quantity, bool) or not isinstance(quantity, int | float):
        raise ValueError(f"quantity{_in(place)} must be a number beside action {action!r:.60}, got {quantity!r:.60}")
    try:
        values["quantity"] = signed_quantity(quantity, action)
    except ValueError as error:
        raise ValueError(f"{place}: {error}" if place else str(error)) from error


def _in(place: str) -> str:
    return f" in {place}" if place else ""


def _unknown(key: str, fields: Schema, place: str) -> str:
    what = "key" if place else "argument"
    near = nearest(key.lower(), [name.lower() for name in fields])
    hint = next((f" did you mean {name!r}?" for name in fields if name.lower() == near), "")
    return f"unknown {what} {key!r:.60}{_in(place)};{hint} known: {', '.join(fields) or 'none, it takes no arguments'}"


def problems(tool: str, error: ValidationError) -> str:
    """Return in one line what was wrong with the values of a call: field, rule, value."""
    found = error.errors(include_url=False, include_context=False)
    lines = [f"{_place(row['loc'])}: {row['msg']}{_got(row)}" for row in found[:SHOWN_PROBLEMS]]
    more = f"; and {len(found) - SHOWN_PROBLEMS} more" if len(found) > SHOWN_PROBLEMS else ""
    return f"{tool}: {'; '.join(lines)}{more}"


def _place(parts: tuple[int | str, ...]) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return place.removeprefix(".")


def _got(row: Any) -> str:
    return "" if row["type"] == "missing" else f", got {row['input']!r:.60}"
