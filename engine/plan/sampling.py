"""From a config and a seed to the list of cases that a run plays. Nothing here knows the agent."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from engine.config import DatasetConfig, RunConfig
from engine.errors import ConfigError
from evaluators import registry
from evaluators.contract import Case
from evaluators.judge import RubricDataset

DEFAULT_LIMIT = 4


def derive_seed(seed: int, *names: str) -> int:
    """Return a seed for one purpose: independent streams from one run seed, equal for every agent."""
    digest = hashlib.sha256("\x1f".join((str(seed), *names)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def dataset_options(entry: DatasetConfig, config: RunConfig) -> dict[str, Any]:
    """Return the options that a dataset gets: its own of the entry, and the run's judge where it needs one."""
    options = entry.options()
    if config.judge is not None and isinstance(registry.get(entry.type), RubricDataset):
        options["judge"] = config.judge.model_dump(mode="json")
    return options


def data_hash(config: RunConfig, position: int) -> str:
    """Return the hash of what the scores of the config's dataset at ``position`` depend on."""
    entry = config.datasets[position]
    try:
        return registry.get(entry.type).data_hash(dataset_options(entry, config))
    except ValueError as error:
        raise ConfigError(f"datasets[{position}] ({entry.type}): {error}") from error


def draw(config: RunConfig) -> list[Case]:
    """Return the run's cases in playing order; the same config and seed give the same list."""
    groups = [_draw_dataset(config, position) for position in range(len(config.datasets))]
    cases = _sample(groups, config)
    twice = [task_id for task_id, count in Counter(case.task.task_id for case in cases).items() if count > 1]
    if twice:
        raise ConfigError(f"datasets: task {twice[0]!r} was drawn twice; give each dataset one entry, or other options")
    return cases


def _draw_dataset(config: RunConfig, position: int) -> list[Case]:
    entry = config.datasets[position]
    dataset = registry.get(entry.type)
    limit = DEFAULT_LIMIT if entry.limit is None and entry.limit_per_task is None else entry.limit
    per_task = entry.limit_per_task
    wanted = limit if limit is not None else per_task * max(1, len(entry.task_types or ())) if per_task else 0
    count = wanted * (4 if per_task else 1)
    seed = derive_seed(config.sampling.seed, entry.type)
    try:
        cases = list(dataset.draw(seed=seed, count=count, options=dataset_options(entry, config)))
    except ValueError as error:
        raise ConfigError(f"datasets[{position}] ({entry.type}): {error}") from error
    return _cap_per_category(cases, per_task)[:wanted]


def _cap_per_category(cases: Sequence[Case], limit: int | None) -> list[Case]:
    if limit is None:
        return list(cases)
    seen: Counter[str] = Counter()
    kept = []
    for case in cases:
        seen[case.task.category] += 1
        if seen[case.task.category] <= limit:
            kept.append(case)
    return kept


def _sample(groups: list[list[Case]], config: RunConfig) -> list[Case]:
    """Cut the drawn cases to ``total_limit`` by the strategy; datasets stay in config order."""
    everything = [case for group in groups for case in group]
    limit = config.sampling.total_limit
    if limit is None or limit >= len(everything):
        return everything
    if config.sampling.strategy == "sequential":
        return everything[:limit]
    if config.sampling.strategy == "random":
        chosen = set(random.Random(derive_seed(config.sampling.seed, "sampling")).sample(range(len(everything)), limit))
        return [case for index, case in enumerate(everything) if index in chosen]
    return _stratified(groups, limit)


def _stratified(groups: list[list[Case]], limit: int) -> list[Case]:
    """Take turns over the datasets until ``limit`` is reached, so that every one is represented as evenly as it can."""
    take = [0] * len(groups)
    while sum(take) < limit:
        for index, group in enumerate(groups):
            if take[index] < len(group) and sum(take) < limit:
                take[index] += 1
    return [case for group, count in zip(groups, take, strict=True) for case in group[:count]]
