"""What earns points in the options tasks, and what does not (validity rules V1 to V3 of the scoring design)."""

from __future__ import annotations

import copy
import itertools
import json
import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluators.options.bank import TEMPLATES
from evaluators.options.chain import Holding
from evaluators.options.dataset import DATASET
from evaluators.options.problem import RELATIVE_TOLERANCE
from evaluators.options.scoring import _review, combine, judge
from evaluators.options.tasks.collar import Collar
from evaluators.options.tasks.iron_condor import IronCondor
from evaluators.options.telling.drawn import draw
from evaluators.options.valuation import cash_paid

KEYWORDS = (
    "Black-Scholes, implied volatility, delta hedge, iron condor with defined risk, max profit, max loss, breakeven, "
    "gamma, theta, vega, value at risk, position sizing, stop loss, exit criteria, risk management, hedging strategy."
)
LOREM = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore."
GENERIC = "0 1 2 3 4 5 8 10 12 15 20 25 30 40 50 60 75 80 90 100 0.05 0.1 0.2 0.25 0.5 1.5 200 500 1000 10000"


@pytest.fixture(scope="module")
def drawn():
    return DATASET.draw(seed=11, count=4 * len(TEMPLATES), options={})


def score(case, text):
    session = case.open()
    session.opening()
    assert session.reply(text) is None
    return session.score()


def one(name, variant="drawn", seed=1):
    return DATASET.draw(seed=seed, count=1, options={"task_types": [name], "variant": variant})[0]


def gold(case):
    return json.loads(case.open().oracle())


def filled(case, number, leg):
    reply = gold(case)
    for dimension in ("pnl", "greeks", "risk"):
        reply[dimension] = {name: number() for name in reply[dimension]}
    reply["strategy"] = {"legs": [leg() for _ in reply["strategy"]["legs"]]}
    return json.dumps(reply)


def null_family(case, rng):
    body = case.open().opening()
    shown = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*\.?\d*", body["question"])]
    strikes = [leg.get("strike", 100.0) for leg in gold(case)["strategy"]["legs"]]

    def random_leg():
        kind = rng.choice(["call", "put", "stock"])
        return {"option_type": kind, "quantity": rng.randint(-20, 20), "strike": rng.choice([*strikes, *shown])}

    return {
        "empty": "",
        "don't know": "I don't know",
        "full stop": ".",
        "echo of the question": case.task.question,
        "echo of the text": body["question"],
        "echo of the message": json.dumps(body),
        "echo of the schema": json.dumps(body["answer_schema"]),
        "echo of the numbers": json.dumps(shown),
        "lorem ipsum": LOREM,
        "keywords": KEYWORDS,
        "keywords as JSON": json.dumps({key: KEYWORDS for key in ("pnl", "greeks", "strategy", "risk")}),
        "generic numbers": GENERIC,
        "refusal": "I am sorry, but I cannot give financial advice.",
        "zeros": filled(case, lambda: 0, lambda: {"option_type": "call", "quantity": 0, "strike": 0}),
        "ones": filled(case, lambda: 1, lambda: {"option_type": "stock", "quantity": 1}),
        "random numbers": filled(case, lambda: round(rng.uniform(-1000, 1000), 2), random_leg),
        "random fractions": filled(case, lambda: round(rng.uniform(-1, 1), 4), random_leg),
    }


def test_replies_without_work_score_about_nothing_and_pass_nothing(drawn):
    rng = random.Random(3)
    totals: dict[str, list[float]] = {}
    for case in drawn:
        for name, text in null_family(case, rng).items():
            verdict = score(case, text)
            assert not verdict.passed, (name, case.task.task_id)
            totals.setdefault(name, []).append(verdict.value)
    assert {name: sum(values) / len(values) for name, values in totals.items() if sum(values) > len(values)} == {}


@pytest.mark.parametrize("seed", [0, 7])
def test_the_oracle_scores_100(seed):
    for case in DATASET.draw(seed=seed, count=2 * len(TEMPLATES), options={}):
        verdict = score(case, case.open().oracle())
        assert verdict.value == 100.0 and verdict.passed, (case.task.task_id, verdict.reason, verdict.details)
        assert dict(verdict.parts) == {"pnl": 100.0, "greeks": 100.0, "strategy": 100.0, "risk": 100.0}


