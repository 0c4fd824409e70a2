"""From a config and a seed to the list of cases that a run plays. Nothing here knows the agent."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from engine.config import RunConfig
from engine.errors import ConfigError
from evaluators import registry
from evaluators.contract import Case, Dataset
from evaluators.entry import Entry

DEFAULT_LIMIT = 4


def derive_seed(seed: int, *names: str) -> int:
    """Return a seed for one purpose: independent streams from one run seed, equal for every agent."""
    digest = hashlib.sha256("\x1f".join((str(seed), *names)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


@dataclass(frozen=True)
class Resolved:
    """One entry of a config with the dataset that it names.

    Attributes
    ----------
    position
        Of the entry in the config.
    entry
        How much is drawn, and the dataset's own options.
    dataset
        Ready to draw, with the run's judge where it needs one.
    """

    position: int
    entry: Entry
    dataset: Dataset

    def data_hash(self) -> str:
        """Return the hash of what the scores depend on besides seed and options."""
        with self._named_errors():
            return self.dataset.data_hash(self.entry)

    def draw(self, seed: int) -> list[Case]:
        """Return the entry's cases, with its own limits; the same run seed gives the same list."""
        entry = self.entry
        limit = DEFAULT_LIMIT if entry.limit is None and entry.limit_per_task is None else entry.limit
        per_task = entry.limit_per_task
        kinds = len(entry.options().get("task_types", ()))
        wanted = limit if limit is not None else per_task * max(1, kinds) if per_task else 0
        count = wanted * (4 if per_task else 1)
        with self._named_errors():
            cases = list(self.dataset.draw(seed=derive_seed(seed, entry.type), count=count, options=entry))
        return _cap_per_category(cases, per_task)[:wanted]

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise ConfigError(f"datasets[{self.position}] ({self.entry.type}): {error}") from error


def resolve(config: RunConfig) -> list[Resolved]:
    """Return the datasets of a run, each looked up once."""
    judge = None if config.judge is None else config.judge.model_dump(mode="json")
    return [
        Resolved(position, entry, registry.get(entry.type).judged_by(judge))
        for position, entry in enumerate(config.datasets)
    ]


def draw(config: RunConfig, datasets: Sequence[Resolved] | None = None) -> list[Case]:
    """Return the run's cases in playing order; the same config and seed give the same list."""
    resolved = resolve(config) if datasets is None else datasets
    cases = _sample([dataset.draw(config.sampling.seed) for dataset in resolved], config)
    twice = [task_id for task_id, count in Counter(case.task.task_id for case in cases).items() if count > 1]
    if twice:
        raise ConfigError(f"datasets: task {twice[0]!r} was drawn twice; give each dataset one entry, or other options")
    return cases


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
