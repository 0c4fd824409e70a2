"""The processes below this one: what a run has started, which of them serve, and what it left behind."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Collection, Iterator
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
POLL_S = 0.1


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Be in the body the parent of every descendant whose own parent dies, so that none can hide from :func:`alive`."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        # other tests of this process would wait for orphans that nobody reaps
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def below(pid: int) -> list[int]:
    """Return the descendants of a process, without those that are only waiting to be reaped."""
    found: list[int] = []
    for child in _children(pid):
        found += [child] if _is_running(child) else []
        found += below(child)
    return found


def alive() -> set[int]:
    """Return the descendants of this process; adopted ones that have ended are reaped."""
    return set(below(os.getpid()))


def command(pid: int) -> str:
    """Return a process's command line, empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def tool_servers(pid: int) -> list[int]:
    """Return the processes of a run's tool servers but the sandbox's: child processes, or Ray actors."""
    serving = [each for each in below(pid) if _serves(command(each))]
    return [each for each in serving if not any(_is_sandbox(command(child)) for child in _children(each))]


def sandboxes(pid: int) -> list[int]:
    """Return the processes below a run's sandbox server, the one that starts the others first."""
    return [each for each in below(pid) if _is_sandbox(command(each))]


def ray_workers(pid: int) -> list[int]:
    """Return the Ray workers that play a run's tasks."""
    titles = {each: command(each) for each in below(pid)}
    return [each for each, title in titles.items() if title.startswith("ray::") and "Worker" in title]


def strike(pids: Collection[int], number: signal.Signals) -> int:
    """Send a signal to processes; return how many were there to take it."""
    struck = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
            struck += 1
    return struck


def stayed(before: Collection[int], *, patience_s: float) -> list[str]:
    """Return the command lines of new descendants that do not end within ``patience_s``, and end them."""
    deadline = time.monotonic() + patience_s
    while (new := alive() - set(before)) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    told = [f"{command(pid)[:60]!r}" for pid in sorted(new)]
    strike(new, signal.SIGKILL)
    return told


def _serves(line: str) -> bool:
    return line.endswith("-m mcp_servers.process") or line.startswith("ray::ToolServerActor")


def _is_sandbox(line: str) -> bool:
    return "mcp_servers.sandbox" in line


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def _is_running(pid: int) -> bool:
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return False
    if state == "Z" and int(parent) == os.getpid():
        _reap(pid)
    return state not in "ZX"


def _reap(pid: int) -> None:
    """Let an adopted process go; the commands of a campaign are reaped by their own objects."""
    if pid not in OWN:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


OWN: set[int] = set()
"""Children of this process that somebody else waits for."""
