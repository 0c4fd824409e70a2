"""Shares as they are read, and a repeated decision of three rounds whose marks fit on a card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import pytest

from evaluators.answers import Refusal
from evaluators.casebook.family import Turn
from evaluators.casebook.repeated import SCORING, Repeated
from evaluators.casebook.shares import Choice, Law, Shares
from evaluators.contract import Task

AMONG = ("Ann", "Bo", "Cy")
GOLDS: tuple[Choice, ...] = ((1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
TASK = Task(
    task_id="casebook-by-hand", section="analytical_reasoning", dataset="casebook", category="Copy Trading",
    family="by-hand", as_of=date(2026, 6, 30), question="Whom to follow?", answer_format="in JSON",
)  # fmt: skip


def shares(gold: Choice = GOLDS[0], most: float = 1.0) -> Shares:
    return Shares("shares", "the share of the capital", AMONG, most, gold)


@dataclass(frozen=True)
class Linear:
    """Everything in one name gains 10 in Ann or Bo; in Cy it loses 10, but gains 20 in the third round."""

    worth: tuple[Choice, ...] = ((10.0, 10.0, -10.0), (10.0, 10.0, -10.0), (10.0, 10.0, 20.0))

    def gains(self, choices: Sequence[Choice]) -> list[float]:
        return [
            sum(worth * share for worth, share in zip(row, choice, strict=True))
            for row, choice in zip(self.worth, choices, strict=True)
        ]


def answered(*replies: str, golds: Sequence[Choice] = GOLDS, law: Law | None = None) -> Repeated:
    turns = tuple(Turn(f"Round {number}.", (), shares(gold)) for number, gold in enumerate(golds, start=1))
    return Repeated(TASK, turns, list(replies), law=law or Linear())


def stating(**given: float) -> str:
    return json.dumps({"shares": given})


BEGUN = (stating(Ann=1), stating(Bo=0.5))
"""10 and 5 of the 40 that are the best total."""


@pytest.mark.parametrize(
    ("replies", "gains", "value", "passed"),
    [
        ((stating(Ann=1), stating(Ann=0.25, Bo=0.75), stating(Cy=1)), [10, 10, 20], 100.0, True),
        # 28.12 of 40 are 70.3%, which lies 30.3 of the 60 above 40%
        ((*BEGUN, stating(Cy=0.656)), [10, 5, 13.12], 50.5, True),
        ((*BEGUN, stating(Cy=0.6488)), [10, 5, 12.976], 49.9, False),
        ((*BEGUN, stating(Cy=0.1)), [10, 5, 2], 2.5 / 0.6, False),
        ((*BEGUN, stating(Cy=0.05)), [10, 5, 1], 0.0, False),
        ((stating(Cy=1), stating(), stating(Ann=0.2)), [-10, 0, 2], 0.0, False),
    ],
)
def test_a_total_is_worth_its_way_from_two_fifths_of_the_best_to_the_best(
    replies: tuple[str, ...], gains: list[float], value: float, passed: bool
) -> None:
    score = answered(*replies).score()
    assert score.value == pytest.approx(value, abs=1e-9) and score.parts == {"answer": score.value}
    assert score.passed is passed
    assert [each["gain"] for each in score.details["rounds"]] == pytest.approx(gains)
    assert score.details["share_of_best"] == pytest.approx(sum(gains) / 40)
    assert score.reason == f"expected total is {100 * sum(gains) / 40:.3g}% of the best"


def test_more_than_the_best_is_worth_no_more() -> None:
    """The best shares are found by search in some families, and may miss the top by a little."""
    score = answered(*BEGUN, stating(Cy=1), golds=(GOLDS[0], (0.1, 0.0, 0.0), GOLDS[2])).score()
    assert score.details["share_of_best"] == pytest.approx(35 / 31) and score.value == 100.0


def test_a_round_without_readable_shares_stakes_nothing_and_is_told() -> None:
    score = answered(stating(Ann=1), "all in", stating(Ann=0.5, Bo=0.25)).score()
    first, second, third = score.details["rounds"]
    assert first == {"given": {"Ann": 1.0}, "best": {"Ann": 1.0}, "gain": 10.0, "best_gain": 10.0}
    assert (second["given"], second["best"]) == ({}, {"Ann": 0.5, "Bo": 0.5})
    assert (second["gain"], second["best_gain"]) == (0.0, 10.0)
    assert third == {"given": {"Ann": 0.5, "Bo": 0.25}, "best": {"Cy": 1.0}, "gain": 7.5, "best_gain": 20.0}
    assert second["note"] and score.reason == (
        f"expected total is 43.8% of the best; nothing staked in round 2: {second['note']}"
    )
    assert score.value == pytest.approx(100 * (17.5 / 40 - 0.4) / 0.6)


def test_of_several_unreadable_rounds_all_are_named_and_the_first_reason_is_told() -> None:
    score = answered(stating(Ann=1), stating(Dee=1)).score()
    assert score.reason == (
        'expected total is 25% of the best; nothing staked in round 2, 3: shares: no such name: "Dee"'
    )
    assert [each["gain"] for each in score.details["rounds"]] == [10.0, 0.0, 0.0]


def test_a_law_that_forgets_a_round_or_a_gold_that_forgets_a_name_is_an_error() -> None:
    class Short:
        def gains(self, choices: Sequence[Choice]) -> list[float]:
            return [1.0 for _ in choices[1:]]

    with pytest.raises(ValueError, match="zip"):
        answered(*BEGUN, law=Short()).score()

    class Even:
        def gains(self, choices: Sequence[Choice]) -> list[float]:
            return [1.0 for _ in choices]

    with pytest.raises(ValueError, match="zip"):
        answered(*BEGUN, golds=((1.0, 0.0),), law=Even()).score()
    with pytest.raises(ValueError, match="zip"):
        shares((1.0, 0.0)).perfect_reply()


def test_the_oracle_answers_the_round_that_is_asked_about_and_after_the_end_the_last() -> None:
    session = answered()
    said = [json.loads(session.oracle())["shares"]]
    for _ in range(3):
        session.reply("later")
        said.append(json.loads(session.oracle())["shares"])
    assert [tuple(each.values()) for each in said] == [*GOLDS, GOLDS[2]]


def test_what_is_told_of_the_scoring_is_what_is_done() -> None:
    assert "100 for the highest total" in SCORING and "0 for 40% of that total or less" in SCORING


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"Ann": 0}, (0.0, 0.0, 0.0)),
        ({"Bo": 0.5}, (0.0, 0.5, 0.0)),
        ({"Cy": 0.0, "Ann": 0.25}, (0.25, 0.0, 0.0)),
        # what rounding adds is allowed, to the last digit of it
        ({"Ann": 0.500001}, (0.500001, 0.0, 0.0)),
        ({"Ann": 0.25, "Bo": 0.250001}, (0.25, 0.250001, 0.0)),
        ({"Ann": 0.5000011}, "Ann: must lie between 0 and 0.5, got 0.500001"),
        ({"Bo": 0.6}, "Bo: must lie between 0 and 0.5, got 0.6"),
        ({"Cy": -1e-9}, "Cy: must lie between 0 and 0.5, got -1e-09"),
        ({"Ann": 0.25, "Bo": 0.2500011}, "shares: add up to 0.500001, at most 0.5 is allowed"),
        ({"Ann": 0.4, "Bo": 0.4}, "shares: add up to 0.8, at most 0.5 is allowed"),
        ({"Ann": 0.1, "Dee": 0.1}, 'shares: no such name: "Dee"'),
        ([0.1, 0.2, 0.1], "shares: must be an object of names and numbers"),
    ],
)
def test_shares_lie_between_nothing_and_the_most_and_so_does_their_sum(given: object, read: Choice | str) -> None:
    found = shares(most=0.5).read(json.dumps({"shares": given}))
    assert found == (Refusal(read) if isinstance(read, str) else read)


def test_what_is_no_object_is_refused_for_what_it_is() -> None:
    found = shares().read("everything in Ann")
    assert isinstance(found, Refusal) and "JSON" in found.reason
    text = shares().read('{"shares": {"Ann": "all"}}')
    assert isinstance(text, Refusal) and text.reason.startswith("Ann: ")


def test_the_format_names_everybody_and_gives_an_example_that_is_read() -> None:
    words = shares(most=0.5).answer_format()
    assert "for each of Ann, Bo, Cy the share of the capital" in words and "at most 0.5." in words
    example = words[words.index("For example: ") + len("For example: ") : -1]
    assert shares().read(example) == (0.07, 0.0, 0.0)
    assert shares().schema() == {
        "type": "object",
        "properties": {
            "shares": {
                "type": "object",
                "properties": {name: {"type": "number"} for name in AMONG},
                "additionalProperties": False,
            }
        },
        "required": ["shares"],
    }


def test_the_perfect_reply_states_the_gold_to_nine_digits() -> None:
    assert shares((1 / 3, 0.0, 0.5)).perfect_reply() == '{"shares": {"Ann": 0.333333333, "Bo": 0.0, "Cy": 0.5}}'
