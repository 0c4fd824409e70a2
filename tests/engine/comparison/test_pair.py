"""Two runs on the same tasks: differences, their uncertainty, and what is never paired."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.stats

from engine.comparison import pair, words
from engine.comparison.pair import compare
from engine.errors import ConfigError
from engine.scoring.statistics import minimum_detectable_difference
from tests.engine.comparison.runs import ANALYSIS, CRYPTO, KNOWLEDGE, played, record


def test_one_section_of_independent_tasks_is_scipys_paired_t_test():
    generator = np.random.default_rng(1)
    first, second = generator.normal(60, 20, 25), generator.normal(50, 20, 25)
    found = compare(
        played([record(i, value) for i, value in enumerate(first)]),
        played([record(i, value) for i, value in enumerate(second)], "b"),
    )
    oracle = scipy.stats.ttest_rel(first, second)
    low, high = oracle.confidence_interval()
    assert found.overall.n == 25
    assert found.overall.difference == pytest.approx(np.mean(first - second))
    assert found.overall.p_value == pytest.approx(oracle.pvalue, rel=1e-9)
    assert pair.span(found.overall) == pytest.approx((low, high), rel=1e-9)
    assert found.sections[KNOWLEDGE].difference == found.overall
    assert found.sections[KNOWLEDGE].p_holm == pytest.approx(oracle.pvalue, rel=1e-9)


def test_the_overall_difference_weighs_the_sections_and_takes_welchs_degrees_of_freedom():
    # differences 10, 20, 30: mean 20, variance of the mean 100/3, 2 degrees of freedom; and 0, 4: 2, 4, 1
    first = [
        record(0, 60),
        record(1, 70),
        record(2, 80),
        record(3, 50, section=ANALYSIS),
        record(4, 54, section=ANALYSIS),
    ]
    second = [record(i, 50, section=row["section"]) for i, row in enumerate(first)]
    weights = {KNOWLEDGE: 0.3, ANALYSIS: 0.1, CRYPTO: 0.6}
    found = compare(played(first, weights=weights), played(second, "b", weights=weights))
    assert found.overall.difference == pytest.approx(0.75 * 20 + 0.25 * 2)
    parts = 0.75**2 * 100 / 3, 0.25**2 * 4
    assert found.overall.se == pytest.approx(math.sqrt(sum(parts)))
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 1)
    assert found.overall.half_width == pytest.approx(scipy.stats.t.ppf(0.975, freedom) * math.sqrt(sum(parts)))
    both = [row.difference.p_value for row in found.sections.values()]
    assert [row.p_holm for row in found.sections.values()] == pytest.approx(
        [min(1, 2 * both[0]), max(both[1], 2 * both[0])]
    )


def market(number, values, **given):
    samples = [{"family": f"window-{number}-{i}", "value": value} for i, value in enumerate(values)]
    details = {"samples": samples, "transform": "noisy"}
    return record(number, float(np.mean(values)), section=CRYPTO, details=details, **given)


def test_windows_of_a_market_are_paired_one_by_one():
    first, second = [market(0, [10, 30]), market(1, [20, 0])], [market(0, [0, 10]), market(1, [10, 10])]
    found = compare(played(first), played(second, "b"))
    oracle = scipy.stats.ttest_rel([10, 30, 20, 0], [0, 10, 10, 10])
    assert (found.overall.difference, found.overall.n) == (7.5, 2)
    assert found.overall.p_value == pytest.approx(oracle.pvalue)
    assert found.transforms["noisy"].difference == found.overall


def test_an_agent_that_broke_has_its_one_value_against_every_window():
    broken = record(0, 0.0, section=CRYPTO, state="agent_error")
    found = compare(played([market(0, [10, 30])]), played([broken], "b"))
    assert found.overall.p_value == pytest.approx(scipy.stats.ttest_1samp([10, 30], 0).pvalue)
    back = compare(played([broken]), played([market(0, [10, 30])], "b"))
    assert back.overall.difference == -found.overall.difference and back.overall.se == found.overall.se


def test_tasks_without_a_score_and_markets_drawn_afresh_are_not_paired():
    first = [record(0, 100), record(1, 100), record(2, 100, draw=2), record(3, 100, state="infra_unavailable")]
    second = [record(0, 0), record(1, 50), record(2, 0), record(3, 0)]
    found = compare(played(first), played(second, "b"))
    assert [one.first["task_id"] for one in found.pairs] == ["task-0", "task-1"]
    assert found.overall.difference == 75.0


def test_what_a_task_gains_twice_counts_twice_and_what_one_run_alone_played_does_not():
    twice = pair.common([record(0, 1), record(0, 2)], [record(0, 3), record(0, 4), record(0, 5)])
    assert [(one["value"], other["value"]) for one, other in twice] == [(1, 3), (2, 4)]


def test_mcnemars_exact_test_looks_at_the_tasks_that_one_passed_alone():
    first = [100] * 5 + [0] + [100] * 4
    second = [0] * 5 + [100] + [100] * 4
    found = compare(
        played([record(i, v) for i, v in enumerate(first)]), played([record(i, v) for i, v in enumerate(second)], "b")
    )
    # two-sided binomial, 1 of 6: 2 (1 + 6) / 64
    assert found.passes == (4, 5, 1, 0, pytest.approx(0.21875))


def test_equal_runs_have_no_difference_and_one_family_has_no_error_bar():
    rows = [record(i, 40.0 + i) for i in range(4)]
    same = compare(played(rows), played(rows, "b"))
    assert (same.overall.difference, same.overall.p_value, same.tasks_to_tell) == (0.0, 1.0, None)
    one = compare(played([record(0, 100)]), played([record(0, 0)], "b"))
    assert (one.overall.difference, one.overall.se, one.overall.p_value) == (100.0, None, None)
    assert not one.differ
    assert words.verdict(one) == "a and b: nothing can be told, a section has tasks of one family only; play more tasks"


def test_a_debate_is_compared_with_none_for_one_agent_only():
    on = played([record(1, 60.0), record(2, 40.0)], debated=True)
    off = played([record(1, 50.0), record(2, 50.0)])
    assert compare(on, off).overall.difference == 0.0
    with pytest.raises(ConfigError, match="debate: runs/a holds debates and runs/b does not"):
        compare(played([record(1, 50.0)], "b"), on)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": {KNOWLEDGE: 1.0}}, "weights: .* weigh the sections otherwise"),
        ({"data_hashes": {"fundamentals@1.2:0": "other"}}, "fundamentals: .* other data or another version"),
        ({"records": [record(7, 1.0)]}, "share no task with a score"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        compare(played([record(0, 1.0)]), dataclasses.replace(played([record(0, 2.0)], "b"), **change))


def agents(generator, *, better=0.0, families=20, each=2):
    """Draw two runs of agents whose scores differ by ``better`` points on average; families are harder or easier."""
    rows = ([], [])
    for section in (KNOWLEDGE, ANALYSIS):
        hard = generator.normal(0, 15, families)
        taste = generator.normal(0, 8, (2, families))
        for number in range(families * each):
            family = number % families
            for who, run in enumerate(rows):
                value = 50 + hard[family] + taste[who, family] + generator.normal(0, 20) + (better if who == 0 else 0)
                given = {"section": section, "family": f"{section}-{family}", "task_id": f"{section}-{number}"}
                run.append(record(0, value, **given))
    return played(rows[0]), played(rows[1], "b")


def test_an_agent_is_told_apart_from_itself_in_5_percent_of_comparisons():
    generator = np.random.default_rng(11)
    found = [compare(*agents(generator)).differ for _ in range(600)]
    # binomial standard error of 600 trials at 0.05: 0.009
    assert 0.03 <= np.mean(found) <= 0.07


def test_a_known_difference_is_found_with_the_stated_power():
    generator = np.random.default_rng(12)
    pilot = [compare(*agents(generator)).overall.se for _ in range(50)]
    stated = minimum_detectable_difference(float(np.sqrt(np.mean(np.square(pilot)))))
    found = [compare(*agents(generator, better=stated)).differ for _ in range(400)]
    # binomial standard error 0.02; Student's t costs about one point against the normal quantiles of the formula
    assert 0.74 <= np.mean(found) <= 0.85


def test_the_tasks_said_to_be_enough_are_enough():
    generator = np.random.default_rng(13)
    few = compare(*agents(generator, better=4.0, families=10))
    assert not few.differ and few.tasks_to_tell > few.overall.n
    expected = few.overall.n * (pair.detectable(few.overall) / few.overall.difference) ** 2
    assert few.tasks_to_tell == math.ceil(expected)


def test_where_nothing_varies_the_sign_test_is_on_the_families_that_differ():
    same = [record(i, 50, section=ANALYSIS) for i in range(10, 40)]
    found = compare(
        played([record(0, 100), record(1, 100), *same]), played([record(0, 0), record(1, 0), *same], "b")
    ).overall
    # two families of one sign: 2 x 2^-2
    assert (found.difference, found.p_value) == (50.0, 0.5)
    up, down = ([record(i, value) for i in range(4)] for value in (51.0, 50.0))
    low, high = ([record(i, value, section=ANALYSIS) for i in range(4, 8)] for value in (50.0, 50.9))
    mixed = compare(played(up + low), played(down + high, "b"))
    assert (mixed.overall.difference, mixed.overall.p_value) == (pytest.approx(0.05), None)
    assert words.verdict(mixed) == (
        "a and b: nothing can be told, sections differ both ways, each without any spread; play more tasks"
    )


def test_a_constant_difference_on_few_tasks_is_said_as_what_it_is():
    found = compare(
        played([record(i, v) for i, v in enumerate((80.1, 60.3, 40.7))]),
        played([record(i, v) for i, v in enumerate((70.1, 50.3, 30.7))], "b"),
    )
    assert pair.detectable(found.overall) is None and found.tasks_to_tell is None
    assert words.verdict(found) == (
        "a and b cannot be told apart: difference +10.0 points without any spread, but 3 tasks are too few (p 0.250)"
    )


def test_the_transforms_do_not_depend_on_who_comes_first():
    whole, broken = market(0, [10, 30]), record(0, 0.0, section=CRYPTO, state="agent_unavailable")
    for first, second in ((whole, broken), (broken, whole)):
        found = compare(played([first]), played([second], "b"))
        assert found.transforms["noisy"].difference.n == 1


def test_sections_without_weight_alone_cannot_be_compared():
    weights = {KNOWLEDGE: 0.0, ANALYSIS: 1.0}
    with pytest.raises(ConfigError, match="the common tasks are of knowledge_retrieval, which have no weight"):
        compare(played([record(0, 1.0)], weights=weights), played([record(0, 2.0)], "b", weights=weights))
