"""Play the tests of a module on its mutants: those of functions by ``warm``, others in a process that starts anew."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import io
import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tests.mutation.mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
EDGES = "tests/evaluators/test_edges_of_marking.py"
ANSWERS = tuple(
    f"tests/evaluators/answers/test_{name}.py"
    for name in ("answers", "formats", "json", "natural", "prose", "edges", "marked")
)
PROFESSIONAL = (
    "tests/evaluators/professional/test_memo_and_table.py",
    "tests/evaluators/professional/test_professional.py",
)
JUDGE = ("tests/evaluators/judge/test_edges.py", "tests/evaluators/judge/test_rules.py")
BY_HAND = "tests/evaluators/synthetic/test_marks_by_hand.py"
REPEATED = tuple(f"tests/evaluators/casebook/test_{name}.py" for name in ("repeated_by_hand", "repeated"))
KNOWLEDGE = ("tests/evaluators/crypto/test_knowledge_by_hand.py",)
PRBENCH = ("tests/evaluators/prbench/test_prbench_by_hand.py",)
DEBATE = tuple(f"tests/evaluators/debate/test_{name}.py" for name in ("by_hand", "rules"))
TARGETS: dict[str, tuple[str, ...]] = {
    "evaluators/answers/*.py": (EDGES, *ANSWERS),
    "evaluators/bizfinbench/public_answers.py": (
        EDGES,
        "tests/evaluators/bizfinbench/test_edges_of_public_answers.py",
        "tests/evaluators/bizfinbench/test_public_answers.py",
    ),
    "evaluators/synthetic/scoring.py": (BY_HAND, EDGES, "tests/evaluators/synthetic/test_scoring.py"),
    "evaluators/synthetic/expression.py": (BY_HAND, EDGES, "tests/evaluators/synthetic/test_expression.py"),
    "evaluators/options/scoring.py": (EDGES, "tests/evaluators/options/test_scoring.py"),
    "evaluators/options/legs.py": (EDGES, "tests/evaluators/options/test_legs.py"),
    "evaluators/professional/marks.py": (EDGES, *PROFESSIONAL),
    "evaluators/professional/table.py": (EDGES, *PROFESSIONAL),
    "evaluators/professional/memo.py": (EDGES, *PROFESSIONAL),
    "evaluators/judge/rubric.py": (EDGES, *JUDGE),
    "evaluators/judge/verdict.py": (EDGES, *JUDGE),
    "evaluators/judge/gates.py": (EDGES, *JUDGE),
    "evaluators/judge/figures.py": (EDGES, *JUDGE),
    "evaluators/casebook/answer.py": (EDGES, "tests/evaluators/casebook/test_answer.py"),
    "evaluators/casebook/repeated.py": REPEATED,
    "evaluators/casebook/shares.py": REPEATED,
    "evaluators/crypto/equivalent.py": ("tests/evaluators/crypto/test_equivalent_by_hand.py",),
    "evaluators/crypto/hindsight.py": KNOWLEDGE,
    "evaluators/crypto/knowledge.py": KNOWLEDGE,
    "evaluators/crypto/published.py": KNOWLEDGE,
    "evaluators/crypto/report.py": ("tests/evaluators/crypto/test_report_by_hand.py",),
    "evaluators/crypto/skill.py": ("tests/evaluators/crypto/test_skill_by_hand.py",),
    "evaluators/crypto/verdict.py": ("tests/evaluators/crypto/test_verdict_by_hand.py",),
    "evaluators/debate/*.py": (EDGES, *DEBATE),
    "evaluators/gdpval/rubric.py": (EDGES, "tests/evaluators/gdpval/test_gdpval.py"),
    "evaluators/prbench/dataset.py": PRBENCH,
    "evaluators/published_bank.py": ("tests/evaluators/test_published_bank_by_hand.py",),
    "engine/scoring/score.py": (EDGES, "tests/engine/scoring/test_score.py"),
    "engine/scoring/intervals.py": (EDGES, "tests/engine/scoring/test_intervals.py"),
    "engine/scoring/role.py": (EDGES, "tests/engine/scoring/test_alpha.py"),
    "engine/scoring/statistics.py": (EDGES, "tests/engine/scoring/test_statistics.py"),
    "engine/scoring/alpha.py": (EDGES, "tests/engine/scoring/test_alpha.py"),
}
"""Scorers and parser, and the tests that have to notice an error in them."""
TIME_S = 180.0


Row: TypeAlias = tuple[Mutant, tuple[str, ...]]
"""A mutant and the tests that have to kill it."""


class Outcome(NamedTuple):
    """What became of a mutant; one on which the tests never end is killed as well."""

    mutant: Mutant
    killed: bool
    seconds: float


@dataclass
class _InPlace(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the mutant out as the module."""

    mutant: Mutant

    def find_spec(self, name, path=None, target=None):
        if name != self.mutant.module:
            return None
        return importlib.util.spec_from_file_location(name, self.mutant.file, loader=self)

    def exec_module(self, module) -> None:
        exec(compile(self.mutant.source, self.mutant.file, "exec"), module.__dict__)


