"""A Ray worker that was lost is left alone until it answers again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import ray

from engine import backends
from engine.backends import RayBackend, WorkerLost


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
            raise ray.exceptions.ActorUnavailableError("the node is gone", None)
        self.played += 1
        return {"by": self.name}

    async def _is_there(self) -> None:
        if self.away:
            self.away -= 1
            raise ray.exceptions.ActorUnavailableError("the node is gone", None)


def backend(*actors: Actor) -> RayBackend:
    made = object.__new__(RayBackend)
    made._actors, made._next, made._lost, made._returning = list(actors), 0, set(), set()
    return made


def test_attempts_are_not_used_up_on_workers_that_are_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "RETURN_POLL_S", 0.01)
    gone, other_gone, there = Actor("gone", away=3), Actor("other", away=10**9), Actor("there")

    async def play() -> list[str]:
        made = backend(gone, other_gone, there)
        for _ in range(2):
            with pytest.raises(WorkerLost):
                await made.execute(0, 1, 1)
        played = [(await made.execute(0, 2, 1))["by"] for _ in range(5)]
        while 0 in made._lost:
            await asyncio.sleep(0.01)
        played += [(await made.execute(0, 2, 1))["by"] for _ in range(4)]
        for waiting in made._returning:
            waiting.cancel()
        return played

    assert asyncio.run(play()) == ["there"] * 5 + ["gone", "there"] * 2


def test_a_task_waits_while_all_workers_are_away_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "RETURN_POLL_S", 0.01)
    monkeypatch.setattr(backends, "RETURN_TIMEOUT_S", 5.0)

    async def play(away: int) -> dict[str, Any]:
        made = backend(Actor("only", away=away))
        with pytest.raises(WorkerLost):
            await made.execute(0, 1, 1)
        try:
            return await made.execute(0, 2, 1)
        finally:
            for waiting in made._returning:
                waiting.cancel()

    assert asyncio.run(play(3)) == {"by": "only"}
    monkeypatch.setattr(backends, "RETURN_TIMEOUT_S", 0.05)
    with pytest.raises(WorkerLost):
        asyncio.run(play(10**9))
