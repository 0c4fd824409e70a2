"""One ``traderbench`` command as a child process, with limits, a temporary folder of its own and a bound in time."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults import descendants

ROOT = Path(__file__).resolve().parents[2]
POLL_S = 0.01
TRADERBENCH = ("-c", "import sys; from engine.start import main; sys.exit(main())")
"""What the installed command does."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit status (negative: the signal that killed it) and what it printed."""

    status: int
    stdout: str
    stderr: str
    seconds: float
    complaints: tuple[str, ...] = ()

    @property
    def result(self) -> dict[str, Any]:
        """Return what ``--json`` printed; nothing where it is no JSON object."""
        try:
            found = json.loads(self.stdout)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def error(self) -> str:
        """Return the last line of standard error."""
        return (self.stderr.strip().splitlines() or ["nothing was said"])[-1]


class RunCommand:
    """A command under way. ``log`` names the files that its output goes to."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str],
        limits: Callable[[], None] | None = None,
        launcher: Sequence[str] = TRADERBENCH,
    ) -> None:
        self._out, self._err = log.with_suffix(".out"), log.with_suffix(".err")
        self._started = time.monotonic()
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, *launcher, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=ROOT,
                env=dict(environment),
                start_new_session=True,
                preexec_fn=limits,
            )
        descendants.OWN.add(self.process.pid)

    @property
    def pid(self) -> int:
        """Process id of the harness."""
        return self.process.pid

    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self.process.poll() is not None

    def said(self, text: str) -> bool:
        """Return whether its standard error holds ``text`` by now."""
        return text in self._err.read_text(errors="replace")

    def wait_until(self, happened: Callable[[], bool], *, timeout_s: float) -> bool:
        """Wait for something outside; return whether it came before the command's end and the time's."""
        deadline = time.monotonic() + timeout_s
        while not happened():
            if self.is_over() or time.monotonic() > deadline:
                return False
            time.sleep(POLL_S)
        return not self.is_over()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the harness alone."""
        self.process.send_signal(number)

    def end(self, *, timeout_s: float) -> Ended:
        """Wait for its end, which is made after ``timeout_s``."""
        complaints: list[str] = []
        try:
            self.process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            complaints.append(f"not over after {timeout_s:g} s")
            self.process.kill()
            self.process.wait()
        descendants.OWN.discard(self.pid)
        out, err = (path.read_text(errors="replace") for path in (self._out, self._err))
        if "Traceback" in err:
            complaints.append(f"traceback: {err.strip().splitlines()[-1][:100]}")
        if out.strip() and not _is_json(out):
            complaints.append(f"stdout is not JSON: {out.strip().splitlines()[0][:60]!r}")
        return Ended(self.process.returncode, out, err, time.monotonic() - self._started, tuple(complaints))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def environment(temporary: Path, more: Mapping[str, str] = {}) -> dict[str, str]:
    """Return the environment of a command whose temporary files go to ``temporary``."""
    return os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)} | dict(more)


def attempts(run: Path) -> list[tuple[str, str]]:
    """Return key and state of each attempt in a run's ledger, now; nothing where there is no ledger yet."""
    return _rows(run, "SELECT key, state FROM attempts ORDER BY id")


def results(run: Path) -> list[tuple[str, str]]:
    """Return key and state of each cell with a result."""
    return _rows(run, "SELECT key, state FROM cells ORDER BY position")


def _rows(run: Path, sql: str) -> list[tuple[str, str]]:
    try:
        with closing(sqlite3.connect(f"file:{run / 'ledger.sqlite'}?mode=ro", uri=True, timeout=5.0)) as ledger:
            return ledger.execute(sql).fetchall()
    except sqlite3.DatabaseError:
        return []
