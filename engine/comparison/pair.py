"""Two runs on the same tasks: the paired difference of their scores, with its uncertainty.

The difference of the overall scores is the weighted sum of those of the sections (TraderBench eq. 3, on the sections
that the common tasks have). A section's is the mean of the differences of its tasks, clustered by family: what the
tasks of a template or the windows of a market share counts once. Values are compared before they are cut to 0-100.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.comparison.played import Played
from engine.errors import ConfigError
from engine.record import TaskRecord
from engine.scoring.score import redistribute, samples_of
from engine.scoring.statistics import (
    ROUNDING,
    Estimate,
    PairedDifference,
    Sample,
    clustered_mean,
    holm,
    minimum_detectable_difference,
    tested,
)
from evaluators.contract import SECTIONS, Section

LEVEL = 0.05


class Pair(NamedTuple):
    """A task that both runs played and that has a score in both."""

    first: TaskRecord
    second: TaskRecord

    @property
    def difference(self) -> float:
        """First minus second, in points."""
        return float(self.first["value"] - self.second["value"])


class Row(NamedTuple):
    """The difference on some of the common tasks, and its p value after Holm's correction over the rows beside it."""

    difference: PairedDifference
    p_holm: float | None


class Passes(NamedTuple):
    """How many tasks both, one or none passed; ``p_value`` is McNemar's, exact, with every task on its own."""

    both: int
    first_only: int
    second_only: int
    neither: int
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """Two runs on their common tasks.

    Attributes
    ----------
    overall
        Difference of the overall scores, first minus second.
    sections, categories, transforms
        The same on parts of the tasks; transforms are those of the crypto section.
    passes
        Of the common tasks.
    pairs
        The common tasks, the largest difference first.
    """

    first: Played
    second: Played
    overall: PairedDifference
    sections: dict[Section, Row]
    categories: dict[str, Row]
    transforms: dict[str, Row]
    passes: Passes
    pairs: list[Pair]

    @property
    def differ(self) -> bool:
        """Whether the two can be told apart at the 5% level."""
        return self.overall.p_value is not None and self.overall.p_value < LEVEL

    @property
    def tasks_to_tell(self) -> int | None:
        """Tasks of this kind with which a difference of the size seen is found 4 times of 5; None where unknown."""
        size = detectable(self.overall)
        if size is None or not self.overall.difference:
            return None
        return math.ceil(self.overall.n * (size / self.overall.difference) ** 2)


def compare(first: Played, second: Played) -> Comparison:
    """Compare two runs on the tasks that both played.

    Raises
    ------
    ConfigError
        Where they share no task with a score, have other weights, were scored by other versions of a dataset, or are of
        two agents of which one was debated.
    """
    _check(first, second)
    pairs = common(first.scored, second.scored)
    if not pairs:
        raise ConfigError(
            f"{first.folder} and {second.folder} share no task with a score; runs of the same config and seed do"
        )
    sections = by_section(pairs)
    if not any(first.weights.get(section, 0.0) for section in sections):
        raise ConfigError(f"weights: the common tasks are of {', '.join(sections)}, which have no weight")
    return Comparison(
        first,
        second,
        overall=overall(sections, first.weights, n=len(pairs)),
        sections=_rows(pairs, lambda pair: pair.first["section"]),
        categories=_rows(pairs, lambda pair: pair.first["category"]),
        transforms=_rows(pairs, transform_of),
        passes=mcnemar(pairs),
        pairs=sorted(pairs, key=lambda pair: -abs(pair.difference)),
    )


def _check(first: Played, second: Played) -> None:
    if first.weights != second.weights:
        raise ConfigError(f"weights: {first.folder} and {second.folder} weigh the sections otherwise; no overall score")
    if first.debated != second.debated and first.agent_digest != second.agent_digest:
        one, other = (first, second) if first.debated else (second, first)
        raise ConfigError(
            f"debate: {one.folder} holds debates and {other.folder} does not; that shows what the debate is worth to "
            "one agent, not which of two is better"
        )
    ours, theirs = _hash_of_dataset(first), _hash_of_dataset(second)
    for dataset in ours.keys() & theirs.keys():
        if ours[dataset].isdisjoint(theirs[dataset]):
            raise ConfigError(
                f"{dataset}: {first.folder} and {second.folder} were scored with other data or another version of it; "
                "bring the older one up to date with traderbench rescore RUN, or play it again"
            )


def _hash_of_dataset(run: Played) -> dict[str, set[str]]:
    hashes: dict[str, set[str]] = {}
    for name, value in run.data_hashes.items():
        hashes.setdefault(name.partition("@")[0], set()).add(value)
    return hashes


def common(first: Sequence[TaskRecord], second: Sequence[TaskRecord]) -> list[Pair]:
    """Return the tasks that stand in both lists, each as often as in both; a market drawn afresh is another task."""
    waiting: dict[tuple[str, int], list[TaskRecord]] = {}
    for record in second:
        waiting.setdefault(_identity(record), []).append(record)
    return [Pair(record, same.pop(0)) for record in first if (same := waiting.get(_identity(record)))]


