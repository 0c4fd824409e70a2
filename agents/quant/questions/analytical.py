"""Answer a question whose inputs are listed: find the textbook formula of each asked figure and compute it."""

from __future__ import annotations

import json
import keyword
from typing import Any

from mcp_toolbox import Toolbox

from questions.formula_book import Given, find
from reading.calculator import evaluate_all
from reading.labelled import values_of
from reading.message import context_of
from reading.schema import asked_figures, formula_places, put


def given_quantities(body: dict[str, Any]) -> list[Given]:
    """Return the quantities listed under ``inputs`` in the context; where no value is listed, the text is read for it.

    None are returned where any of them has no value.
    """
    listed = context_of(body).get("inputs")
    if not isinstance(listed, dict):
        return []
    told = {name: entry for name, entry in listed.items() if isinstance(entry, str)}
    read = values_of(str(body.get("question", "")), told) if told else {}
    found = []
    for name, entry in listed.items():
        value, meaning = (entry.get("value"), entry.get("meaning", "")) if isinstance(entry, dict) else (entry, "")
        if name in told:
            value, meaning = read.get(name), told[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and str(name).isidentifier() and not keyword.iskeyword(str(name)):
            found.append(Given(str(name), f"{str(name).replace('_', ' ')}: {meaning}", float(value)))
    return found


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the reply as JSON; None when nothing that is asked for is in the book."""
    schema, given = body.get("answer_schema"), given_quantities(body)
    if not isinstance(schema, dict) or not given:
        return None
    asked = asked_figures(schema)
    values = {item.name: item.value for item in given}
    formulas = {path: formula for path, text in asked.items() if (formula := _formula(text, body, given, len(path)))}
    keys = {".".join(path): formula for path, formula in formulas.items()}
    results = await evaluate_all(keys, values, toolbox)
    reply: dict[str, Any] = {}
    for path in formulas:
        key = ".".join(path)
        if key in results:
            put(reply, path, written(results[key], asked[path]))
    for path in formula_places(schema):
        main = min(formulas, key=len, default=None)
        if main is not None:
            put(reply, path, formulas[main])
    return json.dumps(reply) if reply else None


def _formula(text: str, body: dict[str, Any], given: list[Given], depth: int) -> str | None:
    """Return the formula of a figure. The main figure may be described by the question itself."""
    figure = text.split(", ")[0]
    found = find(figure, given)
    if found is None and depth == 1:
        found = find(str(body.get("question", "")).split("\n")[0].rsplit(". ", 1)[-1], given)
    return found


def written(value: float, description: str) -> str | float:
    """Return a figure in the unit that its description names."""
    return f"{value * 100:.8g}%" if "percentage" in description else float(f"{value:.10g}")
