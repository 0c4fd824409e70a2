"""In which order tasks are played, so that no tool tells the agent what is later than a task it still has to do.

A grant opens the servers up to its own task's date. An agent that holds the grants of two open tasks can use the later
one for the earlier, and one with a memory can keep what it saw. So tasks that use a server whose data has a date are
played in the order of their dates, and only those of one date side by side. The other tasks fill the free places.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date
from typing import TYPE_CHECKING

from evaluators.contract import Task
from mcp_servers.catalog import SERVERS

if TYPE_CHECKING:
    from engine.plan.build import Cell


def is_dated(task: Task) -> bool:
    """Return whether the task is given a server whose data has a date."""
    return any(SERVERS[name].dated for name in task.servers)


class DateOrder:
    """Hands out cells to several players.

    Parameters
    ----------
    cells
        What is to be played.
    strict
        False hands the cells out as they come: what is guaranteed then is each grant's own date, no more.
    seen
        The latest date that a tool served in this run before, if any.
    """

    def __init__(self, cells: Sequence[Cell], *, strict: bool = True, seen: date | None = None) -> None:
        dated = [cell for cell in cells if strict and is_dated(cell.case.task)]
        self._dated = deque(sorted(dated, key=lambda cell: cell.case.task.as_of))
        self._free = deque(cell for cell in cells if not (strict and is_dated(cell.case.task)))
        self._open: list[date] = []
        self._seen = seen
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def next(self) -> AsyncIterator[Cell | None]:
        """Yield the next cell that may be played, waiting for one if need be; None when all are handed out."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._may_start_dated() or self._free or not self._dated)
            cell = self._take()
        try:
            yield cell
        finally:
            async with self._changed:
                if cell is not None and is_dated(cell.case.task):
                    self._open.remove(cell.case.task.as_of)
                self._changed.notify_all()

    def is_after_later_data(self, task: Task) -> bool:
        """Return whether a tool may have served this run something later than the task's date, before or beside it."""
        return is_dated(task) and self._seen is not None and self._seen > task.as_of

    def _may_start_dated(self) -> bool:
        return bool(self._dated) and all(day == self._dated[0].case.task.as_of for day in self._open)

    def _take(self) -> Cell | None:
        if self._may_start_dated():
            cell = self._dated.popleft()
        elif self._free:
            cell = self._free.popleft()
        else:
            return None
        if is_dated(cell.case.task):
            day = cell.case.task.as_of
            self._open.append(day)
            self._seen = day if self._seen is None else max(self._seen, day)
        return cell
