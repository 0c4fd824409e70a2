"""Everything that is sent to an agent is searched for the answers to what it is asked."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.agent.builtin import start
from engine.run.execute import Limits, execute
from engine.run.tool_access import ToolAccess
from evaluators import registry
from evaluators.contract import Case
from mcp_servers.access import Grant, new_key

TEXT_DATASETS = ("fundamentals", "bizfinbench", "synthetic", "options", "professional")
LEAST_DIGITS = 5
LIMITS = Limits(task_time_s=60.0, turn_time_s=60.0, max_turns=4, max_tool_calls=10, max_tokens=None, max_cost_usd=None)
KEY = new_key()


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


def answers(gold: str) -> set[str]:
    """Return the figures of a perfect reply that are too long to stand in a question by chance.

    Inputs that a perfect reply repeats (a strike, a date, a share count) are short or round and do not count.
    """
    try:
        parts = list(leaves(json.loads(gold)))
    except ValueError:
        parts = [gold.rsplit("Final answer:", 1)[-1]]
    numbers = re.findall(r"\d+\.\d+", " ".join(str(part) for part in parts if not isinstance(part, bool)))
    return {number for number in numbers if len(number.replace(".", "").strip("0")) >= LEAST_DIGITS}


def sent_for(cases: Sequence[Case], record: Path) -> list[str]:
    """Return the message that an agent received about each case."""
    no_tools = ToolAccess({}, KEY, {})

    async def run() -> None:
        async with start("null", arguments=("--record", str(record)), apart=False) as agent:
            for number, case in enumerate(cases):
                grant = Grant("run", f"task {number}", case.task.as_of, seed=1)
                playable = Case(replace(case.task, servers=()), case.open)
                await execute(playable, public_id=str(number), grant=grant, agent=agent, tools=no_tools, limits=LIMITS)

    asyncio.run(run())
    return [json.loads(line)["received"] for line in record.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", TEXT_DATASETS)
def test_no_figure_of_the_gold_answer_is_sent(name: str, tmp_path: Path) -> None:
    cases = list(registry.get(name).draw(seed=11, count=4, options={}))
    searched = 0
    for case, text in zip(cases, sent_for(cases, tmp_path / "received"), strict=True):
        assert case.task.question.split("\n")[0] in json.loads(text)["question"]
        session = case.open()
        session.opening()
        wanted = answers(session.oracle())
        searched += len(wanted)
        leaked = {figure for figure in wanted if re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d)", text)}
        assert not leaked, (case.task.task_id, leaked)
    assert searched or name == "bizfinbench"


def test_the_signing_key_is_never_sent(tmp_path: Path) -> None:
    (case,) = registry.get("synthetic").draw(seed=1, count=1, options={})
    (text,) = sent_for([case], tmp_path / "received")
    assert KEY.hex() not in text
