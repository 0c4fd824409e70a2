"""Every template in three levels and seven texts, of which two are held back; each text says every convention."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping

import pytest

from evaluators.contract import DIFFICULTIES, Case
from evaluators.professional.dataset import DATASET, TEMPLATES
from evaluators.validity import NULL_FAMILY, converse

Options = Mapping[str, object]
LEVELS_AND_TEXTS = 15
"""Draws of one template in which three levels and five texts each come equally often."""

CONVENTIONS: dict[str, tuple[str, ...]] = {
    "loan-prepayment": (
        r"level",
        r"\b12\b",
        r"rounded to cents|Round .* cents",
        r"halves",
        r"\b(?:fee|charge)\b",
        r"separate(?:ly)?",
        r"together with|same month|joins the regular|made with the regular|added to",
        r"balance",
    ),
    "bond-ladder": (
        r"annual(?:ly)?",
        r"face value",
        r"annivers",
        r"year after (?:it|settlement)|after one year",
        r"flat yield",
        r"compound",
        r"accrued interest",
        r"round|full precision|all digits",
    ),
    "rebalancing": (
        r"net asset value",
        r"cash",
        r"target weight",
        r"round(?:ed)? down|at or below",
        r"absolute value",
        r"from cash|out of cash|reduces cash",
        r"listed|in the list|in which nothing|leave out lines",
    ),
    "implementation-shortfall": (
        r"\{side\}",
        r"\{ticker\}",
        r"arrival",
        r"cost",
        r"negative",
        r"close",
        r"below arrival",
        r"traded value",
    ),
    "trade-blotter": (
        r"CANCELLED",
        r"\bids?\b",
        r"first in first out",
        r"YYYY-MM-DD",
        r"DD-Mon-YYYY",
        r"YYYYMMDD",
        r"\bdates?\b",
        r"fees",
        r"short sales|sold short",
        r"position|held before",
    ),
    "discounted-cash-flow": (
        r"\{company\}",
        r"base year",
        r"EBIT",
        r"one minus (?:the )?tax rate|taxed at the tax rate",
        r"depreciation",
        r"capital expenditure",
        r"increase of revenue",
        r"working capital rate|its rate",
        r"year from now",
        r"one plus (?:the )?terminal growth",
        r"less terminal growth",
        r"round",
    ),
    "comparable-companies": (
        r"\{target\}",
        r"market",
        r"debt",
        r"cash",
        r"EBITDA",
        r"median",
        r"net income|P/E",
        r"shares",
        r"round|digits|precision",
    ),
    "budget-variance": (r"\{division\}", r"contribution", r"price", r"unit cost", r"volume", r"positive", r"raise"),
    "option-hedge": (
        r"European",
        r"Black-Scholes-Merton",
        r"continuous",
        r"dividend yield",
        r"days over 365|divided by 365",
        r"\{contract\} shares",
        r"volatility",
        r"sign",
    ),
    "value-at-risk": (
        r"Yahoo Finance",
        r"\{first_close\}",
        r"\{last_close\}",
        r"included",
        r"\{window\}",
        r"daily log returns",
        r"n-1",
        r"zero mean|around zero",
        r"normal",
        r"linear",
        r"value times value times covariance",
    ),
    "paper-trading": (
        r"\{first\}",
        r"\{second\}",
        r"\{as_of\}",
        r"initial cash",
        r"open of|open\b",
        r"trading day",
        r"half a spread",
        r"\{half_spread\} basis point",
        r"\{impact\} basis points times the root",
        r"volume",
        r"\{fee\} basis point",
        r"fill price",
    ),
}
"""What the figures of a template depend on, as a pattern that each of its texts has to match."""


def draw(name: str, count: int, seed: int = 33, **options: object) -> list[Case]:
    return list(DATASET.draw(seed=seed, count=count, options={"task_types": [name], **options}))


def test_every_template_has_three_levels_five_texts_and_two_held_back() -> None:
    rows = DATASET.families()
    assert [row.name for row in rows] == [f"professional/{name}" for name in TEMPLATES]
    assert {(row.difficulties, row.wordings, row.held_back) for row in rows} == {(DIFFICULTIES, 5, 2)}


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_each_text_says_every_convention(name: str) -> None:
    texts = (*TEMPLATES[name].brief.usual, *TEMPLATES[name].brief.held_back)
    assert len(set(texts)) == 7
    for text in texts:
        missing = [pattern for pattern in CONVENTIONS[name] if re.search(pattern, text, re.IGNORECASE) is None]
        assert not missing, (text, missing)
    braces = [set(re.findall(r"\{(\w+)\}", text)) for text in texts]
    assert braces == [braces[0]] * 7


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_a_text_held_back_repeats_no_sentence_of_the_others(name: str) -> None:
    def sentences(texts: tuple[str, ...]) -> set[str]:
        return {part.strip().lower() for text in texts for part in re.split(r"[.?\n]", text) if len(part.split()) > 3}

    assert not sentences(TEMPLATES[name].brief.usual) & sentences(TEMPLATES[name].brief.held_back)


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_levels_and_texts_take_turns(name: str) -> None:
    tasks = [case.task for case in draw(name, LEVELS_AND_TEXTS)]
    assert Counter(task.difficulty for task in tasks) == dict.fromkeys(DIFFICULTIES, 5)
    assert Counter(task.wording for task in tasks) == {f"usual {number}": 3 for number in range(1, 6)}
    held_back = [case.task for case in draw(name, 4, wordings="held_back")]
    assert Counter(task.wording for task in held_back) == {"held-back 1": 2, "held-back 2": 2}
    assert not {task.task_id for task in tasks} & {task.task_id for task in held_back}


def test_only_the_levels_asked_for_are_drawn() -> None:
    for levels in (["easy"], ["hard", "expert"]):
        tasks = [case.task for case in DATASET.draw(seed=3, count=33, options={"difficulties": levels})]
        assert {task.difficulty for task in tasks} == set(levels)
    with pytest.raises(ValueError, match="difficulties: unknown value 'harsh'; allowed: easy, hard, expert"):
        DATASET.draw(seed=1, count=1, options={"difficulties": ["harsh"]})
    with pytest.raises(ValueError, match="difficulties: unknown value 'harsh'"):
        DATASET.data_hash({"difficulties": ["harsh"]})


def test_level_and_text_are_not_sent() -> None:
    for case in draw("bond-ladder", 6):
        opening = case.open().opening()
        assert "difficulty" not in opening and "wording" not in opening and "context" not in opening
        assert case.task.wording not in opening["question"]


@pytest.mark.parametrize("wordings", ["usual", "held_back"])
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_the_right_reply_has_100_and_nothing_has_0(name: str, difficulty: str, wordings: str) -> None:
    rng = random.Random(name)
    for case in draw(name, 3, difficulties=[difficulty], wordings=wordings):
        assert case.task.difficulty == difficulty and "{" not in case.task.question
        score, _ = converse(case)
        assert score.value == pytest.approx(100.0, abs=1e-9) and score.passed, score.reason
        for answer in NULL_FAMILY.values():
            nothing, _ = converse(case, lambda body, answer=answer: answer(body, rng))
            assert nothing.value <= 1.0 and not nothing.passed


def test_in_a_draw_of_all_templates_each_meets_each_level_in_three_rounds() -> None:
    tasks = [case.task for case in DATASET.draw(seed=33, count=33, options={})]
    met = Counter((task.family, task.difficulty) for task in tasks)
    assert set(met.values()) == {1} and len(met) == 33
