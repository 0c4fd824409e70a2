import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from engine.scoring import score
from engine.scoring.statistics import Sample
from evaluators.contract import SECTIONS

WEIGHTS = dict.fromkeys(SECTIONS, 0.2)
PAPER = dict(
    zip(
        ("knowledge_retrieval", "analytical_reasoning", "professional_tasks", "options_trading", "crypto_trading"),
        (66.7, 100.0, 76.5, 61.2, 43.0),
        strict=True,
    )
)


def record(section, value, *, state="failed", passed=False, family=None, details=None):
    family = family or f"{section}-{value}-{state}"
    return {
        "section": section,
        "value": value,
        "state": state,
        "passed": passed,
        "family": family,
        "details": details or {},
    }


def test_the_papers_example_comes_out_as_69_48():
    # TraderBench section 4.3.4 (printed 69.5)
    overall, _ = score.summarize([record(section, value) for section, value in PAPER.items()], WEIGHTS)
    assert overall.score == pytest.approx(69.48, abs=1e-12)


def test_weights_are_redistributed_over_the_active_sections():
    # eq. 2: two active sections of equal weight count half each
    share = score.redistribute(WEIGHTS, ["options_trading", "crypto_trading"])
    assert share == {"options_trading": 0.5, "crypto_trading": 0.5}
    overall, _ = score.summarize([record("options_trading", 60.0), record("crypto_trading", 40.0)], WEIGHTS)
    assert overall.score == pytest.approx(50.0)


def test_a_section_that_the_config_gives_no_weight_has_none_beside_one_that_has():
    share = score.redistribute({"crypto_trading": 0.5}, ["options_trading", "crypto_trading"])
    assert share == {"options_trading": 0.0, "crypto_trading": 1.0}


def test_active_sections_without_weight_are_an_error():
    with pytest.raises(ValueError, match="options_trading have no weight"):
        score.redistribute({"crypto_trading": 1.0}, ["options_trading"])


def test_gdpval_dimensions_sum_to_76_5():
    # TraderBench table 13
    assert 19.0 + 19.8 + 18.2 + 19.5 == pytest.approx(76.5)


def test_pass_rate_is_over_all_tasks_and_failures_of_the_agent_stay_in_the_mean():
    rows = [
        record("options_trading", 100.0, state="passed", passed=True),
        record("options_trading", 0.0, state="agent_error"),
    ]
    overall, sections = score.summarize(rows, WEIGHTS)
    assert sections["options_trading"].score == 50.0
    assert sections["options_trading"].pass_rate == 0.5
    assert overall.n == 2
    assert overall.score == 50.0


def test_a_failure_of_the_harness_has_no_score_and_shows_as_bounds():
    rows = [
        record("options_trading", 80.0, state="passed", passed=True),
        record("options_trading", 0.0, state="infra_unavailable"),
    ]
    overall, sections = score.summarize(rows, WEIGHTS)
    section = sections["options_trading"]
    assert (section.score, section.n, section.total) == (80.0, 1, 2)
    assert section.bounds == (40.0, 90.0)
    assert overall.bounds == (40.0, 90.0)


def test_one_of_four_tasks_passed_is_a_pass_rate_of_a_quarter():
    rows = [record("options_trading", 100.0, state="passed", passed=True)]
    rows += [record("crypto_trading", 0.0, state=state) for state in ("failed", "agent_error", "not_run")]
    overall, sections = score.summarize(rows, WEIGHTS)
    assert overall.pass_rate == 0.25
    assert (sections["options_trading"].pass_rate, sections["crypto_trading"].pass_rate) == (1.0, 0.0)


SKILL = (12.0, -3.0, 7.0, 0.5, -1.0)


def test_skill_has_students_interval_and_marks_have_wilsons():
    def apart(values):
        return [Sample(str(family), value) for family, value in enumerate(values)]

    _, high = scipy.stats.t.interval(0.95, 4, np.mean(SKILL), scipy.stats.sem(SKILL))
    assert score.interval_of("crypto_trading", apart(SKILL)) == pytest.approx((0.0, high))
    # none of eight solved: as none of seven tries (with a family at either end, less two)
    low, above = scipy.stats.binomtest(0, 7).proportion_ci(method="wilson")
    assert score.interval_of("options_trading", apart([0.0] * 8)) == pytest.approx((low, 100.0 * above))


def test_the_interval_of_the_overall_score_adds_those_of_skill_and_of_marks():
    rows = [record("options_trading", 0.0, family=f"o{n}") for n in range(8)]
    rows += [record("crypto_trading", value, family=f"c{n}") for n, value in enumerate(SKILL)]
    overall, _ = score.summarize(rows, WEIGHTS)
    mean = np.mean(SKILL)
    _, high = scipy.stats.t.interval(0.95, 4, mean, scipy.stats.sem(SKILL))
    # marks: eight times 0, and 0 and 100 beside them, have mean 10 and standard error 10
    above = 10.0 + scipy.stats.t.ppf(0.975, 9) * 10.0
    assert overall.score == pytest.approx(0.5 * mean)
    assert overall.ci95 == pytest.approx((0.0, 0.5 * mean + math.hypot(0.5 * above, 0.5 * (high - mean))))


def test_negative_skill_cancels_luck_before_the_section_is_clipped():
    rows = [record("crypto_trading", 30.0), record("crypto_trading", -40.0)]
    overall, sections = score.summarize(rows, WEIGHTS)
    assert sections["crypto_trading"].score == 0.0
    assert overall.score == 0.0
    luckier = [record("crypto_trading", 30.0), record("crypto_trading", -20.0)]
    assert score.summarize(luckier, WEIGHTS)[1]["crypto_trading"].score == pytest.approx(5.0)


