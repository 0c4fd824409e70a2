"""When a run stops by itself: an agent that is gone, too large a share of errors, a budget that is spent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from engine.config import LimitsConfig
from engine.errors import AgentUnreachable, RunIncomplete, TraderBenchError
from engine.record import BROKEN, State, TaskRecord
from engine.run.budget import Budget

GONE_IN_A_ROW = 3
"""Tasks in a row, in the order of their ends, that find nobody to answer before the agent counts as gone."""
SHARE_COUNTS_FROM = 10
"""Finished tasks before a share of errors means anything."""


class Watch:
    """Looks at the tasks that end while a run is under way; what was played before a resume does not count again."""

    def __init__(self, max_error_share: float | None) -> None:
        self._max_error_share = max_error_share
        self._finished = self._broken = self._away = self._away_in_a_row = 0
        self._last_reason = ""

    def see(self, record: TaskRecord) -> TraderBenchError | None:
        """Count one ended task; return why the run has to stop, if it has to."""
        state = record["state"]
        if state == State.INFRA_UNAVAILABLE:
            return None
        away = state == State.AGENT_UNAVAILABLE
        self._finished += 1
        self._broken += state in BROKEN
        self._away += away
        self._away_in_a_row = self._away_in_a_row + 1 if away else 0
        if state in BROKEN:
            self._last_reason = record["reason"]
        if self._away_in_a_row >= GONE_IN_A_ROW:
            return self._gone(f"{self._away_in_a_row} tasks in a row")
        share = self._max_error_share
        if share is not None and self._finished >= SHARE_COUNTS_FROM and self._broken > share * self._finished:
            return RunIncomplete(
                f"{self._broken} of {self._finished} tasks ended in an error of the agent, more than "
                f"limits.max_error_share ({share:g}) allows; the last: {self._last_reason}"
            )
        return None

    def at_the_end(self) -> TraderBenchError | None:
        """Return the outage that was too short to have three tasks in a row: no task at all had an answer."""
        if self._finished and self._away == self._finished:
            return self._gone("every task")
        return None

    def _gone(self, tasks: str) -> AgentUnreachable:
        return AgentUnreachable(f"the agent was not available for {tasks}; the last: {self._last_reason}")


class Gate:
    """Lets tasks start until there is a reason to stop; what is under way then ends and is kept.

    Attributes
    ----------
    stop
        Why no further task starts, or None.
    """

    def __init__(self, limits: LimitsConfig, budget: Budget) -> None:
        self._watch = Watch(limits.max_error_share)
        self._budget = budget
        self._under_way = 0
        self._changed = asyncio.Condition()
        self.stop: TraderBenchError | None = None

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[bool]:
        """Wait until a task may start, and yield whether it may."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.stop is not None or self._budget.has_room(self._under_way))
            self.stop = self.stop or self._budget.exhausted()
            admitted = self.stop is None
            self._under_way += admitted
        try:
            yield admitted
        finally:
            async with self._changed:
                self._under_way -= admitted
                self._changed.notify_all()

    def see(self, record: TaskRecord) -> None:
        """Count one ended task."""
        self.stop = self.stop or self._watch.see(record)

    def at_the_end(self) -> TraderBenchError | None:
        """Return why the run did not do what it should, after the last task; None when it did."""
        return self.stop or self._watch.at_the_end()
