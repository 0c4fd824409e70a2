"""What a comparison needs to know of a stored run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from engine.record import UNSCORED, TaskRecord
from engine.report import results
from engine.storage.run_folder import LEDGER, MANIFEST
from engine.storage.store import Store, digest
from evaluators.contract import Section

SAME_BENCHMARK = ("datasets", "weights", "debate", "judge")
"""Parts of a config that a score depends on, besides limits and sampling."""
OF_THE_RUN = ("max_cost_usd", "max_error_share", "tool_time_s")
"""Limits that end a run or mark it, and change no score."""


@dataclass(frozen=True)
class Played:
    """A stored run.

    Attributes
    ----------
    folder
        Where it lies.
    agent, agent_digest
        Name of the agent, and the digest of what it says about itself.
    config, seed
        Name of the config, and the seed.
    benchmark
        Digest of all that scores depend on except seed and agent: runs of equal benchmark belong in one table.
    weights
        Of the sections.
    data_hashes
        ``dataset@version:options`` -> hash of what its scores depend on.
    records
        One a task of the plan, as :func:`engine.report.results.all_records` gives them.
    alias
        Instead of the agent's name, where that is not enough.
    debated
        Whether its scores are those after a debate.
    """

    folder: Path
    agent: str
    agent_digest: str
    config: str
    seed: int
    benchmark: str
    weights: Mapping[Section, float]
    data_hashes: Mapping[str, str]
    records: list[TaskRecord]
    alias: str = ""
    debated: bool = False

    @property
    def label(self) -> str:
        """What the run is called beside others."""
        return self.alias or self.agent

    @property
    def scored(self) -> list[TaskRecord]:
        """The records that have a score."""
        return [record for record in self.records if record["state"] not in UNSCORED]


def read(folder: Path) -> Played:
    """Read a stored run; one that is in use may be read.

    Raises
    ------
    ConfigError
        Where the folder holds no run.
    """
    if not (folder / MANIFEST).is_file():
        raise ConfigError(f"{folder}: no run is here (it has no {MANIFEST}); name the folder that --out named")
    with Store.open(folder, read_only=True) as store:
        manifest, records = store.manifest(), results.all_records(store)
    config = manifest["config"]
    sampling = _without(config.get("sampling", {}), "seed", "seed_drawn")
    if sampling.get("shard") is None:
        # an undivided run, whether or not shards were known when it was played
        sampling.pop("shard", None)
    limits = _without(config.get("limits", {}), *OF_THE_RUN)
    # runs stored by former versions name every option of every dataset, most of them as null
    entries = [_without_empty(entry) for entry in config.get("datasets", ())]
    benchmark = {name: config.get(name) for name in SAME_BENCHMARK} | {"datasets": entries}
    if withheld := config.get("withheld"):
        benchmark["withheld"] = withheld
    same = [benchmark, sampling, limits, manifest.get("data_hashes", {})]
    return Played(
        folder=folder,
        agent=manifest["agent"]["name"],
        agent_digest=manifest["agent"].get("digest", ""),
        config=config["name"],
        seed=manifest["seed"],
        benchmark=digest(same)[:12],
        weights=results.weights_of(manifest),
        data_hashes=manifest.get("data_hashes", {}),
        records=records,
        debated=results.conducts_debate(manifest),
    )


def _without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _without_empty(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if value is not None}


def below(folder: Path) -> Iterator[Path]:
    """Yield the run folders at or below ``folder``, in the order of their names."""
    if (folder / MANIFEST).is_file() and (folder / LEDGER).is_file():
        yield folder
    elif folder.is_dir():
        for inner in sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()):
            yield from below(inner)


def labelled(runs: list[Played]) -> list[Played]:
    """Return the runs, each with a label of its own: the agent, with the folder where two runs have the same agent."""
    names = [run.agent for run in runs]
    return [run if names.count(run.agent) == 1 else replace(run, alias=f"{run.agent} ({run.folder})") for run in runs]
