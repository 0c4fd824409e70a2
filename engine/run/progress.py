"""What a person sees while a run goes on. Everything goes to standard error; standard output is for results."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any, Protocol, TextIO

from engine.record import State, TaskRecord
from engine.report.remarks import points, tasks
from engine.spending import in_words, is_known


class Progress(Protocol):
    """Told about each finished task."""

    def start(self, total: int, finished: Sequence[TaskRecord]) -> None:
        """Begin with ``total`` tasks, of which those of the records ``finished`` were played before."""
        ...

    def stage(self, text: str) -> None:
        """Say what is being done outside the tasks (starting servers, drawing tasks)."""
        ...

    def advance(self, record: TaskRecord) -> None:
        """Count one finished task."""
        ...

    def stop(self) -> None:
        """End the display."""
        ...


class _Counts:
    """Failures, harness failures and cost so far."""

    def __init__(self) -> None:
        self.failures = self.unavailable = self.infrastructure = 0
        self.cost_usd = 0.0
        self.cost_known = True

    def add(self, record: TaskRecord) -> None:
        self.failures += record["state"] == State.AGENT_ERROR
        self.unavailable += record["state"] == State.AGENT_UNAVAILABLE
        self.infrastructure += record["state"] == State.INFRA_UNAVAILABLE
        self.cost_usd += record["usage"]["cost_usd"]
        self.cost_known = self.cost_known and is_known(record["usage"])

    def text(self) -> str:
        ours = f", harness failures {self.infrastructure}" if self.infrastructure else ""
        away = f", agent not available {self.unavailable}" if self.unavailable else ""
        return f"agent failures {self.failures}{away}{ours}, cost {in_words(self.cost_usd, known=self.cost_known)}"


class Lines:
    """One line a task, for logs and pipes."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._counts = _Counts()
        self._total = self._done = 0
        self._begun = time.monotonic()

    def start(self, total: int, finished: Sequence[TaskRecord]) -> None:
        """Say how many tasks there are."""
        self._total, self._done = total, len(finished)
        for record in finished:
            self._counts.add(record)
        resumed = f", {len(finished)} finished before ({self._counts.text()})" if finished else ""
        print(f"{tasks(total)}{resumed}", file=self._stream, flush=True)

    def stage(self, text: str) -> None:
        """Print the stage."""
        print(f"[{time.monotonic() - self._begun:6.1f} s] {text}", file=self._stream, flush=True)

    def advance(self, record: TaskRecord) -> None:
        """Print the task's section, state and score."""
        self._done += 1
        self._counts.add(record)
        print(
            f"[{time.monotonic() - self._begun:6.1f} s] {self._done}/{self._total} {record['section']} "
            f"{record['task_id']}: {record['state']} {points(record['value'])} ({self._counts.text()})",
            file=self._stream,
            flush=True,
        )

    def stop(self) -> None:
        """Nothing to end."""


class Bar:
    """A progress bar with section, done/total, failures and cost, for terminals."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._console = Console(stderr=True)
        self._bar = RichProgress(
            TextColumn("[bold]{task.fields[section]:<22}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=self._console,
        )
        self._counts = _Counts()
        self._task: Any = None

    def start(self, total: int, finished: Sequence[TaskRecord]) -> None:
        """Show the bar."""
        self._bar.start()
        for record in finished:
            self._counts.add(record)
        self._task = self._bar.add_task(
            "", total=total, completed=len(finished), section="starting", note=self._counts.text()
        )

    def stage(self, text: str) -> None:
        """Print the stage above the bar."""
        self._console.print(f"[dim]{text}[/dim]")

    def advance(self, record: TaskRecord) -> None:
        """Move the bar."""
        self._counts.add(record)
        self._bar.update(self._task, advance=1, section=record["section"], note=self._counts.text())

    def stop(self) -> None:
        """Leave the last state on the screen."""
        self._bar.stop()


def for_stream() -> Progress:
    """Return the bar on a terminal and lines elsewhere."""
    return Bar() if sys.stderr.isatty() else Lines()
