"""The unified score: sections, weights, overall, and the two FAB++ scores (formulas numbered as in the papers)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.record import JUDGED, UNSCORED, TaskRecord
from engine.scoring import intervals
from engine.scoring.intervals import Part, Span
from engine.scoring.statistics import Sample, clustered_mean
from evaluators.contract import SECTIONS, Section

FULL_MARKS = 100.0
AROUND_ZERO: frozenset[Section] = frozenset({"crypto_trading"})
"""Sections whose values are skill around zero, without a lower bound; all others lie in [0, 100]."""


class SectionScore(NamedTuple):
    """One section of a run.

    Attributes
    ----------
    score
        Mean over the scored tasks, clipped to [0, 100] (TraderBench eq. 1); None without a scored task.
    se, ci95
        Clustered standard error and 95% interval; None when fewer than two families were played.
    n
        Scored tasks (an agent's failure is a scored 0).
    total
        All tasks of the section, with those that a failure of the harness left without a score.
    passed
        Passed tasks.
    weight
        Weight in the overall score, after redistribution over the sections that have a score (eq. 2); 0 without one.
    bounds
        The score if every task that is missing had 0, and if it had 100. A scored task that met slow tool calls of
        the harness counts its own value below and 100 above: it may have cost the agent its answer.
    """

    score: float | None
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
    """The weighted sum of the section scores (eq. 3): None where no section that has weight has a score.

    ``bounds`` keep every section with its weight in the plan: what has no score is 0 in the lower, 100 in the upper.
    """

    score: float | None
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


def summarize(
    records: Sequence[TaskRecord], weights: Mapping[Section, float]
) -> tuple[OverallScore, dict[Section, SectionScore]]:
    """Return the overall score and the section scores of a run's task records."""
    groups = {section: [r for r in records if r["section"] == section] for section in SECTIONS}
    active = [section for section in SECTIONS if groups[section]]
    # a shard may hold nothing but sections without weight: it has no overall score
    weighty = any(weights.get(section, 0.0) > 0.0 for section in active)
    planned = redistribute(weights, active) if weighty else dict.fromkeys(active, 0.0)
    having = [section for section in active if planned[section] > 0.0 and any(map(_is_scored, groups[section]))]
    share = redistribute(weights, having) if having else {}
    sections = {section: _section(section, groups[section], share.get(section, 0.0)) for section in active}
    parts = [
        Part(item.weight, item.score, item.ci95 if len(having) == 1 else _span_to_add(section, groups[section]))
        for section, item in sections.items()
        if item.score is not None
    ]
    span = intervals.weighted_sum(parts) if having else None
    overall = OverallScore(
        score=math.fsum(part.weight * part.value for part in parts) if having else None,
        se=_quadrature(sections.values()) if having else None,
        ci95=None if span is None else (clip(span[0]), clip(span[1])),
        n=sum(item.n for item in sections.values()),
        total=sum(item.total for item in sections.values()),
        passed=sum(item.passed for item in sections.values()),
        bounds=(
            math.fsum(planned[section] * item.bounds[0] for section, item in sections.items()),
            math.fsum(planned[section] * item.bounds[1] for section, item in sections.items())
            if weighty
            else FULL_MARKS,
        ),
    )
    return overall, sections


def _quadrature(sections: Iterable[SectionScore]) -> float | None:
    """Return the standard error of the weighted sum; None when that of a section with weight is unknown."""
    total = 0.0
    for item in sections:
        if item.weight == 0.0:
            continue
        if item.se is None:
            return None
        total = math.hypot(total, item.weight * item.se)
    return total


def interval_of(section: Section, samples: Sequence[Sample]) -> Span | None:
    """Return the 95% interval of a section's mean, cut to the 0-100 scale; None with fewer than two families."""
    if section in AROUND_ZERO:
        return intervals.around_zero(samples, low=0.0, high=FULL_MARKS)
    return intervals.bounded(samples, low=0.0, high=FULL_MARKS)


def _span_to_add(section: Section, records: Sequence[TaskRecord]) -> Span | None:
    """Return the limits of a section as the interval of the overall score takes them."""
    samples = _samples([record for record in records if _is_scored(record)])
    if section in AROUND_ZERO:
        return interval_of(section, samples)
    return intervals.addable(samples, low=0.0, high=FULL_MARKS)


def _samples(records: Iterable[TaskRecord]) -> list[Sample]:
    return [sample for record in records for sample in samples_of(record)]


def samples_of(record: TaskRecord) -> list[Sample]:
    """Return a task's observations: its own value, or the finer ones its evaluator recorded in ``details.samples``.

    Finer observations (the windows of a crypto task) weigh one task together, so the mean is the same; only the
    standard error sees that they are many.
    """
    finer = record.get("details", {}).get("samples") if record["state"] in JUDGED else None
    if not finer:
        return [Sample(record["family"], record["value"])]
    return [Sample(item["family"], item["value"], 1.0 / len(finer)) for item in finer]


def _is_scored(record: TaskRecord) -> bool:
    return record["state"] not in UNSCORED


def _section(section: Section, records: Sequence[TaskRecord], weight: float) -> SectionScore:
    scored = [record for record in records if _is_scored(record)]
    total = math.fsum(record["value"] for record in scored)
    samples = _samples(scored)
    sure = [record["value"] for record in scored if not record.get("slow_tool_calls")]
    most = math.fsum(sure) + (len(records) - len(sure)) * FULL_MARKS
    return SectionScore(
        score=clip(total / len(scored)) if scored else None,
        se=clustered_mean(samples).se if samples else None,
        ci95=interval_of(section, samples) if samples else None,
        n=len(scored),
        total=len(records),
        passed=sum(bool(record["passed"]) for record in scored),
        weight=weight,
        bounds=(clip(total / len(records)), clip(most / len(records))),
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
