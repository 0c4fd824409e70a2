"""Role, debate, look-ahead, cost and Alpha against the formulas of FAB++ in plain Python."""

import math

import pytest

from engine.scoring import alpha
from engine.scoring.role import role


def record(dataset="synthetic", *, parts=None, value=0.0, state="failed", family="f", calls=(), ahead=0, **more):
    return {
        "dataset": dataset,
        "category": more.pop("category", "c"),
        "family": family,
        "state": state,
        "value": value,
        "parts": parts or {},
        "details": more.pop("details", {}),
        "tool_calls": list(calls),
        "lookahead_attempts": ahead,
        **more,
    }


def call(*, ok=True, lookahead=False):
    return {"ok": ok, "lookahead": lookahead}


SYNTHETIC = {"methodology": 100.0, "calculation": 50.0, "answer": 0.0}
OPTIONS = {"pnl": 80.0, "greeks": 40.0, "risk": 60.0, "strategy": 50.0}
MEMO = {"completion": 100.0, "accuracy": 90.0, "format": 50.0, "professionalism": 40.0}


def test_role_is_the_weighted_sum_of_the_measured_parts():
    found = role([
        record("synthetic", parts=SYNTHETIC, family="a"),
        record("options", parts=OPTIONS, family="b"),
        record("professional", parts=MEMO, family="c"),
    ])  # fmt: skip
    macro, fundamental, execution = (100 + 40) / 2, (25 + 60 + 90) / 3, (50 + 75) / 2
    by_hand = {"macro": macro, "fundamental": fundamental, "execution": execution}
    assert {name: row.score for name, row in found.dimensions.items()} == pytest.approx(by_hand)
    assert found.score == pytest.approx(0.3 * macro + 0.4 * fundamental + 0.3 * execution)
    assert {name: row.n for name, row in found.dimensions.items()} == {"macro": 2, "fundamental": 3, "execution": 2}


def test_the_weights_of_dimensions_without_a_task_go_to_the_others():
    found = role([record("synthetic", parts=SYNTHETIC)])
    assert found.weights == pytest.approx({"macro": 3 / 7, "fundamental": 4 / 7, "execution": 0.0})
    assert found.score == pytest.approx(3 / 7 * 100 + 4 / 7 * 25)
    assert found.se is None and role([]).score is None


def test_an_order_of_events_is_a_claim_and_a_growth_rate_a_figure():
    order = record("bizfinbench", parts={"answer": 100.0}, category="Event Logic Reasoning")
    rate = record("bizfinbench", parts={"answer": 0.0}, category="Quantitative Reasoning")
    found = role([order, rate]).dimensions
    assert (found["macro"].score, found["fundamental"].score, found["execution"].n) == (100.0, 0.0, 0)


def test_tool_use_is_the_share_of_calls_that_served_times_the_score():
    calls = [call(), call(ok=False), call(ok=False, lookahead=True), call()]
    able = record("fundamentals", parts={"answer": 100.0}, value=100.0, state="passed", calls=calls)
    assert role([able]).dimensions["execution"].score == pytest.approx(50.0)
    spam = record("fundamentals", parts={"answer": 0.0}, calls=[call()] * 50)
    assert role([spam]).dimensions["execution"].score == 0.0
    assert role([record("fundamentals", parts={"answer": 100.0}, value=100.0)]).dimensions["execution"].n == 0


def test_what_the_agent_broke_counts_0_and_what_we_broke_nowhere():
    rows = [
        record("options", parts=dict.fromkeys(OPTIONS, 100.0), value=100.0, family="a"),
        record("options", state="agent_error", family="b"),
        record("options", state="infra_unavailable", family="c"),
    ]
    found = role(rows).dimensions
    assert (found["fundamental"].score, found["fundamental"].n) == (50.0, 2)
    assert (found["execution"].score, found["execution"].n) == (50.0, 2)


def test_what_the_agent_broke_counts_0_where_its_parts_or_its_dataset_say():
    def counted(row):
        return {name: (found.score, found.n) for name, found in role([row]).dimensions.items() if found.n}

    # the parts that there are, and nothing of what they were worth
    assert counted(record("options", parts={"pnl": 80.0}, state="agent_error")) == {"fundamental": (0.0, 1)}
    broken = {"state": "agent_error", "category": "Event Logic Reasoning"}
    assert counted(record("bizfinbench", **broken)) == {"macro": (0.0, 1)}
    assert counted(record("bizfinbench", state="agent_error")) == {"fundamental": (0.0, 1)}
    # without parts there is nothing to count of a task that was played
    assert counted(record("options", state="failed")) == {}


def test_two_families_have_a_standard_error_and_one_has_none():
    rows = [record("prbench", parts={"claim": value}, family=family) for value, family in ((100.0, "a"), (0.0, "b"))]
    # s / sqrt(2) of 100 and 0
    assert role(rows).se == pytest.approx(50.0) and role(rows).weights["macro"] == 1.0
    assert role(rows[:1] * 2).se is None