@pytest.mark.parametrize(
    "dress",
    [
        lambda text: text,
        lambda text: f"\n  {text}\n\n",
        lambda text: f"```json\n{text}\n```",
        lambda text: f"First I value the options.\n\n```json\n{text}\n```\nThat is my answer.",
        lambda text: f"Step 1: d1 = 0.35, d2 = 0.27. So the answer is {text}",
        lambda text: json.dumps(json.loads(text), indent=4),
        lambda text: json.dumps(dict(reversed(json.loads(text).items()))),
        lambda text: json.dumps(json.loads(text) | {"reasoning": "parity", "confidence": 0.9}),
        lambda text: json.dumps(json.loads(text), ensure_ascii=True, separators=(",", ":")),
        lambda text: rewrite(text, lambda number: float(f"{number:.3e}")),
        lambda text: rewrite(text, lambda number: round(number, 4) if abs(number) < 10 else round(number, 2)),
        lambda text: rewrite(text, lambda number: number * 1.01),
    ],
)
def test_the_oracle_scores_100_in_every_surface_form(drawn, dress):
    for case in drawn[: len(TEMPLATES)]:
        verdict = score(case, dress(case.open().oracle()))
        assert verdict.value == 100.0, (case.task.task_id, verdict.details)


def rewrite(text, change):
    """Change every figure but the price levels, whose tolerance is narrow."""
    reply = json.loads(text)
    for dimension in ("pnl", "greeks", "risk"):
        for name, number in reply[dimension].items():
            level = (
                "breakeven" in name
                or name.endswith("_volatility")
                or name in ("spreads", "probability_of_profit", "fill_price")
            )
            reply[dimension][name] = number if level else change(number)
    return json.dumps(reply)


@pytest.mark.parametrize("change", [lambda x: -x, lambda x: 100 * x, lambda x: x / 100, lambda x: 1.2 * x, str])
def test_a_wrong_sign_scale_or_type_earns_nothing_for_the_figures(drawn, change):
    for case in drawn[: len(TEMPLATES)]:
        reply = gold(case)
        for dimension in ("pnl", "greeks", "risk"):
            reply[dimension] = {name: change(number) for name, number in reply[dimension].items()}
        verdict = score(case, json.dumps(reply))
        assert dict(verdict.parts) == {"pnl": 0.0, "greeks": 0.0, "strategy": 0.0, "risk": 0.0}, case.task.task_id
        assert verdict.value == 0.0 and not verdict.passed


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.family)
def test_right_legs_count_once_two_figures_are_right_and_one_of_them_is_theirs(template):
    problem = draw(template, random.Random(4), "easy", 0).problem
    perfect = json.loads(problem.perfect_reply())
    asked = [(dimension, figure) for dimension, figures in problem.figures().items() for figure in figures]
    of_legs = [row for row in asked if row[1].of_legs]
    counting = of_legs if len({dimension for dimension, _ in of_legs}) > 1 else asked
    zeros = {dimension: dict.fromkeys(perfect[dimension], 0.0) for dimension in ("pnl", "greeks", "risk")}

    def verdict(*rows):
        reply = copy.deepcopy(perfect | zeros)
        for dimension, figure in rows:
            reply[dimension][figure.name] = perfect[dimension][figure.name]
        return judge(problem, json.dumps(reply), printed={})

    assert verdict().value == 0.0
    for row in asked:
        alone = verdict(row)
        assert alone.parts[row[0]] > 0.0 and alone.parts["strategy"] == 0.0, row[1].name
    for row, other in random.Random(1).sample([*itertools.combinations(asked, 2)], 12):
        first, second = (abs(perfect[dimension][figure.name]) for dimension, figure in (row, other))
        two = abs(first - second) > RELATIVE_TOLERANCE * max(first, second)
        shown = not row[1].probability and not other[1].probability and (row in counting or other in counting)
        assert verdict(row, other).parts["strategy"] == (100.0 if two and shown else 0.0), (row[1].name, other[1].name)


@pytest.mark.parametrize("family", ["iron_condor", "debit_spread"])
def test_a_probability_is_right_within_half_a_point_and_no_more(family):
    case = one(family, seed=3)
    perfect = gold(case)
    for error, right in ((0.0049, True), (-0.0049, True), (0.0051, False), (-0.0051, False)):
        reply = copy.deepcopy(perfect)
        reply["pnl"]["probability_of_profit"] += error
        assert score(case, json.dumps(reply)).details["pnl"]["probability_of_profit"]["right"] is right
    assert "a probability within 0.005" in case.task.answer_format


