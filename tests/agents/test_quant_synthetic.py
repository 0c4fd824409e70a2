"""What the offline quant earns in the synthetic questions: by level, in known wordings and in those held back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import ModuleType

import pytest

from evaluators import registry
from evaluators.contract import DIFFICULTIES
from evaluators.validity import converse

Importer = Callable[[str, str], ModuleType]


def earned(program: Importer, level: str, wordings: str, count: int) -> float:
    """Return the mean score of its reading and its formulas, without tools."""
    analytical, toolbox = program("quant", "questions.analytical"), program("quant", "mcp_toolbox").Toolbox({})
    options = {"difficulties": [level], "wordings": wordings}

    def answer(body: object) -> str:
        return asyncio.run(analytical.answer(body, toolbox)) or "I do not know."

    cases = registry.get("synthetic").draw(seed=31, count=count, options=options)
    return sum(converse(case, answer)[0].value for case in cases) / count


def test_quant_does_not_live_on_wordings_and_earns_little_where_questions_are_hard(program: Importer) -> None:
    scores = {
        (level, wordings): earned(program, level, wordings, 132)
        for level in DIFFICULTIES
        for wordings in ("usual", "held_back")
    }
    print({" ".join(key): round(value, 1) for key, value in scores.items()})
    assert scores["expert", "usual"] < 15 and scores["expert", "held_back"] < 15
    for level in DIFFICULTIES:
        assert abs(scores[level, "usual"] - scores[level, "held_back"]) <= 10


@pytest.mark.parametrize(
    "text",
    [
        "rate of tax | profit\n--- | ---\n25% | $3 million\nWhat is left?",
        "rate of tax; profit\n25%; $3 million",
        "Known are profit and the rate of tax: in this order $3 million and 25%. What is left?",
        "We have profit and rate of tax; from the last of these to the first: 25%; $3,000,000.",
    ],
)
def test_names_and_figures_that_stand_apart_are_put_together(program: Importer, text: str) -> None:
    read = program("quant", "reading.labelled").values_of(text, {"profit": "profit before tax", "t": "tax rate"})
    assert read == {"profit": 3e6, "t": 0.25}, json.dumps(read)
