"""Arithmetic: formulas as text, evaluated in the Python sandbox where there is one and here otherwise."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from mcp_toolbox import Toolbox, ToolFailure

FUNCTIONS = {"exp": math.exp, "log": math.log, "sqrt": math.sqrt, "abs": abs, "min": min, "max": max}


def evaluate(expression: str, values: Mapping[str, float]) -> float | None:
    """Return the value of a formula of this agent's own book; None where it has none (division by zero, log of 0)."""
    try:
        value = eval(expression.replace("^", "**"), {"__builtins__": {}}, FUNCTIONS | dict(values))
    except (ArithmeticError, ValueError, NameError):
        return None
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


async def evaluate_all(formulas: Mapping[str, str], values: Mapping[str, float], toolbox: Toolbox) -> dict[str, float]:
    """Return the value of every formula that has one, computed in the sandbox and checked here."""
    here = {name: evaluate(formula, values) for name, formula in formulas.items()}
    known = {name: value for name, value in here.items() if value is not None}
    if not known or "sandbox" not in toolbox.urls:
        return known
    lines = ["import json", "from math import exp, log, sqrt"]
    lines += [f"{name} = {value!r}" for name, value in values.items()]
    lines += [f"result_{row} = {formulas[name].replace('^', '**')}" for row, name in enumerate(known)]
    lines.append(f"print(json.dumps([{', '.join(f'result_{row}' for row in range(len(known)))}]))")
    try:
        printed = await run_python("\n".join(lines), toolbox)
        there = json.loads(printed.strip().splitlines()[-1])
    except (ToolFailure, ValueError, IndexError):
        return known
    if not isinstance(there, list) or len(there) != len(known):
        return known
    return {name: float(value) for name, value in zip(known, there, strict=True)}


async def run_python(code: str, toolbox: Toolbox) -> str:
    """Run code in the sandbox and return what it printed."""
    tools = await toolbox.tools("sandbox")
    for tool in tools:
        arguments = _code_arguments(tool.input_schema, code)
        if arguments is not None:
            result = await toolbox.call("sandbox", tool.name, **arguments)
            return str(result.get("stdout", result.get("output", result.get("text", ""))))
    raise ToolFailure("the sandbox offers no tool that takes code")


def _code_arguments(schema: dict[str, Any], code: str) -> dict[str, Any] | None:
    for name in ("code", "source", "script"):
        if name in schema.get("properties", {}) and set(schema.get("required", [])) <= {name}:
            return {name: code}
    return None