def everything() -> list[Row]:
    """Return every mutant with the tests that have to kill it."""
    made = []
    for pattern, tests in TARGETS.items():
        for file in sorted(ROOT.glob(pattern)):
            if file.name == "__init__.py":
                continue
            module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            made += [(mutant, tests) for mutant in mutants(module, str(file), file.read_text())]
    return made


def chosen(only: str, count: int | None, seed: int) -> list[Row]:
    """Return the mutants of modules whose name holds ``only``; of them a sample of ``count``."""
    found = [row for row in everything() if only in row[0].module]
    return found if count is None or count >= len(found) else random.Random(seed).sample(found, count)


def play(rows: Sequence[Row]) -> Iterator[Outcome]:
    """Play mutant after mutant; the tests must pass on the code as it is before they can kill anything."""
    _warm()
    slow, unreached = yield from _played_warm([row for row in rows if row[0].function])
    for mutant, tests in [*(row for row in rows if not row[0].function), *unreached]:
        began = time.monotonic()
        yield Outcome(mutant, _killed(mutant, tests, slow), time.monotonic() - began)


def _played_warm(rows: Sequence[Row]) -> Generator[Outcome, None, tuple[list[str], list[Row]]]:
    """Play mutants of functions in one child, which tells each outcome in a line.

    Returns the names of tests that are too slow, and the mutants that none of the others calls.
    """
    slow, unreached = list[str](), list[Row]()
    if not rows:
        return slow, unreached
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _be_the_player(rows, write)
    os.close(write)
    told, began = 0, time.monotonic()
    with os.fdopen(read) as source:
        slow += json.loads(source.readline() or "[]")
        for line in source:
            row, killed = json.loads(line)
            now = time.monotonic()
            if killed is None:
                unreached.append(rows[row])
            else:
                yield Outcome(rows[row][0], killed, now - began)
            told, began = told + 1, now
    os.waitpid(child, 0)
    if told < len(rows):
        raise RuntimeError(f"the tests of {len(rows)} mutants ended after {told}; see above")
    return slow, unreached


def _be_the_player(rows: Sequence[Row], write: int) -> None:
    try:
        os.chdir(ROOT)
        from tests.mutation.warm import Player, run

        numbered = [(place, mutant, tests) for place, (mutant, tests) in enumerate(rows)]
        player = Player(numbered, lambda said: os.write(write, f"{json.dumps(said)}\n".encode()))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = run(sorted({test for _, tests in rows for test in tests}), player)
        if status:
            print(said.getvalue()[-4_000:], file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _warm() -> None:
    """Load what is not under test once; every child has it then."""
    import hypothesis
    import jax
    import numpy
    import pydantic
    import pytest
    import yaml

    assert all((hypothesis, jax, numpy, pydantic, pytest, yaml))
    loaded = [name for name in sys.modules if name.split(".")[0] in ("evaluators", "engine")]
    assert not loaded, f"what is under test is loaded already: {loaded[:3]}"


def _killed(mutant: Mutant, tests: Sequence[str], slow: Sequence[str]) -> bool:
    child = os.fork()
    if child == 0:
        _be_the_child(mutant, tests, slow)
    deadline = time.monotonic() + TIME_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _be_the_child(mutant: Mutant, tests: Sequence[str], slow: Sequence[str]) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    status = 1
    try:
        import pytest

        os.chdir(ROOT)
        sys.dont_write_bytecode = True
        sys.meta_path.insert(0, _InPlace(mutant))
        places = [str(ROOT / test) for test in tests]
        marks = "not campaign and not ray and not browser and not shared_data"
        # plain: what is loaded already cannot be rewritten
        options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-m", marks]
        status = int(pytest.main([*places, *options, *(f"--deselect={name}" for name in slow)]))
    finally:
        os._exit(status)
