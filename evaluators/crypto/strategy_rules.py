"""Declarative strategies: the JSON an agent writes, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evaluators.contract import Json

Op: TypeAlias = Literal[">", "<", ">=", "<=", "crosses_above", "crosses_below"]
OPS: tuple[Op, ...] = (">", "<", ">=", "<=", "crosses_above", "crosses_below")
PRICES = ("open", "high", "low", "close", "volume", "funding_rate")
INDICATORS: dict[str, dict[str, tuple[float, float]]] = {
    "ema": {"window": (1, 500)},
    "sma": {"window": (1, 500)},
    "rsi": {"window": (2, 500)},
    "macd": {"fast": (1, 499), "slow": (2, 500), "signal": (1, 500)},
    "atr": {"window": (1, 500)},
    "bollinger": {"window": (2, 500), "deviations": (0.1, 10.0)},
    "donchian": {"window": (1, 500)},
    "adx": {"window": (2, 500)},
    "vwap": {},
    "realised_volatility": {"window": (2, 500)},
    "funding_carry": {"window": (1, 500)},
}
"""Indicators and the ranges of their parameters; those left out take the defaults of ``backtest.indicators``."""
FIELDS: dict[str, tuple[str, ...]] = {
    "macd": ("line", "signal", "histogram"),
    "bollinger": ("middle", "upper", "lower"),
    "donchian": ("middle", "upper", "lower"),
    "adx": ("adx", "plus", "minus"),
}
"""Parts of indicators that have several, read as ``name.part``."""
RULES = ("enter_long", "exit_long", "enter_short", "exit_short")
MAX_INDICATORS, MAX_CONDITIONS, MAX_SIZE = 12, 8, 3.0

_OPERAND: dict[str, Json] = {
    "anyOf": [{"type": "number"}, {"type": "string", "description": "a price, an indicator, or indicator.part"}]
}
_CONDITIONS: dict[str, Json] = {
    "type": "array",
    "maxItems": MAX_CONDITIONS,
    "items": {
        "type": "object",
        "required": ["left", "op", "right"],
        "additionalProperties": False,
        "properties": {"left": _OPERAND, "op": {"enum": list(OPS)}, "right": _OPERAND},
    },
}
SCHEMA: dict[str, Json] = {
    "type": "object",
    "required": ["indicators", "enter_long", "exit_long", "enter_short", "exit_short", "size"],
    "additionalProperties": False,
    "properties": {
        "indicators": {
            "type": "object",
            "maxProperties": MAX_INDICATORS,
            "additionalProperties": {
                "type": "object",
                "required": ["type"],
                "properties": {
                    "type": {"enum": list(INDICATORS)},
                    **{
                        name: {"type": "number"}
                        for name in sorted({key for ranges in INDICATORS.values() for key in ranges})
                    },
                },
            },
        },
        **{name: _CONDITIONS for name in RULES},
        "size": {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_SIZE},
        "volatility_target": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 10},
        "stop_loss": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "take_profit": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 10},
    },
}
"""JSON schema of the answer."""

FORMAT = (
    "Answer with one JSON object and nothing else. indicators: a name of your own -> {type, parameters}. enter_long, "
    "exit_long, enter_short, exit_short: lists of conditions {left, op, right} that must all hold after a bar's close; "
    "an empty list never fires. An operand is a number, one of open, high, low, close, volume, funding_rate, one of "
    "your indicators, or indicator.part (macd: line, signal, histogram; bollinger and donchian: middle, upper, lower; "
    "adx: adx, plus, minus). size: notional as a multiple of equity, at most 3. Optional: volatility_target (per year; "
    "size is then scaled to it, at most size), stop_loss and take_profit as fractions of the close at entry. Orders "
    "are filled at the next bar's open."
)


class BadStrategy(ValueError):
    """The answer is no strategy; the message says what is wrong with it."""


@dataclass(frozen=True)
class Condition:
    """A comparison of two operands; an operand is a number, or (name, part) with an empty part for single values."""

    left: float | tuple[str, str]
    op: Op
    right: float | tuple[str, str]


@dataclass(frozen=True)
class StrategySpec:
    """A checked strategy.

    Attributes
    ----------
    indicators
        (name, type, parameters) of each, parameters as sorted pairs.
    enter_long, exit_long, enter_short, exit_short
        Conditions that must all hold; none never holds.
    size
        Multiple of equity.
    volatility_target
        Per year, or None.
    stop_loss, take_profit
        Fractions of the close at entry, or None.
    """

    indicators: tuple[tuple[str, str, tuple[tuple[str, float], ...]], ...]
    enter_long: tuple[Condition, ...]
    exit_long: tuple[Condition, ...]
    enter_short: tuple[Condition, ...]
    exit_short: tuple[Condition, ...]
    size: float
    volatility_target: float | None
    stop_loss: float | None
    take_profit: float | None


def read_strategy(document: Mapping[str, Json]) -> StrategySpec:
    """Return the strategy of a JSON object.

    Raises
    ------
    BadStrategy
        Naming the first thing that is wrong.
    """
    allowed = list(SCHEMA["properties"])
    for key in document:
        if key not in allowed:
            raise BadStrategy(f"unknown key {key!r}; allowed are {', '.join(allowed)}")
    for key in SCHEMA["required"]:
        if key not in document:
            raise BadStrategy(f"{key} is missing")
    given = document["indicators"]
    if not isinstance(given, Mapping) or len(given) > MAX_INDICATORS:
        raise BadStrategy(f"indicators must be an object with at most {MAX_INDICATORS} entries")
    made = tuple(_indicator(name, body) for name, body in given.items())
    kinds = {name: kind for name, kind, _ in made}
    rules = {name: _conditions(name, document[name], kinds) for name in RULES}
    return StrategySpec(
        indicators=made,
        size=_within("size", document["size"], 0.0, MAX_SIZE),
        volatility_target=_optional(document, "volatility_target", 10.0),
        stop_loss=_optional(document, "stop_loss", 0.999),
        take_profit=_optional(document, "take_profit", 10.0),
        **rules,
    )


def _indicator(name: Json, body: Json) -> tuple[str, str, tuple[tuple[str, float], ...]]:
    if not isinstance(name, str) or not name.isidentifier() or name in PRICES or len(name) > 40:
        raise BadStrategy(f"indicator name {str(name)[:40]!r} must be a plain word that is no price")
    kind = body.get("type") if isinstance(body, Mapping) else None
    if not isinstance(kind, str) or kind not in INDICATORS:
        raise BadStrategy(f"indicator {name!r}: type must be one of {', '.join(INDICATORS)}")
    ranges = INDICATORS[kind]
    parameters: dict[str, float] = {}
    for key, value in body.items():
        if key == "type":
            continue
        if key not in ranges:
            raise BadStrategy(f"indicator {name!r}: {kind} takes {', '.join(ranges) or 'no parameters'}, not {key!r}")
        low, high = ranges[key]
        number = _number(f"indicator {name!r}: {key}", value)
        if not low <= number <= high or (key != "deviations" and number != int(number)):
            raise BadStrategy(f"indicator {name!r}: {key} must be from {low:g} to {high:g}, got {number:g}")
        parameters[key] = number if key == "deviations" else int(number)
    if kind == "macd" and parameters.get("fast", 12) >= parameters.get("slow", 26):
        raise BadStrategy(f"indicator {name!r}: fast must be below slow")
    return name, kind, tuple(sorted(parameters.items()))


def _conditions(name: str, rows: Json, kinds: Mapping[str, str]) -> tuple[Condition, ...]:
    if not isinstance(rows, list) or len(rows) > MAX_CONDITIONS:
        raise BadStrategy(f"{name} must be a list of at most {MAX_CONDITIONS} conditions")
    made = []
    for row in rows:
        if not isinstance(row, Mapping) or set(row) != {"left", "op", "right"}:
            raise BadStrategy(f"{name}: a condition has exactly left, op and right")
        if row["op"] not in OPS:
            raise BadStrategy(f"{name}: op must be one of {', '.join(OPS)}")
        left, right = (_operand(name, row[side], kinds) for side in ("left", "right"))
        made.append(Condition(left, row["op"], right))
    return tuple(made)


def _operand(rule: str, value: Json, kinds: Mapping[str, str]) -> float | tuple[str, str]:
    if not isinstance(value, str):
        return _number(f"{rule}: an operand", value)
    name, _, part = value.partition(".")
    if name in PRICES and not part:
        return name, ""
    if name not in kinds:
        raise BadStrategy(f"{rule}: {value[:60]!r} is neither a price nor one of your indicators")
    parts = FIELDS.get(kinds[name], ())
    if parts and not part:
        part = parts[0]
    if part and part not in parts:
        raise BadStrategy(f"{rule}: {kinds[name]} has the parts {', '.join(parts) or 'none'}, not {part[:40]!r}")
    return name, part


def _number(what: str, value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadStrategy(f"{what} must be a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise BadStrategy(f"{what} must be a finite number")
    return number


def _within(what: str, value: Json, low: float, high: float) -> float:
    number = _number(what, value)
    if not low < number <= high:
        raise BadStrategy(f"{what} must be above {low:g} and at most {high:g}, got {number:g}")
    return number


def _optional(document: Mapping[str, Json], name: str, high: float) -> float | None:
    return None if document.get(name) is None else _within(name, document[name], 0.0, high)
