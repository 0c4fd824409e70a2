"""The mutation tool makes the errors that it says, and the tests of scorers and parser notice a sample of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.mutation.equivalent import EQUIVALENT, key
from tests.mutation.mutants import mutants
from tests.mutation.play import ROOT, TARGETS, everything

SOURCE = '''
LIMIT: int = 5

def mark(a: int, b: float = 1.5) -> str:
    """Say 7."""
    if a < LIMIT and not b:
        raise ValueError(f"at most {LIMIT - 1}")
    return "right"[:80] if a == 2 else -b * 3
'''


def test_each_mutant_has_one_error_and_words_stay():
    made = mutants("m", "m.py", SOURCE)
    changes = [mutant.name.partition(" ")[2] for mutant in made]
    assert sorted(changes) == sorted(
        ["5 -> 6", "1.5 -> 2.5", "a < LIMIT and (not b) -> a < LIMIT or not b", "a < LIMIT -> a <= LIMIT",
         "a == 2 -> a != 2", "2 -> 3", "-b * 3 -> -b / 3", "-b -> +b", "3 -> 4"]
    )  # fmt: skip
    assert len({mutant.source for mutant in made}) == len(made)
    assert all("Say 7." in mutant.source and "LIMIT - 1" in mutant.source for mutant in made)


def test_a_mutant_knows_the_function_that_it_is_in():
    assert {mutant.function for mutant in mutants("m", "m.py", SOURCE)} == {"", "mark"}
    inside = mutants(
        "m", "m.py", "class A:\n    size = 1\n\n    def b(self, c=2):\n        return [d + 3 for d in c]\n"
    )
    assert [(mutant.function, mutant.name.partition(" ")[2]) for mutant in inside] == [
        ("", "1 -> 2"), ("", "2 -> 3"), ("A.b", "d + 3 -> d - 3"), ("A.b", "3 -> 4")
    ]  # fmt: skip


def test_the_same_change_twice_in_a_function_has_two_names() -> None:
    made = mutants("m", "m.py", "def a():\n    return 2 + b(2)\n\n\ndef c():\n    return 2\n")
    assert [key(mutant)[1:] for mutant in made] == [
        ("a", "2 + b(2) -> 2 - b(2)"), ("a", "2 -> 3"), ("a", "2 -> 3 (2)"), ("c", "2 -> 3")
    ]  # fmt: skip


def test_every_target_and_its_tests_exist():
    for pattern, tests in TARGETS.items():
        assert list(ROOT.glob(pattern)), pattern
        assert all((ROOT / test).exists() for test in tests), tests


def test_every_row_of_the_table_of_equal_mutants_names_one_that_there_is():
    counted = Counter(key(mutant) for mutant, _ in everything())
    assert [row for row in EQUIVALENT if not counted[row]] == []
    assert all(EQUIVALENT.values())


PLAYED = """
import json, sys
from tests.mutation import play
from tests.mutation.equivalent import EQUIVALENT, key
from tests.mutation.mutants import Mutant

rows = []
for module, function, old, new, test in json.loads(sys.argv[1]):
    file = play.ROOT / (module.replace(".", "/") + ".py")
    source = file.read_text()
    assert source.count(old) == 1, old
    rows.append((Mutant(module, str(file), new, source.replace(old, new), function), (test,)))
if sys.argv[2] == "table":
    rows = [row for row in play.everything() if key(row[0]) in EQUIVALENT]
if sys.argv[2] == "unchanged":
    first = {mutant.module: (mutant, tests) for mutant, tests in reversed(play.everything()) if mutant.function}
    for mutant, tests in first.values():
        source = open(mutant.file).read()
        rows.append((Mutant(mutant.module, mutant.file, mutant.module, source, mutant.function), tests))
print(json.dumps({outcome.mutant.name: outcome.killed for outcome in play.play(rows)}))
"""


def played(*changes: tuple[str, str, str, str, str], also: str = "") -> dict[str, bool]:
    """Play changes in a process of its own, and return whether each is killed.

    ``also`` names more of them: ``table``, the equal ones of the table; ``unchanged``, each module as it is.
    """
    command = [sys.executable, "-c", PLAYED, json.dumps(changes), also]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


SCORE = ("engine.scoring.score", "clip", "return min(FULL_MARKS, max(0.0, value))")
WORDS = ("evaluators.answers.quantity", "words_pattern", 'return "|".join(parts)')
MARKS = ("engine.scoring.score", "", "FULL_MARKS = 100.0")
SCORES, MARKED = "tests/engine/scoring/test_score.py", "tests/evaluators/answers/test_marked.py"


@pytest.mark.campaign
def test_what_changes_nothing_survives_and_an_error_does_not():
    """Of a function that tests call, of one that runs while its module is loaded, and outside of any."""
    harmless = [
        (*SCORE, "return max(0.0, min(FULL_MARKS, value))", SCORES),
        (*WORDS, 'return "|".join(list(parts))', MARKED),
        (*MARKS, "FULL_MARKS = 50.0 + 50.0", SCORES),
    ]
    harmful = [
        (*SCORE, "return min(FULL_MARKS, max(1.0, value))", SCORES),
        (*SCORE, "return value / 0", SCORES),
        (*WORDS, 'return "x".join(parts)', MARKED),
        (*MARKS, "FULL_MARKS = 99.0", SCORES),
    ]
    expected = {change[3]: False for change in harmless} | {change[3]: True for change in harmful}
    assert played(*harmless, *harmful) == expected


@pytest.mark.campaign
def test_modules_that_were_not_changed_survive():
    """A test that needs another one before it, or the time of day, would kill anything."""
    outcomes = played(also="unchanged")
    assert len(outcomes) > 30 and not any(outcomes.values()), outcomes


@pytest.mark.campaign
def test_the_mutants_of_the_table_survive():
    outcomes = played(also="table")
    assert len(outcomes) >= len(EQUIVALENT) and not any(outcomes.values()), outcomes


@pytest.mark.campaign
def test_most_of_a_sample_of_mutants_is_killed():
    """At most 1 in 5 may survive of the rules around a judge, which are cheap to play (all: docs/running.md)."""
    command = [sys.executable, "-m", "tests.mutation", "--only", "judge.", "--count", "40", "--seed", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = re.search(r"mutation score +([0-9]+) of +40", done.stdout)
    assert last is not None and int(last[1]) >= 32, done.stdout + done.stderr
