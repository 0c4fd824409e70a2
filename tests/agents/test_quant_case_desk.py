"""The quant's desk for cases: what textbook rules earn on the casebook, by level and in texts that are held back."""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from evaluators import registry
from evaluators.contract import DIFFICULTIES
from evaluators.validity import converse

Importer = Callable[[str, str], ModuleType]
CASEBOOK = registry.get("casebook")


@pytest.fixture
def reply(program: Importer) -> Callable[[dict[str, Any]], str]:
    toolbox, desk = program("quant", "mcp_toolbox").Toolbox({}), program("quant", "desks.case_desk")
    return lambda body: asyncio.run(desk.answer(body, toolbox)) or "I do not know."


def means(reply: Callable[[dict[str, Any]], str], **options: Any) -> dict[str, float]:
    scores: dict[str, list[float]] = {level: [] for level in DIFFICULTIES}
    for case in CASEBOOK.draw(seed=42, count=450, options=options):
        scores[str(case.task.difficulty)].append(converse(case, reply)[0].value)
    return {level: statistics.fmean(values) for level, values in scores.items()}


def test_what_rules_earn_falls_with_the_level_and_is_the_same_in_held_back_texts(reply) -> None:
    usual, held_back = means(reply), means(reply, wordings="held_back")
    assert usual["easy"] > usual["hard"] + 5 > usual["expert"] + 10 and usual["expert"] < 15
    assert all(abs(usual[level] - held_back[level]) < 10 for level in DIFFICULTIES)


@pytest.mark.parametrize(
    "table",
    [
        "lot  size  price\na    50    $10.00\nb    100   $40.00",
        "| lot | size | price |\n| --- | --- | --- |\n| a | 50 | $10.00 |\n| b | 100 | $40.00 |",
        "lot; size; price\na; 50; $10.00\nb; 100; $40.00",
        "- a: size 50, price $10.00\n- b: size 100, price $40.00",
        "For a, size was 50 and price was $10.00. For b, size was 100 and price was $40.00.",
    ],
)
def test_a_table_is_read_in_every_form(reply, table: str) -> None:
    asked = {"average_cost_usd": {"type": "number", "description": "average cost of a share held, in dollars"}}
    body = {"question": f"Two lots.\n\n{table}\n\nWhat does one cost?", "answer_schema": {"properties": asked}}
    assert json.loads(reply(body)) == {"average_cost_usd": 30.0}


def test_what_no_rule_gives_is_left_out(reply) -> None:
    asked = {
        "average_cost_usd": {"type": "number", "description": "average cost of a share"},
        "else": {"type": "number"},
    }
    assert reply({"question": "No table here.", "answer_schema": {"properties": asked}}) == "I do not know."
