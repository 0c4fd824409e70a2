"""Rows of nested JSON as one table of text: each name once instead of once a row."""

from __future__ import annotations

import json
from typing import Any


def table(rows: list[Any]) -> str:
    """Return the rows as comma-separated lines under their column names; what is the same in all stands above.

    Nested objects are laid out by their last name, a list of one object as that object; numbers have seven significant
    digits, as many as the feeds have. A value that is missing is empty.
    """
    flat = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    same = [name for name in columns if len(flat) > 1 and len({row.get(name, "") for row in flat}) == 1]
    lines = [f"all rows: {', '.join(f'{name}={flat[0].get(name)}' for name in same)}"] if same else []
    columns = [name for name in columns if name not in same]
    lines.append(",".join(columns))
    return "\n".join([*lines, *(",".join(row.get(name, "") for name in columns) for row in flat)])


def _flat(value: Any, name: str = "", prefix: str = "") -> dict[str, str]:
    if isinstance(value, list):
        if not value:
            return {}
        if len(value) == 1 and isinstance(value[0], dict):
            return _flat(value[0], name, f"{name}.")
        return {name: _cell(json.dumps(value, ensure_ascii=False, separators=(",", ":")))}
    if not isinstance(value, dict):
        return {name or "value": _cell(value)}
    found: dict[str, str] = {}
    for key, inner in value.items():
        for column, cell in _flat(inner, f"{prefix}{key}", prefix).items():
            found[column if column not in found else f"{name}.{column}"] = cell
    return found


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.7g}"
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if "," in text or "\n" in text else text
