"""Signals to the harness, and its death at the points of a commit; then resume, and again during the resume."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from tests.faults import altered_harness as points
from tests.faults.row import Fault
from tests.faults.scene import BOUND_S, Scene, ended_by

EVERY = 3
"""Commits between two deaths of one run; all of them would take a run a commit."""
KILLED = "killed by SIGKILL, then equal"
STOPPED = "130, then equal"


def signalled(number: signal.Signals, *, after: int, times: int = 1) -> Callable[[Scene], str]:
    """Send a signal after some commits, ``times`` times, and resume."""

    def inject(scene: Scene) -> str:
        command = scene.start()
        assert scene.after_commits(command, after), "the run ended before its signal"
        for _ in range(times):
            if not command.is_over():
                command.send(number)
                time.sleep(0.2)
        status = scene.end(command).status
        return f"{ended_by(status)}, then {scene.finished(scene.resume())}"

    return inject


def signalled_early(number: signal.Signals, *, after_s: float = 0.0, stage: str = "") -> Callable[[Scene], str]:
    """Send a signal before the first task: some time after the start, or at a stage of it."""

    def inject(scene: Scene) -> str:
        command = scene.start()
        time.sleep(after_s)
        if stage:
            assert command.wait_until(lambda: command.said(stage), timeout_s=BOUND_S), f"it never said {stage!r}"
        command.send(number)
        return ended_by(scene.end(command).status)

    return inject


def killed_again_and_again(scene: Scene) -> str:
    """Kill the run after some commits, and each resume of it after some more."""
    assert scene.calm is not None
    total = scene.calm.result["overall"]["total"]
    command, deaths = scene.start(), 0
    for point in range(1, total, EVERY):
        if not scene.after_commits(command, point):
            break
        command.send(signal.SIGKILL)
        scene.end(command)
        deaths += 1
        command = scene.resume()
    return f"killed {'often' if deaths > 1 else deaths}, then {scene.finished(command)}"


def dies_at(point: str, number: int = 4) -> Callable[[Scene], str]:
    """Let the harness die at a point of a commit, the resume at the same one, and resume again."""

    def inject(scene: Scene) -> str:
        launcher = ("-m", "tests.faults.altered_harness", point, str(number))
        first = scene.end(scene.start(launcher=launcher)).status
        again = scene.end(scene.resume(launcher=launcher)).status
        told = ended_by(first) if first == again else f"{ended_by(first)}, {ended_by(again)}"
        return f"{told}, then {scene.finished(scene.resume())}"

    return inject


FAULTS = (
    Fault("sigkill-first-commit", KILLED, signalled(signal.SIGKILL, after=1)),
    Fault("sigkill-again-and-again", "killed often, then equal", killed_again_and_again),
    Fault("sigkill-before-rename", KILLED, dies_at(points.BEFORE_RENAME)),
    Fault("sigkill-before-row", KILLED, dies_at(points.BEFORE_ROW)),
    Fault("sigkill-before-acknowledge", KILLED, dies_at(points.BEFORE_ACKNOWLEDGE)),
    Fault("sigint", STOPPED, signalled(signal.SIGINT, after=5)),
    Fault("sigint-twice", STOPPED, signalled(signal.SIGINT, after=3, times=2)),
    Fault("sigint-seven-times", STOPPED, signalled(signal.SIGINT, after=3, times=7)),
    Fault("sigint-at-start", "130", signalled_early(signal.SIGINT, after_s=0.3)),
    Fault("sigint-in-setup", "130", signalled_early(signal.SIGINT, stage="starting the MCP servers")),
    Fault("sigterm", STOPPED, signalled(signal.SIGTERM, after=5)),
    Fault("sigterm-twice", STOPPED, signalled(signal.SIGTERM, after=3, times=2)),
    Fault("sighup", STOPPED, signalled(signal.SIGHUP, after=3)),
)
