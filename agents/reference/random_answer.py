"""A well-formed random value of a JSON schema."""

from __future__ import annotations

import math
import random
import string
from typing import Any

WORDS = ("alpha", "beta", "gamma", "delta", "omega")


def sample(schema: dict[str, Any], draw: random.Random, depth: int = 0) -> Any:
    """Return a random value that ``schema`` accepts, for the keywords that answer schemas use."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return draw.choice(schema["enum"])
    for keyword in ("anyOf", "oneOf"):
        if schema.get(keyword):
            return sample(draw.choice(schema[keyword]), draw, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = draw.choice([name for name in kind if name != "null"] or ["null"])
    return _SAMPLERS.get(kind, _text)(schema, draw, depth)


def _object(schema: dict[str, Any], draw: random.Random, depth: int) -> dict[str, Any]:
    return {name: sample(part, draw, depth + 1) for name, part in schema.get("properties", {}).items()}


def _array(schema: dict[str, Any], draw: random.Random, depth: int) -> list[Any]:
    if depth > 8:
        return []
    low = int(schema.get("minItems", 1))
    high = min(int(schema.get("maxItems", low + 2)), low + 2)
    return [sample(schema.get("items", {}), draw, depth + 1) for _ in range(draw.randint(low, max(low, high)))]


def _bounds(schema: dict[str, Any]) -> tuple[float, float]:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is None and high is None:
        return -math.inf, math.inf
    low = high - 1000.0 if low is None else low
    return low, low + 1000.0 if high is None else high


def _number(schema: dict[str, Any], draw: random.Random, depth: int) -> float:
    low, high = _bounds(schema)
    if math.isinf(low):
        return round(draw.choice([-1.0, 1.0]) * 10.0 ** draw.uniform(-3.0, 6.0), 6)
    return low + (high - low) * draw.uniform(0.001, 0.999)


def _integer(schema: dict[str, Any], draw: random.Random, depth: int) -> int:
    low, high = _bounds(schema)
    if math.isinf(low):
        return draw.randint(-1000, 1000)
    return draw.randint(math.ceil(low), max(math.ceil(low), math.floor(high)))


def _text(schema: dict[str, Any], draw: random.Random, depth: int) -> str:
    length = int(schema.get("minLength", 0))
    text = draw.choice(WORDS)
    return text + "".join(draw.choice(string.ascii_lowercase) for _ in range(max(0, length - len(text))))


def _boolean(schema: dict[str, Any], draw: random.Random, depth: int) -> bool:
    return draw.random() < 0.5


def _null(schema: dict[str, Any], draw: random.Random, depth: int) -> None:
    return None


_SAMPLERS = {
    "object": _object,
    "array": _array,
    "number": _number,
    "integer": _integer,
    "string": _text,
    "boolean": _boolean,
    "null": _null,
}
