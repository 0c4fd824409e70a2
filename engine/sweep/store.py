"""Results of a sweep on disk: one Parquet file a shard, written whole or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from engine.errors import ConfigError
from engine.storage import run_folder
from engine.sweep.config import SweepConfig
from engine.sweep.shard import Shard
from evaluators.records import explain

MANIFEST = "sweep.json"


@dataclass(frozen=True)
class SweepStore:
    """A folder of shards.

    Attributes
    ----------
    results
        Folder that holds the Parquet files; ``pandas.read_parquet`` and DuckDB read it as one table.
    """

    results: Path

    def path(self, shard: Shard) -> Path:
        """Return the file of a shard."""
        return self.results / f"shard-{shard.number:06d}.parquet"

    def has(self, shard: Shard) -> bool:
        """Return whether a shard is stored."""
        return self.path(shard).is_file()

    def write(self, shard: Shard, columns: dict[str, np.ndarray]) -> None:
        """Store the rows of a shard."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        arrays = {
            name: pa.array(values).dictionary_encode() if values.dtype == object else pa.array(values)
            for name, values in columns.items()
        }
        target = self.path(shard)
        temporary = target.with_suffix(".partial")
        pq.write_table(pa.table(arrays), temporary)
        with temporary.open("rb") as handle:
            os.fsync(handle.fileno())
        temporary.replace(target)


def open_store(folder: Path, config: SweepConfig, *, shards: int) -> SweepStore:
    """Return the store of a sweep, made anew or found half done.

    Raises
    ------
    ConfigError
        When the folder holds another sweep, or files that are none.
    """
    manifest = folder / MANIFEST
    wanted: dict[str, Any] = {"digest": config.digest(), "shards": shards, "config": config.model_dump(mode="json")}
    if manifest.exists():
        if different := _differences(manifest, config.identity()):
            raise ConfigError(f"{folder} holds another sweep; it differs in {', '.join(different)}")
    elif folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty and holds no sweep; give a new folder with --out")
    else:
        run_folder.make(folder)
        manifest.write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")
    results = folder / "results"
    results.mkdir(exist_ok=True)
    for leftover in results.glob("*.partial"):
        leftover.unlink()
    return SweepStore(results)


def _differences(manifest: Path, wanted: dict[str, Any]) -> list[str]:
    """Return the keys in which the stored sweep differs, and the own files that were edited since."""
    try:
        stored = SweepConfig.model_validate(json.loads(manifest.read_text(encoding="utf-8"))["config"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{manifest} is no manifest of a sweep of this version: {explained(error)}") from error
    held = stored.identity()
    keys = [key for key in wanted if held[key] != wanted[key] and key != "texts"]
    files = [path for path, text in wanted["texts"].items() if held["texts"].get(path, text) != text]
    return [*sorted(keys), *(f"the text of {path}" for path in files)]


def explained(error: Exception) -> str:
    """Return an error in one line."""
    if isinstance(error, ValidationError):
        return explain(error, SweepConfig)
    return f"{type(error).__name__}: {error}"


def shard_files(results: Path) -> list[Path]:
    """Return the stored shards in the order of the plan."""
    return sorted(results.glob("shard-*.parquet"))
