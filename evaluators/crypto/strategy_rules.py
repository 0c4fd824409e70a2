"""Declarative strategies: the JSON an agent writes, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evaluators.contract import Json
from evaluators.crypto.columns import CHANNELS
from evaluators.crypto.strategy_formulas import FORMULAS, HOURS

Op: TypeAlias = Literal[">", "<", ">=", "<=", "crosses_above", "crosses_below"]
OPS: tuple[Op, ...] = (">", "<", ">=", "<=", "crosses_above", "crosses_below")
Operand: TypeAlias = float | tuple[str, str]
"""A number, or (name, part) with an empty part for single values."""
Parameter: TypeAlias = float | tuple[float, ...] | tuple[str, str]
PRICES = ("open", "high", "low", "close", "volume", "funding_rate", "move", "range", "hour")
"""Series of the candles; ``move`` and ``hour`` as in ``evaluators.crypto.columns``, ``range`` its high less its low."""
SERIES = tuple(CHANNELS)
"""Series that a venue of simulated markets shows beside them, in the units of ``evaluators.crypto.columns``."""
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
MAX_INDICATORS, MAX_CONDITIONS, MAX_SIZE = 16, 8, 3.0

_OPERAND: dict[str, Json] = {
    "anyOf": [{"type": "number"}, {"type": "string", "description": "a series, an indicator, or indicator.part"}]
}
_KEYS: dict[str, Json] = {
    **{name: {"type": "number"} for name in sorted({key for ranges in INDICATORS.values() for key in ranges})},
    **{name: {"type": "number"} for each in FORMULAS.values() for name, _, _ in each.numbers},
    **{name: _OPERAND for each in FORMULAS.values() for name in each.operands},
    "values": {"type": "array", "items": {"type": "number"}, "minItems": HOURS, "maxItems": HOURS},
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
                "properties": {"type": {"enum": [*INDICATORS, *FORMULAS]}, **_KEYS},
            },
        },
        **{name: _CONDITIONS for name in RULES},
        "size": {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_SIZE},
        "rebalance": {"type": "boolean"},
        "volatility_target": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 10},
        "stop_loss": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "take_profit": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 10},
    },
}
"""JSON schema of the answer."""


def answer_format(*, channels: bool) -> str:
    """Return how a strategy is written; ``channels`` says whether the markets show more than candles."""
    shown = f", {', '.join(SERIES)}" if channels else ""
    formulas = "; ".join(
        f"{name}({', '.join(kind.keys)}): {kind.text}" if kind.keys else f"{name}: {kind.text}"
        for name, kind in FORMULAS.items()
    )
    return (
        "Answer with one JSON object and nothing else. indicators: a name of your own -> {type, parameters}. "
        "enter_long, exit_long, enter_short, exit_short: lists of conditions {left, op, right} that must all hold "
        "after a bar's close; an empty list never fires. An operand is a number, a series of the bar (open, high, low, "
        "close, volume, funding_rate, move from open to close and "
        f"range from low to high in basis points, hour of its open{shown}), one of your "
        "indicators, or indicator.part (macd: line, signal, histogram; bollinger and donchian: middle, upper, lower; "
        "adx: adx, plus, minus). Besides indicators of the candles there are formulas, whose of, by and plus are "
        f"operands, indicators among them that are written before: {formulas}. Nothing holds that is not known yet. "
        "size: notional as a multiple of equity, at most 3. Optional: volatility_target (per year; size is then scaled "
        "to it, at most size), stop_loss and take_profit as fractions of the close at entry, rebalance (true: an "
        "entry that holds while the position is open brings it back to its size, false: it is left alone). Orders are "
        "filled at the next bar's open."
    )


class BadStrategy(ValueError):
    """The answer is no strategy; the message says what is wrong with it."""


@dataclass(frozen=True)
class Condition:
    """A comparison of two operands."""

    left: Operand
    op: Op
    right: Operand


@dataclass(frozen=True)
class StrategySpec:
    """A checked strategy.

    Attributes
    ----------
    indicators
        (name, type, parameters) of each, in the order of writing; parameters as sorted pairs.
    enter_long, exit_long, enter_short, exit_short
        Conditions that must all hold; none never holds.
    size
        Multiple of equity.
    volatility_target
        Per year, or None.
    stop_loss, take_profit
        Fractions of the close at entry, or None.
    rebalance
        Whether an entry that holds again brings the position back to its size.
    """

    indicators: tuple[tuple[str, str, tuple[tuple[str, Parameter], ...]], ...]
    enter_long: tuple[Condition, ...]
    exit_long: tuple[Condition, ...]
    enter_short: tuple[Condition, ...]
    exit_short: tuple[Condition, ...]
    size: float
    volatility_target: float | None
    stop_loss: float | None
    take_profit: float | None
    rebalance: bool = False


def read_strategy(document: Mapping[str, Json], *, channels: bool = False) -> StrategySpec:
    """Return the strategy of a JSON object.

    Parameters
    ----------
    channels
        Whether the markets show :data:`SERIES` beside their candles.

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
    series = (*PRICES, *(SERIES if channels else ()))
    kinds: dict[str, str] = {}
    made = []
    for name, body in given.items():
        made.append(_indicator(name, body, series, kinds))
        kinds[name] = made[-1][1]
    rules = {name: _conditions(name, document[name], series, kinds) for name in RULES}
    return StrategySpec(
        indicators=tuple(made),
        size=_within("size", document["size"], 0.0, MAX_SIZE),
        volatility_target=_optional(document, "volatility_target", 10.0),
        stop_loss=_optional(document, "stop_loss", 0.999),
        take_profit=_optional(document, "take_profit", 10.0),
        rebalance=_flag(document, "rebalance"),
        **rules,
    )


