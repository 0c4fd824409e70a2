"""The unified score: sections, weights, overall, and the two FAB++ scores (formulas numbered as in the papers)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engine.statistics import Estimate, Sample, clustered_mean, interval, weighted_sum
from evaluators.contract import SECTIONS, Section

FULL_MARKS = 100.0
UNSCORED = ("infra_unavailable", "not_run")
"""States of a task that has no score because of the harness, not of the agent."""


class SectionScore(NamedTuple):
    """One section of a run.

    Attributes
    ----------
    score
        Mean over the scored tasks, clipped to [0, 100] (TraderBench eq. 1).
    se, ci95
        Clustered standard error and 95% interval; None when fewer than two families were played.
    n
        Scored tasks (an agent's failure is a scored 0).
    total
        All tasks of the section, with those that a failure of the harness left without a score.
    passed
        Passed tasks.
    weight
        Weight after redistribution over the active sections (eq. 2).
    bounds
        The score if every task that is missing had 0, and if it had 100.
    """

    score: float
    se: float | None
    ci95: tuple[float, float] | None
    n: int
    total: int
    passed: int
    weight: float
    bounds: tuple[float, float]

    @property
    def pass_rate(self) -> float:
        """Return passed tasks / all tasks (V5)."""
        return self.passed / self.total


class OverallScore(NamedTuple):
    """The weighted sum of the section scores (eq. 3)."""

    score: float
    se: float | None
    ci95: tuple[float, float] | None
    n: int
    total: int
    passed: int
    bounds: tuple[float, float]

    @property
    def pass_rate(self) -> float:
        """Return passed tasks / all tasks (V5)."""
        return self.passed / self.total


def redistribute(weights: Mapping[Section, float], active: Sequence[Section]) -> dict[Section, float]:
    """Return the weights of the active sections, scaled to sum to 1 (eq. 2).

    Raises
    ------
    ValueError
        When the active sections have no weight at all.
    """
    total = math.fsum(weights.get(section, 0.0) for section in active)
    if not total > 0:
        raise ValueError(f"weights: the active sections {', '.join(active)} have no weight; give one a positive weight")
    return {section: weights.get(section, 0.0) / total for section in active}


def overall_value(sections: Mapping[Section, float], weights: Mapping[Section, float]) -> float:
    """Return the overall score of plain section scores (eq. 2 and 3)."""
    share = redistribute(weights, list(sections))
    return math.fsum(share[name] * value for name, value in sections.items())


def summarize(
    records: Sequence[Mapping[str, Any]], weights: Mapping[Section, float]
) -> tuple[OverallScore, dict[Section, SectionScore]]:
    """Return the overall score and the section scores of a run's task records."""
    groups = {section: [r for r in records if r["section"] == section] for section in SECTIONS}
    active = [section for section in SECTIONS if groups[section]]
    share = redistribute(weights, active)
    estimates: dict[Section, Estimate] = {}
    sections: dict[Section, SectionScore] = {}
    for section in active:
        estimates[section] = _estimate(groups[section])
        sections[section] = _section(groups[section], estimates[section], share[section])
    order = list(sections)
    total = weighted_sum([estimates[name] for name in order], [share[name] for name in order])
    score = math.fsum(share[name] * sections[name].score for name in order)
    overall = OverallScore(
        score=score,
        se=total.se,
        ci95=interval(Estimate(score, total.se, total.degrees_of_freedom)),
        n=sum(item.n for item in sections.values()),
        total=sum(item.total for item in sections.values()),
        passed=sum(item.passed for item in sections.values()),
        bounds=(
            math.fsum(share[name] * sections[name].bounds[0] for name in order),
            math.fsum(share[name] * sections[name].bounds[1] for name in order),
        ),
    )
    return overall, sections


def _estimate(records: Sequence[Mapping[str, Any]]) -> Estimate:
    scored = [record for record in records if record["state"] not in UNSCORED]
    if not scored:
        return Estimate(0.0, None, None)
    return clustered_mean(sample for record in scored for sample in samples_of(record))


def samples_of(record: Mapping[str, Any]) -> list[Sample]:
    """Return a task's observations: its own value, or the finer ones its evaluator recorded in ``details.samples``.

    Finer observations (the windows of a crypto task) weigh one task together, so the mean is the same; only the
    standard error sees that they are many.
    """
    finer = record.get("details", {}).get("samples") if record["state"] in ("passed", "failed") else None
    if not finer:
        return [Sample(record["family"], record["value"])]
    return [Sample(item["family"], item["value"], 1.0 / len(finer)) for item in finer]


def _section(records: Sequence[Mapping[str, Any]], estimate: Estimate, weight: float) -> SectionScore:
    scored = [record for record in records if record["state"] not in UNSCORED]
    mean = math.fsum(record["value"] for record in scored) / len(scored) if scored else 0.0
    missing = len(records) - len(scored)
    total = math.fsum(record["value"] for record in scored)
    return SectionScore(
        score=clip(mean),
        se=estimate.se,
        ci95=interval(estimate._replace(value=mean)),
        n=len(scored),
        total=len(records),
        passed=sum(bool(record["passed"]) for record in scored),
        weight=weight,
        bounds=(clip(total / len(records)), clip((total + missing * FULL_MARKS) / len(records))),
    )


def clip(value: float) -> float:
    """Return a value cut to the 0-100 scale; done once, on a section's mean."""
    return min(FULL_MARKS, max(0.0, value))


def role_score(*, macro: float, fundamental: float, execution: float) -> float:
    """Return the FAB++ Role Score, each part on 0-100 (FAB++ eq. 1)."""
    return 0.30 * macro + 0.40 * fundamental + 0.30 * execution


def alpha(*, role: float, debate: float = 1.0, cost_usd: float = 0.0, lookahead_penalty: float = 0.0) -> float:
    """Return the bounded Alpha Score: Role x Debate / ((1 + ln(1 + Cost)) x (1 + LookaheadPenalty))."""
    _check_alpha(debate, cost_usd, lookahead_penalty)
    return role * debate / ((1.0 + math.log1p(cost_usd)) * (1.0 + lookahead_penalty))


def alpha_paper(
    *, role: float, debate: float = 1.0, cost_usd: float = 0.0, lookahead_penalty: float = 0.0
) -> float | None:
    """Return the printed Alpha Score (FAB++ eq. 2), which diverges as the cost goes to 0: None when the cost is 0."""
    _check_alpha(debate, cost_usd, lookahead_penalty)
    if cost_usd == 0.0:
        return None
    return role * debate / (math.log1p(cost_usd) * (1.0 + lookahead_penalty))


def _check_alpha(debate: float, cost_usd: float, lookahead_penalty: float) -> None:
    if not 0.8 <= debate <= 1.2:
        raise ValueError(f"debate multiplier must lie in [0.8, 1.2], got {debate!r}")
    if not 0.0 <= cost_usd < math.inf:
        raise ValueError(f"cost_usd must be finite and not negative, got {cost_usd!r}")
    if not 0.0 <= lookahead_penalty < math.inf:
        raise ValueError(f"lookahead_penalty must be finite and not negative, got {lookahead_penalty!r}")
