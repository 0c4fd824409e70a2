"""The casebook: texts, levels, conversations, and what is not worth anything in them."""

from __future__ import annotations

import collections
import functools
import json
import math
import random
import re
import statistics
import string
import time
from collections.abc import Callable
from typing import Any

import pytest

from evaluators import registry
from evaluators.casebook.answer import Figure, Forecast
from evaluators.casebook.bank import CATEGORIES, TEMPLATES
from evaluators.casebook.family import is_sound
from evaluators.categories import CATEGORIES as ALL
from evaluators.categories import table
from evaluators.contract import DIFFICULTIES, Case
from evaluators.validity import MOST_FOR_NOTHING, converse, findings

DATASET = registry.get("casebook")
NAMES = tuple(TEMPLATES)


def drawn(count: int, seed: int = 1, **options: object) -> list[Case]:
    return list(DATASET.draw(seed=seed, count=count, options=options))


WHOLE = (
    "Macro Analysis",
    "Copy Trading",
    "Race to 10M",
    "Strategy Defense",
    "Financial Data Description",
    "Multi-turn Perception",
    "Sentiment Analysis",
)
"""Categories that no other dataset has."""


LEARNT = ("Copy Trading", "Race to 10M")
"""Those of them that have a fourth family, in which the truth is not told."""


def test_seven_categories_have_three_families_or_four_and_eight_one_more_in_three_difficulties() -> None:
    assert set(CATEGORIES) < set(ALL) and len(CATEGORIES) == 15
    families = DATASET.families()
    counted = collections.Counter(family.category for family in families)
    assert counted == {name: (3 if name in WHOLE else 1) + (name in LEARNT) for name in CATEGORIES}
    assert all(row["families"] >= 3 and row["datasets"] for row in table().values())
    assert all(family.difficulties == DIFFICULTIES for family in families)
    assert all(family.wordings >= 5 and family.held_back >= 2 for family in families)


def test_categories_families_levels_and_texts_take_turns() -> None:
    of_three = [name for name in WHOLE if name not in LEARNT]
    for categories, each in ((of_three, 3), (LEARNT, 4)):
        count = len(categories)
        tasks = [case.task for case in drawn(count * each * 15, task_types=categories)]
        assert {task.category for task in tasks[:count]} == set(categories)
        assert len({task.family for task in tasks[: count * each]}) == count * each
        counted = collections.Counter((task.family, task.difficulty) for task in tasks)
        assert set(counted.values()) == {5} and len(counted) == count * each * 3
        assert set(collections.Counter((task.family, task.wording) for task in tasks).values()) == {3}


NAMES_ALONE = {"company", "firm", "follower", "leader", "person", "pool", "stock", "strategy", "who"}
"""Fields of wordings without which nothing is missing; the size of the pool is told by the rules, too."""


def masked(text: str) -> str:
    return re.sub(r"[0-9][0-9.,]*", "#", text)


