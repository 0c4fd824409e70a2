"""Agents of known worth on the tasks that a config draws: whether each section measures what it should."""

from __future__ import annotations

from engine.config import RunConfig
from engine.plan import sampling
from evaluators import validity
from evaluators.contract import SECTIONS, Case
from evaluators.judge import RubricSession, gullible
from evaluators.judge.settings import read_settings


def validate(config: RunConfig, seed: int) -> list[validity.Finding]:
    """Return what agents of known worth earn in each section.

    Tasks that go to a judge are tried with one that obeys any order: the rules of code alone have to hold.
    """
    with gullible.serving() as judge:
        sampled = config.sampling.model_copy(update={"seed": seed})
        cases = sampling.draw(config.model_copy(update={"sampling": sampled, "judge": read_settings(judge)}))
        found: list[validity.Finding] = []
        for section in SECTIONS:
            mine = [case for case in cases if case.task.section == section]
            judged = [case for case in mine if _is_judged(case)]
            marked = [case for case in mine if case not in judged]
            if marked:
                found += validity.findings(section, marked)
            if judged:
                found += validity.gullible_findings(section, judged)
    return found


def _is_judged(case: Case) -> bool:
    return isinstance(case.open(), RubricSession)
