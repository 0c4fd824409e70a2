"""Kills a part of a run every so often, and resumes where that was the harness."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping

from tests.faults import descendants
from tests.faults.run_command import Ended, RunCommand, attempts
from tests.faults.scene import Scene

POLL_S = 0.1
MAX_RESUMES = 200
PARTS: Mapping[str, Callable[[int], list[int]]] = {
    "harness": lambda pid: [pid],
    "server": descendants.tool_servers,
    "worker": descendants.ray_workers,
    "sandbox": descendants.sandboxes,
}


class Killer:
    """Strikes at random. ``every_s`` is the time between two blows, while tasks are being played."""

    def __init__(self, scene: Scene, *, every_s: float, seed: int, bound_s: float) -> None:
        self._scene, self._every_s, self._bound_s = scene, every_s, bound_s
        self._rng = random.Random(seed)
        self.blows: Counter[str] = Counter()

    def play_on(self, command: RunCommand) -> Ended:
        """Strike until the run is over; return how its last command ended."""
        deadline = time.monotonic() + self._bound_s
        for _ in range(MAX_RESUMES):
            ended = self._until_its_end(command, deadline)
            if ended.status != -signal.SIGKILL or time.monotonic() > deadline:
                return ended
            command = self._scene.resume()
        raise AssertionError(f"the run was not over after {MAX_RESUMES} resumes")

    def _until_its_end(self, command: RunCommand, deadline: float) -> Ended:
        before = len(attempts(self._scene.run))
        # a harness that is killed before its first task would never come further
        while not command.is_over() and time.monotonic() < deadline and len(attempts(self._scene.run)) == before:
            time.sleep(POLL_S)
        next_blow = time.monotonic() + self._rng.uniform(0.5, 1.5) * self._every_s
        while not command.is_over() and time.monotonic() < deadline:
            time.sleep(POLL_S)
            if time.monotonic() >= next_blow:
                self._strike(command)
                next_blow = time.monotonic() + self._rng.uniform(0.5, 1.5) * self._every_s
        return self._scene.end(command, timeout_s=max(1.0, deadline - time.monotonic()))

    def _strike(self, command: RunCommand) -> None:
        there = {name: found for name, find in PARTS.items() if (found := find(command.pid))}
        part = self._rng.choice(sorted(there))
        self.blows[part] += descendants.strike([self._rng.choice(there[part])], signal.SIGKILL)
