"""Split the tasks of a run into shards that several machines can play.

Every shard draws the whole run and plays its own part, so the shards' rows are those of the undivided run, whatever
their number. The tasks that use dated tools are dealt out in the order of their dates, the earliest to the first shard:
shards that are played one after the other keep the order of the dates as one run does. The other tasks are dealt one by
one, so that long and short ones are spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from engine.config import ShardConfig
from engine.errors import ConfigError
from engine.plan.date_order import is_dated
from evaluators.contract import Case


def positions(cases: Sequence[Case], shard: ShardConfig | None) -> list[int]:
    """Return which of a run's tasks a shard plays, by their places in the undivided run.

    Raises
    ------
    ConfigError
        When there are more shards than tasks.
    """
    if shard is None:
        return list(range(len(cases)))
    if shard.count > len(cases):
        raise ConfigError(
            f"sampling.shard.count: must be at most {len(cases)}, the number of tasks of this run, got {shard.count}"
        )
    dated = sorted(
        (place for place, case in enumerate(cases) if is_dated(case.task)), key=lambda p: cases[p].task.as_of
    )
    ends = [len(dated) * number // shard.count for number in range(shard.count + 1)]
    dealt = [dated[low:high] for low, high in pairwise(ends)]
    for place, case in enumerate(cases):
        if not is_dated(case.task):
            min(dealt, key=len).append(place)
    return sorted(dealt[shard.index - 1])
