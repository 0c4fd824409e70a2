"""Child processes that end with us: each leads a process group of its own and dies when its parent does."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

STOP_TIMEOUT_S = 3.0

# prctl(PR_SET_PDEATHSIG) outlives exec, and a process started between the death of its parent and the call would miss
# the signal: hence the second look at the parent.
_LAUNCHER = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


def launch(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    log: Path,
    output: Path | None = None,
    user: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start the Python interpreter with ``arguments``; return at once.

    Parameters
    ----------
    arguments
        What follows the interpreter on the command line.
    environment
        The whole environment of the child.
    folder
        Its working directory.
    log, output
        Files that standard error and standard output go to; both go to ``log`` when ``output`` is None.
    user
        Number of the user, and of its only group, that the child becomes; None: ours.
    """
    with log.open("wb") as errors, (output or log).open("ab") as printed:
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _LAUNCHER, str(os.getpid()), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=errors if output is None else printed,
            stderr=errors,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )


async def stop(process: subprocess.Popen[bytes], *, timeout_s: float = STOP_TIMEOUT_S) -> None:
    """End the process and its group: asked first, killed after ``timeout_s`` seconds or when this is cancelled."""
    _signal_group(process, signal.SIGTERM)
    deadline = time.monotonic() + timeout_s
    try:
        while process.poll() is None and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
    finally:
        _signal_group(process, signal.SIGKILL)
        process.wait()


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def last_line(log: Path) -> str:
    """Return the last line that a process wrote, cut to 300 characters."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it wrote nothing"
