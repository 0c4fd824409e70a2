"""Running a sweep: shards in parallel, each stored as soon as it is done, a stopped sweep goes on where it was."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from engine import devices
from engine.errors import ConfigError
from engine.storage import run_folder

if TYPE_CHECKING:
    from engine.sweep.config import SweepConfig

IN_FLIGHT_PER_WORKER = 2
IN_FLIGHT = 128
"""Shards handed to a cluster of unknown size at once: enough to keep it busy, and no more results than fit here."""


class Progress(NamedTuple):
    """Where a sweep stands.

    Attributes
    ----------
    shards_done, shards
        Shards stored so far, those of an earlier run included, and all.
    bar_steps_per_second
        Of this run.
    seconds_left
        Estimate, or None before the first shard of this run is done.
    """

    shards_done: int
    shards: int
    bar_steps_per_second: float
    seconds_left: float | None


def run_sweep(
    config_path: str | Path,
    *,
    out: str | Path | None = None,
    backend: Literal["serial", "ray"] = "serial",
    workers: int | None = None,
    address: str | None = None,
    device: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    report: bool = True,
) -> dict[str, Any]:
    """Run the sweep of a YAML file and return its summary.

    Parameters
    ----------
    config_path
        The YAML file.
    out
        Folder of the results; one that holds a part of the same sweep is finished. Default: ``runs/<name>-<digest>``
        while it is not complete, else the first such name with a number that is not.
    backend
        ``serial`` computes in threads of this process, ``ray`` in tasks of a Ray cluster.
    workers
        Shards under way at once (default: one a core, or one a CPU of the cluster).
    address
        Ray cluster to join (``auto`` within a submitted job); None starts a private one.
    device
        Where shards are computed (:func:`engine.devices.use`); default: ``execution.device`` of the file. In this
        process all devices of the kind divide the lanes of each shard between them; a Ray task has one for itself.
    progress
        Called whenever a shard is stored.
    report
        Whether to write ``report.html``.

    Returns
    -------
    dict
        ``cells``, ``bar_steps``, ``seconds`` (warm compute of this run: first to last shard, compilation apart),
        ``bar_steps_per_second``, ``peak_memory_mib``, ``results`` (folder of Parquet files); besides ``report``,
        ``compile_seconds``, ``shards``, ``shards_reused``, ``backend``; ``device`` where one was named;
        ``decided_by_xla`` (own and declared strategies that no compiled loop can play, each with the reason) where
        there are any, and ``metrics`` (mean and standard error by metric, strategy, transform and severity) where the
        config names some.

    Raises
    ------
    ConfigError
        For a bad config, a folder that holds another sweep, or a device that is not there.
    """
    devices.widen_vectors()
    devices.pin()
    from engine.sweep.config import load

    config = load(config_path)
    if device is not None:
        config = config.on(device)
    # with Ray the tasks compute, and this process would only hold memory of a card
    devices.use(config.execution.device if backend == "serial" else "cpu")
    from engine.sweep import shard as sweep_shard
    from engine.sweep import store as sweep_store

    shards = sweep_shard.plan(config)
    folder = Path(out) if out is not None else default_folder(config, shards=len(shards))
    try:
        if config.data is not None:
            sweep_shard.real_windows(config)
    except ValueError as error:
        raise ConfigError(f"{config_path}: data: {error}") from error
    store = sweep_store.open_store(folder, config, shards=len(shards))
    left = [shard for shard in shards if not store.has(shard)]
    done_before = len(shards) - len(left)

    began = time.perf_counter()
    compile_seconds = 0.0
    if left and backend == "serial":
        sweep_shard.warm_up(config, left[0], workers=workers or os.cpu_count() or 1)
        compile_seconds = time.perf_counter() - began
        began = time.perf_counter()
    steps = 0
    each = config.bar_steps // (config.windows * config.seeds)
    executor = serial_results if backend == "serial" else ray_results
    for number, (shard, columns) in enumerate(executor(config, left, workers=workers, address=address), start=1):
        store.write(shard, columns)
        steps += each * shard.seeds
        if progress is not None:
            rate = steps / (time.perf_counter() - began)
            remaining = sum(each * item.seeds for item in left) - steps
            progress(Progress(done_before + number, len(shards), rate, remaining / rate))
    seconds = time.perf_counter() - began
    summary: dict[str, Any] = {
        "cells": config.cells,
        "bar_steps": config.bar_steps,
        "seconds": seconds,
        "bar_steps_per_second": steps / seconds if steps else 0.0,
        "peak_memory_mib": peak_memory_mib(),
        "results": str(store.results),
        "compile_seconds": compile_seconds,
        "shards": len(shards),
        "shards_reused": done_before,
        "backend": backend,
    }
    if asked := config.execution.device:
        summary["device"] = devices.counted(devices.chosen()) if backend == "serial" else asked
    if by_xla := sweep_shard.decided_by_xla(config):
        summary["decided_by_xla"] = by_xla
    if report or config.metrics:
        from engine.sweep.report import means_of, write_report

        means = means_of(folder, config)
        if config.metrics:
            summary["metrics"] = means.table()
        if report:
            summary["report"] = str(write_report(folder, config, means, summary))
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    return summary


def default_folder(config: SweepConfig, *, shards: int) -> Path:
    """Return the folder of a sweep that was not given one: unfinished work first, then a new name."""
    from engine.sweep.store import shard_files

    number = 1
    while True:
        name = f"{config.name}-{config.digest()[:8]}" + (f"-{number}" if number > 1 else "")
        folder = run_folder.RUNS / name
        if len(shard_files(folder / "results")) < shards:
            return folder
        number += 1


def serial_results(
    config: SweepConfig, shards: list[Any], *, workers: int | None, address: str | None
) -> Iterator[tuple[Any, Any]]:
    """Yield shards with their rows as they are done, computed in threads (jax releases the lock while it works)."""
    from engine.sweep import shard as sweep_shard

    if address is not None:
        raise ConfigError("a cluster address needs --backend ray")
    count = workers or os.cpu_count() or 1
    waiting = iter(shards)
    with ThreadPoolExecutor(max_workers=count) as pool:
        under_way: dict[Future[Any], Any] = {}

        def start_next() -> None:
            shard = next(waiting, None)
            if shard is not None:
                under_way[pool.submit(sweep_shard.compute, config, shard)] = shard

        for _ in range(count + 1):
            start_next()
        while under_way:
            finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in finished:
                shard = under_way.pop(future)
                start_next()
                yield shard, future.result()


def ray_results(
    config: SweepConfig, shards: list[Any], *, workers: int | None, address: str | None
) -> Iterator[tuple[Any, Any]]:
    """Yield shards with their rows as they are done, computed by Ray tasks; a lost worker's shards are done again."""
    with contextlib.ExitStack() as stack:
        if address is None:
            # Ray reads its settings when it is imported: the session comes first.
            from engine.machine.ray_session import local_ray

            stack.enter_context(local_ray(num_cpus=workers))
        import ray

        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False)
            stack.callback(ray.shutdown)
        task = ray.remote(num_cpus=1, max_retries=5, **_ray_device(config))(_ray_shard)
        body = config.model_dump(mode="json")
        limit = IN_FLIGHT_PER_WORKER * workers if workers else IN_FLIGHT
        waiting = iter(shards)
        under_way: dict[Any, Any] = {}

        def start_next() -> None:
            shard = next(waiting, None)
            if shard is not None:
                under_way[task.remote(body, tuple(shard))] = shard

        for _ in range(limit):
            start_next()
        while under_way:
            finished, _ = ray.wait(list(under_way), num_returns=1)
            for reference in finished:
                shard = under_way.pop(reference)
                columns = ray.get(reference)
                start_next()
                yield shard, columns


