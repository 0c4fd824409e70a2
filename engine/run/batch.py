"""Play a run: concurrency, retry, resume and log over the cells of a plan."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import devices
from engine.agent import client as agent_client
from engine.agent import model_settings
from engine.agent.model_settings import ModelSettings
from engine.config import LimitsConfig, RunConfig, parse
from engine.errors import ConfigError, RunIncomplete, TraderBenchError
from engine.machine import interrupts
from engine.plan import build
from engine.plan.build import Cell, Plan
from engine.plan.date_order import DateOrder, is_dated
from engine.plan.judges import with_purse
from engine.record import State, TaskRecord
from engine.report import results
from engine.run import budget, services
from engine.run.backends import Backend, RayBackend, SerialBackend, WorkerLost
from engine.run.budget import Budget, BudgetSpent
from engine.run.execute import unavailable
from engine.run.outages import Gate
from engine.run.progress import Progress
from engine.run.tool_access import ToolAccess
from engine.storage import run_folder
from engine.storage.store import Store, was_seen

RAY_WORKERS = 2


class Interrupted(TraderBenchError):
    """The user stopped the run; what was finished is kept."""

    exit_status = 130


@dataclass(frozen=True)
class Setup:
    """The parts of a run that are up: agent, tool servers, backend settings."""

    agent: agent_client.Agent
    agent_url: str
    tools: ToolAccess
    sandbox_tier: str


def start_run(
    config: RunConfig,
    *,
    agent: str,
    out: Path | None,
    progress: Progress,
    model: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Play a new run in the folder ``out`` and return its summary.

    Parameters
    ----------
    config
        The resolved config, seed included.
    agent
        URL of an A2A agent, or ``builtin:NAME``.
    out
        Run folder; must be new or empty. None makes ``runs/<run id>``.
    progress
        Told about each finished task.
    model
        Settings of ``builtin:llm`` by name (:class:`engine.agent.model_settings.ModelSettings`); what is not given is
        taken from the environment. All of them are kept in the manifest.

    Returns
    -------
    dict
        ``results.summary`` with ``folder``, ``stopped`` (why the run stopped by itself, or None), ``go_on`` (the
        command that plays what is missing, or None) and ``exit_status``.
    """
    run_id = new_run_id(config)
    folder = out or run_folder.RUNS / run_id
    return asyncio.run(_guarded(_start(config, agent, folder, run_id, progress, model or {}), folder))


