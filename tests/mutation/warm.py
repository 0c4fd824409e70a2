"""Play mutants of functions where the tests are collected already: a mutant costs the tests that reach it, no start.

Each runs in a fork whose functions have the mutant's code. First the tests are played on the code as it is, and what
each of them calls is kept: only tests that call a function can notice an error in it, the quickest first.
"""

from __future__ import annotations

import gc
import os
import pickle
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest

from tests.mutation.mutants import Mutant

MARKS = "not campaign and not ray and not browser and not shared_data"
OPTIONS = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-m", MARKS]
PROCESSOR_S = 60
"""A mutant that computes for longer never ends, and is killed."""
SLOW_S = 1.0
"""Slower tests are not played again: a mutant that they alone would notice counts as a survivor."""

Function = tuple[str, str]


class Reached(NamedTuple):
    """A test, how long it takes, whether it passes on the code as it is, and the functions that it calls."""

    place: int
    seconds: float
    passed: bool
    functions: frozenset[Function]


class Player:
    """The plugin of pytest that plays mutants in the place of tests.

    ``tell`` gets the names of the tests that are too slow, then for each row whether the mutant is killed; None where
    no quick test calls the function: what runs while modules are loaded can only be played by a process that starts.
    """

    def __init__(self, rows: Sequence[tuple[int, Mutant, tuple[str, ...]]], tell: Callable[[object], None]) -> None:
        self.rows = rows
        self.tell = tell
        self.longest_s = 0.0
        self.stopped = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Stop the test itself, never the fixtures that others need, after ``longest_s`` (0: never)."""
        signal.setitimer(signal.ITIMER_PROF, self.longest_s)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise RuntimeError("the tests cannot be collected")
        files = frozenset(mutant.file for _, mutant, _ in self.rows)
        reached = pickle.loads(_in_a_fork(lambda: pickle.dumps(list(self._measured(session, files)))))
        failed = [session.items[test.place].nodeid for test in reached if not test.passed]
        if failed:
            raise RuntimeError(f"tests fail on the code as it is: {', '.join(failed)}")
        self.tell([session.items[test.place].nodeid for test in reached if test.seconds >= SLOW_S])
        written = _functions(files)
        for row, mutant, tests in self.rows:
            function = (mutant.file, mutant.function)
            quick = (test for test in reached if function in test.functions and test.seconds < SLOW_S)
            items = [session.items[test.place] for test in sorted(quick, key=lambda test: test.seconds)]
            items = [item for item in items if any(item.nodeid.startswith(test) for test in tests)]
            self.tell((row, self._killed(session, items, mutant, written[function]) if items else None))
        return True

    def _killed(
        self, session: pytest.Session, items: Sequence[pytest.Item], mutant: Mutant, written: Sequence[FunctionType]
    ) -> bool:
        return _in_a_fork(lambda: _survived(session, items, mutant, written)) != b"survived"

    def _measured(self, session: pytest.Session, files: frozenset[str]) -> Iterator[Reached]:
        called: set[Function] = set()

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code.co_filename in files:
                called.add((frame.f_code.co_filename, _outermost(frame.f_code)))

        self.longest_s = SLOW_S
        signal.signal(signal.SIGPROF, self._stop)
        for place, item in enumerate(session.items):
            called.clear()
            self.stopped = False
            before, began = session.testsfailed, time.process_time()
            threading.setprofile(note)
            sys.setprofile(note)
            _play(item)
            sys.setprofile(None)
            threading.setprofile(None)
            seconds = SLOW_S if self.stopped else time.process_time() - began
            # stopped in the middle of a generator of examples, a test can also count as failed
            yield Reached(place, seconds, self.stopped or session.testsfailed == before, frozenset(called))

    def _stop(self, *_: object) -> None:
        self.stopped = True
        pytest.skip("too slow to be played on mutants")


def _in_a_fork(call: Callable[[], bytes]) -> bytes:
    """Return what a call returns in a fork; nothing when the fork died of it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            said = call()
            with os.fdopen(write, "wb") as out:
                out.write(said)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as source:
        said = source.read()
    os.waitpid(child, 0)
    return said


def _play(item: pytest.Item) -> None:
    item.ihook.pytest_runtest_protocol(item=item, nextitem=None)


def _outermost(code: CodeType) -> str:
    return code.co_qualname.partition(".<locals>")[0]


def _functions(files: frozenset[str]) -> dict[Function, list[FunctionType]]:
    """Return the functions of the files, whatever they are wrapped in."""
    found: dict[Function, list[FunctionType]] = {}
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in files:
            found.setdefault((each.__code__.co_filename, each.__code__.co_qualname), []).append(each)
    return found


def _survived(
    session: pytest.Session, items: Sequence[pytest.Item], mutant: Mutant, written: Sequence[FunctionType]
) -> bytes:
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
    code = next(
        each for each in _codes(compile(mutant.source, mutant.file, "exec")) if each.co_qualname == mutant.function
    )
    for function in written:
        function.__code__ = code
    for item in items:
        _play(item)
        if session.testsfailed:
            return b""
    return b"survived"


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def run(places: Sequence[str], player: Player) -> Any:
    """Collect the tests at some places and let the player play."""
    return pytest.main([*OPTIONS, *places], plugins=[player])
