"""What earns points in the synthetic questions, and what does not (validity rules V1, V2, V3 of the scoring design)."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.synthetic.bank import BANK
from evaluators.synthetic.dataset import DATASET
from evaluators.synthetic.template import numbers_in
from tests.evaluators.synthetic.played import problem_of, score

KEYWORDS = (
    "Methodology: discounted cash flow, net present value, arbitrage-free replication, put-call parity, duration "
    "matching, CAPM beta, WACC. Calculation: step by step, formula, substitution. Final answer: as computed above."
)
LOREM = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore."
GENERIC = "0 1 2 3 4 5 8 10 12 15 20 25 30 40 50 60 75 80 90 100 0.05 0.1 0.2 0.25 0.5 1.5 200 500 1000 10000"


def cases(count=66, seed=11, **options):
    return DATASET.draw(seed=seed, count=count, options=options)


def by_name(name, variant="canonical"):
    return next(case for case in DATASET.draw(seed=1, count=1, options={"task_types": [name], "variant": variant}))


def filled(schema, value):
    names = schema["properties"]["steps"].get("properties", [f"figure {n}" for n in range(15)])
    steps = {name: value() for name in names}
    reply = {"answer": value(), "steps": steps, "method": {"answer": str(value())}, "assumption": value()}
    return json.dumps({key: reply[key] for key in schema["properties"]})


def null_family(case, rng):
    body = case.open().opening()
    problem = problem_of(case)
    inputs, shown = list(problem.values), numbers_in(case.task.question)
    return {
        "empty": "",
        "don't know": "I don't know",
        "full stop": ".",
        "echo of the question": case.task.question,
        "echo of the text": body["question"],
        "echo of the message": json.dumps(body),
        "echo of the schema": json.dumps(body["answer_schema"]),
        "lorem ipsum": LOREM,
        "keywords": KEYWORDS,
        "generic numbers": GENERIC,
        "refusal": "I am sorry, but I cannot help with financial questions.",
        "zeros": filled(body["answer_schema"], lambda: 0),
        "ones": filled(body["answer_schema"], lambda: 1),
        "random numbers": filled(body["answer_schema"], lambda: round(rng.uniform(-100, 1000), 2)),
        "random fractions": filled(body["answer_schema"], lambda: round(rng.uniform(0, 1), 4)),
        "numbers echoed": filled(body["answer_schema"], lambda: rng.choice(shown)),
        "the formula of the book": json.dumps(
            {"method": {**problem.template.definitions, "answer": problem.template.answer.name}}
        ),
        "input names as formulas": json.dumps({"method": {"answer": rng.choice(inputs)}, "answer": "0"}),
        "keywords as formulas": json.dumps(
            {"method": {"answer": "npv duration parity"}, "steps": {}, "answer": KEYWORDS}
        ),
    }


def test_replies_without_work_score_about_nothing_and_pass_nothing():
    rng = random.Random(3)
    totals: dict[str, list[float]] = {}
    for case in cases(264):
        for name, text in null_family(case, rng).items():
            verdict = score(case, text)
            assert not verdict.passed, (name, case.task.task_id)
            totals.setdefault(name, []).append(verdict.value)
    assert {name: sum(values) / len(values) for name, values in totals.items() if sum(values) > len(values)} == {}


@pytest.mark.parametrize(("variant", "count"), [("drawn", 132), ("canonical", 44), ("as_published", 19)])
@pytest.mark.parametrize("seed", [0, 7, 2026])
def test_the_oracle_scores_100_in_every_variant(variant, count, seed):
    for case in cases(count, seed, variant=variant):
        verdict = score(case, case.open().oracle())
        assert verdict.value == 100.0 and verdict.passed, (case.task.task_id, verdict.reason)
        assert set(verdict.parts.values()) == {100.0}


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        (
            "npv_crossover",
            ["20%", "0.20", "20 percent", "20.0 per cent", "The rate is 20%", "\\boxed{20\\%}", '{"answer": "20%"}',
             "2,000 bps",
             '{"answer": 0.2}', "Final answer: 20%", "**Final answer:** 20 %", "180,000 / 150,000 - 1 = 20%",
             "First, 1 + r = 180/150.\nSo r = 0.2.\n\nFinal answer: 20%", '```json\n{"answer": "0.2"}\n```'],
        ),
        (
            "free_cash_flow",
            ["$5.5M", "5.5 million", "5,500,000", "5500000", "$5.5 million", "USD 5,500,000",
             "Final answer: $5,500,000",
             '{"answer": 5500000}', '{"answer": "$5.5M"}', "\\boxed{5.5\\text{ million}}",
             "The FCFF is $5.5 million.",
             "NOPAT is $7.5M, then 7.5 + 2 - 3 - 1.\nFinal answer: 5.5 million dollars", "5.5e6"],
        ),
        (
            "put_call_parity",
            ["-1.633", "(1.633)", "-$1.63", "Final answer: -$1.633", '{"answer": -1.6332}', "minus 1.633"],
        ),
        ("perpetuity_repricing", ["-16.67%", "-0.16667", "(16.67%)", "Final answer: -16.67 percent", "−16.667%"]),
    ],
)  # fmt: skip
def test_a_bare_final_answer_earns_its_40_points_in_every_surface_form(name, forms):
    case = by_name(name)
    for form in forms:
        verdict = score(case, form)
        assert verdict.parts["answer"] == 100.0 and verdict.value == 40.0 and not verdict.passed, (form, verdict.reason)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        (
            "npv_crossover",
            ["20", "0.2%", "2%", "-20%", "$0.20", "it is not 20%", "20% or 30%", "Final answer: 25%\n(20% is wrong)",
             "20%, 25%, 30%", "between 15% and 25%", '{"answer": "20%", "final_answer": "25%"}'],
        ),
        ("free_cash_flow", ["5.5", "$5.5B", "-5.5 million", "5.5%", "€5.5 million", "7.5 million", "5.5 thousand"]),
        ("put_call_parity", ["1.633", "1.37", "-1.52", "-1.63%", "-163"]),
        ("beta_adjustment", ["50%", "83.3%", "83.33%", "57.7%", "56.67"]),
    ],
)  # fmt: skip
def test_wrong_unit_scale_sign_negation_or_hedge_earns_nothing(name, wrong):
    for form in wrong:
        assert score(by_name(name), form).value == 0.0, form


def test_the_report_names_the_error_behind_a_wrong_answer():
    assert "Y sold as well" in score(by_name("beta_adjustment"), "83.33%").reason


def reply(case, **changes):
    return json.dumps({**json.loads(case.open().oracle()), **changes})


def test_a_wrong_final_answer_loses_the_answer_part_only():
    verdict = score(by_name("free_cash_flow"), reply(by_name("free_cash_flow"), answer="$5.6M"))
    assert verdict.parts == {"methodology": 100.0, "calculation": 100.0, "answer": 0.0}
    assert verdict.value == 60.0 and not verdict.passed


def test_each_step_is_paid_for_itself():
    case = by_name("levered_roe")
    steps = {"debt": "$300M", "equity": 200_000_000, "net_income": "about 22 or 23 million"}
    assert score(case, reply(case, steps=steps)).parts["calculation"] == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("formula", "right"),
    [
        ({"answer": "ebit*(1-tax_rate) + depreciation - capex - working_capital_increase"}, True),
        ("FCFF = ebit - tax_rate*ebit + (depreciation - (capex + working_capital_increase))", True),
        (
            {"answer": "nopat − spend", "nopat": "ebit×(1−tax_rate)",
             "spend": "capex+working_capital_increase-depreciation"},
            True,
        ),
        ({"free_cash_flow": "ebit*(1-tax_rate)+depreciation-capex-working_capital_increase"}, True),
        ({"answer": "5500000"}, False),
        ({"answer": "10000000*0.75+2000000-3000000-1000000"}, False),
        ({"answer": "ebit*0.75 + depreciation - capex - working_capital_increase"}, False),
        ({"answer": "ebit + depreciation - capex - working_capital_increase"}, False),
        ({"answer": "answer"}, False),
        ({"answer": "a", "a": "answer"}, False),
        ({"answer": "unknown"}, False),
        ({"answer": "EBIT times one minus tax plus depreciation less capex less working capital"}, False),
        ({"answer": "__import__('os')"}, False),
        ({"answer": "9**9**9**9"}, False),
        ({"answer": 5500000}, False),
        ({f"x{i}": "ebit" for i in range(40)}, False),
        ([], False),
        (None, False),
    ],
)  # fmt: skip
def test_a_method_is_right_when_its_formula_holds_on_other_inputs_too(formula, right):
    case = by_name("free_cash_flow")
    assert score(case, reply(case, method=formula)).parts["methodology"] == (100.0 if right else 0.0)


def test_every_known_error_is_refused_as_a_method():
    for case in cases(44, difficulties=["easy"]):
        template = next(t for t in BANK if t.name == case.task.family)
        for label, formula in template.pitfalls.items():
            method = {**template.definitions, "answer": formula}
            assert score(case, reply(case, method=method)).parts["methodology"] == 0.0, (template.name, label)


def test_the_same_seed_gives_the_same_tasks_and_a_longer_draw_starts_with_a_shorter_one():
    first, again, other = cases(30, 4), cases(30, 4), cases(30, 5)
    assert [c.task for c in first] == [c.task for c in again]
    assert [c.task for c in cases(7, 4)] == [c.task for c in first[:7]]
    assert {c.task.task_id for c in first}.isdisjoint({c.task.task_id for c in other})
    assert {c.task.question for c in first}.isdisjoint({c.task.question for c in other})
    assert len({c.task.task_id for c in first}) == 30


def test_every_template_comes_once_before_any_comes_again():
    families = [case.task.family for case in cases(88, 9)]
    assert len(set(families[:44])) == len(set(families[44:])) == 44


def test_the_truth_is_never_in_what_is_sent():
    for case in cases(132):
        sent = json.dumps(case.open().opening())
        gold = json.loads(case.open().oracle())
        for value in (gold["answer"], *gold["steps"].values()):
            assert str(value).rstrip("%") not in sent.replace(",", "").split(), (case.task.task_id, value)
        assert not [formula for formula in gold["method"].values() if " " in formula and formula in sent]


def test_the_printed_figures_can_be_loaded_for_comparison():
    case = by_name("put_call_parity", "as_published")
    assert score(case, "$1.37").value == 100.0 and score(case, "-$1.63").value == 0.0
    assert score(case, "$1.37").details["computed"] == pytest.approx(-1.6332, abs=1e-4)
    assert score(by_name("beta_adjustment", "as_published"), "83.3%").value == 100.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"varient": "drawn"}, "varient"),
        ({"variant": "printed"}, "as_published"),
        ({"task_types": ["Alchemy"]}, "Alchemy"),
        ({"task_types": "Forex"}, "task_types"),
        ({"difficulties": ["medium"]}, "difficulties: unknown value 'medium'; allowed: easy, hard, expert"),
        ({"wordings": "all"}, "wordings: Input should be 'usual' or 'held_back'"),
        ({"variant": "canonical", "difficulties": ["easy"]}, "difficulties: printed questions have one text"),
    ],
)
def test_an_unknown_option_is_an_error_that_names_it(options, message):
    with pytest.raises(ValueError, match=message):
        DATASET.draw(seed=1, count=1, options=options)


def test_more_tasks_than_a_fixed_bank_holds_is_an_error():
    with pytest.raises(ValueError, match="holds 19"):
        DATASET.draw(seed=1, count=20, options={"variant": "as_published"})


def test_a_topic_selects_its_templates():
    assert {c.task.family for c in cases(12, task_types=["Fixed Income"])} == {
        "bond_convexity",
        "bond_replication",
        "duration_convexity",
        "duration_match",
        "forward_rate",
        "perpetuity_repricing",
    }


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=4)),
    max_leaves=8,
)
replies = st.one_of(
    st.text(max_size=200),
    json_values.map(json.dumps),
    st.fixed_dictionaries(
        {
            "answer": json_values,
            "steps": st.one_of(json_values, st.fixed_dictionaries({"debt": json_values, "equity": json_values})),
            "method": st.one_of(json_values, st.text("adebt()+-*/^.0129", max_size=30).map(lambda s: {"answer": s})),
        }
    ).map(json.dumps),
)


@given(replies)
def test_no_reply_breaks_the_marking(text):
    verdict = score(by_name("levered_roe"), text)
    assert 0.0 <= verdict.value < 30.0 and not verdict.passed
    json.dumps(verdict.details, allow_nan=False)


def dollars(value, form):
    size = f"{abs(value):,.4f}"
    plain = {
        0: value,
        1: f"${size}",
        2: f"{abs(value) / 1e6:.9f} million",
        3: f"${abs(value) / 1e3:.9f}K",
        4: f"USD {size}",
        5: f"{size} dollars",
    }[form]
    if form == 0 or value >= 0:
        return plain
    return f"({plain})" if form % 2 else f"-{plain}"


def percentage(value, form):
    share = f"{100 * value:.6f}"
    return {
        0: value,
        1: f"{share}%",
        2: f"{share} percent",
        3: f"{value:.9f}",
        4: f"{share} %",
        5: f"{share} per cent",
    }[form]


def number(value, form):
    return value if form % 2 else f"{value:.8f}"


DRESSES = [
    lambda text: text,
    lambda text: f"\n  {text}\n\n",
    lambda text: f"```json\n{text}\n```",
    lambda text: f"First I find the present value, 12.5% of it.\n\n```json\n{text}\n```\nThat is all.",
    lambda text: f"Step 1: 1 + r = 1.08. Step 2: divide. Result: {text}",
    lambda text: json.dumps(dict(reversed(json.loads(text).items())), indent=2),
    lambda text: json.dumps(json.loads(text) | {"reasoning": "as in any textbook", "confidence": 0.9}),
]


@pytest.mark.parametrize("form", range(6))
@pytest.mark.parametrize("dress", DRESSES)
def test_a_right_reply_earns_100_in_every_surface_form(dress, form):
    write = {"usd": dollars, "percent": percentage, "number": number}
    for case in cases(66, 3):
        problem = problem_of(case)
        truth, figure = problem.truth, problem.template.answer
        steps = {f"my {n}": write[step.unit](truth[step.name], form) for n, step in enumerate(problem.steps)}
        if problem.is_named:
            steps = {step.name: write[step.unit](truth[step.name], form) for step in problem.steps}
        verdict = score(case, dress(reply(case, steps=steps, answer=write[figure.unit](truth[figure.name], form))))
        assert verdict.value == 100.0, (case.task.task_id, steps, verdict.reason)


def with_a_gap():
    drawn = cases(132, seed=5, difficulties=["expert"])
    return [case for case in drawn if problem_of(case).gap is not None]


def test_an_assumption_earns_nothing_by_itself_and_counts_beside_a_right_step():
    for case in with_a_gap():
        gold = json.loads(case.open().oracle())
        alone = json.dumps({"assumption": gold["assumption"], "answer": 0, "steps": {}, "method": {}})
        assert score(case, alone).value == 0.0
        leading = [figure.name for figure in problem_of(case).on_the_way]
        step = {leading[0]: gold["steps"][leading[0]]}
        beside = json.dumps({"assumption": gold["assumption"], "answer": 0, "steps": step, "method": {}})
        assert score(case, beside).parts["calculation"] == pytest.approx(200 / (len(leading) + 1))


def test_steps_that_no_question_names_are_marked_where_they_lead_to_the_answer():
    """A fully right reply lost 12 points for figures that nobody had asked for, such as the other bond's weight."""
    case = next(c for c in cases(60, seed=5, difficulties=["hard"]) if c.task.family == "duration_match")
    gold = json.loads(case.open().oracle())
    assert not {"weight_a", "contribution_b"} & {figure.name for figure in problem_of(case).on_the_way}
    leading = {figure.name: gold["steps"][figure.name] for figure in problem_of(case).on_the_way}
    assert len(leading) < len(gold["steps"])
    assert score(case, json.dumps(gold | {"steps": leading, "method": {}})).parts["calculation"] == 100.0
    easy = next(c for c in cases(60, seed=5, difficulties=["easy"]) if c.task.family == "duration_match")
    assert problem_of(easy).on_the_way == problem_of(easy).steps


