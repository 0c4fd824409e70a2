"""The FAB++ Alpha Score of a run: Role, debate, cost and look-ahead, as they were recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.record import UNSCORED, TaskRecord
from engine.scoring import score
from engine.scoring.intervals import Span, bounded
from engine.scoring.role import Role, role
from engine.scoring.statistics import Sample, clustered_mean
from evaluators.debate.verdict import LOST, PROVEN, Verdict


class DebateScore(NamedTuple):
    """The debates of a run.

    Attributes
    ----------
    tasks
        Tasks that were debated.
    verdicts
        How often each was given.
    true_objections, false_objections
        What was objected; a task whose answer stated no figure had neither.
    mean_multiplier
        1 where nothing was debated.
    se, ci95
        Clustered standard error and 95% interval; None where they are not known.
    """

    tasks: int
    verdicts: dict[Verdict, int]
    true_objections: int
    false_objections: int
    mean_multiplier: float
    se: float | None
    ci95: Span | None


class LookaheadPenalty(NamedTuple):
    """What looking ahead costs: refused and recorded attempts a scored task.

    Attributes
    ----------
    penalty
        Attempts over tasks; 0 without any.
    attempts, tasks_with_attempts, tasks
        Counts.
    """

    penalty: float
    attempts: int
    tasks_with_attempts: int
    tasks: int


class AlphaScore(NamedTuple):
    """Both forms of the Alpha Score, and what they are made of.

    Attributes
    ----------
    bounded
        Role x Debate / ((1 + ln(1 + Cost)) x (1 + LookaheadPenalty)): at most Role x Debate.
    paper
        As printed, Role x Debate / (ln(1 + Cost) x (1 + LookaheadPenalty)): None where the cost is 0.
    role, debate, lookahead
        The parts.
    cost_usd_per_task
        US dollars of all attempts over scored tasks, so that a longer run of the same agent has the same Alpha; None
        where a price is not known, and then there is no Alpha.
    """

    bounded: float | None
    paper: float | None
    role: Role
    debate: DebateScore
    lookahead: LookaheadPenalty
    cost_usd_per_task: float | None


def alpha_score(records: Sequence[TaskRecord], *, cost_usd: float | None) -> AlphaScore:
    """Return the Alpha Score of task records that cost ``cost_usd`` in all attempts; None where that is not known."""
    scored = [record for record in records if record["state"] not in UNSCORED]
    found, argued, ahead = role(records), debates(scored), lookahead_penalty(scored)
    cost = None if cost_usd is None or not scored else cost_usd / len(scored)
    if found.score is None or cost is None:
        return AlphaScore(None, None, found, argued, ahead, cost)
    bounded_form = score.alpha(
        role=found.score, debate=argued.mean_multiplier, cost_usd=cost, lookahead_penalty=ahead.penalty
    )
    paper = score.alpha_paper(
        role=found.score, debate=argued.mean_multiplier, cost_usd=cost, lookahead_penalty=ahead.penalty
    )
    return AlphaScore(bounded_form, paper, found, argued, ahead, cost)


def debates(records: Sequence[TaskRecord]) -> DebateScore:
    """Return what became of the debates in scored records."""
    rows: list[tuple[str, dict[str, Any]]] = [
        (record["family"], record["details"]["debate"]) for record in records if record["details"].get("debate")
    ]
    samples = [Sample(family, row["multiplier"]) for family, row in rows]
    estimate = clustered_mean(samples) if samples else None
    return DebateScore(
        tasks=len(rows),
        verdicts={verdict: sum(row["verdict"] == verdict for _, row in rows) for verdict in Verdict},
        true_objections=sum(row.get("true_objection") is True for _, row in rows),
        false_objections=sum(row.get("true_objection") is False for _, row in rows),
        # to the last digit: a mean of multipliers of 1.2 is 1.2
        mean_multiplier=1.0 if estimate is None else round(estimate.value, 12),
        se=None if estimate is None else estimate.se,
        ci95=bounded(samples, low=LOST, high=PROVEN) if samples else None,
    )


def lookahead_penalty(records: Sequence[TaskRecord]) -> LookaheadPenalty:
    """Return the penalty of scored records."""
    attempts = sum(record["lookahead_attempts"] for record in records)
    guilty = sum(record["lookahead_attempts"] > 0 for record in records)
    return LookaheadPenalty(attempts / len(records) if records else 0.0, attempts, guilty, len(records))
