import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from engine.scoring import statistics
from engine.scoring.statistics import Estimate, Sample


@given(st.lists(st.floats(-100.0, 100.0), min_size=2, max_size=40))
def test_independent_samples_give_the_textbook_standard_error(values):
    estimate = statistics.clustered_mean(Sample(str(i), value) for i, value in enumerate(values))
    assert estimate.value == pytest.approx(np.mean(values), abs=1e-9)
    assert estimate.se == pytest.approx(np.std(values, ddof=1) / math.sqrt(len(values)), abs=1e-7)


def test_copies_within_a_family_add_no_certainty():
    once = statistics.clustered_mean([Sample("a", 0.0), Sample("b", 10.0), Sample("c", 50.0)])
    thrice = statistics.clustered_mean(
        [Sample(f, v) for f, v in (("a", 0.0), ("b", 10.0), ("c", 50.0)) for _ in range(3)]
    )
    assert thrice.value == pytest.approx(once.value)
    assert thrice.se == pytest.approx(once.se)


def test_one_family_has_no_standard_error():
    assert statistics.clustered_mean([Sample("a", 1.0), Sample("a", 3.0)]) == Estimate(2.0, None, None)


def test_a_sample_weighs_one_where_nothing_is_said():
    # two halves make one
    halves = [Sample("b", 100.0, 0.5), Sample("c", 100.0, 0.5)]
    assert statistics.clustered_mean([Sample("a", 0.0), *halves]).value == 50.0


def test_the_mean_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="no samples"):
        statistics.clustered_mean([])


def test_the_interval_is_students_t_cut_to_the_scale():
    estimate = Estimate(50.0, 10.0, 4.0)
    half = scipy.stats.t.ppf(0.975, 4) * 10.0
    assert statistics.interval(estimate) == pytest.approx((50.0 - half, 50.0 + half))
    assert statistics.interval(Estimate(98.0, 10.0, 4.0))[1] == 100.0
    assert statistics.interval(Estimate(2.0, 10.0, 4.0))[0] == 0.0
    for unknown in (Estimate(98.0, None, None), Estimate(98.0, 10.0, None), Estimate(98.0, None, 4.0)):
        assert statistics.interval(unknown) is None
        assert statistics.tested(unknown, n=5) == (98.0, None, None, None, 5)


def test_what_rounding_leaves_is_no_spread_and_a_hundredth_more_is():
    """Sums of numbers near 1,000 are off by up to 1e-9: a share of 1e-12, and of 1 where the mean is smaller."""
    for mean, dust in ((0.0, 1e-12), (0.5, 1e-12), (-1000.0, 1e-9), (1000.0, 1e-9)):
        assert statistics.without_spread(Estimate(mean, dust, 3.0)), mean
        assert not statistics.without_spread(Estimate(mean, 1.01 * dust, 3.0)), mean
    assert statistics.tested(Estimate(1e-12, 0.0, 3.0), n=4).p_value == 1.0
    assert statistics.tested(Estimate(2e-12, 0.0, 3.0), n=4).p_value == 0.125


def grouped(generator, families=12, size=4):
    """Return the cells of an agent: families that differ, tasks that differ within them."""
    effects = generator.normal(50.0, 10.0, size=families)
    cells = [(g, k, effects[g] + generator.normal(0.0, 5.0)) for g in range(families) for k in range(size)]
    return {f"{g}/{k}": Sample(str(g), value) for g, k, value in cells}


def test_the_clustered_interval_covers_the_truth_95_percent_of_the_time():
    generator = np.random.default_rng(7)
    spans = [
        statistics.interval(statistics.clustered_mean(grouped(generator).values()), low=-1e9, high=1e9)
        for _ in range(2000)
    ]
    # binomial standard error of 2,000 trials at 0.95: 0.005
    assert 0.93 <= np.mean([low <= 50.0 <= high for low, high in spans]) <= 0.97


def compared(first, second):
    """Return the tested mean of the differences, cell by cell, as a comparison and a sweep take it."""
    differences = [Sample(own.family, own.value - second[cell].value) for cell, own in first.items()]
    return statistics.tested(statistics.clustered_mean(differences), n=len(differences))


def test_two_agents_that_are_equally_good_are_told_apart_in_5_percent_of_comparisons():
    generator = np.random.default_rng(8)
    found = [compared(grouped(generator), grouped(generator)) for _ in range(2000)]
    # binomial standard error of 2,000 trials at 0.05: 0.005
    assert 0.035 <= np.mean([one.p_value < 0.05 for one in found]) <= 0.065
    assert 0.93 <= np.mean([abs(one.difference) <= one.half_width for one in found]) <= 0.97


def test_a_paired_difference_is_judged_by_scipys_paired_t_test():
    generator = np.random.default_rng(3)
    first, second = generator.normal(60, 10, 20), generator.normal(55, 10, 20)
    result = compared(
        {str(i): Sample(str(i), v) for i, v in enumerate(first)},
        {str(i): Sample(str(i), v) for i, v in enumerate(second)},
    )
    oracle = scipy.stats.ttest_rel(first, second)
    assert result.difference == pytest.approx(np.mean(first - second))
    assert result.p_value == pytest.approx(oracle.pvalue, rel=1e-9)
    assert result.n == 20


def test_an_adjusted_p_value_is_at_most_one():
    assert statistics.holm([0.7, 0.6]) == [1.0, 1.0]


def test_holm_matches_the_example_worked_by_hand():
    # sorted 0.005, 0.01, 0.03, 0.04 -> times 4, 3, 2, 1, running maximum
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_minimum_detectable_difference_of_a_two_sided_test():
    # (1.959964 + 0.841621) x se
    assert statistics.minimum_detectable_difference(2.0) == pytest.approx(5.603170, abs=1e-5)


@pytest.mark.parametrize(("gap", "p_value"), [(100.0, 2.0**-7), (-1 / 3, 2.0**-7), (0.0, 1.0)])
def test_equal_differences_are_judged_by_their_signs_and_have_no_interval(gap, p_value):
    # eight families of one sign: two-sided sign test, 2 x (1/2)^8
    first = {str(i): Sample(str(i), 7.0 * i + gap) for i in range(8)}
    second = {str(i): Sample(str(i), 7.0 * i) for i in range(8)}
    result = compared(first, second)
    assert result.difference == pytest.approx(gap, abs=1e-12)
    assert result.p_value == pytest.approx(p_value)
    if gap:
        assert result.p_value == pytest.approx(scipy.stats.binomtest(8, 8).pvalue)
    assert result.half_width is None