def resume_run(
    folder: Path,
    *,
    agent: str | None,
    progress: Progress,
    retry_errors: bool = False,
    max_cost_usd: float | None = None,
    model: Mapping[str, Any] | None = None,
    execution: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Finish the run in ``folder`` and return its summary, as :func:`start_run` does.

    Where nothing is left to play, the store is all that is needed: no agent is asked and no task is drawn.

    Parameters
    ----------
    folder
        Run folder.
    agent
        Where the same agent is now; None: where it was.
    progress
        Told about each finished task.
    retry_errors
        Play the tasks in state ``agent_unavailable`` again; their former attempts are kept.
    max_cost_usd
        The run's budget from now on, what it has spent included; None: the config's.
    model
        Other settings of ``builtin:llm`` from now on: where it is, what it costs, how long it is waited for.
    execution
        Other values of the config's ``execution`` from now on, which change no score.

    Raises
    ------
    RunIncomplete
        When there is something to play and the budget is spent; nothing is started then.
    """
    folder = folder.absolute()
    work = _resume(folder, agent, progress, retry_errors, max_cost_usd, model or {}, execution or {})
    return asyncio.run(_guarded(work, folder))


async def _guarded(work: Any, folder: Path) -> Any:
    """Run ``work`` so that a signal ends it cleanly: workers stopped, commits finished, lock released."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    if threading.current_thread() is threading.main_thread():
        for number in interrupts.wanted():
            loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError as error:
        if not (folder / "manifest.json").exists():
            raise Interrupted("stopped before the first task") from error
        raise Interrupted(f"stopped; finish the run with: traderbench resume {folder}") from error


async def _start(
    config: RunConfig, agent: str, out: Path, run_id: str, progress: Progress, model: Mapping[str, Any]
) -> dict[str, Any]:
    if (out / "manifest.json").exists():
        raise ConfigError(f"{out} already holds a run; finish it with: traderbench resume {out}")
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out {out}: this is a file; name a new or empty folder")
    settings = None
    if agent == model_settings.AGENT:
        settings = model_settings.resolve(model, os.environ, config.limits).priced(config.prices)
    _check_agent(config, agent, settings)
    if run_folder.is_open(out):
        progress.stage(f"{out} can be listed by other users; the files of the run in it are yours alone")
    progress.stage(f"drawing tasks of {config.name}, seed {config.sampling.seed}, for the run folder {out}")
    _take_device(config)
    config = with_purse(config)
    cases = build.checked_cases(config)
    async with _set_up(config, agent, progress, settings) as setup:
        plan = build.plan(config, agent_digest=setup.agent.digest, cases=cases)
        described: dict[str, Any] = {"spec": agent, "name": setup.agent.name, "digest": setup.agent.digest}
        if settings:
            described |= {"settings": settings.record(), "description": services.description_of(setup.agent)}
            progress.stage(f"the agent says: {described['description']}")
        manifest = build.manifest(plan, run_id=run_id, agent=described, sandbox_tier=setup.sandbox_tier)
        with Store.create(out, manifest) as store:
            return await _play_and_report(plan, store, setup, progress)


async def _resume(
    folder: Path,
    agent: str | None,
    progress: Progress,
    retry_errors: bool,
    max_cost_usd: float | None,
    model: Mapping[str, Any],
    execution: Mapping[str, Any],
) -> dict[str, Any]:
    with Store.open(folder) as store, build.working_directory(store.manifest()):
        manifest = store.manifest()
        retried = store.retriable() if retry_errors else {}
        if {task["key"] for task in manifest["tasks"]} <= store.finished() - set(retried):
            progress.stage("nothing to play: every task has a result")
            return finish(store)
        raw = manifest["config"] | {"execution": manifest["config"].get("execution", {}) | dict(execution)}
        config = parse(raw, source=str(folder / "manifest.json"))
        if max_cost_usd is not None:
            limits = config.limits.model_copy(update={"max_cost_usd": max_cost_usd})
            config = config.model_copy(update={"limits": limits})
        if stop := _budget(config.limits.max_cost_usd, store).exhausted():
            raise BudgetSpent(f"{stop}; go on with: {_way_on(store, stop, retry=retry_errors)}")
        spec = agent or manifest["agent"]["spec"]
        settings = _stored_settings(manifest, spec, model, config.limits)
        _check_agent(config, spec, settings)
        async with _set_up(config, spec, progress, settings) as setup:
            progress.stage("drawing tasks")
            _take_device(config)
            plan = build.plan(with_purse(config, store.records()), agent_digest=setup.agent.digest)
            refuse_changes(manifest, plan, setup.agent)
            return await _play_and_report(plan, store, setup, progress, retried)


def _take_device(config: RunConfig) -> None:
    """Take the device on which tasks are drawn; with Ray its workers take it, too."""
    devices.use(config.execution.device, shared=config.execution.backend == "ray")


def _check_agent(config: RunConfig, agent: str, settings: ModelSettings | None) -> None:
    """Refuse what cannot go well, before anything is drawn or started."""
    services.check_agent(agent)
    if settings is not None:
        budget.refuse_unmetered(config.limits, settings)


def _stored_settings(
    manifest: Mapping[str, Any], agent: str, moved: Mapping[str, Any], limits: LimitsConfig
) -> ModelSettings | None:
    """Return the settings with which a stored run's model goes on."""
    if agent != model_settings.AGENT:
        if moved:
            flag = f"--{next(iter(moved)).replace('_', '-')}"
            raise ConfigError(f"{flag} is for --agent {model_settings.AGENT}, got --agent {agent}")
        return None
    record = manifest["agent"].get("settings")
    if record is None:
        raise ConfigError("the run cannot be resumed: its manifest does not say with which model it began")
    return model_settings.stored(record, moved, limits)


def refuse_changes(manifest: dict[str, Any], plan: Plan, agent: agent_client.Agent) -> None:
    """Raise ``ConfigError`` with the difference when a stored run cannot be continued as the same run."""
    now = {"versions": plan.versions, "data_hashes": plan.data_hashes, "agent": {"digest": agent.digest}}
    for part, values in now.items():
        stored = manifest[part]
        for name, value in values.items():
            if stored.get(name) != value:
                raise ConfigError(
                    f"the run cannot be resumed: {part}.{name} was {stored.get(name)!r} when it started and is "
                    f"{value!r} now; start a new run, or restore the former"
                )
    stored_keys = [task["key"] for task in manifest["tasks"]]
    if stored_keys != [cell.key for cell in plan.cells]:
        raise ConfigError("the run cannot be resumed: its tasks are drawn differently now; start a new run")


def new_run_id(config: RunConfig) -> str:
    """Return a fresh name for a run; it tells no seed, because other users can list the folder of runs."""
    return f"{config.name}-{secrets.token_hex(4)}".replace(" ", "-").lower()


@contextlib.asynccontextmanager
async def _set_up(
    config: RunConfig, agent: str, progress: Progress, model: ModelSettings | None
) -> AsyncIterator[Setup]:
    """Bring up the agent, then the tool servers; take them down in reverse."""
    async with contextlib.AsyncExitStack() as stack:
        progress.stage(f"connecting to the agent {agent}{services.told_about(agent)}")
        connected, url = await stack.enter_async_context(services.connected_agent(agent, model, config.limits))
        settings = services.reachable(config.execution, url)
        progress.stage(f"starting the MCP servers ({settings.backend} backend)")
        tools, tier = stack.enter_context(services.tool_servers(settings, config.lake.settings(), config.withheld))
        yield Setup(connected, url, tools, tier)


async def _play_and_report(
    plan: Plan, store: Store, setup: Setup, progress: Progress, retried: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Play what is missing, and again the cells of ``retried`` (key and name of the result that is replaced)."""
    retried = retried or {}
    finished = store.finished() - set(retried)
    todo = [cell for cell in plan.cells if cell.key not in finished]
    if todo:
        progress.stage("warming the MCP servers: their first calls compile")
        if cold := await setup.tools.warmed():
            progress.stage(f"MCP servers that are not warm yet, whose first calls may be slow: {', '.join(cold)}")
    again = {cell.case.task.task_id for cell in todo if cell.key in retried}
    progress.start(len(plan.cells), [record for record in store.records() if record["task_id"] not in again])
    spending = _budget(plan.config.limits.max_cost_usd, store)
    gate = Gate(plan.config.limits, spending)

    def keep(cell: Cell, record: TaskRecord) -> None:
        over = retried.get(cell.key)
        marked = record if over is None else record | {"retry": True}
        store.commit(key=cell.key, position=cell.position, record=marked, over=over)
        spending.add(record["usage"])

    with _backend(plan, setup) as backend:
        try:
            await _play(_order(plan, todo, store), backend, keep, store.draws(), gate, plan.config, progress)
        finally:
            progress.stop()
            await backend.close()
    return finish(store, gate.at_the_end())


def finish(store: Store, stop: TraderBenchError | None = None) -> dict[str, Any]:
    """Write ``results.json`` and the report from the store; return the summary.

    ``stop`` is why the run stopped by itself. Without one the exit status is 0 where every task has a result.
    """
    from engine import report

    manifest, records = store.manifest(), results.all_records(store)
    with run_folder.writing(store.folder, f"mend that, then: traderbench report {store.folder}"):
        report.write(store.folder, manifest, records)
    summary = results.summary(manifest, records)
    status = 0 if summary["complete"] else RunIncomplete.exit_status
    status = stop.exit_status if stop else status
    spent = _budget(summary["budget_usd"], store).exhausted()
    way_on = _way_on(store, spent or stop, retry=summary["errors"][State.AGENT_UNAVAILABLE] > 0)
    ended = {"stopped": str(stop) if stop else None, "go_on": way_on if status else None, "exit_status": status}
    return summary | {"folder": str(store.folder)} | ended


def _order(plan: Plan, todo: Sequence[Cell], store: Store) -> DateOrder:
    tried = store.tried()
    seen = [cell.case.task.as_of for cell in plan.cells if cell.key in tried and is_dated(cell.case.task)]
    return DateOrder(todo, strict=plan.config.execution.date_order, seen=max(seen, default=None))


def _budget(limit_usd: float | None, store: Store) -> Budget:
    return Budget(limit_usd, spent=store.spent() if limit_usd is not None else ())


def _way_on(store: Store, stop: TraderBenchError | None, *, retry: bool) -> str:
    """Return the command that plays what is missing."""
    more = " --max-cost-usd MORE" if isinstance(stop, BudgetSpent) else ""
    return f"traderbench resume {store.folder}{' --retry-errors' if retry else ''}{more}"


@contextlib.contextmanager
def _backend(plan: Plan, setup: Setup) -> Iterator[Backend]:
    # the agent can read its grants: the run's own name, which tells config and seed, is not for it
    run_id = secrets.token_hex(8)
    if plan.config.execution.backend == "serial":
        yield SerialBackend(plan, run_id=run_id, agent=setup.agent, tools=setup.tools)
        return
    yield RayBackend(
        plan.config,
        run_id=run_id,
        agent_url=setup.agent_url,
        agent_digest=setup.agent.digest,
        agent_token=setup.agent.token if isinstance(setup.agent, agent_client.A2AAgent) else None,
        tools=setup.tools,
        workers=min(RAY_WORKERS, plan.config.execution.concurrency),
    )


async def _play(
    order: DateOrder,
    backend: Backend,
    keep: Callable[[Cell, TaskRecord], None],
    draws: Mapping[str, int],
    gate: Gate,
    config: RunConfig,
    progress: Progress,
) -> None:
    """Play the cells, at most ``concurrency`` at a time; each result is durable before the next one is started."""
    retries = config.execution.infrastructure_retries

    async def play_next() -> bool:
        """Play one more task; return whether there was one."""
        # the gate first: what waits for room in the budget holds no task that another could play
        async with gate.enter() as admitted:
            if not admitted:
                return False
            async with order.next() as cell:
                if cell is None:
                    return False

                def keep_marked(cell: Cell, record: TaskRecord) -> None:
                    later = order.is_after_later_data(cell.case.task)
                    keep(cell, record | {"after_later_data": True} if later else record)

                record = await _attempt(cell, backend, keep_marked, retries=retries, draw=draws.get(cell.key, 1))
                gate.see(record)
                progress.advance(record)
                return True

    async def play_on() -> None:
        while await play_next():
            pass

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(config.execution.concurrency):
                group.create_task(play_on())
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from failures


async def _attempt(
    cell: Cell, backend: Backend, keep: Callable[[Cell, TaskRecord], None], *, retries: int, draw: int
) -> TaskRecord:
    """Play one cell; a failure of the harness is tried again, a failure of the agent is not.

    A conversation that the agent has answered, or that may have been, is never repeated on the same draw: who has seen
    a market knows how it goes on. Where only the judge was missing the conversation stands, and ``traderbench rescore``
    judges it later.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            record = await backend.execute(cell.position, attempt, draw)
        except WorkerLost as error:
            reason = f"harness failure: a worker was lost: {error}"
            record = unavailable(cell.case.task, reason) | {"draw": draw, "lost": True}
        keep(cell, record)
        if attempt > retries or record["state"] != State.INFRA_UNAVAILABLE or record.get("unjudged"):
            return record
        draw += was_seen(record)