def _indicator(
    name: Json, body: Json, series: tuple[str, ...], kinds: Mapping[str, str]
) -> tuple[str, str, tuple[tuple[str, Parameter], ...]]:
    if not isinstance(name, str) or not name.isidentifier() or name in (*PRICES, *SERIES) or len(name) > 40:
        raise BadStrategy(f"indicator name {str(name)[:40]!r} must be a plain word that is no price and no series")
    kind = body.get("type") if isinstance(body, Mapping) else None
    if isinstance(kind, str) and kind in INDICATORS:
        parameters = _numbers(name, kind, body)
    elif isinstance(kind, str) and kind in FORMULAS:
        parameters = _formula(name, kind, body, series, kinds)
    else:
        raise BadStrategy(f"indicator {name!r}: type must be one of {', '.join((*INDICATORS, *FORMULAS))}")
    return name, kind, tuple(sorted(parameters.items()))


def _numbers(name: str, kind: str, body: Mapping[str, Json]) -> dict[str, Parameter]:
    """Return the parameters of an indicator of the candles."""
    ranges = INDICATORS[kind]
    parameters: dict[str, float] = {}
    for key, value in body.items():
        if key == "type":
            continue
        if key not in ranges:
            raise BadStrategy(f"indicator {name!r}: {kind} takes {', '.join(ranges) or 'no parameters'}, not {key!r}")
        parameters[key] = _ranged(name, key, value, *ranges[key], whole=key != "deviations")
    if kind == "macd" and parameters.get("fast", 12) >= parameters.get("slow", 26):
        raise BadStrategy(f"indicator {name!r}: fast must be below slow")
    return dict(parameters)


def _formula(
    name: str, kind: str, body: Mapping[str, Json], series: tuple[str, ...], kinds: Mapping[str, str]
) -> dict[str, Parameter]:
    """Return the operands and numbers of a formula, with its defaults."""
    formula = FORMULAS[kind]
    for key in body:
        if key != "type" and key not in formula.keys:
            raise BadStrategy(
                f"indicator {name!r}: {kind} takes {', '.join(formula.keys) or 'no parameters'}, not {key!r}"
            )
    given = dict(formula.defaults) | {key: value for key, value in body.items() if key != "type"}
    missing = [key for key in formula.keys if key not in given]
    if missing:
        raise BadStrategy(f"indicator {name!r}: {kind} needs {', '.join(missing)}")
    found: dict[str, Parameter] = {
        key: _operand(f"indicator {name!r}: {key}", given[key], series, kinds) for key in formula.operands
    }
    for key, low, high in formula.numbers:
        found[key] = _ranged(name, key, given[key], low, high, whole=key in formula.whole)
    if formula.hours:
        rows = given["values"]
        if not isinstance(rows, list) or len(rows) != HOURS:
            raise BadStrategy(f"indicator {name!r}: values must be a list of {HOURS} numbers, one for each hour")
        found["values"] = tuple(_number(f"indicator {name!r}: values", value) for value in rows)
    return found


def _ranged(name: str, key: str, value: Json, low: float, high: float, *, whole: bool) -> float:
    number = _number(f"indicator {name!r}: {key}", value)
    if not low <= number <= high or (whole and number != int(number)):
        kind = "a whole number " if whole and low <= number <= high else ""
        raise BadStrategy(f"indicator {name!r}: {key} must be {kind}from {low:g} to {high:g}, got {number:g}")
    return int(number) if whole else number


def _conditions(name: str, rows: Json, series: tuple[str, ...], kinds: Mapping[str, str]) -> tuple[Condition, ...]:
    if not isinstance(rows, list) or len(rows) > MAX_CONDITIONS:
        raise BadStrategy(f"{name} must be a list of at most {MAX_CONDITIONS} conditions")
    made = []
    for row in rows:
        if not isinstance(row, Mapping) or set(row) != {"left", "op", "right"}:
            raise BadStrategy(f"{name}: a condition has exactly left, op and right")
        if row["op"] not in OPS:
            raise BadStrategy(f"{name}: op must be one of {', '.join(OPS)}")
        left, right = (_operand(f"{name}: an operand", row[side], series, kinds) for side in ("left", "right"))
        made.append(Condition(left, row["op"], right))
    return tuple(made)


def _operand(where: str, value: Json, series: tuple[str, ...], kinds: Mapping[str, str]) -> Operand:
    if not isinstance(value, str):
        return _number(where, value)
    rule = where.removesuffix(": an operand")
    name, _, part = value.partition(".")
    if name in series and not part:
        return name, ""
    if name in SERIES and not part:
        raise BadStrategy(f"{rule}: {name} is told on simulated venues only; here are {', '.join(series)}")
    if name not in kinds:
        raise BadStrategy(
            f"{rule}: {value[:60]!r} is neither a price nor one of your indicators (a formula reads those before it)"
        )
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


def _flag(document: Mapping[str, Json], name: str) -> bool:
    value = document.get(name, False)
    if not isinstance(value, bool):
        raise BadStrategy(f"{name} must be true or false")
    return value
