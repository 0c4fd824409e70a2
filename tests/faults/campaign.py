"""Plays faults one after the other against one fault-free run, and prints a row of each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.faults import agent_faults, descendants
from tests.faults.agent_faults import AgentFault
from tests.faults.row import Fault
from tests.faults.scene import FaultFree, NotRun, Scene
from tests.faults.served_agent import served_agent

Outcome = Literal["as expected", "NOT AS EXPECTED", "not run"]


@dataclass(frozen=True)
class Row:
    """What came of a fault."""

    name: str
    expected: str
    seen: str
    outcome: Outcome

    def __str__(self) -> str:
        mark = {"as expected": " ", "NOT AS EXPECTED": "X", "not run": "-"}[self.outcome]
        return f"{mark} {self.name:<26} | {self.expected:<34} | {self.seen}"


@contextmanager
def fault_free(backend: str) -> Iterator[FaultFree]:
    """Play the run that the others are compared with."""
    with descendants.adopting_orphans(), scene(backend, None) as calm:
        ended = calm.end(calm.start())
        if ended.status or not ended.result["complete"]:
            raise RuntimeError(f"the fault-free run ended with status {ended.status}: {ended.error}")
        yield FaultFree(calm.run, ended.result, backend)


@contextmanager
def scene(backend: str, calm: FaultFree | None) -> Iterator[Scene]:
    """Yield a new place for one fault."""
    # a short path: Ray makes sockets below it, whose names may have 107 characters
    with tempfile.TemporaryDirectory(prefix="tf-", ignore_cleanup_errors=True) as folder:
        made = Scene(Path(folder), backend, calm)
        try:
            yield made
        finally:
            made.kill()


def play(faults: Sequence[Fault | AgentFault], calm: FaultFree) -> Iterator[Row]:
    """Inject each fault and yield its row."""
    on_the_wire = [fault for fault in faults if isinstance(fault, AgentFault)]
    if on_the_wire:
        with served_agent() as port:
            for pack in agent_faults.packs(on_the_wire, calm):
                yield from _play_pack(pack, calm, port)
    for fault in faults:
        if isinstance(fault, Fault):
            yield play_one(fault, calm)


def _play_pack(pack: Sequence[AgentFault], calm: FaultFree, port: int) -> Iterator[Row]:
    with scene(calm.backend, calm) as place:
        seen = agent_faults.inject(place, pack, port)
        place.close()
    for fault in pack:
        yield _row(fault.name, fault.expected, seen[fault.name], fault.is_as_expected, place.complaints)


def play_one(fault: Fault, calm: FaultFree) -> Row:
    """Inject one fault."""
    with scene(calm.backend, calm) as place:
        try:
            seen = fault.inject(place)
        except NotRun as why:
            place.close()
            return Row(fault.name, fault.expected, f"not run: {why}", "not run")
        except (AssertionError, OSError, KeyError) as error:
            seen = f"{type(error).__name__}: {error}"
        place.close()
    return _row(fault.name, fault.expected, seen, fault.is_as_expected, place.complaints)


def _row(name: str, expected: str, seen: str, is_as_expected: Callable[[str], bool], complaints: Sequence[str]) -> Row:
    right = is_as_expected(seen) and not complaints
    told = "; ".join([seen, *dict.fromkeys(complaints)])
    return Row(name, expected, told, "as expected" if right else "NOT AS EXPECTED")
