"""Play a run: concurrency, retry, resume and log over the cells of a plan."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import agent_client, build, results, services
from engine.backends import Backend, RayBackend, SerialBackend, WorkerLost
from engine.build import Cell, Plan
from engine.config import RunConfig, parse
from engine.errors import ConfigError, TraderBenchError
from engine.execute import unavailable
from engine.progress import Progress
from engine.store import Store
from engine.tool_access import ToolAccess

RAY_WORKERS = 2
RUNS = Path("runs")
"""Where runs go that are given no folder, seen from the working directory."""


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


def start_run(config: RunConfig, *, agent: str, out: Path | None, progress: Progress) -> dict[str, Any]:
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
    """
    run_id = new_run_id(config)
    folder = out or RUNS / run_id
    return asyncio.run(_guarded(_start(config, agent, folder, run_id, progress), folder))


def resume_run(folder: Path, *, agent: str | None, progress: Progress) -> dict[str, Any]:
    """Finish the run in ``folder`` and return its summary; ``agent`` overrides the address of the same agent."""
    folder = folder.absolute()
    return asyncio.run(_guarded(_resume(folder, agent, progress), folder))


async def _guarded(work: Any, folder: Path) -> Any:
    """Run ``work`` so that SIGINT and SIGTERM end it cleanly: workers stopped, commits finished, lock released."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError as error:
        if not (folder / "manifest.json").exists():
            raise Interrupted("stopped before the first task") from error
        raise Interrupted(f"stopped; finish the run with: traderbench resume {folder}") from error


async def _start(config: RunConfig, agent: str, out: Path, run_id: str, progress: Progress) -> dict[str, Any]:
    if (out / "manifest.json").exists():
        raise ConfigError(f"{out} already holds a run; finish it with: traderbench resume {out}")
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out {out}: this is a file; name a new or empty folder")
    progress.stage(f"drawing tasks of {config.name}, seed {config.sampling.seed}, for the run folder {out}")
    cases = build.checked_cases(config)
    async with _set_up(config, agent, progress) as setup:
        made = build.plan(config, agent_digest=setup.agent.digest, cases=cases)
        described = {"spec": agent, "name": setup.agent.name, "digest": setup.agent.digest}
        manifest = build.manifest(made, run_id=run_id, agent=described, sandbox_tier=setup.sandbox_tier)
        with Store.create(out, manifest) as store:
            return await _play_and_report(made, store, setup, progress)


async def _resume(folder: Path, agent: str | None, progress: Progress) -> dict[str, Any]:
    with Store.open(folder) as store, build.working_directory(store.manifest()):
        manifest = store.manifest()
        config = parse(manifest["config"], source=str(folder / "manifest.json"))
        async with _set_up(config, agent or manifest["agent"]["spec"], progress) as setup:
            progress.stage("drawing tasks")
            made = build.plan(config, agent_digest=setup.agent.digest)
            refuse_changes(manifest, made, setup.agent)
            return await _play_and_report(made, store, setup, progress)


def refuse_changes(manifest: dict[str, Any], made: Plan, agent: agent_client.Agent) -> None:
    """Raise ``ConfigError`` with the difference when a stored run cannot be continued as the same run."""
    now = {"versions": made.versions, "data_hashes": made.data_hashes, "agent": {"digest": agent.digest}}
    for part, values in now.items():
        stored = manifest[part]
        for name, value in values.items():
            if stored.get(name) != value:
                raise ConfigError(
                    f"the run cannot be resumed: {part}.{name} was {stored.get(name)!r} when it started and is "
                    f"{value!r} now; start a new run, or restore the former"
                )
    stored_keys = [task["key"] for task in manifest["tasks"]]
    if stored_keys != [cell.key for cell in made.cells]:
        raise ConfigError("the run cannot be resumed: its tasks are drawn differently now; start a new run")


def new_run_id(config: RunConfig) -> str:
    """Return a fresh name for a run."""
    return f"{config.name}-{config.sampling.seed}-{secrets.token_hex(4)}".replace(" ", "-").lower()


@contextlib.asynccontextmanager
async def _set_up(config: RunConfig, agent: str, progress: Progress) -> AsyncIterator[Setup]:
    """Bring up the agent, then the tool servers; take them down in reverse."""
    async with contextlib.AsyncExitStack() as stack:
        progress.stage(f"connecting to the agent {agent}")
        connected, url = await stack.enter_async_context(services.connected_agent(agent))
        progress.stage(f"starting the MCP servers ({config.execution.backend} backend)")
        tools, tier = stack.enter_context(services.tool_servers(config.execution))
        yield Setup(connected, url, tools, tier)


async def _play_and_report(made: Plan, store: Store, setup: Setup, progress: Progress) -> dict[str, Any]:
    finished = store.finished()
    todo = [cell for cell in made.cells if cell.key not in finished]
    progress.start(len(made.cells), list(store.records()))
    with _backend(made, setup) as backend:
        try:
            await _play(todo, backend, store, made.config, progress)
        finally:
            progress.stop()
            await backend.close()
    return finish(store)


def finish(store: Store) -> dict[str, Any]:
    """Write ``results.json`` and the report from the store; return the summary."""
    from engine import report

    manifest, records = store.manifest(), results.all_records(store)
    report.write(store.folder, manifest, records)
    return results.summary(manifest, records) | {"folder": str(store.folder)}


@contextlib.contextmanager
def _backend(made: Plan, setup: Setup) -> Iterator[Backend]:
    # the agent can read its grants: the run's own name, which tells config and seed, is not for it
    run_id = secrets.token_hex(8)
    if made.config.execution.backend == "serial":
        yield SerialBackend(made, run_id=run_id, agent=setup.agent, tools=setup.tools)
        return
    yield RayBackend(
        made.config,
        run_id=run_id,
        agent_url=setup.agent_url,
        agent_digest=setup.agent.digest,
        tools=setup.tools,
        workers=min(RAY_WORKERS, made.config.execution.concurrency),
    )


async def _play(cells: Sequence[Cell], backend: Backend, store: Store, config: RunConfig, progress: Progress) -> None:
    """Play the cells, at most ``concurrency`` at a time; each result is durable before the next one is started."""
    places = asyncio.Semaphore(config.execution.concurrency)

    async def play_one(cell: Cell) -> None:
        async with places:
            record = await _attempt(cell, backend, store, retries=config.execution.infrastructure_retries)
            progress.advance(record)

    try:
        async with asyncio.TaskGroup() as group:
            for cell in cells:
                group.create_task(play_one(cell))
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from failures


async def _attempt(cell: Cell, backend: Backend, store: Store, *, retries: int) -> dict[str, Any]:
    """Play one cell; a failure of the harness is tried again, a failure of the agent is not.

    Where only the judge was missing the conversation stands, and ``traderbench rescore`` judges it later.
    """
    record: dict[str, Any] = {}
    for attempt in range(1, retries + 2):
        try:
            record = await backend.execute(cell.position, attempt, last=attempt == retries + 1)
        except WorkerLost as error:
            record = unavailable(cell.case.task, f"harness failure: a worker was lost: {error}")
        store.commit(key=cell.key, position=cell.position, record=record)
        if record["state"] != "infra_unavailable" or record.get("unjudged"):
            break
    return record
