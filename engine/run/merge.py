"""Put the shards of a run together.

What comes out is the folder of the undivided run, with every attempt of every shard: report, rescore, resume, compare
and leaderboard take it like any other.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engine.errors import ConfigError
from engine.record import TaskRecord
from engine.run import batch
from engine.storage import run_folder
from engine.storage.store import Store, digest

OF_THE_SHARD = {"sampling": ("shard", "seed_drawn"), "limits": ("max_cost_usd", "max_error_share")}
"""What the configs of two shards may differ in, besides ``execution``."""


class Moment(NamedTuple):
    """An attempt at a task with dated tools: the date they were locked to, and when it was."""

    shard: int
    as_of: str
    began: float
    ended: float


def merge(folders: Sequence[Path], out: Path | None) -> dict[str, Any]:
    """Merge the shards in ``folders`` into the run folder ``out``; return the summary, as ``traderbench report`` does.

    A task that an agent may have met after a tool had served another shard later data is marked, as it is in one run
    (``after_later_data``); the clocks of the machines decide.

    Parameters
    ----------
    folders
        Run folders of all the shards of one run, in any order.
    out
        A new or empty folder; None: ``runs/<run id>``.

    Raises
    ------
    ConfigError
        When a shard is missing or given twice, or belongs to another run: another seed, config, agent or version.
    """
    if out is not None and out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise ConfigError(f"--out {out}: name a new or empty folder")
    twice = [folder for folder, number in Counter(folder.resolve() for folder in folders).items() if number > 1]
    if twice:
        raise ConfigError(f"{twice[0]} is named twice; name each shard once")
    with contextlib.ExitStack() as stack:
        stores = _in_order([stack.enter_context(Store.open(folder)) for folder in folders])
        manifest = _manifest([store.manifest() for store in stores])
        target = out or run_folder.RUNS / manifest["run_id"]
        run_folder.make(target.parent)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".merge-") as unfinished:
            with Store.create(Path(unfinished) / "run", manifest) as merged:
                _copy(stores, merged)
            # a merge that broke off leaves no folder that looks like a run with tasks still to play
            os.rename(Path(unfinished) / "run", target)
    with Store.open(target) as merged:
        return batch.finish(merged)


def _in_order(stores: Sequence[Store]) -> list[Store]:
    """Return the shards from the first to the last; refuse what is not one run."""
    shards: dict[int, Store] = {}
    for store in stores:
        manifest = store.manifest()
        shard = manifest["config"].get("sampling", {}).get("shard")
        if shard is None:
            raise ConfigError(f"{store.folder} holds no shard; a shard is played with --shard, such as --shard 1/3")
        if other := next(iter(shards.values()), None):
            for field, values in _differences(_identity(other.manifest()), _identity(manifest)):
                raise ConfigError(
                    f"{other.folder} and {store.folder} are shards of different runs: {field} is {values[0]!r} and "
                    f"{values[1]!r}"
                )
        if shard["index"] in shards:
            first = shards[shard["index"]].folder
            raise ConfigError(f"{first} and {store.folder} both hold shard {shard['index']} of {shard['count']}")
        shards[shard["index"]] = store
    missing = [str(index) for index in range(1, shard["count"] + 1) if index not in shards]
    if missing:
        raise ConfigError(
            f"of {shard['count']} shards these are missing: {', '.join(missing)}; play them with "
            f"--shard {missing[0]}/{shard['count']} and so on, with the same config, seed and agent"
        )
    return [shards[index] for index in sorted(shards)]


def _identity(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the shards of one run have in common."""
    config = {name: value for name, value in manifest["config"].items() if name != "execution"}
    for part, own in OF_THE_SHARD.items():
        config[part] = {name: value for name, value in config[part].items() if name not in own}
    agent = {name: manifest["agent"].get(name) for name in ("name", "digest")}
    shards = manifest["config"]["sampling"]["shard"]["count"]
    same = {name: manifest[name] for name in ("seed", "versions", "data_hashes")}
    return {**same, "shards": shards, "agent": agent, "config": config}


def _differences(first: Any, second: Any, field: str = "") -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield the fields in which two plain values differ, each with both values."""
    if isinstance(first, dict) and isinstance(second, dict):
        for name in [*first, *(name for name in second if name not in first)]:
            inner = f"{field}.{name}" if field else name
            yield from _differences(first.get(name), second.get(name), inner)
    elif first != second:
        yield field, (first, second)


def _manifest(shards: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the record of the undivided run."""
    tasks = sorted((task for shard in shards for task in shard["tasks"]), key=lambda task: int(task["position"]))
    if [task["position"] for task in tasks] != list(range(len(tasks))):
        twice = [place for place, number in Counter(task["position"] for task in tasks).items() if number > 1]
        raise ConfigError(f"the shards' tasks are not those of one run: places {twice or 'missing'} of {len(tasks)}")
    first = shards[0]
    configs = [shard["config"] for shard in shards]
    drawn = all(config["sampling"]["seed_drawn"] for config in configs)
    budgets = [config["limits"]["max_cost_usd"] for config in configs]
    config = first["config"] | {
        "sampling": first["config"]["sampling"] | {"shard": None, "seed_drawn": drawn},
        # every shard had a budget of its own
        "limits": first["config"]["limits"] | {"max_cost_usd": None if None in budgets else sum(budgets)},
    }
    return first | {
        "run_id": f"{config['name']}-{digest([shard['run_id'] for shard in shards])[:8]}".replace(" ", "-").lower(),
        "created_at": min(shard["created_at"] for shard in shards),
        "config": config,
        "command": sys.argv[1:],
        "sandbox_tier": ", ".join(sorted({shard["sandbox_tier"] for shard in shards})),
        "platform": ", ".join(sorted({shard["platform"] for shard in shards})),
        "shards": [shard["run_id"] for shard in shards],
        "tasks": tasks,
    }


def _copy(stores: Sequence[Store], merged: Store) -> None:
    """Commit every attempt of the shards, marked where another shard's tools had served later data."""
    dated = [{task["key"] for task in store.manifest()["tasks"] if task["dated"]} for store in stores]
    moments = [
        Moment(number, _date(record), commit.at - record["seconds"], commit.at)
        for number, store in enumerate(stores)
        for commit, record in store.history()
        if commit.key in dated[number]
    ]
    names: dict[str, str] = {}
    for number, store in enumerate(stores):
        for commit, record in store.history():
            own = Moment(number, _date(record), commit.at - record["seconds"], commit.at)
            if commit.key in dated[number] and any(_is_later_elsewhere(other, own) for other in moments):
                record = record | {"after_later_data": True}
            names[commit.blob] = digest(record)
            over = None if commit.over is None else names[commit.over]
            merged.commit(key=commit.key, position=commit.position, record=record, over=over, at=commit.at)


def _date(record: TaskRecord) -> str:
    """Return the date of a stored record, which always has one."""
    return record["as_of"] or ""


def _is_later_elsewhere(other: Moment, own: Moment) -> bool:
    return other.shard != own.shard and other.as_of > own.as_of and other.began < own.ended
