"""Calls take turns: so many of one task work at a time, and so many of all; the others wait in the order they came."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from weakref import WeakValueDictionary

import anyio

from mcp_servers import caller
from mcp_servers.access import Owner

CALLS_PER_TASK = 4
"""Of any tool of one server."""

HEAVY_CALLS_PER_TASK = 1
HEAVY_CALLS = 2
"""Of one tool that takes hundreds of megabytes: of a task, and of all."""


class Turns:
    """Hands out turns. For one event loop.

    Parameters
    ----------
    per_task, in_all
        How many may work at a time; None is no limit.
    """

    def __init__(self, *, per_task: int, in_all: int | None = None) -> None:
        self._per_task = per_task
        self._of_task: WeakValueDictionary[Owner, anyio.Semaphore] = WeakValueDictionary()
        self._of_all = None if in_all is None else anyio.Semaphore(in_all)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn of the call in progress; waiting for others of its own task is the agent's time."""
        call = caller.current()
        own = self._of_task.setdefault(call.grant.owner, anyio.Semaphore(self._per_task))
        try:
            own.acquire_nowait()
        except anyio.WouldBlock:
            with call.taking_its_own_time():
                await own.acquire()
        try:
            async with self._of_all or nullcontext():
                yield
        finally:
            own.release()
