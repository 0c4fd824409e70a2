"""Play the tests of a module on its mutants: each in a process of its own that has the mutant in the module's place."""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tests.mutation.mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[2]
EDGES = "tests/evaluators/test_edges_of_marking.py"
TARGETS: dict[str, tuple[str, ...]] = {
    "evaluators/answers/*.py": (
        EDGES,
        "tests/evaluators/answers",
    ),
    "evaluators/bizfinbench/public_answers.py": (
        EDGES,
        "tests/evaluators/bizfinbench",
    ),
    "evaluators/synthetic/scoring.py": (
        EDGES,
        "tests/evaluators/synthetic",
    ),
    "evaluators/synthetic/expression.py": (
        EDGES,
        "tests/evaluators/synthetic",
    ),
    "evaluators/options/scoring.py": (
        EDGES,
        "tests/evaluators/options",
    ),
    "evaluators/options/legs.py": (
        EDGES,
        "tests/evaluators/options",
    ),
    "evaluators/professional/marks.py": (
        EDGES,
        "tests/evaluators/professional/test_professional.py",
    ),
    "evaluators/professional/table.py": (
        EDGES,
        "tests/evaluators/professional/test_professional.py",
    ),
    "evaluators/professional/memo.py": (
        EDGES,
        "tests/evaluators/professional/test_professional.py",
    ),
    "evaluators/judge/rubric.py": (EDGES, "tests/evaluators/judge/test_rules.py", "tests/evaluators/judge"),
    "evaluators/judge/verdict.py": (EDGES, "tests/evaluators/judge/test_rules.py", "tests/evaluators/judge"),
    "evaluators/judge/gates.py": (EDGES, "tests/evaluators/judge/test_rules.py", "tests/evaluators/judge"),
    "evaluators/judge/figures.py": (EDGES, "tests/evaluators/judge/test_rules.py", "tests/evaluators/judge"),
    "evaluators/gdpval/rubric.py": (
        EDGES,
        "tests/evaluators/gdpval",
    ),
    "engine/scoring/score.py": (
        EDGES,
        "tests/engine/scoring",
    ),
    "engine/scoring/intervals.py": (
        EDGES,
        "tests/engine/scoring",
    ),
    "engine/scoring/statistics.py": (
        EDGES,
        "tests/engine/scoring",
    ),
    "engine/scoring/alpha.py": (
        EDGES,
        "tests/engine/scoring",
    ),
}
"""Scorers and parser, and the tests that have to notice an error in them."""
TIME_S = 180.0


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


def everything() -> list[tuple[Mutant, tuple[str, ...]]]:
    """Return every mutant with the tests that have to kill it."""
    made = []
    for pattern, tests in TARGETS.items():
        for file in sorted(ROOT.glob(pattern)):
            if file.name == "__init__.py":
                continue
            module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            made += [(mutant, tests) for mutant in mutants(module, str(file), file.read_text())]
    return made


def chosen(only: str, count: int | None, seed: int) -> list[tuple[Mutant, tuple[str, ...]]]:
    """Return the mutants of modules whose name holds ``only``; of them a sample of ``count``."""
    found = [row for row in everything() if only in row[0].module]
    return found if count is None or count >= len(found) else random.Random(seed).sample(found, count)


def play(rows: Sequence[tuple[Mutant, tuple[str, ...]]]) -> Iterator[Outcome]:
    """Play mutant after mutant; the tests must pass on the code as it is before they can kill anything."""
    _warm()
    for tests in dict.fromkeys(tests for _, tests in rows):
        mutant = next(mutant for mutant, other in rows if other == tests)
        if _killed(replace(mutant, source=Path(mutant.file).read_text()), tests):
            raise RuntimeError(f"{', '.join(tests)} fail on {mutant.module} as it is")
    for mutant, tests in rows:
        began = time.monotonic()
        yield Outcome(mutant, _killed(mutant, tests), time.monotonic() - began)


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


def _killed(mutant: Mutant, tests: Sequence[str]) -> bool:
    child = os.fork()
    if child == 0:
        _be_the_child(mutant, tests)
    deadline = time.monotonic() + TIME_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _be_the_child(mutant: Mutant, tests: Sequence[str]) -> None:
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
        status = int(pytest.main([*places, *options]))
    finally:
        os._exit(status)
