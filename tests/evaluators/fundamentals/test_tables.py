"""What is learnt from the questions and answers of public seeds earns hardly anything on new ones."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import TypeAlias

import pytest

from evaluators.contract import Case
from evaluators.fundamentals.dataset import DATASET, TEMPLATES

PUBLIC = 200
MOST = 5.0
"""Points of 100, as the mean over new tasks."""
WORD = re.compile(r"\w+")
NAME_OR_YEAR = re.compile(r"\b(?:[A-Z][\w-]+|(?:19|20)\d\d)\b")
Known: TypeAlias = Mapping[str, list[tuple[str, str]]]
"""Question and right reply of every public task, by family."""
Attack: TypeAlias = Callable[[Known, Case], str]


def drawn(seeds: range) -> list[Case]:
    return [case for seed in seeds for case in DATASET.draw(seed=seed, count=len(TEMPLATES), options={})]


@functools.cache
def learnt(seeds: int) -> Known:
    known: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for case in drawn(range(seeds)):
        known[case.task.family].append((case.task.question, case.open().oracle()))
    return known


def looked_up(known: Known, case: Case) -> str:
    return dict(known[case.task.family]).get(case.task.question, "")


def commonest(known: Known, case: Case) -> str:
    return Counter(reply for _, reply in known[case.task.family]).most_common(1)[0][0]


@functools.cache
def tokens(text: str, pattern: re.Pattern[str]) -> frozenset[str]:
    return frozenset(pattern.findall(text))


def likest(pattern: re.Pattern[str]) -> Attack:
    """The reply to the question of the family that shares the largest part of what the pattern finds in both."""

    def attack(known: Known, case: Case) -> str:
        mine = tokens(case.task.question, pattern)

        def likeness(row: tuple[str, str]) -> float:
            theirs = tokens(row[0], pattern)
            return len(mine & theirs) / max(1, len(mine | theirs))

        return max(known[case.task.family], key=likeness)[1]

    return attack


ATTACKS: dict[str, Attack] = {
    "the same question": looked_up,
    "the commonest answer of the family": commonest,
    "the question with the likest words": likest(WORD),
    "the question with the likest names and years": likest(NAME_OR_YEAR),
}


def earned(attack: Attack, known: Known, cases: list[Case]) -> float:
    points = []
    for case in cases:
        session = case.open()
        session.reply(attack(known, case))
        points.append(session.score().value)
    return sum(points) / len(points)


@pytest.mark.parametrize("name", ATTACKS)
def test_who_has_seen_a_task_has_all_of_its_points_by_looking_it_up(name: str) -> None:
    """The attacks work: on the tasks they were learnt from, all but the commonest answer earn all there is."""
    points = earned(ATTACKS[name], learnt(2), drawn(range(2)))
    assert points == pytest.approx(100.0) if name != "the commonest answer of the family" else points > 40.0


@pytest.mark.parametrize("name", ATTACKS)
def test_a_table_of_former_seeds_knows_hardly_anything_of_new_ones(name: str) -> None:
    assert earned(ATTACKS[name], learnt(12), drawn(range(500, 503))) <= MOST


@pytest.mark.campaign
@pytest.mark.parametrize("name", ATTACKS)
def test_a_table_of_200_seeds_knows_hardly_anything_of_new_ones(name: str) -> None:
    assert earned(ATTACKS[name], learnt(PUBLIC), drawn(range(500, 520))) <= MOST