def test_finer_samples_change_the_standard_error_and_not_the_mean():
    windows = [{"family": f"w{i}", "value": value} for i, value in enumerate((10.0, 20.0, 30.0, 40.0))]
    coarse = [record("crypto_trading", 25.0)]
    fine = [record("crypto_trading", 25.0, details={"samples": windows})]
    assert score.summarize(coarse, WEIGHTS)[1]["crypto_trading"].se is None
    section = score.summarize(fine, WEIGHTS)[1]["crypto_trading"]
    assert section.score == 25.0
    # textbook s / sqrt(n) of 10, 20, 30, 40
    assert section.se == pytest.approx(math.sqrt(500.0 / 3.0) / 2.0)


def test_overall_standard_error_adds_in_quadrature():
    rows = [
        record("options_trading", 40.0, family="a"),
        record("options_trading", 60.0, family="b"),
        record("crypto_trading", 10.0, family="a"),
        record("crypto_trading", 30.0, family="b"),
    ]
    overall, sections = score.summarize(rows, WEIGHTS)
    assert sections["options_trading"].se == pytest.approx(10.0)
    assert overall.se == pytest.approx(math.hypot(0.5 * 10.0, 0.5 * 10.0))


def test_role_score_and_alpha_by_hand():
    # FAB++ eq. 1 and 2, computed by hand
    role = score.role_score(macro=50.0, fundamental=80.0, execution=70.0)
    assert role == pytest.approx(68.0)
    assert score.alpha_paper(role=role, debate=1.2, cost_usd=math.e - 1.0, lookahead_penalty=1.0) == pytest.approx(40.8)
    assert score.alpha(role=role, debate=1.2, cost_usd=math.e - 1.0, lookahead_penalty=1.0) == pytest.approx(20.4)


def test_what_is_left_out_of_alpha_changes_nothing():
    # no debate, no cost, no look-ahead: factors of 1 and 1 + ln 1
    assert score.alpha(role=70.0) == 70.0
    assert score.alpha_paper(role=70.0, cost_usd=math.e - 1.0) == pytest.approx(70.0)
    assert score.alpha(role=70.0, debate=0.8) == pytest.approx(56.0)


def test_printed_alpha_is_empty_at_zero_cost_and_ours_is_bounded():
    assert score.alpha_paper(role=70.0) is None
    assert score.alpha(role=70.0, debate=1.2) == pytest.approx(84.0)


@pytest.mark.parametrize(
    "bad",
    [{"debate": 1.3}, {"cost_usd": -1.0}, {"lookahead_penalty": math.nan}, {"cost_usd": math.inf},
     {"lookahead_penalty": math.inf}, {"debate": 0.79}],
)  # fmt: skip
def test_alpha_refuses_values_outside_their_domain(bad):
    with pytest.raises(ValueError, match=next(iter(bad)).split("_")[0]):
        score.alpha(role=70.0, **bad)


@given(st.lists(st.tuples(st.sampled_from(SECTIONS), st.floats(0.0, 100.0)), min_size=1, max_size=30))
def test_the_overall_score_lies_between_the_section_scores(rows):
    overall, sections = score.summarize([record(s, v, family=str(i)) for i, (s, v) in enumerate(rows)], WEIGHTS)
    values = [item.score for item in sections.values()]
    assert min(values) - 1e-9 <= overall.score <= max(values) + 1e-9
    assert sum(item.weight for item in sections.values()) == pytest.approx(1.0)


UNPLAYED = ("not_run", "infra_unavailable")


def test_a_section_without_a_scored_task_has_no_score_and_gives_its_weight_to_the_others():
    """Before, one section played to 83.3 of two of equal weight made an overall score of 41.7."""
    rows = [record("options_trading", value, family=str(i)) for i, value in enumerate([100.0] * 5 + [0.0])]
    rows += [record("options_trading", 0.0, state="not_run")] * 2
    rows += [record("crypto_trading", 0.0, state=state) for state in UNPLAYED]
    overall, sections = score.summarize(rows, WEIGHTS)
    unplayed = sections["crypto_trading"]
    assert (unplayed.score, unplayed.se, unplayed.ci95, unplayed.weight) == (None, None, None, 0.0)
    assert unplayed.bounds == (0.0, 100.0)
    assert sections["options_trading"].weight == 1.0
    assert overall.score == sections["options_trading"].score == pytest.approx(500.0 / 6.0)
    assert overall.se == sections["options_trading"].se > 0.0
    assert overall.ci95 == pytest.approx(sections["options_trading"].ci95)
    # halves of (500 / 8, 700 / 8) and (0, 100)
    assert overall.bounds == pytest.approx((31.25, 93.75))
    assert (overall.n, overall.total) == (6, 10)


@pytest.mark.parametrize("weights", [WEIGHTS, {"options_trading": 1.0, "crypto_trading": 0.0}])
def test_a_run_without_a_scored_task_that_has_weight_has_no_overall_score(weights):
    rows = [record("options_trading", 0.0, state=state) for state in UNPLAYED]
    if weights is not WEIGHTS:
        rows.append(record("crypto_trading", 30.0))
    overall, _ = score.summarize(rows, weights)
    assert (overall.score, overall.se, overall.ci95) == (None, None, None)
    assert overall.bounds == (0.0, 100.0)


def test_a_shard_of_sections_without_weight_has_no_overall_score_and_every_bound():
    overall, sections = score.summarize([record("options_trading", 100.0, passed=True)], {"crypto_trading": 1.0})
    assert (overall.score, overall.se, overall.ci95, overall.bounds) == (None, None, None, (0.0, 100.0))
    assert (sections["options_trading"].score, sections["options_trading"].weight) == (100.0, 0.0)
