"""Play policies through debated tasks and add up what they get, with the debate and without."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from engine.record import State
from engine.scoring.alpha import DebateScore, debates
from engine.scoring.score import SectionScore, summarize
from evaluators import registry
from evaluators.contract import SECTIONS, Case, Score
from evaluators.debate.session import Debate, debated
from tests.debates.policies import Policy

DATASETS = ("fundamentals", "bizfinbench", "synthetic", "options")
WEIGHTS = dict.fromkeys(SECTIONS, 0.2)


class Played(NamedTuple):
    """One policy over all tasks: overall score without and with the debate, and the debates."""

    off: SectionScore
    on: SectionScore
    argued: DebateScore
    records: list[dict[str, Any]]


@functools.cache
def drawn(count: int, seed: int) -> tuple[Case, ...]:
    """Return ``count`` tasks that can be debated, as many of each dataset."""
    cases: list[Case] = []
    for name in DATASETS:
        options = {"task_types": ["financial_quantitative_computation"]} if name == "bizfinbench" else {}
        able = [case for case in registry.get(name).draw(seed=seed, count=count, options=options) if case.dispute]
        cases += able[: count // len(DATASETS)]
    return tuple(cases)


def conversation(case: Case, policy: type[Policy], *, seed: int) -> Iterator[tuple[Debate, dict[str, Any] | None]]:
    """Yield the session and each message after a reply; the last is None."""
    session = debated(case, seed=seed).open()
    assert isinstance(session, Debate)
    agent = policy(session, random.Random(f"{seed} {case.task.task_id} {policy.__name__}"))
    message: dict[str, Any] | None = session.opening()
    while message is not None:
        message = session.reply(agent.reply(message))
        yield session, message


def scored(case: Case, policy: type[Policy], *, seed: int) -> Score:
    """Return the score of one debated task."""
    *_, (session, _) = conversation(case, policy, seed=seed)
    return session.score()


def play(policy: type[Policy], *, count: int, seed: int) -> Played:
    """Play ``count`` tasks."""
    records = [_record(case, scored(case, policy, seed=seed)) for case in drawn(count, seed)]
    before: Sequence[Any] = [row | {"value": row["details"]["debate"]["value_before"]} for row in records]
    after: Sequence[Any] = records
    return Played(summarize(before, WEIGHTS)[0], summarize(after, WEIGHTS)[0], debates(after), records)


def _record(case: Case, score: Score) -> dict[str, Any]:
    task = case.task
    return {
        "section": task.section,
        "dataset": task.dataset,
        "family": task.family,
        "state": State.PASSED if score.passed else State.FAILED,
        "value": score.value,
        "passed": score.passed,
        "details": dict(score.details),
    }
