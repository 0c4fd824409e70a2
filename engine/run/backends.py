"""Where tasks are executed: in this process, or in Ray workers. One interface, the same records."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from engine import devices
from engine.agent import client as agent_client
from engine.agent.oracle import Oracle
from engine.config import RunConfig
from engine.plan import build
from engine.plan.build import Plan
from engine.plan.judges import paid_from, with_purse
from engine.record import TaskRecord
from engine.run.execute import Limits, execute, unavailable
from engine.run.shared_purse import SharedPurse, shared
from engine.run.tool_access import ToolAccess
from mcp_servers.secrecy import deny_inspection

RETURN_POLL_S, RETURN_TIMEOUT_S = 0.5, 60.0
"""How often a lost worker is asked whether it is back, and how long a task waits while all are lost."""


class Backend(Protocol):
    """Executes one attempt of one cell."""

    async def execute(self, position: int, attempt: int, draw: int) -> TaskRecord:
        """Play the cell at ``position`` on its ``draw``-th draw and return its record."""
        ...

    async def close(self) -> None:
        """Release workers and connections."""
        ...


def limits(config: RunConfig) -> Limits:
    """Return what one task of a run may take."""
    given = config.limits
    return Limits(
        task_time_s=given.task_time_s,
        turn_time_s=given.turn_time_s,
        max_turns=given.max_turns,
        max_tool_calls=given.max_tool_calls,
        max_tokens=given.max_tokens,
        max_cost_usd=given.max_task_cost_usd,
        tool_time_s=given.tool_time_s,
    )


class SerialBackend:
    """Executes in this process; several tasks overlap while they wait for the agent."""

    def __init__(self, plan: Plan, *, run_id: str, agent: agent_client.Agent, tools: ToolAccess) -> None:
        self._plan, self._run_id, self._agent, self._tools = plan, run_id, agent, tools
        self._limits = limits(plan.config)

    async def execute(self, position: int, attempt: int, draw: int) -> TaskRecord:
        """Play the cell."""
        cell, tools = self._plan.cell_at(position), self._tools
        case = cell.case if draw == 1 else await asyncio.to_thread(cell.case.drawn, draw)
        offered = tools.offered(case.task.servers)
        limit = self._limits.max_tool_calls
        record = await execute(
            case,
            public_id=cell.public_id_of(draw),
            grant=cell.grant(case.task, run_id=self._run_id, attempt=attempt, limit=limit, servers=offered),
            agent=self._agent,
            tools=tools,
            limits=self._limits,
            price=self._plan.config.prices.get(self._agent.name),
        )
        return record | {"draw": draw}

    async def close(self) -> None:
        """Nothing to release: the agent belongs to the caller."""


class RayBackend:
    """Executes in Ray actors, each with its own connection to the agent.

    A worker draws the run's cases itself from the config and the seed: no truth travels.
    """

    def __init__(
        self,
        config: RunConfig,
        *,
        run_id: str,
        agent_url: str,
        agent_digest: str,
        agent_token: str | None = None,
        tools: ToolAccess,
        workers: int,
    ) -> None:
        import ray

        actor = ray.remote(num_cpus=0, max_restarts=3, max_task_retries=0)(PrivateWorker)
        self._purse = shared(config.judge)
        arguments = (config.model_dump(mode="json"), run_id, agent_url, agent_digest, tools, agent_token, self._purse)
        self._actors: list[Any] = [actor.remote(*arguments) for _ in range(workers)]
        self._next = 0
        self._lost: set[int] = set()
        self._returning: set[asyncio.Task[None]] = set()

    async def execute(self, position: int, attempt: int, draw: int) -> TaskRecord:
        """Play the cell on the next worker; a lost worker is a failure of the harness.

        A worker that was lost gets nothing until it answers again: with its node several are gone at once, and the
        attempts of a task would be used up on them before the cluster has noticed.
        """
        import ray

        place = await self._place()
        try:
            record: TaskRecord = await self._actors[place].execute.remote(position, attempt, draw)
        except ray.exceptions.RayError as error:
            if place not in self._lost:
                self._lost.add(place)
                waiting = asyncio.create_task(self._wait_for(place))
                self._returning.add(waiting)
                waiting.add_done_callback(self._returning.discard)
            raise WorkerLost(str(error).strip().splitlines()[-1]) from error
        return record

    async def _place(self) -> int:
        """Return the next worker that is not lost; after a while without one, any."""
        deadline = asyncio.get_running_loop().time() + RETURN_TIMEOUT_S
        while len(self._lost) == len(self._actors) and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(RETURN_POLL_S)
        while True:
            place = self._next % len(self._actors)
            self._next += 1
            if place not in self._lost or len(self._lost) == len(self._actors):
                return place

    async def _wait_for(self, place: int) -> None:
        """Ask a lost worker until it answers."""
        import ray

        while True:
            try:
                await self._actors[place].is_there.remote()
            except ray.exceptions.RayError:
                await asyncio.sleep(RETURN_POLL_S)
            else:
                self._lost.discard(place)
                return

    async def close(self) -> None:
        """End the workers, and what they pay from."""
        import ray

        if self._purse is not None:
            self._purse.close()
        for waiting in self._returning:
            waiting.cancel()
        for actor in self._actors:
            ray.kill(actor)


class WorkerLost(Exception):
    """A Ray worker died; the attempt is tried again."""


class Worker:
    """The inside of a Ray actor: a serial backend of its own."""

    def __init__(
        self,
        config: dict[str, Any],
        run_id: str,
        agent_url: str,
        agent_digest: str,
        tools: ToolAccess,
        agent_token: str | None = None,
        purse: SharedPurse | None = None,
    ) -> None:
        checked = RunConfig.model_validate(config)
        devices.use(checked.execution.device, shared=True)
        if purse is None and checked.judge is not None and checked.judge.budget_usd is not None:
            raise ValueError("judge.budget_usd: a worker without the run's purse cannot keep it")
        paid = with_purse(checked) if purse is None else paid_from(checked, purse)
        plan = build.plan(paid, agent_digest=agent_digest)
        self._plan, self._run_id, self._tools = plan, run_id, tools
        self._url, self._digest, self._token = agent_url, agent_digest, agent_token
        self._backend: SerialBackend | None = None
        self._connecting = asyncio.Lock()

    async def is_there(self) -> None:
        """Answer, which is all that is asked."""

    async def execute(self, position: int, attempt: int, draw: int) -> TaskRecord:
        """Play the cell in this worker."""
        async with self._connecting:
            if self._backend is None:
                try:
                    agent: agent_client.Agent = (
                        Oracle()
                        if self._url == Oracle.name
                        else await agent_client.connect(self._url, token=self._token)
                    )
                except agent_client.AgentFailure as error:
                    return self._no_agent(position, draw, f"{error.kind}: {error}")
                if agent.digest != self._digest:
                    await agent.close()
                    return self._no_agent(position, draw, "the agent's card is another than at the start of the run")
                self._backend = SerialBackend(self._plan, run_id=self._run_id, agent=agent, tools=self._tools)
        return await self._backend.execute(position, attempt, draw)

    def _no_agent(self, position: int, draw: int, reason: str) -> TaskRecord:
        return unavailable(self._plan.cell_at(position).case.task, reason, whose="agent") | {"draw": draw}


class PrivateWorker(Worker):
    """A worker in a process of its own, which other programs of the same user cannot look into."""

    def __init__(self, *arguments: Any) -> None:
        deny_inspection()
        super().__init__(*arguments)
