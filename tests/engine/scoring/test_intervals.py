import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from engine.report import charts, page
from engine.scoring import intervals, score
from engine.scoring.intervals import Part
from engine.scoring.statistics import Sample
from evaluators.contract import SECTIONS


def samples_of(values, sizes):
    families = [str(family) for family, size in enumerate(sizes) for _ in range(size)]
    return [Sample(family, float(value)) for family, value in zip(families, values, strict=True)]


def test_eight_of_eight_is_not_certain_and_neither_is_none_of_eight():
    # by hand: 0 and nine times 100 have mean 90 and standard error 10, as 0.9 x 0.1 / 0.1^2 = 9 tasks; less two is 7
    low, high = scipy.stats.binomtest(7, 7).proportion_ci(method="wilson")
    assert intervals.bounded(samples_of([100.0] * 8, [1] * 8)) == pytest.approx((100.0 * low, 100.0 * high))
    assert intervals.bounded(samples_of([0.0] * 8, [1] * 8)) == pytest.approx((0.0, 100.0 - 100.0 * low))


@pytest.mark.parametrize(("solved", "tries"), [(0, 5), (3, 7), (19, 20), (50, 50)])
def test_wilsons_interval_is_that_of_scipy(solved, tries):
    oracle = scipy.stats.binomtest(solved, tries).proportion_ci(method="wilson")
    assert intervals.wilson(solved / tries, tries) == pytest.approx((oracle.low, oracle.high))


def test_a_scale_may_begin_anywhere():
    values = [30.0, 80.0, 55.0, 100.0, 20.0]
    low, high = intervals.bounded(samples_of(values, [1] * 5))
    moved = intervals.bounded(samples_of([value - 50.0 for value in values], [1] * 5), low=-50.0, high=50.0)
    assert moved == pytest.approx((low - 50.0, high - 50.0))
    assert intervals.bounded(samples_of([0.3, 0.8, 0.55, 1.0, 0.2], [1] * 5), low=0.0, high=1.0) == pytest.approx(
        (low / 100.0, high / 100.0)
    )


def test_two_families_are_as_good_as_one_try():
    # 0, 0, 0 and 100 have mean 25 and standard error 25: 25 x 75 / 25^2 = 3 tasks, less two
    low, high = scipy.stats.binomtest(0, 1).proportion_ci(method="wilson")
    assert intervals.bounded(samples_of([0.0, 0.0], [1, 1])) == pytest.approx((100.0 * low, 100.0 * high))


@pytest.mark.parametrize("value", [0.5, 60.0])
def test_equal_skill_within_the_scale_is_as_uncertain_as_equal_marks(value):
    samples = samples_of([value] * 8, [1] * 8)
    # 0, 100 and eight equal values: mean and standard error by numpy, then Wilson's interval by scipy's formula
    joined = np.array([0.0, 100.0, *[value] * 8])
    tasks = joined.mean() * (100.0 - joined.mean()) / scipy.stats.sem(joined) ** 2 - 2.0
    z, share = scipy.stats.norm.ppf(0.975), value / 100.0
    roots = np.roots([1.0 + z**2 / tasks, -2.0 * share - z**2 / tasks, share**2])
    assert intervals.around_zero(samples) == pytest.approx((100.0 * min(roots), 100.0 * max(roots)))


def test_who_solves_more_has_no_lower_limits():
    spans = [intervals.bounded(samples_of([100.0] * n + [0.0] * (28 - n), [2] * 14)) for n in range(29)]
    assert all(a[0] < b[0] and a[1] <= b[1] for a, b in itertools.pairwise(spans))


def test_partial_marks_that_scatter_little_are_known_better_than_solved_or_not():
    steady = intervals.bounded(samples_of([45.0, 55.0] * 10, [1] * 20))
    rough = intervals.bounded(samples_of([0.0, 100.0] * 10, [1] * 20))
    assert steady[1] - steady[0] < 0.5 * (rough[1] - rough[0])


def test_copies_within_a_family_do_not_narrow_the_interval():
    once = intervals.bounded(samples_of([100.0] * 5, [1] * 5))
    assert intervals.bounded(samples_of([100.0] * 20, [4] * 5)) == pytest.approx(once)


def test_what_is_added_is_students_t_with_the_ends_beside_the_sample():
    # mean of 0 and nine times 100 is 90, sample deviation sqrt(1000), standard error 10, t with 9 degrees
    half = scipy.stats.t.ppf(0.975, 9) * 10.0
    assert intervals.addable(samples_of([100.0] * 8, [1] * 8)) == pytest.approx((90.0 - half, 100.0))
    assert intervals.addable(samples_of([100.0, 0.0], [2])) is None


def test_one_family_has_no_interval():
    assert intervals.bounded(samples_of([100.0, 0.0], [2])) is None
    assert intervals.around_zero(samples_of([100.0, 0.0], [2])) is None


