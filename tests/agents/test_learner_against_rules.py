"""The learner against quant's rules of the published message, on the markets of one run of the config offline."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

import pytest

from engine import config
from engine.comparison import pair
from engine.plan import sampling
from engine.record import TaskRecord
from engine.scoring import statistics
from evaluators.contract import Case, Score

Importer = Callable[[str, str], ModuleType]


def played(case: Case, reply: Callable[[dict[str, Any]], dict[str, Any]]) -> Score:
    session = case.open()
    body: dict[str, Any] | None = session.opening()
    while body is not None:
        body = session.reply(json.dumps(reply(body)))
    return session.score()


def record(case: Case, score: Score) -> TaskRecord:
    return cast(
        "TaskRecord",
        {
            "state": "passed" if score.passed else "failed",
            "task_id": case.task.task_id,
            "section": case.task.section,
            "family": case.task.family,
            "value": score.value,
            "passed": score.passed,
            "details": dict(score.details),
        },
    )


@pytest.mark.campaign
def test_it_beats_rules_that_learn_nothing_in_one_run_of_the_config_offline(program: Importer) -> None:
    """The rules know the published message alone, as quant did, and are sent it: one message an episode and bar."""
    trading, learner = program("quant", "desks.trading"), program("learner", "market_learner")
    cases = [case for case in sampling.draw(config.load("offline")) if case.task.dataset == "crypto"]
    assert len(cases) == 12
    pairs = []
    for case in cases:
        student, rules = learner.Learner(), trading.Trader()
        taught = played(case, student.reply)
        ruled = played(case, lambda body, rules=rules: rules.reply(body, "c"))
        assert taught.details["invalid_decisions"] == ruled.details["invalid_decisions"] == 0
        pairs.append(pair.Pair(record(case, taught), record(case, ruled)))
    found = statistics.tested(pair.by_section(pairs)["crypto_trading"], n=len(pairs))
    assert found.difference > 15.0
    assert found.p_value is not None and found.p_value < 0.001
