"""What a comparison needs to know of a stored run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import results
from engine.errors import ConfigError
from engine.run_folder import LEDGER, MANIFEST
from engine.score import UNSCORED
from engine.store import Store, digest
from evaluators.contract import Section

SAME_BENCHMARK = ("datasets", "weights", "debate", "judge", "limits")
"""Parts of a config that a score depends on, besides the seed."""


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
        One a task of the plan, as :func:`engine.results.all_records` gives them.
    """

    folder: Path
    agent: str
    agent_digest: str
    config: str
    seed: int
    benchmark: str
    weights: Mapping[Section, float]
    data_hashes: Mapping[str, str]
    records: list[dict[str, Any]]

    @property
    def scored(self) -> list[dict[str, Any]]:
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
    sampling = {name: value for name, value in config["sampling"].items() if name not in ("seed", "seed_drawn")}
    same = [{name: config.get(name) for name in SAME_BENCHMARK}, sampling, manifest["data_hashes"]]
    return Played(
        folder=folder,
        agent=manifest["agent"]["name"],
        agent_digest=manifest["agent"]["digest"],
        config=config["name"],
        seed=manifest["seed"],
        benchmark=digest(same)[:12],
        weights=results.weights_of(manifest),
        data_hashes=manifest["data_hashes"],
        records=records,
    )


def below(folder: Path) -> Iterator[Path]:
    """Yield the run folders at or below ``folder``, in the order of their names."""
    if (folder / MANIFEST).is_file() and (folder / LEDGER).is_file():
        yield folder
    elif folder.is_dir():
        for inner in sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()):
            yield from below(inner)


def labels(runs: list[Played]) -> list[str]:
    """Return a name for each run: its agent, with the folder where two runs have the same agent."""
    names = [run.agent for run in runs]
    return [name if names.count(name) == 1 else f"{name} ({run.folder})" for name, run in zip(names, runs, strict=True)]