def test_held_back_texts_are_drawn_by_their_option_alone() -> None:
    usual, held = drawn(45 * 5), drawn(45 * 2, wordings="held_back")
    assert {case.task.wording for case in usual} == {f"usual {n}" for n in range(1, 6)}
    assert {case.task.wording for case in held} == {"held-back 1", "held-back 2"}
    for template in TEMPLATES.values():
        every = template.wordings + template.held_back
        assert len(set(every)) == len(every)
        fields = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in every]
        facts = set.union(*fields) - NAMES_ALONE
        assert all(facts <= found for found in fields), template.name


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"difficulties": ["medium"]}, "difficulties: unknown value 'medium'; allowed: easy, hard, expert"),
        ({"task_types": ["Astrology"]}, "task_types: unknown value 'Astrology'"),
        ({"wordings": "all"}, "wordings: Input should be 'usual' or 'held_back'"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        drawn(1, **options)
    assert {case.task.difficulty for case in drawn(9, difficulties=["expert"])} == {"expert"}
    assert {case.task.category for case in drawn(4, task_types=["Race to 10M"])} == {"Race to 10M"}


def test_texts_differ_across_seeds_and_not_only_in_their_numbers() -> None:
    openings, shapes = [], []
    for seed in range(20):
        for case in drawn(42, seed=seed):
            session = case.open()
            openings.append(json.dumps(session.opening()))
            shapes.append((case.task.family, masked(case.task.question)))
    assert len(set(openings)) == len(openings)
    # without its numbers hardly a text comes twice; regular texts without names or tables may
    assert len(set(shapes)) > 0.7 * len(shapes)


def test_no_answer_recurs_across_seeds() -> None:
    seen: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for seed in range(30):
        for case in drawn(63, seed=seed):
            seen[case.task.family][case.open().oracle()] += 1
    for family, replies in seen.items():
        assert replies.most_common(1)[0][1] <= 2, (family, replies.most_common(1))


@pytest.mark.parametrize("seed", [3, 4])
def test_agents_that_know_nothing_earn_nothing_and_right_answers_everything(seed: int) -> None:
    wrong = [row for row in findings("analytical_reasoning", drawn(63, seed=seed)) if not row.ok]
    assert wrong == []


@pytest.mark.parametrize("level", DIFFICULTIES)
def test_the_best_constants_of_other_seeds_earn_at_most_one_point(level: str) -> None:
    """For each family, the reply that would have earned most on 30 draws is worth next to nothing on 30 others."""
    total, count = 0.0, 0
    for name in NAMES:
        known = drawn(30, seed=70, task_types=[name], difficulties=[level])
        new = drawn(30, seed=71, task_types=[name], difficulties=[level])
        golds = [converse(case)[1] for case in known]
        keys = list(json.loads(golds[0][0]))
        replies = {}
        for key in keys:
            values = sorted((json.loads(turns[0])[key] for turns in golds), key=str)
            if all(isinstance(value, float | int) for value in values):
                # the number with the most others near it
                replies[key] = max(values, key=lambda v: sum(abs(v - w) <= 0.005 * abs(w) for w in values))
            else:
                replies[key] = collections.Counter(json.dumps(value) for value in values).most_common(1)[0][0]
                replies[key] = json.loads(replies[key])
        constant = json.dumps(replies)
        total += sum(converse(case, lambda body, constant=constant: constant)[0].value for case in new)
        count += len(new)
    assert total / count <= 1.0


@functools.cache
def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def shared_words(new: str, known: str) -> float:
    return len(words(new) & words(known)) / len(words(new) | words(known))


@functools.cache
def sizes(text: str) -> list[float]:
    """Return the logarithms of a text's numbers, the largest first."""
    found = (float(token.replace(",", "")) for token in re.findall(r"\d[\d,]*(?:\.\d+)?", text))
    return sorted((math.log(value) for value in found if value > 0), reverse=True)


def near_numbers(new: str, known: str) -> float:
    pairs = list(zip(sizes(new), sizes(known), strict=False))
    return -sum(abs(one - other) for one, other in pairs) / len(pairs)


def near_largest_number(new: str, known: str) -> float:
    return -abs(sizes(new)[0] - sizes(known)[0])


@functools.cache
def learnt(name: str, level: str, size: int) -> list[tuple[str, list[str]]]:
    """Return questions of four seeds with their right replies."""
    cases = [c for seed in range(72, 76) for c in drawn(size // 4, seed=seed, task_types=[name], difficulties=[level])]
    return [(case.task.question, converse(case)[1]) for case in cases]


def earned_by_the_table(likeness: Callable[[str, str], float], name: str, level: str, size: int) -> list[float]:
    """Return what 15 new cases earn who learnt ``size`` cases of other seeds and answers as the likest of them."""
    scores = []
    for case in drawn(15, seed=90, task_types=[name], difficulties=[level]):
        known = learnt(name, level, size)
        replies = iter(max(known, key=lambda row, case=case: likeness(case.task.question, row[0]))[1])
        scores.append(converse(case, lambda body, replies=replies: next(replies))[0].value)
    return scores


@pytest.mark.parametrize("likeness", [shared_words, near_numbers, near_largest_number])
def test_a_table_of_known_questions_earns_at_most_two_points_and_five_in_no_family(
    likeness: Callable[[str, str], float],
) -> None:
    means = {
        name: statistics.fmean(
            score for level in DIFFICULTIES for score in earned_by_the_table(likeness, name, level, 40)
        )
        for name in NAMES
    }
    # a figure that is drawn widely is met by chance once in about a hundred times
    assert statistics.fmean(means.values()) <= 2.0
    assert {name: round(mean, 1) for name, mean in means.items() if mean > 5.0} == {}


@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("likeness", [shared_words, near_largest_number])
def test_two_hundred_known_forecasts_are_no_forecast_of_another_series(
    likeness: Callable[[str, str], float], level: str
) -> None:
    assert statistics.fmean(earned_by_the_table(likeness, "forecast", level, 200)) <= 5.0


def test_numbers_of_the_message_are_no_answers() -> None:
    rng = random.Random(5)
    scores = []
    for case in drawn(126, seed=9):

        def copied(body: dict[str, Any]) -> str:
            shown = [float(token.replace(",", "")) for token in re.findall(r"\d[\d,]*\.?\d*", str(body["question"]))]
            return json.dumps({key: rng.choice(shown) for key in body["answer_schema"]["properties"]})

        scores.append(converse(case, copied)[0].value)
    assert sum(scores) / len(scores) <= MOST_FOR_NOTHING


def test_a_later_message_is_shown_only_after_the_answer_and_holds_nothing_for_an_earlier_one() -> None:
    for case in drawn(63, seed=6, task_types=["Multi-turn Perception", "Strategy Defense"]):
        session = case.open()
        first = session.opening()
        assert first["turn"] == 1 and first["turns"] >= 2
        late = session.reply("I do not know yet.")
        assert late is not None and late["turn"] == 2 and late["question"] not in json.dumps(first)
        # the right answer to the first message comes too late
        right = converse(case)[1]
        replies = iter(["nothing", *right[1:]])
        score = converse(case, lambda body, replies=replies: next(replies))[0]
        assert 0 < score.value < 100 and all(not note["right"] for note in score.details["turns"][0].values())


def test_a_stubborn_and_a_yielding_defender_earn_next_to_nothing() -> None:
    cases = drawn(90, seed=8, task_types=["Strategy Defense"])
    for word in ("stands", "fails"):
        scores = []
        for case in cases:
            first = json.loads(case.open().oracle())
            (headline,) = first.values()

            def stubborn(body: dict[str, Any], headline: float = headline, word: str = word) -> str:
                keys = body["answer_schema"]["properties"]
                return json.dumps({key: word if key == "objection" else headline for key in keys})

            score = converse(case, stubborn)[0]
            later = [
                note["right"] for turn in score.details["turns"][1:] for key, note in turn.items() if key != "objection"
            ]
            scores.append(sum(later) / len(later))
        assert sum(scores) / len(scores) < 0.05


def test_a_draw_whose_figure_stands_in_its_text_is_unsound() -> None:
    drawn_, turns = TEMPLATES["ledger"].case(random.Random(1), "easy", TEMPLATES["ledger"].wordings[0])
    assert is_sound(turns)
    (figure,) = drawn_.asked
    assert isinstance(figure, Figure)
    told = turns[0]._replace(text=f"{turns[0].text} About {figure.gold:.2f}.")
    assert not is_sound((told, *turns[1:]))


def test_a_thousand_cases_are_drawn_in_a_moment() -> None:
    drawn(21)
    began = time.process_time()
    drawn(1000, seed=12)
    # 100,000 in 60 s of one core is the aim; the bound allows for a machine four times as slow
    assert time.process_time() - began < 2.4


@pytest.mark.campaign
def test_a_hundred_thousand_cases_differ_in_text() -> None:
    began, texts, shapes = time.process_time(), set(), set()
    for seed in range(100):
        for case in drawn(1000, seed=seed):
            texts.add(hash(case.task.question))
            shapes.add(hash(masked(case.task.question)))
    print(f"{time.process_time() - began:.0f} s, {len(shapes)} texts without their numbers")
    assert len(texts) == 100_000
    assert len(shapes) > 60_000


@pytest.mark.parametrize("mean", [1e150, 1e160, 1e308, -1e308, 1e-320])
@pytest.mark.parametrize("deviation", [1.0, 1e160, 1e308, 1e-320])
def test_no_forecast_breaks_its_scoring(mean: float, deviation: float) -> None:
    """A square of 1e160 was beyond all numbers, which made the agent's reply a failure of the harness."""
    asked = Forecast("forecast", "the value", mean=100.0, deviation=5.0, naive=90.0)
    assert asked.credit(mean, deviation) == 0.0


def test_a_conversation_that_is_repeated_is_another_one() -> None:
    """Who has seen how it goes on, and brings a worker down, must not have the same again."""
    several = [case for case in drawn(len(TEMPLATES) * 2) if "turns" in case.open().opening()]
    assert several
    for case in several:
        first, second, third = case, case.drawn(2), case.drawn(3)
        assert first.task.task_id == second.task.task_id and first.task.difficulty == second.task.difficulty
        texts = {str(each.open().opening()["question"]) for each in (first, second, third)}
        assert len(texts) == 3, case.task.task_id
        assert second.open().opening() == case.drawn(2).open().opening()
        assert converse(second)[0].value == pytest.approx(100.0)
