"""Build the objects of a run from its config: the plan of cells, their identities, the manifest."""

from __future__ import annotations

import contextlib
import importlib.metadata
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine import __version__
from engine.config import RunConfig
from engine.errors import ConfigError
from engine.plan.date_order import is_dated
from engine.plan.sampling import Resolved, derive_seed, draw, resolve
from engine.plan.shards import positions
from engine.scoring.score import redistribute
from engine.storage.store import SCHEMA_WITH_LOG, digest
from evaluators.contract import Case, Task
from evaluators.debate.session import debated
from evaluators.debate.writer import of_judge
from lake import providers
from lake.settings import LakeSettings
from mcp_servers.access import Grant

PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "pandas", "ray", "a2a-sdk", "mcp", "pydantic")


@dataclass(frozen=True)
class Cell:
    """One task of a run with its place, its identity and what the agent is told to call it.

    ``position`` is the place in the undivided run, of which a shard holds a part.
    """

    position: int
    key: str
    public_id: str
    seed: int
    case: Case

    def grant(self, task: Task, *, run_id: str, attempt: int, limit: int, servers: tuple[str, ...]) -> Grant:
        """Return the tool grant of one attempt; a new attempt finds fresh accounts and an empty call log."""
        identity = f"{self.public_id}-{attempt}"
        return Grant(run_id, identity, task.as_of, self.seed % 2**31, limit, servers)

    def public_id_of(self, draw: int) -> str:
        """Return what the agent is told to call the task on its ``draw``-th draw: nothing reminds it of the former."""
        return self.public_id if draw == 1 else digest({"public_id": self.public_id, "draw": draw})[:16]


@dataclass(frozen=True)
class Plan:
    """Everything a run is made of, before any agent is spoken to."""

    config: RunConfig
    cells: tuple[Cell, ...]
    data_hashes: dict[str, str]
    versions: dict[str, str]

    def cell_at(self, position: int) -> Cell:
        """Return the cell with this place in the undivided run."""
        return next(cell for cell in self.cells if cell.position == position)


def checked_cases(config: RunConfig, datasets: Sequence[Resolved] | None = None) -> list[Case]:
    """Draw the cases of the undivided run; refuse, before anything is started, what could not be added up."""
    cases = [_without(case, config.withheld) for case in _debated(draw(config, datasets), config)]
    if not cases:
        limits = ", ".join(f"{entry.type} {entry.limit}" for entry in config.datasets)
        raise ConfigError(f"datasets: no task was drawn (limits: {limits}); at least one limit must be positive")
    try:
        redistribute(config.weights, sorted({case.task.section for case in cases}))
    except ValueError as error:
        raise ConfigError(str(error)) from error
    for number, case in enumerate(cases, start=1):
        try:
            if case.check is not None:
                case.check()
        except ValueError as error:
            raise ConfigError(f"task {number} of {len(cases)} ({case.task.task_id}): {error}") from error
    return cases


def _without(case: Case, withheld: tuple[str, ...]) -> Case:
    """Return the case as one that does not wait for servers that the run withholds."""
    if not set(withheld) & set(case.task.servers):
        return case
    servers, again = tuple(name for name in case.task.servers if name not in withheld), case.afresh
    afresh = None if again is None else lambda number: _without(again(number), withheld)
    return replace(case, task=replace(case.task, servers=servers), afresh=afresh)


def _debated(cases: list[Case], config: RunConfig) -> list[Case]:
    """Return the cases with the debate that the config asks for."""
    if not config.debate.enabled or not cases:
        return cases
    if all(case.dispute is None for case in cases):
        names = ", ".join(sorted({case.task.dataset for case in cases}))
        raise ConfigError(
            f"debate.enabled: nothing of {names} can be debated; add fundamentals, bizfinbench, synthetic, casebook or "
            "options, whose figures are computed, or set false"
        )
    judge = config.judge if config.debate.objections == "judge" else None
    writer = None if judge is None else of_judge(judge)
    return [debated(case, seed=config.sampling.seed, writer=writer) for case in cases]


def plan(config: RunConfig, *, agent_digest: str, cases: Sequence[Case] | None = None) -> Plan:
    """Name the cells of the run, or of its shard; the undivided run's cases are drawn unless they are given.

    Only the keys depend on the agent, never the tasks.
    """
    datasets = resolve(config)
    drawn = checked_cases(config, datasets) if cases is None else cases
    data_hashes = {
        f"{row.dataset.name}@{row.dataset.version}:{digest(row.entry.options())[:12]}": row.data_hash()
        for row in datasets
    }
    settings = config.lake.settings()
    if not settings.is_sample:
        data_hashes["lake"] = _lake_digest(settings)
    versions = package_versions()
    seed = config.sampling.seed
    cells = []
    for position in positions(drawn, config.sampling.shard):
        case = drawn[position]
        task_id = case.task.task_id
        key = digest(
            {
                "benchmark": __version__,
                "datasets": data_hashes,
                "task_id": task_id,
                "seed": seed,
                "agent": agent_digest,
                "environment": digest(versions),
                **({"withheld": config.withheld} if config.withheld else {}),
            }
        )
        cells.append(Cell(position, key, public_id(seed, task_id), derive_seed(seed, task_id, "tools"), case))
    return Plan(config, tuple(cells), data_hashes, versions)


def _lake_digest(settings: LakeSettings) -> str:
    """Return what names the tools' data: of what was pulled a hash. Opening the lake finds what the settings lack."""
    try:
        providers.open_lake(settings)
        return providers.digest(settings) if settings.offline else "fetched when asked for"
    except ValueError as error:
        raise ConfigError(f"lake: {error}") from error


def public_id(seed: int, task_id: str) -> str:
    """Return what the agent is told to call a task: it names neither the dataset nor the transform."""
    return digest({"seed": seed, "task_id": task_id})[:16]


def package_versions() -> dict[str, str]:
    """Return the versions that a score can depend on."""
    versions = {"traderbench": __version__, "python": platform.python_version()}
    return versions | {name: importlib.metadata.version(name) for name in PACKAGES}


@contextlib.contextmanager
def working_directory(stored: Mapping[str, Any]) -> Iterator[None]:
    """Work where a stored run was started, so that relative paths of its config mean the same files.

    A run that was carried to another machine stays in the directory of its caller.
    """
    began = stored.get("working_directory")
    with contextlib.chdir(began) if began and Path(began).is_dir() else contextlib.nullcontext():
        yield


def manifest(plan: Plan, *, run_id: str, agent: dict[str, Any], sandbox_tier: str) -> dict[str, Any]:
    """Return the run record: resolved config, versions, data hashes, seed, tasks."""
    return {
        "schema": SCHEMA_WITH_LOG,
        "run_id": run_id,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": plan.config.model_dump(mode="json"),
        "seed": plan.config.sampling.seed,
        "agent": agent,
        "versions": plan.versions,
        "platform": f"{platform.system()} {platform.machine()}",
        "data_hashes": plan.data_hashes,
        "sandbox_tier": sandbox_tier,
        "working_directory": str(Path.cwd()),
        "command": [part for part in sys.argv[1:]],
        "tasks": [
            {
                "position": cell.position,
                "key": cell.key,
                "task_id": cell.case.task.task_id,
                "public_id": cell.public_id,
                "section": cell.case.task.section,
                "dataset": cell.case.task.dataset,
                "category": cell.case.task.category,
                "family": cell.case.task.family,
                "dated": is_dated(cell.case.task),
            }
            for cell in plan.cells
        ],
    }