def test_legs_chosen_so_that_a_figure_is_about_zero_earn_no_strategy_beside_zeros():
    """A collar that costs nothing makes a cost of 0 right, which shows no work."""
    rng, found = random.Random(2), 0
    for _ in range(12):
        problem = draw(Collar, rng, "easy", 0).problem
        for put, call in itertools.product(problem.series[:7], problem.series[7:]):
            position = (Holding(put, problem.lots), Holding(call, -problem.lots))
            if abs(cash_paid(position, problem.market)) <= 1.0:
                found += 1
                legs = [
                    {"option_type": h.series.kind, "quantity": h.quantity, "strike": h.series.strike} for h in position
                ]
                zeros = {d: {f.name: 0.0 for f in figures} for d, figures in problem.figures().items()}
                verdict = judge(problem, json.dumps(zeros | {"strategy": {"legs": legs}}), printed={})
                assert verdict.parts["pnl"] > 0.0 and verdict.parts["strategy"] == 0.0
    assert found


def test_nonsense_greeks_lose_the_greeks_and_nothing_else(drawn):
    for case in drawn[: len(TEMPLATES)]:
        reply = gold(case)
        reply["greeks"] = {name: 0.5 + 7 * number for name, number in reply["greeks"].items()}
        verdict = score(case, json.dumps(reply))
        assert verdict.parts["greeks"] == 0.0 and verdict.value == 75.0


def test_a_missing_dimension_loses_its_quarter(drawn):
    for case in drawn[: len(TEMPLATES)]:
        for dimension in ("pnl", "greeks", "risk"):
            reply = gold(case)
            del reply[dimension]
            assert score(case, json.dumps(reply)).value == 75.0


def test_figures_of_a_position_are_not_credited_without_the_position():
    case = one("iron_condor")
    reply = gold(case)
    reply["strategy"] = {"legs": []}
    assert score(case, json.dumps(reply)).value == 0.0


def test_legs_of_another_kind_earn_nothing_for_strategy():
    case = one("iron_condor")
    for change in (
        lambda legs: [{**leg, "quantity": -leg["quantity"]} for leg in legs],
        lambda legs: legs[:3],
        lambda legs: [{**leg, "quantity": 2 * leg["quantity"]} for leg in legs],
        lambda legs: [{**leg, "strike": leg["strike"] + 0.5} for leg in legs],
        lambda legs: [legs[0], legs[0], *legs[2:]],
        lambda legs: [{**leg, "option_type": "call"} for leg in legs],
        lambda legs: [{**leg, "quantity": 0.5} for leg in legs],
        lambda legs: "iron condor",
    ):
        reply = gold(case)
        reply["strategy"]["legs"] = change(copy.deepcopy(reply["strategy"]["legs"]))
        assert score(case, json.dumps(reply)).parts["strategy"] == 0.0


@pytest.mark.parametrize(
    ("parts", "value"),
    [((100, 30, 85, 70), 71.25), ((80, 0, 60, 60), 50.0), ((86.7, 20, 75, 63.3), 61.25)],
)
def test_the_reference_cases_of_the_four_dimensions(parts, value):
    dimensions = ("pnl", "greeks", "strategy", "risk")
    assert combine(dict(zip(dimensions, parts, strict=True))) == pytest.approx(value)


def test_the_mean_of_the_two_reference_tasks_is_60_625():
    tasks = [(100, 30, 85, 70), (80, 0, 60, 60)]
    values = [combine(dict(zip(("pnl", "greeks", "strategy", "risk"), parts, strict=True))) for parts in tasks]
    assert sum(values) / 2 == 60.625


def test_the_same_seed_gives_the_same_tasks_and_a_longer_draw_starts_with_a_shorter_one():
    count = len(TEMPLATES) + 2
    first, again = (DATASET.draw(seed=4, count=count, options={}) for _ in range(2))
    assert [case.task for case in first] == [case.task for case in again]
    assert [case.task for case in DATASET.draw(seed=4, count=3, options={})] == [case.task for case in first[:3]]
    other = DATASET.draw(seed=5, count=count, options={})
    assert {case.task.question for case in first}.isdisjoint({case.task.question for case in other})
    assert {case.task.task_id for case in first}.isdisjoint({case.task.task_id for case in other})


def test_the_figures_asked_for_are_never_in_what_is_sent(drawn):
    for case in drawn:
        sent = json.dumps(case.open().opening()).replace(",", " ").split()
        for dimension in ("pnl", "greeks", "risk"):
            for name, number in gold(case)[dimension].items():
                assert abs(number) < 10 or f"{number:g}" not in sent, (case.task.task_id, name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"varient": "drawn"}, "varient"),
        ({"variant": "canonical"}, "as_published"),
        ({"task_types": ["Alchemy"]}, "Alchemy"),
        ({"task_types": "Greeks Analysis"}, "task_types"),
    ],
)
def test_an_unknown_option_is_an_error_that_names_it(options, message):
    with pytest.raises(ValueError, match=message):
        DATASET.draw(seed=1, count=1, options=options)