def test_a_right_answer_by_a_right_method_has_shown_its_steps_where_none_is_named():
    for case in cases(60, seed=5, difficulties=["hard", "expert"]):
        gold = json.loads(case.open().oracle())
        name, figure = next(iter(gold["steps"].items()))
        one = gold | {"steps": {"mine": figure, "of another way": 123456.789}}
        assert score(case, json.dumps(one)).value == 100.0, (case.task.task_id, name)
        wrong = score(case, json.dumps(one | {"answer": 0}))
        assert wrong.parts["answer"] == 0.0
        assert wrong.parts["calculation"] < 100.0 or len(problem_of(case).on_the_way) == 1


def test_the_answer_format_says_how_an_assumption_is_written():
    for case in with_a_gap():
        item = problem_of(case).gap.item
        asked = next(line for line in case.task.answer_format.splitlines() if line.startswith('"assumption"'))
        assert ("a percentage with a percent sign" if item.unit == "percent" else "US dollars") in asked


def test_an_expression_that_gives_the_answer_counts_beside_a_right_step_only():
    for case in cases(60, seed=5, difficulties=["hard", "expert"]):
        gold = json.loads(case.open().oracle())
        alone = score(case, json.dumps(gold | {"steps": {}}))
        assert (alone.parts["methodology"], alone.passed) == (0.0, False)
        name, figure = next(iter(gold["steps"].items()))
        assert score(case, json.dumps(gold | {"steps": {name: figure}})).parts["methodology"] == 100.0
