"""The place of one fault: a run folder and a temporary folder of its own, and what must hold afterwards."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.faults import descendants
from tests.faults.run_command import TRADERBENCH, Ended, RunCommand, attempts, environment, results

BOUND_S = 420.0
"""Longer than any run of the list takes on a busy machine, with the minute that a hung server costs."""
LEAVE_S = 30.0
"""What the last process of a killed run has to notice it."""
CONFIG: dict[str, Any] = {
    "name": "faults",
    "datasets": [
        {"type": "fundamentals", "limit": 16, "difficulties": ["easy"]},
        {"type": "synthetic", "limit": 2},
        {"type": "options", "limit": 3, "difficulties": ["easy"]},
        {"type": "professional", "limit": 6},
    ],
    "limits": {"max_error_share": None},
    "execution": {"backend": "serial", "ports": "auto", "concurrency": 2},
}
SCORED = ("id", "section", "dataset", "score", "value", "passed", "state", "reason")


class NotRun(Exception):
    """The fault cannot be injected here; the message says why."""


def table(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two runs of the same tasks must have in common, bit for bit."""
    tasks = [{name: task[name] for name in SCORED} for task in result["tasks"]]
    return {name: result[name] for name in ("overall", "sections", "unscored", "complete")} | {"tasks": tasks}


@dataclass(frozen=True)
class FaultFree:
    """The run that nothing disturbed: its folder, its table, and the backend that all runs of the campaign use."""

    folder: Path
    result: Mapping[str, Any]
    backend: str

    @property
    def table(self) -> dict[str, Any]:
        """Return its table."""
        return table(self.result)


@dataclass
class Scene:
    """Where one fault is injected.

    Attributes
    ----------
    calm
        The fault-free run; None while that itself is played.
    folder
        Empty at the beginning, for everything of this fault.
    complaints
        What was wrong whichever fault it was: a traceback, a process left, a file left.
    """

    folder: Path
    backend: str
    calm: FaultFree | None = None
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.run = self.folder / "run"
        self._before = descendants.alive()
        self._count = 0
        self._commands: list[RunCommand] = []

    def start(
        self,
        agent: str = "builtin:quant",
        *,
        config: Mapping[str, Any] = {},
        execution: Mapping[str, Any] = {},
        **options: Any,
    ) -> RunCommand:
        """Start ``traderbench run``; ``config`` and ``execution`` replace keys of :data:`CONFIG`."""
        raw = CONFIG | dict(config)
        raw["execution"] = CONFIG["execution"] | {"backend": self.backend} | dict(execution)
        path = self.folder / "config.yaml"
        path.write_text(yaml.safe_dump(raw))
        return self.command("run", str(path), "--agent", agent, "--out", str(self.run), "--json", **options)

    def resume(self, *arguments: str, **options: Any) -> RunCommand:
        """Start ``traderbench resume`` of this scene's run."""
        return self.command("resume", str(self.run), "--json", *arguments, **options)

    def command(
        self,
        *arguments: str,
        more: Mapping[str, str] = {},
        limits: Callable[[], None] | None = None,
        launcher: Sequence[str] = TRADERBENCH,
    ) -> RunCommand:
        """Start any command."""
        self._count += 1
        log = self.folder / f"command-{self._count}"
        made = RunCommand(
            arguments, log=log, environment=environment(self.temporary, more), limits=limits, launcher=launcher
        )
        self._commands.append(made)
        return made

    def end(self, command: RunCommand, *, timeout_s: float = BOUND_S) -> Ended:
        """Wait for a command's end and keep what there is to complain of."""
        ended = command.end(timeout_s=timeout_s)
        self.complaints += ended.complaints
        return ended

    def after_commits(self, command: RunCommand, number: int) -> bool:
        """Wait until the ledger holds ``number`` attempts; return whether the command is still under way."""
        return command.wait_until(lambda: len(attempts(self.run)) >= number, timeout_s=BOUND_S)

    def equality(self, ended: Ended) -> str:
        """Return ``equal``, or the first difference from the fault-free table."""
        if not ended.result:
            return f"status {ended.status}: {ended.error[:120]}"
        self._check_once(ended)
        assert self.calm is not None
        return difference(self.calm.table, table(ended.result))

    def status_and_equality(self, ended: Ended) -> str:
        """Return ``equal`` for status 0, else the status first."""
        told = self.equality(ended)
        return told if not ended.status or told.startswith("status") else f"status {ended.status}, {told}"

    def finished(self, command: RunCommand) -> str:
        """Wait for a command's end and compare."""
        return self.status_and_equality(self.end(command))

    def _check_once(self, ended: Ended) -> None:
        keys = [key for key, _ in results(self.run)]
        played = [key for key, state in attempts(self.run) if state != "infra_unavailable"]
        total = ended.result["overall"]["total"] - ended.result["unscored"]
        if not len(keys) == len(set(keys)) == len(played) == total:
            self.complaints.append(f"{len(keys)} results and {len(played)} attempts of {total} cells")

    def kill(self) -> None:
        """Kill the commands that are still under way: the campaign itself was interrupted."""
        for command in self._commands:
            if not command.is_over():
                command.end(timeout_s=0.0)

    def close(self) -> None:
        """End what is still under way and look for what was left."""
        for command in self._commands:
            if not command.is_over():
                self.complaints.append("a command was still under way")
                command.end(timeout_s=0.0)
        left = descendants.stayed(self._before, patience_s=LEAVE_S)
        self.complaints += [f"process left: {line}" for line in left]
        with suppress(FileNotFoundError):
            names = sorted(os.listdir(self.temporary))
            self.complaints += [f"file left: {name}" for name in names[:3]]
        self.complaints += [f"file left: {path.name}" for path in self.run.rglob(".*.tmp")]


def difference(calm: Mapping[str, Any], seen: Mapping[str, Any]) -> str:
    """Return ``equal``, or what differs first between two tables."""
    for before, after in zip(calm["tasks"], seen["tasks"], strict=False):
        if before != after:
            names = [name for name in before if before[name] != after[name]]
            return f"{before['id']}: {names[0]} {before[names[0]]!r} became {after[names[0]]!r}"
    others = [name for name in calm if calm[name] != seen[name]]
    return f"{others[0]} differs" if others else "equal"


def ended_by(status: int) -> str:
    """Return an exit status in words: its number, or the signal that killed the process."""
    return str(status) if status >= 0 else f"killed by {signal.Signals(-status).name}"
