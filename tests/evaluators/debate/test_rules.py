"""The verdict against its table, the draw of objections, and what an objection may tell."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from collections import Counter
from typing import Any

import pytest

from evaluators.contract import Claim
from evaluators.debate import objection, verdict, writer
from evaluators.debate.verdict import Verdict
from tests.debates import play
from tests.debates.policies import AlwaysKeeps, Policy, StubbornWrong

SEED = 11


def claim(name: str, value: float, *, right: bool) -> Claim:
    return Claim(name, f"the {name}", value, f"{value:g}", right)


@pytest.mark.parametrize(("was", "now", "moved", "other_lost", "proven"), [*itertools.product((True, False), repeat=5)])
def test_the_verdict_is_the_table(was: bool, now: bool, moved: bool, other_lost: bool, proven: bool) -> None:
    before = [claim("x", 1.0, right=was), claim("y", 5.0, right=True)]
    after = [claim("x", 2.0 if moved else 1.0, right=now), claim("y", 9.0 if other_lost else 5.0, right=not other_lost)]
    found = verdict.rule(before, after, challenged="x", proven=proven)
    if now and other_lost:
        expected = (Verdict.WEAKENED, 0.9)
    elif now:
        expected = (Verdict.MAINTAINED, 1.2 if proven else 1.0)
    elif was or not moved:
        expected = (Verdict.COLLAPSED, 0.8)
    else:
        expected = (Verdict.WEAKENED, 0.9)
    assert found[:2] == expected


def test_a_digit_more_is_no_second_thought() -> None:
    before = [claim("x", 100.0, right=False)]
    assert verdict.rule(before, [claim("x", 100.4, right=False)], challenged="x", proven=True).multiplier == 0.8
    assert verdict.rule(before, [claim("x", 104.0, right=False)], challenged="x", proven=True).multiplier == 0.9


def test_the_coin_is_thrown_before_the_answer_and_half_of_its_wishes_are_true() -> None:
    mixed = [claim(name, 1.0, right=name in "ab") for name in "abcd"]
    chosen = [objection.choose(mixed, name=("debate", 1, f"task {number}")) for number in range(2000)]
    assert all(picked.right != wanted for picked, wanted in chosen)
    # three standard errors of 2000 coins
    assert abs(sum(wanted for _, wanted in chosen) / 2000 - 0.5) < 3 * 0.5 / math.sqrt(2000)
    right, wrong = ([claim(row.name, 1.0, right=value) for row in mixed] for value in (True, False))
    for number in range(50):
        name = ("debate", 1, f"task {number}")
        wishes = {objection.choose(rows, name=name)[1] for rows in (mixed, right, wrong)}
        assert len(wishes) == 1, "what is wanted depends on the answer"


def test_the_words_know_nothing_of_the_truth() -> None:
    name = ("debate", 1, "task")
    assert objection.write(claim("x", 3.0, right=True), name=name) == objection.write(
        claim("x", 3.0, right=False), name=name
    )
    used = {objection.write(claim("x", 3.0, right=True), name=("debate", 1, number)) for number in range(900)}
    assert len(used) == len(objection.WORDINGS) * len(objection.HINTS)


def objected(policy: type[Policy], *, count: int, seed: int) -> list[tuple[dict[str, Any], bool]]:
    """Return every debate message with whether its objection is true."""
    found = []
    for case in play.drawn(count, seed):
        for session, message in play.conversation(case, policy, seed=seed):
            if message is not None and message["type"] == "debate" and session.objection is not None:
                found.append((message, session.objection.is_true))
    return found


def guesses(train: list[tuple[list[str], bool]], test: list[tuple[list[str], bool]]) -> int:
    """Return how many of ``test`` a naive Bayes classifier of words gets right that learnt from ``train``."""
    counts = {truth: Counter(word for words, is_true in train if is_true == truth for word in set(words))
              for truth in (True, False)}  # fmt: skip
    totals = {truth: sum(is_true == truth for _, is_true in train) for truth in (True, False)}

    def score(words: list[str], truth: bool) -> float:
        prior = math.log((totals[truth] + 1) / (len(train) + 2))
        return prior + sum(math.log((counts[truth][word] + 1) / (totals[truth] + 2)) for word in set(words))

    return sum((score(words, True) > score(words, False)) == is_true for words, is_true in test)


def test_no_reader_of_words_can_tell_a_true_objection_from_a_false_one() -> None:
    rows = []
    for seed in range(1, 6):
        for message, is_true in objected(AlwaysKeeps, count=160, seed=seed):
            # the words without what they quote: whether a figure is right can be known by who computes it
            words = message["objection"].replace(message["challenged"]["stated"], "")
            rows.append((re.findall(r"[a-z]+", words.lower()), is_true))
    random.Random(0).shuffle(rows)
    half = len(rows) // 2
    right = guesses(rows[:half], rows[half:]) + guesses(rows[half:], rows[:half])
    common = max(Counter(is_true for _, is_true in rows).values())
    assert right < common + 3 * math.sqrt(len(rows)) / 2, f"{right} of {len(rows)} guessed, {common} are of one kind"


def test_the_reader_of_words_would_find_words_that_tell() -> None:
    telling = [(["sign"] if number % 2 else ["unit"], bool(number % 2)) for number in range(400)]
    assert guesses(telling[:200], telling[200:]) == 200


def numbers_in(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def test_an_agent_that_was_wrong_cannot_copy_the_right_figure_from_the_objection() -> None:
    seen = 0
    for case in play.drawn(160, SEED):
        for session, message in play.conversation(case, StubbornWrong, seed=SEED):
            if message is None or message["type"] != "debate":
                continue
            gold = {row.name: row for row in session.dispute.claims(session.session.oracle())}
            quoted = numbers_in(message["objection"])
            name = message["challenged"]["figure"]
            scales = (1.0, 100.0)
            assert not any(
                math.isclose(number, abs(gold[name].value) * scale, rel_tol=1e-3)
                for number in quoted
                for scale in scales
            ), (case.task.task_id, message["objection"])
            assert gold[name].stated not in json.dumps(message, ensure_ascii=False)
            seen += 1
    assert seen == 160


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Your value of 12.5 for the delta cannot be right; I suspect that a sign was lost on the way.", ""),
        ("Your value of 12.5 cannot be right: with a strike of 1,250 it would have to be smaller than that.", ""),
        ("No.", "it has 3 characters, 40 to 800 are wanted"),
        ("The value that you give for the delta cannot be right; a sign was lost.", "it does not quote 12.5"),
        (
            "Your value of 12.5 for the delta cannot be right; it should be about 9.75, I think.",
            "it names 9.75, which stands neither in the question nor in the answer",
        ),
    ],
)
def test_a_models_objection_quotes_the_figure_and_names_no_other(text: str, fault: str) -> None:
    stated = Claim("greeks.delta", "the delta", 12.5, "12.5", False)
    assert writer.fault_of(text, question="A call struck at 1250 ...", claim=stated) == fault
