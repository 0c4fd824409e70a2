"""Several judges on one reply: each asked and probed by itself, what more than half of them say counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluators.contract import Json, JudgeUnavailable
from evaluators.judge.judging import Finding, Judged, Stored, as_details, judge_reply
from evaluators.judge.rubric import Criterion
from evaluators.judge.settings import JudgeSettings

VERDICTS = "panel"
"""Where the details keep what each judge said."""


def judge_by_all(
    reply: str, *, task: str, criteria: Sequence[Criterion], settings: JudgeSettings | None, earlier: Mapping[str, Json]
) -> tuple[Judged, dict[str, Json]]:
    """Return the findings of the panel and their stored form; one judge alone is a panel of one.

    A judge that does not answer leaves the task unscored: a smaller panel would be another one.

    Raises
    ------
    JudgeUnavailable
        A judge is needed and one of them cannot be had, or the rubric needs more calls than a task may take.
    """
    if settings is None or not settings.panel:
        _refuse_too_many(criteria, settings, judges=1)
        alone = judge_reply(reply, task=task, criteria=criteria, settings=settings, stored=Stored(earlier))
        return alone, as_details(alone, settings)
    members = settings.members()
    _refuse_too_many(criteria, settings, judges=len(members))
    stored = earlier.get(VERDICTS) or [{}] * len(members)
    if len(stored) != len(members):
        stored = [{}] * len(members)
    said = [
        judge_reply(reply, task=task, criteria=criteria, settings=member, stored=Stored(known))
        for member, known in zip(members, stored, strict=True)
    ]
    together = _together(said)
    details = as_details(together, settings) | {
        VERDICTS: [as_details(one, member) for one, member in zip(said, members, strict=True)],
        "agreement": agreement(said),
    }
    return together, details


def _refuse_too_many(criteria: Sequence[Criterion], settings: JudgeSettings | None, *, judges: int) -> None:
    cap = None if settings is None else settings.max_calls_per_task
    if cap is not None and len(criteria) * judges > cap:
        raise JudgeUnavailable(
            f"the rubric has {len(criteria)} criteria for {judges} judges, more calls than judge.max_calls_per_task "
            f"allows, which is {cap}"
        )


def _together(said: Sequence[Judged]) -> Judged:
    """Return what more than half say; a judge that the reply misled says of every criterion that it is not met."""
    verdicts = [one.met() for one in said]
    findings: list[Finding] = []
    for place, first in enumerate(said[0].findings):
        if first.by == "code":
            findings.append(first)
            continue
        votes = [verdict[first.criterion] for verdict in verdicts]
        met = 2 * sum(votes) > len(votes)
        shown = next(
            (one.findings[place] for one, vote in zip(said, votes, strict=True) if vote == met),
            first,
        )
        findings.append(replace(shown, met=met, why=f"{sum(votes)} of {len(votes)} judges: met", key=""))
    return Judged(
        tuple(findings),
        # nothing is left to take back: what a misled judge said is counted as not met above
        False,
        said[0].removed,
        sum(one.calls for one in said),
        sum(one.probes for one in said),
        any(one.temperature_refused for one in said),
        None if any(one.cost_usd is None for one in said) else math.fsum(one.cost_usd or 0.0 for one in said),
    )


def agreement(said: Sequence[Judged]) -> dict[str, Json]:
    """Return how many judges say of each judged criterion that it is met; :func:`fleiss_kappa` reads that."""
    asked = [finding.criterion for finding in said[0].findings if finding.by == "judge"]
    verdicts = [one.met() for one in said]
    votes = [sum(verdict[name] for verdict in verdicts) for name in asked]
    return {"judges": len(said), "criteria": len(asked), "votes": votes}


def fleiss_kappa(votes: Sequence[int], judges: int) -> float | None:
    """Return Fleiss' kappa of yes-or-no verdicts: 1 for full agreement, 0 for as much as chance gives.

    Parameters
    ----------
    votes
        For each criterion how many of the judges say that it is met.

    Returns
    -------
    float or None
        None where it says nothing: no criterion, one judge, or one verdict throughout.
    """
    if not votes or judges < 2:
        return None
    pairs = judges * (judges - 1)
    observed = sum(yes * (yes - 1) + (judges - yes) * (judges - yes - 1) for yes in votes) / (pairs * len(votes))
    share = sum(votes) / (judges * len(votes))
    chance = share**2 + (1.0 - share) ** 2
    return None if chance == 1.0 else (observed - chance) / (1.0 - chance)
