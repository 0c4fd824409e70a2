"""Agents ranked by their stored runs, with the ties that the data cannot break."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine import spending
from engine.comparison.pair import LEVEL, common, mean_difference, overall
from engine.comparison.played import Played
from engine.record import TaskRecord
from engine.report import results
from engine.scoring.alpha import AlphaScore, alpha_score
from engine.scoring.score import OverallScore, samples_of, summarize
from engine.scoring.statistics import Estimate, clustered_mean, holm
from evaluators.contract import SECTIONS, Section


@dataclass(frozen=True)
class Standing:
    """One agent on one benchmark.

    Attributes
    ----------
    agent, agent_digest
        Name, and digest of what the agent says about itself: one name with two digests is two agents.
    config, benchmark
        Name of the config, and the digest of all that scores depend on but the seed.
    score
        Over the tasks of all its runs.
    rank
        Lowest and highest place that the data allow: one more than the agents that are better, and the number of
        agents less those that are worse, each at the 5% level after Holm's correction over all pairs; None without a
        score.
    cost_usd, tokens, seconds, lookahead_attempts
        Of all its runs; the cost is None where some of it is not known.
    runs
        Number of runs.
    alpha
        Role, debate, look-ahead penalty and both Alpha Scores, over all its runs.
    """

    agent: str
    agent_digest: str
    config: str
    benchmark: str
    score: OverallScore
    rank: tuple[int, int] | None
    cost_usd: float | None
    tokens: int
    seconds: float
    lookahead_attempts: int
    runs: int
    alpha: AlphaScore


def leaderboard(runs: Sequence[Played]) -> list[Standing]:
    """Rank the agents of each benchmark; the best first, agents without a score last."""
    benchmarks: dict[str, dict[tuple[str, str], list[Played]]] = {}
    for run in runs:
        agents = benchmarks.setdefault(run.benchmark, {})
        agents.setdefault((run.agent, run.agent_digest), []).append(run)
    return [standing for agents in benchmarks.values() for standing in _ranked(list(agents.values()))]


def _ranked(agents: Sequence[list[Played]]) -> list[Standing]:
    having = [runs for runs in agents if _scored(runs)]
    better, worse = _told_apart(having)
    standings = [
        _standing(runs, rank=(1 + better[number], len(having) - worse[number])) for number, runs in enumerate(having)
    ]
    standings += [_standing(runs, rank=None) for runs in agents if not _scored(runs)]
    return sorted(standings, key=lambda row: -math.inf if row.score.score is None else row.score.score, reverse=True)


def _told_apart(agents: Sequence[list[Played]]) -> tuple[list[int], list[int]]:
    """Return how many agents are better, and how many are worse, than each."""
    pairs = list(itertools.combinations(range(len(agents)), 2))
    tests = [_difference(agents[one], agents[other]) for one, other in pairs]
    known = [(pair, *test) for pair, test in zip(pairs, tests, strict=True) if test is not None]
    better, worse = [0] * len(agents), [0] * len(agents)
    for ((one, other), value, _), p_value in zip(known, holm([test[2] for test in known]), strict=True):
        if p_value < LEVEL:
            above, beneath = (one, other) if value > 0.0 else (other, one)
            better[beneath] += 1
            worse[above] += 1
    return better, worse


def _difference(first: Sequence[Played], second: Sequence[Played]) -> tuple[float, float] | None:
    """Return the difference of two agents and its p value; None where it is not known."""
    ours, theirs, weights = _scored(first), _scored(second), first[0].weights
    sections = _by_section(ours, theirs)
    if not any(weights.get(section, 0.0) for section in sections):
        return None
    difference = overall(sections, weights, n=min(len(ours), len(theirs)))
    return None if difference.p_value is None else (difference.difference, difference.p_value)


def _scored(runs: Sequence[Played]) -> list[TaskRecord]:
    return [record for run in runs for record in run.scored]


def _by_section(first: Sequence[TaskRecord], second: Sequence[TaskRecord]) -> dict[Section, Estimate]:
    """Return the difference in each section that both agents have.

    It is paired where all tasks of one of them are tasks of the other, too, and else between the means (Welch): a few
    common tasks must not stand for all the others.
    """
    estimates: dict[Section, Estimate] = {}
    for section in SECTIONS:
        sides = [[row for row in rows if row["section"] == section] for rows in (first, second)]
        if not all(sides):
            continue
        pairs = common(*sides)
        if len(pairs) == min(map(len, sides)):
            estimates[section] = mean_difference(pairs)
            continue
        one, other = (clustered_mean(sample for row in rows for sample in samples_of(row)) for rows in sides)
        estimates[section] = _less(one, other)
    return estimates


def _less(one: Estimate, other: Estimate) -> Estimate:
    value = one.value - other.value
    if one.se is None or other.se is None or one.degrees_of_freedom is None or other.degrees_of_freedom is None:
        return Estimate(value, None, None)
    variances = one.se**2, other.se**2
    total = math.fsum(variances)
    if total == 0.0:
        # the permutation test on the families, put as the sign test of so many
        families = round(one.degrees_of_freedom) + 1, round(other.degrees_of_freedom) + 1
        return Estimate(value, 0.0, math.log2(math.comb(sum(families), families[0]) / 2.0))
    freedoms = one.degrees_of_freedom, other.degrees_of_freedom
    return Estimate(
        value,
        math.sqrt(total),
        total**2 / math.fsum(own**2 / free for own, free in zip(variances, freedoms, strict=True)),
    )


def _standing(runs: Sequence[Played], *, rank: tuple[int, int] | None) -> Standing:
    records = [record for run in runs for record in run.records]
    spent = spending.total([attempt["usage"] for attempt in results.attempts_of(record)] for record in records)
    score, _ = summarize(records, runs[0].weights)
    return Standing(
        agent=runs[0].agent,
        agent_digest=runs[0].agent_digest,
        config=runs[0].config,
        benchmark=runs[0].benchmark,
        score=score,
        rank=rank,
        cost_usd=spent["cost_usd"],
        tokens=sum(
            attempt["usage"]["input_tokens"] + attempt["usage"]["output_tokens"]
            for record in records
            for attempt in results.attempts_of(record)
        ),
        seconds=round(math.fsum(record["seconds"] for record in records), 1),
        lookahead_attempts=sum(record["lookahead_attempts"] for record in records),
        runs=len(runs),
        alpha=alpha_score(records, cost_usd=spent["cost_usd"]),
    )