def _identity(record: TaskRecord) -> tuple[str, int]:
    return record["task_id"], record.get("draw", 1)


def transform_of(pair: Pair) -> str | None:
    """Return the market transform of a task; an agent that broke may have left a record without it."""
    transform: str | None = pair.first["details"].get("transform") or pair.second["details"].get("transform")
    return transform


def differences(pair: Pair) -> list[Sample]:
    """Return a pair's observations of the difference: its own, or one for each window of a market.

    An agent that broke has one value for a whole market: it stands against each of the other's windows.
    """
    first, second = samples_of(pair.first), samples_of(pair.second)
    if len(first) == 1:
        first = first * len(second)
    if len(second) == 1:
        second = second * len(first)
    if len(first) != len(second):
        return [Sample(pair.first["family"], pair.difference)]
    finer = max(first, second, key=lambda samples: len({sample.family for sample in samples}))
    return [
        Sample(own.family, one.value - other.value, 1.0 / len(finer))
        for own, one, other in zip(finer, first, second, strict=True)
    ]


def by_section(pairs: Sequence[Pair]) -> dict[Section, Estimate]:
    """Return the mean difference in each section that the pairs have."""
    groups = {section: [pair for pair in pairs if pair.first["section"] == section] for section in SECTIONS}
    return {section: mean_difference(group) for section, group in groups.items() if group}


def mean_difference(pairs: Sequence[Pair]) -> Estimate:
    """Return the mean difference of some pairs, clustered by family."""
    return clustered_mean(sample for pair in pairs for sample in differences(pair))


def overall(sections: Mapping[Section, Estimate], weights: Mapping[Section, float], *, n: int) -> PairedDifference:
    """Return the weighted sum of independent differences; degrees of freedom by Welch and Satterthwaite.

    Its standard error is None where a section that has weight has none. Where nothing varies within any section, the
    sign test is on the families of the sections that differ; without an error if they differ in both directions.
    """
    shares = redistribute(weights, list(sections))
    parts = [(shares[section], estimate) for section, estimate in sections.items() if shares[section] > 0.0]
    value = math.fsum(share * part.value for share, part in parts)
    if any(part.se is None for _, part in parts):
        return tested(Estimate(value, None, None), n=n)
    variances = [(share * (part.se or 0.0)) ** 2 for share, part in parts]
    freedoms = [part.degrees_of_freedom or 0.0 for _, part in parts]
    total = math.fsum(variances)
    if math.sqrt(total) > ROUNDING * max(1.0, abs(value)):
        freedom = total**2 / math.fsum(own**2 / free for own, free in zip(variances, freedoms, strict=True))
        return tested(Estimate(value, math.sqrt(total), freedom), n=n)
    moved = [(part.value, free) for (_, part), free in zip(parts, freedoms, strict=True) if abs(part.value) > ROUNDING]
    if len({math.copysign(1.0, part) for part, _ in moved}) > 1:
        return tested(Estimate(value, None, None), n=n)
    families = math.fsum(free + 1.0 for _, free in moved)
    return tested(Estimate(value, 0.0, max(families, 1.0) - 1.0), n=n)


def _rows(pairs: Sequence[Pair], name_of: Callable[[Pair], Any]) -> dict[Any, Row]:
    """Return the difference on the tasks of each name; Holm's correction is over the names."""
    groups: dict[Any, list[Pair]] = {}
    for pair in pairs:
        if (name := name_of(pair)) is not None:
            groups.setdefault(name, []).append(pair)
    by_name = {name: tested(mean_difference(group), n=len(group)) for name, group in groups.items()}
    known = {name: row.p_value for name, row in by_name.items() if row.p_value is not None}
    adjusted = dict(zip(known, holm(list(known.values())), strict=True))
    return {name: Row(row, adjusted.get(name)) for name, row in by_name.items()}


def mcnemar(pairs: Sequence[Pair]) -> Passes:
    """Count who passed what; the exact test of McNemar asks whether one passes where the other does not."""
    from scipy.stats import binomtest

    seen = [(bool(pair.first["passed"]), bool(pair.second["passed"])) for pair in pairs]
    one, other = seen.count((True, False)), seen.count((False, True))
    p_value = float(binomtest(one, one + other).pvalue) if one + other else 1.0
    return Passes(seen.count((True, True)), one, other, seen.count((False, False)), p_value)


def detectable(difference: PairedDifference) -> float | None:
    """Return the true difference that such a comparison finds 4 times of 5; None where nothing varied."""
    if difference.se is None or difference.half_width is None:
        return None
    return minimum_detectable_difference(difference.se)


def span(difference: PairedDifference) -> tuple[float, float] | None:
    """Return the 95% interval; None where it is not known."""
    if difference.half_width is None:
        return None
    return difference.difference - difference.half_width, difference.difference + difference.half_width
