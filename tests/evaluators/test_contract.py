"""One contract for every dataset in the registry. A new row is under test without a change here."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from evaluators import registry
from evaluators.contract import SECTIONS, Case
from evaluators.judge import RubricDataset
from evaluators.validity import KEYWORD_TEXT, LOREM, NULL_FAMILY, converse, filled
from mcp_servers.catalog import SERVERS

NAMES = tuple(name for name in registry.DATASETS if not isinstance(registry.get(name), RubricDataset))
"""Datasets that draw without a file and score without a judge. The others have tests with a fake judge of their own."""

COUNTS = {"crypto": 2}
"""Cases drawn a dataset; 30 where nothing is said."""

BOUNDED = tuple(name for name in NAMES if name != "crypto")
"""Datasets whose values lie in [0, 100]. Crypto is measured around zero."""


def fresh_draw(name: str, *, seed: int = 1, count: int | None = None) -> list[Case]:
    return list(registry.get(name).draw(seed=seed, count=COUNTS.get(name, 30) if count is None else count, options={}))


drawn = functools.cache(fresh_draw)


def messages(case: Case) -> Iterator[str]:
    """Yield everything that is sent while the oracle answers."""
    session = case.open()
    body: dict[str, Any] | None = session.opening()
    while body is not None:
        yield json.dumps(body, allow_nan=False, ensure_ascii=False)
        body = session.reply(session.oracle())


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_draws_the_same_tasks_and_messages(name: str) -> None:
    first, second = drawn(name), fresh_draw(name)
    assert [case.task for case in first] == [case.task for case in second]
    assert [case.open().opening() for case in first] == [case.open().opening() for case in second]


@pytest.mark.parametrize("name", NAMES)
def test_a_longer_draw_starts_with_a_shorter_one(name: str) -> None:
    longer = drawn(name)
    shorter = drawn(name, count=len(longer) // 2)
    assert [case.task for case in shorter] == [case.task for case in longer[: len(shorter)]]
    assert drawn(name, count=0) == []


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_draws_other_tasks(name: str) -> None:
    first, second = drawn(name, seed=1), drawn(name, seed=2)
    assert not {case.task.task_id for case in first} & {case.task.task_id for case in second}
    openings = [{json.dumps(case.open().opening(), sort_keys=True) for case in cases} for cases in (first, second)]
    assert len(openings[0] & openings[1]) <= 0.1 * len(openings[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_complete_and_json(name: str) -> None:
    cases = drawn(name)
    assert len({case.task.task_id for case in cases}) == len(cases) == COUNTS.get(name, 30)
    for case in cases:
        task = case.task
        assert task.section == registry.get(name).section and task.section in SECTIONS
        assert task.dataset == name
        assert task.family and task.category and task.question and task.answer_format
        assert type(task.as_of) is date
        assert set(task.servers) <= set(SERVERS)
        assert 0.0 <= task.chance_score <= 50.0
        assert isinstance(json.dumps(case.open().opening(), allow_nan=False), str)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_oracle_has_100_on_every_task(name: str, seed: int) -> None:
    for case in drawn(name, seed=seed):
        score, _ = converse(case)
        assert score.value == pytest.approx(100.0, abs=1e-9), (case.task.task_id, score.reason)
        assert score.passed, case.task.task_id


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("null", sorted(NULL_FAMILY))
def test_the_null_family_scores_at_most_1_and_passes_nothing(name: str, null: str) -> None:
    rng = random.Random(null)
    scores = [converse(case, lambda body: NULL_FAMILY[null](body, rng))[0] for case in drawn(name)]
    passed = [score for score in scores if score.passed]
    assert not passed, passed[0]
    assert sum(score.value for score in scores) / len(scores) <= 1.0


@pytest.mark.parametrize("null", ["empty", "dot", "echo of the message", "lorem ipsum"])
def test_doing_nothing_in_a_market_is_worth_nothing(null: str) -> None:
    for case in drawn("crypto"):
        score, _ = converse(case, lambda body: NULL_FAMILY[null](body, random.Random(0)))
        assert score.value == pytest.approx(0.0, abs=1e-9)
        assert not score.passed


@pytest.mark.parametrize("name", NAMES)
def test_replaying_the_replies_gives_the_same_score(name: str) -> None:
    rng = random.Random(name)
    answers: list[Callable[[dict[str, Any]], str] | None] = [None, lambda body: KEYWORD_TEXT]
    for case in drawn(name)[:8]:
        for answer in answers:
            score, replies = converse(case, answer)
            queue = iter(replies)
            assert converse(case, lambda body, queue=queue: next(queue))[0] == score
        score, replies = converse(case, lambda body: filled(body, rng.uniform(-9, 9)))
        queue = iter(replies)
        assert converse(case, lambda body, queue=queue: next(queue))[0] == score


@pytest.mark.parametrize("name", NAMES)
def test_a_score_is_json_and_finite(name: str) -> None:
    for case in drawn(name)[:8]:
        for answer in (None, lambda body: "Final answer: 1"):
            score, _ = converse(case, answer)
            json.dumps([dict(score.parts), dict(score.details)], allow_nan=False)
            assert all(math.isfinite(value) and value <= 100.0 + 1e-9 for value in score.parts.values())
            assert score.reason


HOSTILE = (
    "\x00",
    "\ud800 Final answer: 1 \udfff",
    "{" * 3_000,
    '{"answer": ' + "[" * 3_000,
    '{"answer": NaN}',
    '{"answer": 1e999, "answer": -1e999}',
    '{"answer": ' + "9" * 5_000 + "}",
    '{"answer": "\\ud800"}',
    '{"action": "BUY", "size": 1e308, "stop_loss": -1e308, "take_profit": NaN, "confidence": 1e999}',
    '{"decisions": [{"episode": "e01", "action": null}, 7, null, {"episode": "e01", "action": "BUY", "size": -1e308}]}',
    '{"deliverables": [{"name": 1, "content": 2}]}',
    "null",
    "[]",
    "x" * 300_000,
)


@pytest.mark.parametrize("name", NAMES)
def test_no_reply_breaks_a_session_or_earns_anything(name: str) -> None:
    cases = drawn(name)[::5]
    for reply in HOSTILE:
        for case in cases:
            score, _ = converse(case, lambda body, reply=reply: reply)
            assert math.isfinite(score.value)
            json.dumps([dict(score.details), score.reason], allow_nan=False, ensure_ascii=False).encode()
            assert not score.passed
            if name in BOUNDED:
                assert score.value <= 1.0, (case.task.task_id, reply[:80])


@pytest.mark.parametrize("name", NAMES)
def test_a_conversation_that_is_cut_short_is_worth_nothing(name: str) -> None:
    for case in drawn(name):
        session = case.open()
        session.opening()
        assert session.score().value == pytest.approx(0.0, abs=1e-9)
        assert not session.score().passed


@pytest.mark.parametrize("name", NAMES)
def test_conversations_about_one_case_know_nothing_of_each_other(name: str) -> None:
    for case in drawn(name)[:3]:
        first, second = case.open(), case.open()
        first.opening()
        first.reply(first.oracle())
        assert second.opening() == case.open().opening()
        assert second.score() == case.open().score()


def gold_fragments(reply: str) -> Iterator[str]:
    """Yield the parts of a perfect reply that must not be in any message: the answer and its long numbers."""
    yield reply
    stated = re.search(r"Final answer: (.+)", reply)
    if stated and len(re.sub(r"\D", "", stated[1])) >= 4:
        yield stated[1]
    yield from re.findall(r"-?[0-9]+\.[0-9]{5,}", reply)


@pytest.mark.parametrize("name", BOUNDED)
def test_the_gold_answer_is_never_sent(name: str) -> None:
    for case in drawn(name):
        sent = "\n".join(messages(case))
        session = case.open()
        session.opening()
        for fragment in gold_fragments(session.oracle()):
            assert fragment not in sent, (case.task.task_id, fragment)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_is_named(name: str) -> None:
    with pytest.raises(ValueError, match="no_such_option"):
        registry.get(name).draw(seed=1, count=1, options={"no_such_option": 1})


@pytest.mark.parametrize("name", NAMES)
def test_the_data_hash_is_a_stable_sha256(name: str) -> None:
    first = registry.get(name).data_hash({})
    assert first == registry.get(name).data_hash({})
    assert len(first) == len(hashlib.sha256().hexdigest()) and int(first, 16) >= 0


def test_an_unknown_dataset_is_an_error_that_lists_what_exists() -> None:
    with pytest.raises(
        ValueError,
        match=r"unknown dataset 'bizfin' \(did you mean 'bizfinbench'\?\); available: bizfinbench, casebook, crypto",
    ):
        registry.get("bizfin")


@pytest.mark.parametrize("name", NAMES)
def test_what_can_be_disputed_of_the_oracles_answer_is_right_and_its_check_can_be_answered(name: str) -> None:
    for case in drawn(name):
        if case.dispute is None:
            continue
        claims = case.dispute.claims(case.open().oracle())
        assert claims and all(claim.right and math.isfinite(claim.value) for claim in claims)
        assert len({claim.name for claim in claims}) == len(claims)
        for nothing in ("", "I do not know.", json.dumps(case.open().opening()), "{}", "[]", LOREM):
            assert case.dispute.claims(nothing) == [] or case.dispute.claims(nothing) == (), nothing
        check, again = (case.dispute.check(random.Random("a check")) for _ in range(2))
        assert check.question == again.question and check.expected.gold == again.expected.gold
        assert check.expected.grade(check.expected.written()).passed
        assert not any(check.expected.grade(claim.stated).passed for claim in claims), (
            "the check is read off the answer"
        )
        assert not check.expected.grade(case.open().oracle()).passed
