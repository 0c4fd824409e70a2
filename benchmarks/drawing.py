"""How many tasks a second are drawn on one core, and how many of their texts differ: by category and by dataset.

A category's tasks are divided among the datasets that have it as its families are. Only drawing is timed: the market,
the truth and the text of each task; conversations are opened later. Texts are what the first message holds (question
and data); their words are the same with every number replaced by one sign.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import resource
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from evaluators import categories, registry
from evaluators.contract import Case

NUMBER = re.compile(r"\d[\d.,]*")
COLUMNS = ("", "datasets", "tasks", "processor s", "wall s", "tasks/s", "texts", "words of texts", "share")


@dataclass
class Row:
    """What was drawn of one category or dataset.

    Attributes
    ----------
    texts, words
        Digests of the texts, and of the same without their numbers.
    """

    name: str
    datasets: Sequence[str]
    tasks: int = 0
    processor: float = 0.0
    wall: float = 0.0
    texts: set[bytes] = field(default_factory=set)
    words: set[bytes] = field(default_factory=set)

    def draw(self, dataset: str, *, seed: int, count: int, **options: Any) -> None:
        """Draw, and count the texts when the clock is stopped."""
        began, began_wall = time.process_time(), time.perf_counter()
        cases = registry.get(dataset).draw(seed=seed, count=count, options=options)
        self.processor += time.process_time() - began
        self.wall += time.perf_counter() - began_wall
        self.tasks += len(cases)
        for text in map(shown, cases):
            self.texts.add(digest(text))
            self.words.add(digest(NUMBER.sub("#", text)))

    def cells(self) -> tuple[str, ...]:
        """Return what :data:`COLUMNS` say."""
        figures = f"{self.processor:.2f}", f"{self.wall:.2f}", f"{self.tasks / self.processor:,.0f}"
        counts = f"{len(self.texts):,}", f"{len(self.words):,}", f"{len(self.words) / self.tasks:.1%}"
        return self.name, ", ".join(self.datasets), f"{self.tasks:,}", *figures, *counts


def shown(case: Case) -> str:
    return f"{case.task.question}\n{json.dumps(case.task.context, sort_keys=True, default=str)}"


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:12]


def shares(count: int, weights: Sequence[int]) -> list[int]:
    """Return whole parts of ``count`` in proportion to weights."""
    ends = [round(count * end / sum(weights)) for end in (0, *accumulate(weights))]
    return [after - before for before, after in pairwise(ends)]


def of_category(name: str, *, seed: int, count: int) -> Row:
    """Draw the families of one category."""
    types: dict[str, list[str]] = {}
    for dataset in registry.DATASETS:
        families = [family for family in registry.get(dataset).families() if family.category == name]
        if families:
            types[dataset] = [family.name.removeprefix(f"{dataset}/").partition("/")[0] for family in families]
    row = Row(name, list(types))
    parts = shares(count, [len(found) for found in types.values()])
    for (dataset, found), part in zip(types.items(), parts, strict=True):
        row.draw(dataset, seed=seed, count=part, task_types=list(dict.fromkeys(found)))
    return row


def total(rows: Sequence[Row]) -> Row:
    """Return all rows as one: a text that two of them have is one text."""
    return Row(
        "all",
        [],
        sum(row.tasks for row in rows),
        sum(row.processor for row in rows),
        sum(row.wall for row in rows),
        set().union(*(row.texts for row in rows)),
        set().union(*(row.words for row in rows)),
    )


def table(rows: Iterable[Row]) -> str:
    """Return the rows as Markdown."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100_000, help="of all eighteen categories together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--datasets", nargs="*", metavar="NAME=COUNT", help="draw these instead, each with its defaults"
    )
    asked = parser.parse_args()
    # every thread of the process, those of jax too, shares one core
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows = []
    if asked.datasets:
        for name, _, count in (entry.partition("=") for entry in asked.datasets):
            rows.append(Row(name, [name]))
            rows[-1].draw(name, seed=asked.seed, count=int(count))
    else:
        parts = shares(asked.tasks, [1] * len(categories.CATEGORIES))
        for name, part in zip(categories.CATEGORIES, parts, strict=True):
            rows.append(of_category(name, seed=asked.seed, count=part))
    print(table([*rows, total(rows)] if len(rows) > 1 else rows))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nseed {asked.seed}, one core of {os.cpu_count()}, at most {memory:,.0f} MB in memory")


if __name__ == "__main__":
    main()
