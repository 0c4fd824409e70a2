"""Agents ranked: places that the data allow, and nothing pooled that does not belong together."""

import numpy as np
import pytest
import scipy.stats

from engine.comparison import board
from engine.comparison.board import leaderboard
from tests.engine.comparison.runs import ANALYSIS, USAGE, played, record


def scores(mean, *, seed=0, tasks=20, first=0):
    values = np.random.default_rng(seed).normal(mean, 10, tasks)
    return [record(first + i, value) for i, value in enumerate(values)]


def test_places_that_the_data_cannot_tell_are_shared():
    found = leaderboard(
        [played(scores(20, seed=1), "c"), played(scores(80, seed=2), "a"), played(scores(79, seed=3), "b")]
    )
    assert [row.agent for row in found][2] == "c"
    assert [row.rank for row in found] == [(1, 2), (1, 2), (3, 3)]
    assert found[0].score.score > found[1].score.score > found[2].score.score


def test_agents_without_common_tasks_are_compared_by_welch():
    first, second = scores(60, seed=4), scores(52, seed=5, tasks=30, first=100)
    value, p_value = board._difference([played(first)], [played(second, "b")])
    ours, theirs = [row["value"] for row in first], [row["value"] for row in second]
    assert value == pytest.approx(np.mean(ours) - np.mean(theirs))
    assert p_value == pytest.approx(scipy.stats.ttest_ind(ours, theirs, equal_var=False).pvalue, rel=1e-9)


def test_common_tasks_tell_more_than_the_means_do():
    hard = np.random.default_rng(6).normal(50, 30, 30)
    rows = [[record(i, value + gap) for i, value in enumerate(hard)] for gap in (0.0, 5.0)]
    rows[1][0]["value"] += 1.0
    found = leaderboard([played(rows[0], "a"), played(rows[1], "b")])
    assert [(row.agent, row.rank) for row in found] == [("b", (1, 1)), ("a", (2, 2))]


def test_runs_of_an_agent_are_taken_together_and_other_benchmarks_and_agents_are_not():
    found = leaderboard(
        [
            played(scores(60, seed=1), "a", seed=1),
            played(scores(40, seed=2, first=50), "a", seed=2),
            played(scores(60, seed=3), "a", agent_digest="another"),
            played(scores(60, seed=4), "a", benchmark="two"),
        ]
    )
    assert [(row.benchmark, row.agent_digest, row.runs, row.score.total) for row in found] == [
        ("one", "another", 1, 20),
        ("one", "a", 2, 40),
        ("two", "a", 1, 20),
    ]


def test_costs_tokens_time_and_look_aheads_are_of_every_attempt():
    dear = record(1, 50.0, former=[{"usage": USAGE}], lookahead_attempts=3)
    (row,) = leaderboard([played([record(0, 50.0), dear])])
    assert (row.cost_usd, row.tokens, row.seconds, row.lookahead_attempts) == (1.5, 33, 4.0, 3)
    (row,) = leaderboard([played([record(0, 50.0, usage=USAGE | {"cost_known": False})])])
    assert row.cost_usd is None


def test_a_few_common_tasks_do_not_stand_for_all_the_others():
    known = [record(i, 60.0 + i % 3) for i in range(6)]
    ours = known + [record(i, 20.0 + i % 5, section=ANALYSIS) for i in range(10, 40)]
    theirs = [row | {"value": row["value"] - 10 + row["value"] % 2} for row in known]
    theirs += [record(i, 90.0 + i % 5, section=ANALYSIS) for i in range(50, 80)]
    found = leaderboard([played(ours), played(theirs, "b")])
    assert [(row.agent, row.rank) for row in found] == [("b", (1, 1)), ("a", (2, 2))]


def test_agents_that_never_vary_are_told_apart_by_the_permutations_of_their_families():
    value, p_value = board._difference(
        [played([record(i, 100.0) for i in range(4)])], [played([record(i, 0.0) for i in range(10, 14)], "b")]
    )
    # 2 of the 70 ways to choose 4 of 8 families are as extreme
    assert (value, p_value) == (100.0, pytest.approx(2 / 70))


def test_an_agent_without_a_score_comes_last_and_has_no_rank():
    missing = [record(i, 0.0, state="infra_unavailable") for i in range(5)]
    found = leaderboard([played(missing, "z"), played(scores(5, seed=1), "a")])
    assert [(row.agent, row.rank, row.score.score is None) for row in found] == [
        ("a", (1, 1), False),
        ("z", None, True),
    ]
