"""Agents of known worth on the tasks that a config draws: whether each section measures what it should."""

from __future__ import annotations

from engine.config import RunConfig
from engine.plan import sampling
from evaluators import registry, validity
from evaluators.contract import SECTIONS
from evaluators.judge import RubricDataset


def validate(config: RunConfig, seed: int) -> tuple[list[validity.Finding], list[str]]:
    """Return what agents of known worth earn in each section, and the datasets that were left out.

    Datasets whose tasks go to a judge are left out: their rules are tried with judges that obey any order, in tests.
    """
    sampled = config.model_copy(update={"sampling": config.sampling.model_copy(update={"seed": seed})})
    cases = sampling.draw(sampled)
    left_out = sorted({case.task.dataset for case in cases if _is_judged(case.task.dataset)})
    found: list[validity.Finding] = []
    for section in SECTIONS:
        mine = [case for case in cases if case.task.section == section and case.task.dataset not in left_out]
        if mine:
            found += validity.findings(section, mine)
    return found, left_out


def _is_judged(dataset: str) -> bool:
    return isinstance(registry.get(dataset), RubricDataset)