def _ray_shard(body: dict[str, Any], shard: tuple[int, ...]) -> dict[str, Any]:
    """Compute one shard in a worker; the jit caches of a worker serve all its shards."""
    devices.widen_vectors()
    from engine.sweep.config import SweepConfig

    config = SweepConfig.model_validate(body)
    # Ray keeps workers that have nothing to do: none of them may sit on most of a card's memory
    devices.use(config.execution.device or "cpu", shared=True)
    from engine.sweep import shard as sweep_shard

    return sweep_shard.compute(config, sweep_shard.Shard(*shard))


def _ray_device(config: SweepConfig) -> dict[str, Any]:
    """Return what a task asks Ray for, so that each has a device for itself.

    Raises
    ------
    ConfigError
        When the cluster has no such device: its tasks would wait for ever.
    """
    import ray

    asked = devices.named(config.execution.device or "cpu")
    if asked.number is not None:
        raise ConfigError(f"device {config.execution.device}: with --backend ray say {asked.kind}; Ray deals them out")
    if asked.kind == "cpu":
        return {}
    cluster_resources: Callable[[], dict[str, float]] = ray.cluster_resources
    resource, there = devices.RAY_RESOURCES[asked.kind], cluster_resources()
    if not there.get(resource):
        listed = ", ".join(f"{count:g} {name}" for name, count in there.items() if name in ("CPU", "GPU", "TPU"))
        raise ConfigError(f"device {asked.kind}: the Ray cluster has none ({resource}); it has {listed}")
    return {"num_gpus": 1} if resource == "GPU" else {"resources": {resource: 1}}


def peak_memory_mib() -> float:
    """Return the largest resident memory of this process so far, MiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
