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
from lake.published.sources import missing

DEFAULT_LIMIT = 4
MOST_DRAWN = 100_000
"""Tasks that are looked through for those of some categories."""
MOST_DRAWN_BLINDLY = 100
"""The same where a dataset does not say beforehand which categories it has."""


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
        Ready to draw, with the run's judge and lake where it needs them.
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
        kinds = entry.options().get("task_types") or {family.category for family in self.dataset.families()}
        wanted = limit if limit is not None else per_task * max(1, len(kinds)) if per_task else 0
        count = wanted * (4 if per_task else 1)
        with self._named_errors():
            if entry.categories is not None:
                return self._of_categories(derive_seed(seed, entry.type), entry.categories, limit, per_task)
            cases = list(self.dataset.draw(seed=derive_seed(seed, entry.type), count=count, options=entry))
            if wanted and not cases:
                raise ValueError(f"no task was drawn: nothing there is what {_chosen(entry)} ask for")
        return _cap_per_category(cases, per_task)[:wanted]

    def check_path(self) -> None:
        """Raise where the entry names files that are not there, with the command that fetches them."""
        path = getattr(self.entry, "path", None)
        if path and (lacks := missing(self.entry.type, path)):
            raise ConfigError(f"datasets[{self.position}] ({self.entry.type}): path: {lacks}")

    def _of_categories(self, seed: int, wanted: Sequence[str], limit: int | None, per_task: int | None) -> list[Case]:
        """Draw on until there are enough of the categories: a longer draw starts with a shorter one."""
        families = [family.category for family in self.dataset.families()]
        there = dict.fromkeys(families)
        for name in wanted:
            if there and name not in there:
                raise ValueError(f"categories: {name!r} is not among those of this dataset: {', '.join(there)}")
        needed = limit if limit is not None else (per_task or 0) * len(set(wanted))
        held = self.dataset.held(self.entry)
        count = max(needed, len(families)) if held is None else held
        most = MOST_DRAWN if there else max(MOST_DRAWN_BLINDLY, needed)
        while True:
            cases = list(self.dataset.draw(seed=seed, count=count, options=self.entry))
            kept = _cap_per_category([case for case in cases if case.task.category in wanted], per_task)[:needed]
            if len(kept) == needed or len(cases) < count or count > most or held is not None:
                break
            count *= 2
        if needed and not kept:
            found = ", ".join(sorted({case.task.category for case in cases})) or "none"
            raise ValueError(f"categories: no task is of {', '.join(wanted)}; the drawn ones are of: {found}")
        if held is not None and self.entry.limit is not None and len(kept) < needed:
            raise ValueError(
                f"limit: {needed} tasks of {', '.join(wanted)} are asked for; {_chosen(self.entry)} holds {len(kept)}"
            )
        return kept

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise ConfigError(f"datasets[{self.position}] ({self.entry.type}): {error}") from error


def resolve(config: RunConfig) -> list[Resolved]:
    """Return the datasets of a run, each looked up once; a file that is not there is an error with what to do."""
    lake = config.lake.settings()
    datasets = [
        Resolved(position, entry, registry.get(entry.type).judged_by(config.judge).over(lake))
        for position, entry in enumerate(config.datasets)
    ]
    for dataset in datasets:
        dataset.check_path()
    return datasets


def _chosen(entry: Entry) -> str:
    return ", ".join(f"{key} {value!r}" for key, value in entry.options().items()) or "its options"


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
