"""Arithmetic: formulas as text, evaluated in the Python sandbox where there is one and here otherwise."""

from __future__ import annotations

import ast
import json
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from mcp_toolbox import Toolbox, ToolFailure

_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "abs": abs,
    "min": min,
    "max": max,
}


def evaluate(expression: str, values: Mapping[str, float]) -> float | None:
    """Return the value of an arithmetic expression; None where it has none (division by zero, unknown name).

    Numbers are floats throughout, so no power can run for ever, and nothing but arithmetic is understood: parts of
    the expression come from the question.
    """
    try:
        value = _value(ast.parse(expression.replace("^", "**").strip(), mode="eval").body, values)
    except (ArithmeticError, ValueError, KeyError, SyntaxError, TypeError, RecursionError):
        return None
    return value if math.isfinite(value) else None


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.Name):
        return float(values[node.id])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, values)
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return float(FUNCTIONS[node.func.id](*(_value(argument, values) for argument in node.args)))
    raise ValueError(f"not arithmetic: {ast.dump(node)[:80]}")


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
