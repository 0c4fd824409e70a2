"""Levels and texts of the options tasks: what is drawn, and what a table or a fixed guess is worth in each."""

from __future__ import annotations

import json
import random
import re
import statistics
import string
import time

import pytest

from evaluators.contract import DIFFICULTIES
from evaluators.options.bank import TEMPLATES
from evaluators.options.chain import NotDrawable, Underlying, quoted_series
from evaluators.options.dataset import DATASET
from evaluators.options.scoring import judge
from evaluators.options.tasks.iron_condor import IronCondor
from evaluators.options.telling.drawn import draw
from evaluators.options.telling.terms import Terms, wednesday_before, written_expiry
from evaluators.options.telling.texts import TEXTS, USUAL

BY_NAME = {template.family: template for template in TEMPLATES}
OF_LEGS = IronCondor.of_legs


def cases(count, seed=1, **options):
    return list(DATASET.draw(seed=seed, count=count, options=options))


def test_every_family_has_three_levels_five_texts_and_two_more():
    for family in DATASET.families():
        assert family.difficulties == DIFFICULTIES and family.wordings == USUAL == 5 and family.held_back == 2
    assert set(TEXTS) == set(BY_NAME) and len({text for texts in TEXTS.values() for text in texts}) == 7 * len(TEXTS)


@pytest.mark.parametrize("family", BY_NAME)
def test_every_text_of_a_family_says_the_same(family):
    words = draw(BY_NAME[family], random.Random(1), "easy", 0).problem.words()
    for text in TEXTS[family]:
        assert {name for _, name, _, _ in string.Formatter().parse(text) if name} == set(words)


