"""A Ray worker that was lost is left alone until it answers again.

The checks run in a process of their own: Ray reads its settings when it is first imported, and the other tests of a
process need theirs.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def gone_away() -> Exception:
    import ray

    return ray.exceptions.ActorUnavailableError("the node is gone", None)


class Method:
    """What Ray makes of a method: ``remote`` gives something to wait for."""

    def __init__(self, function: Any) -> None:
        self.remote = function


class Actor:
    """A worker that is away for some pings after it was lost."""

    def __init__(self, name: str, *, away: int = 0) -> None:
        self.name, self.away, self.played = name, away, 0
        self.execute, self.is_there = Method(self._execute), Method(self._is_there)

    async def _execute(self, position: int, attempt: int, draw: int) -> dict[str, Any]:
        if self.away:
            raise gone_away()
        self.played += 1
        return {"by": self.name}

    async def _is_there(self) -> None:
        if self.away:
            self.away -= 1
            raise gone_away()


def backend(*actors: Actor) -> Any:
    from engine.run.backends import RayBackend

    made = object.__new__(RayBackend)
    made._actors, made._next, made._lost, made._returning = list(actors), 0, set(), set()
    return made


async def is_lost(made: Any) -> bool:
    from engine.run.backends import WorkerLost

    try:
        await made.execute(0, 1, 1)
    except WorkerLost:
        return True
    return False


async def attempts_are_not_used_up_on_workers_that_are_away() -> None:
    made = backend(Actor("gone", away=3), Actor("other", away=10**9), Actor("there"))
    assert await is_lost(made) and await is_lost(made)
    played = [(await made.execute(0, 2, 1))["by"] for _ in range(5)]
    while 0 in made._lost:
        await asyncio.sleep(0.01)
    played += [(await made.execute(0, 2, 1))["by"] for _ in range(4)]
    assert played == ["there"] * 5 + ["gone", "there"] * 2, played


async def a_task_waits_while_all_workers_are_away_but_not_for_ever() -> None:
    from engine.run import backends

    made = backend(Actor("only", away=3))
    assert await is_lost(made)
    assert await made.execute(0, 2, 1) == {"by": "only"}
    backends.RETURN_TIMEOUT_S = 0.05
    made = backend(Actor("only", away=10**9))
    assert await is_lost(made) and await is_lost(made)


def test_lost_workers_use_up_no_attempts_and_tasks_wait_for_them() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["both", "hold"]


def main() -> None:
    from engine.run import backends

    backends.RETURN_POLL_S = 0.01
    asyncio.run(attempts_are_not_used_up_on_workers_that_are_away())
    asyncio.run(a_task_waits_while_all_workers_are_away_but_not_for_ever())
    print("both hold")


if __name__ == "__main__":
    main()