@given(st.lists(st.tuples(st.floats(0.0, 100.0), st.integers(1, 4)), min_size=2, max_size=30))
def test_a_bounded_interval_holds_the_mean_lies_on_the_scale_and_has_width(families):
    sizes = [size for _, size in families]
    values = np.repeat([value for value, _ in families], sizes)
    low, high = intervals.bounded(samples_of(values, sizes))
    assert 0.0 <= low <= values.mean() + 1e-9 and values.mean() - 1e-9 <= high <= 100.0
    assert high - low > 100.0 / (len(sizes) + 2)


def test_skill_with_spread_keeps_students_t():
    values = [12.0, -3.0, 7.0, 0.5, -1.0]
    low, high = scipy.stats.t.interval(0.95, 4, np.mean(values), scipy.stats.sem(values))
    assert intervals.around_zero(samples_of(values, [1] * 5)) == pytest.approx((low, high))
    assert intervals.around_zero(samples_of(values, [1] * 5), low=0.0, high=100.0) == pytest.approx((0.0, high))


@pytest.mark.parametrize("value", [0.0, -2.5, 1 / 3])
def test_skill_without_spread_is_as_uncertain_as_so_many_equal_windows(value):
    low, high = intervals.around_zero(samples_of([value] * 64, [1] * 64))
    assert low <= value < high
    assert 3.0 < high - low < 8.0


def test_dust_on_equal_values_is_no_spread():
    """Before, one value of 1e-9 among zeros cut the interval from (0, 32.6) to (0, 4e-10)."""
    dusty = intervals.around_zero(samples_of([0.0] * 7 + [1e-9], [1] * 8))
    assert dusty == pytest.approx(intervals.around_zero(samples_of([0.0] * 8, [1] * 8)), abs=1e-6)
    assert dusty[1] > 30.0
    # a spread that is small and real stays Student's t
    low, high = intervals.around_zero(samples_of([0.0] * 7 + [1e-3], [1] * 8))
    assert low < 0.0 < high < 1e-3


def test_equal_distances_add_in_quadrature_and_unequal_ones_stay_unequal():
    assert intervals.weighted_sum([Part(0.5, 50.0, (44.0, 56.0)), Part(0.5, 50.0, (42.0, 58.0))]) == (45.0, 55.0)
    # below: sqrt(3^2 + 4^2) / 2, above: nothing
    assert intervals.weighted_sum([Part(0.5, 100.0, (94.0, 100.0)), Part(0.5, 100.0, (92.0, 100.0))]) == (95.0, 100.0)


def test_the_sum_has_no_interval_where_a_part_with_weight_has_none():
    assert intervals.weighted_sum([Part(0.5, 50.0, (40.0, 60.0)), Part(0.5, 50.0, None)]) is None
    assert intervals.weighted_sum([Part(1.0, 50.0, (40.0, 60.0)), Part(0.0, 50.0, None)]) == (40.0, 60.0)


def record(section, value, family):
    return {"section": section, "value": value, "state": "failed", "passed": False, "family": family, "details": {}}


@pytest.mark.parametrize("value", [0.0, 100.0])
def test_a_run_at_the_end_of_the_scale_has_intervals_of_some_width_everywhere(value):
    rows = [record(section, value, str(family)) for section in SECTIONS for family in range(8)]
    overall, sections = score.summarize(rows, dict.fromkeys(SECTIONS, 0.2))
    assert overall.score == value
    for each in (overall, *sections.values()):
        assert each.se == 0.0
        assert each.ci95[0] <= value <= each.ci95[1]
    assert all(section.ci95[1] - section.ci95[0] > 30.0 for section in sections.values())
    # five equal sections: the distance of one, over sqrt(5)
    low, high = intervals.addable(samples_of([value] * 8, [1] * 8))
    crypto = sections["crypto_trading"].ci95
    width = math.sqrt((4.0 * (high - low) ** 2 + (crypto[1] - crypto[0]) ** 2) / 5.0)
    assert overall.ci95[1] - overall.ci95[0] == pytest.approx(width / math.sqrt(5.0))


def test_the_table_and_the_report_show_no_certainty_where_there_is_none():
    rows = [record("options_trading", 100.0, str(family)) for family in range(8)]
    overall, sections = score.summarize(rows, dict.fromkeys(SECTIONS, 0.2))
    # the only section is the overall score
    assert overall.ci95 == pytest.approx(sections["options_trading"].ci95)
    assert overall.ci95 == pytest.approx((64.566931, 100.0))
    windows = [{"family": f"w{i}", "value": 0.0} for i in range(16)]
    idle = record("crypto_trading", 0.0, "w") | {"details": {"transform": "noisy", "samples": windows}}
    name, value, span = page._skill("noisy", [idle])
    assert (name, value) == ("noisy", 0.0)
    assert span == pytest.approx(intervals.bounded(samples_of([0.0] * 16, [1] * 16)))
    drawn = charts.comparison([(name, value, span), ("meta", -4.0, (-9.0, 0.5)), ("none", 1.0, None)], unit="skill")
    assert drawn.startswith("<svg") and "Noisy" in drawn