def test_levels_and_texts_take_turns_and_held_back_texts_are_drawn_by_their_option_alone():
    rounds = 15 * len(TEMPLATES)
    tasks = [case.task for case in cases(rounds, task_types=["net_delta", "value_at_risk_limit", "profit_attribution"])]
    for family in ("net_delta", "profit_attribution"):
        own = [task for task in tasks if task.family == family]
        assert {task.difficulty for task in own[:3]} == set(DIFFICULTIES)
        assert {task.wording for task in own[:5]} == {f"usual {n}" for n in range(1, 6)}
    held = [case.task for case in cases(6, wordings="held_back", task_types=["net_delta"])]
    assert {task.wording for task in held} == {"held-back 1", "held-back 2"}
    assert {case.task.difficulty for case in cases(4, difficulties=["expert"], task_types=["collar"])} == {"expert"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"difficulties": ["medium"]}, "difficulties: unknown value 'medium'; allowed: easy, hard, expert"),
        ({"wordings": "all"}, "wordings: Input should be 'usual' or 'held_back'"),
        ({"variant": "as_published", "difficulties": ["easy"]}, "published tasks have one of each"),
    ],
)
def test_a_wrong_option_is_named(options, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        cases(1, **options)


def test_nothing_is_labelled_and_no_text_comes_twice():
    openings = [json.dumps(case.open().opening()) for seed in range(4) for case in cases(30, seed=seed)]
    assert len(set(openings)) == len(openings)
    assert not any('"context"' in opening for opening in openings)


def test_expert_tasks_tell_neither_volatility_nor_yield_and_hard_ones_not_both_quotes():
    for family in ("iron_condor", "collar", "book_hedge", "fair_value"):
        for number in range(3):
            drawn = draw(BY_NAME[family], random.Random(number), "expert", number)
            volatility = drawn.problem.context()["underlying"]["volatility"]
            assert "parity" in drawn.question and f"{100 * volatility:.2f}%" not in drawn.question
            text = draw(BY_NAME[family], random.Random(number), "hard", number).question
            assert not ("price $" in text and "volatility" in text.split("Quoted series")[-1].split("\n\n")[0])


def test_a_market_whose_smile_falls_below_zero_is_refused_and_another_is_drawn():
    calm = Underlying(spot=100.0, rate=0.01, dividend_yield=0.0, volatility=0.1)
    told = r"a volatility of -0.0099 at a slope of -0.25"  # 0.1 - 0.25 ln 1.552
    with pytest.raises(NotDrawable, match=told):
        quoted_series(calm, kinds=["call"], strikes=[155.2], days=[300], slope=-0.25)
    # the 71st task of this seed meets such a market before the one that it gets
    assert len({task.task.question for task in cases(71, seed=105)}) == 71


def test_limits_figures_and_reply_ask_for_the_values_of_a_position_once(monkeypatch):
    asked = []
    monkeypatch.setattr(IronCondor, "of_legs", lambda self, legs: asked.append(legs) or OF_LEGS(self, legs))
    problem = draw(IronCondor, random.Random(3), "hard", 0).problem
    asked.clear()
    replies = [problem.perfect_reply() for _ in range(3)]
    assert asked == [] and len(set(replies)) == 1
    assert problem.solved == problem.truth(problem.solution())


def test_an_expiry_by_rule_is_the_exchanges_day():
    terms = Terms(difficulty="expert", expiry="rule", today=wednesday_before(2024, 3))
    assert str(terms.today) == "2024-03-20"
    assert written_expiry(terms, 30) == "the third Friday of April 2024"
    assert written_expiry(terms, 31) == "20 April 2024"
    assert written_expiry(Terms(expiry="rule", today=terms.today.replace(day=5)), 15) == (
        "the Wednesday 30 days before the third Friday of April 2024"
    )


def test_a_table_of_other_seeds_earns_at_most_five_points():
    """The reply to the known question most words of which are in the new one."""
    values = []
    for family in BY_NAME:
        known = [
            (set(re.findall(r"\w+", drawn.question)), drawn.problem.perfect_reply())
            for drawn in (draw(BY_NAME[family], random.Random(f"k{n}"), DIFFICULTIES[n % 3], n % 5) for n in range(24))
        ]
        for number in range(6):
            new = draw(BY_NAME[family], random.Random(f"n{number}"), DIFFICULTIES[number % 3], number % 5)
            words = set(re.findall(r"\w+", new.question))
            reply = max(known, key=lambda row, words=words: len(words & row[0]))[1]
            values.append(judge(new.problem, reply, printed={}).value)
    assert statistics.mean(values) <= 5.0


def skeleton(text):
    return re.sub(r"\d[\d,.]*", "#", text)


def test_numbers_at_the_places_where_figures_were_found_once_earn_at_most_five_points():
    """A regex table: for each text without its numbers, which number of the text each figure was, or 100 times it."""
    values = []
    for family in BY_NAME:
        learnt: dict[str, dict[str, int]] = {}
        for number in range(24):
            drawn = draw(BY_NAME[family], random.Random(f"s{number}"), DIFFICULTIES[number % 3], number % 5)
            shown = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*\.?\d*", drawn.question)]
            places = learnt.setdefault(skeleton(drawn.question)[:60], {})
            for name, value in drawn.problem.truth(drawn.problem.solution()).items():
                for place, told in enumerate(shown):
                    if any(abs(told * scale - abs(value)) < 0.01 * abs(value) for scale in (0.01, 1, 100)):
                        places[name] = place
        for number in range(6):
            new = draw(BY_NAME[family], random.Random(f"t{number}"), DIFFICULTIES[number % 3], number % 5)
            shown = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*\.?\d*", new.question)]
            places = learnt.get(skeleton(new.question)[:60], {})
            reply = {
                dimension: {
                    figure.name: shown[place]
                    for figure in figures
                    if (place := places.get(figure.name, 10**6)) < len(shown)
                }
                for dimension, figures in new.problem.figures().items()
            }
            values.append(judge(new.problem, json.dumps(reply), printed={}).value)
    assert statistics.mean(values) <= 5.0


def test_two_hundred_tasks_are_drawn_in_seconds():
    cases(30)
    began = time.process_time()
    drawn = cases(200, seed=5)
    assert len({case.task.task_id for case in drawn}) == 200
    # 30 tasks a second are measured; the bound allows for a machine four times as slow
    assert time.process_time() - began < 40.0
