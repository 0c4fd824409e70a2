"""The mutation tool makes the errors that it says, and the tests of scorers and parser notice a sample of them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.mutation.mutants import mutants
from tests.mutation.play import ROOT, TARGETS

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


def test_every_target_and_its_tests_exist():
    for pattern, tests in TARGETS.items():
        assert list(ROOT.glob(pattern)), pattern
        assert all((ROOT / test).exists() for test in tests), tests


@pytest.mark.campaign
def test_most_of_a_sample_of_mutants_is_killed():
    """At most 1 in 5 may survive of the rules around a judge, which are cheap to play (all: docs/running.md)."""
    command = [sys.executable, "-m", "tests.mutation", "--only", "judge.", "--count", "40", "--seed", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = re.search(r"mutation score +([0-9]+) of +40", done.stdout)
    assert last is not None and int(last[1]) >= 32, done.stdout + done.stderr