def test_every_single_figure_and_leg_counts(drawn):
    for case in drawn[: len(TEMPLATES)]:
        perfect = gold(case)
        for dimension in ("pnl", "greeks", "risk"):
            share = 25.0 / len(perfect[dimension])
            for name in perfect[dimension]:
                reply = copy.deepcopy(perfect)
                reply[dimension][name] *= 1.4
                assert score(case, json.dumps(reply)).value == pytest.approx(100.0 - share), (case.task.family, name)
        for place in range(len(perfect["strategy"]["legs"])):
            reply = copy.deepcopy(perfect)
            reply["strategy"]["legs"][place]["quantity"] *= -1
            assert score(case, json.dumps(reply)).value < 90.0, (case.task.family, place)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=4)),
    max_leaves=8,
)
legs = st.fixed_dictionaries(
    {},
    optional={
        "option_type": st.one_of(st.sampled_from(["call", "put", "stock"]), json_values),
        "quantity": st.one_of(st.integers(-9, 9), json_values),
        "strike": st.one_of(st.sampled_from([100.0, 5]), json_values),
        "days_to_expiry": st.one_of(st.integers(1, 60), json_values),
    },
)
replies = st.one_of(
    st.text(max_size=200),
    json_values.map(json.dumps),
    st.fixed_dictionaries(
        {"pnl": json_values, "greeks": json_values, "risk": json_values},
        optional={"strategy": st.one_of(json_values, st.fixed_dictionaries({"legs": st.lists(legs, max_size=10)}))},
    ).map(json.dumps),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(replies)
def test_no_reply_breaks_the_marking(drawn, text):
    for case in drawn[:3]:
        verdict = score(case, text)
        assert 0.0 <= verdict.value <= 25.0 and not verdict.passed
        json.dumps(verdict.details, allow_nan=False)


LIMITS = ("loss", "stress", "credit", "delta", "vega", "cost", "ratio", "limit", "profit", "price")


def test_no_limit_gives_a_figure_away_by_a_constant_factor():
    """Over many draws, no limit in the text is a fixed multiple of a fixed figure that does not follow from legs."""
    for template in TEMPLATES:
        ratios: dict[tuple[str, int], list[float]] = {}
        for number in range(5):
            problem = draw(template, random.Random(f"limits/{number}"), "hard", 0).problem
            told = [text for name, text in problem.words().items() if name in LIMITS]
            limits = [float(re.sub(r"[^\d.]", "", text)) for text in told]
            reply = json.loads(problem.perfect_reply())
            for dimension in ("pnl", "greeks", "risk"):
                for name, figure in reply[dimension].items():
                    for place, limit in enumerate(limits):
                        ratios.setdefault((name, place), []).append(abs(figure) / limit if limit else 0.0)
        for key, values in ratios.items():
            middle = sorted(values)[2]
            # Those limits bound plain sums over the legs, which the agent has to choose first.
            exempt = template.family in ("debit_spread", "collar") or key[0] in ("spreads", "buying_power")
            assert exempt or max(abs(value / middle - 1) for value in values) > 0.05, (template.family, key, values)


def condor():
    return draw(IronCondor, random.Random(4), "easy", 0).problem


def test_a_text_is_no_reply():
    said = judge(condor(), "buy low", printed={})
    assert (said.value, said.passed, said.reason) == (0.0, False, "the reply holds no JSON object")
    assert said.parts == {"pnl": 0.0, "greeks": 0.0, "strategy": 0.0, "risk": 0.0}


def test_the_report_shows_what_was_printed_and_what_was_not_met():
    problem = condor()
    assert "printed" not in judge(problem, problem.perfect_reply(), printed={}).details
    right = judge(problem, problem.perfect_reply(), printed={"loss": 5})
    assert right.details["printed"] == {"loss": 5} and (right.value, right.passed) == (100.0, True)
    perfect = json.loads(problem.perfect_reply())
    legs = judge(problem, json.dumps({"strategy": perfect["strategy"]}), printed={})
    assert legs.details["strategy"][-1] == {"requirement": "two right figures beside the legs", "met": False}
    turned = [{**leg, "quantity": -leg["quantity"]} for leg in perfect["strategy"]["legs"]]
    for stated, noted in (("an iron condor", str), (turned, dict)):
        position, points, notes = _review(problem, {"legs": stated})
        assert (position, points) == (None, 0.0) and isinstance(notes[0], noted)