def test_a_part_without_a_place_is_named():
    found = role([record("mine", parts={"elegance": 100.0, "answer": 60.0})])
    assert found.unplaced == ["mine: elegance"] and found.score == pytest.approx(60.0)


def test_the_standard_error_of_role_is_that_of_the_weighted_sum_of_families():
    rows = [record("synthetic", parts={"methodology": m, "answer": a}, family=f)
            for m, a, f in ((100.0, 0.0, "x"), (0.0, 100.0, "y"), (50.0, 20.0, "z"), (50.0, 80.0, "z"))]  # fmt: skip
    means = {"methodology": 50.0, "answer": 50.0}
    influence = {"x": 0.0, "y": 0.0, "z": 0.0}
    for row in rows:
        for part, weight in (("methodology", 3 / 7), ("answer", 4 / 7)):
            influence[row["family"]] += weight * (row["parts"][part] - means[part]) / 4
    assert role(rows).se == pytest.approx(math.sqrt(3 / 2 * sum(value**2 for value in influence.values())))


def debated(verdict, multiplier, *, true_objection, before=50.0, family="f"):
    told = {"verdict": verdict, "multiplier": multiplier, "true_objection": true_objection, "value_before": before}
    value = min(100.0, before * multiplier)
    return record(parts=SYNTHETIC, value=value, details={"debate": told}, family=family)


def test_debates_are_counted_and_averaged():
    rows = [
        debated("maintained", 1.2, true_objection=False, family="a"),
        debated("maintained", 1.2, true_objection=True, family="b"),
        debated("collapsed", 0.8, true_objection=True, family="c"),
        debated("weakened", 0.9, true_objection=None, family="d"),
        debated("weakened", 0.9, true_objection=True, family="e"),
        record("crypto"),
    ]
    found = alpha.debates(rows)
    assert (found.tasks, found.true_objections, found.false_objections) == (5, 3, 1)
    assert found.verdicts == {"maintained": 2, "weakened": 2, "collapsed": 1}
    assert found.mean_multiplier == pytest.approx((1.2 + 1.2 + 0.8 + 0.9 + 0.9) / 5)
    low, high = found.ci95
    assert 0.8 <= low < found.mean_multiplier < high <= 1.2
    assert alpha.debates([record()])[:5] == (0, {"maintained": 0, "weakened": 0, "collapsed": 0}, 0, 0, 1.0)


def test_look_ahead_is_counted_by_attempts_and_by_tasks():
    # three attempts in two of four tasks
    rows = [record(ahead=ahead) for ahead in (0, 1, 2, 0)]
    assert alpha.lookahead_penalty(rows) == (0.75, 3, 2, 4)
    assert alpha.lookahead_penalty([]) == (0.0, 0, 0, 0)


def test_alpha_in_both_forms_by_hand():
    rows = [debated("maintained", 1.2, true_objection=False, family=f) for f in "abc"]
    rows += [debated("collapsed", 0.8, true_objection=True, family="d") | {"lookahead_attempts": 2}]
    found = alpha.alpha_score(rows, cost_usd=2.0)
    # a cost of 0.5 dollars a task, 2 attempts in 4 tasks
    before = 3 / 7 * 100 + 4 / 7 * 25
    assert found.role.score == pytest.approx(before)
    assert (found.cost_usd_per_task, found.lookahead.penalty, found.lookahead.tasks_with_attempts) == (0.5, 0.5, 1)
    assert found.bounded == pytest.approx(before * 1.1 / ((1 + math.log(1.5)) * 1.5))
    assert found.paper == pytest.approx(before * 1.1 / (math.log(1.5) * 1.5))


def test_a_free_run_has_no_printed_alpha_and_one_of_unknown_cost_has_none_at_all():
    rows = [debated("maintained", 1.2, true_objection=False, family=str(number)) for number in range(7)]
    free = alpha.alpha_score(rows, cost_usd=0.0)
    assert free.paper is None and free.bounded == pytest.approx(1.2 * free.role.score)
    unknown = alpha.alpha_score(rows, cost_usd=None)
    assert (unknown.bounded, unknown.paper, unknown.cost_usd_per_task) == (None, None, None)
    assert unknown.role.score == free.role.score
    nothing = alpha.alpha_score([record(state="infra_unavailable")], cost_usd=0.0)
    assert (nothing.bounded, nothing.role.score, nothing.cost_usd_per_task) == (None, None, None)


def test_the_role_of_a_debated_task_is_that_of_its_first_answer():
    calls = [call()]
    row = debated("collapsed", 0.8, true_objection=True, before=60.0) | {"tool_calls": calls}
    assert role([row]).dimensions["execution"].score == pytest.approx(60.0)
