"""The dataset ``options``: draws tasks from a seed and opens conversations about them."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluators.contract import Case, Json, Score, Section, SingleTurn
from evaluators.options import scoring
from evaluators.options.bank import PUBLISHED, TEMPLATES, select, sound
from evaluators.options.problem import (
    LEVEL_TOLERANCE,
    PROBABILITY_TOLERANCE,
    RELATIVE_TOLERANCE,
    UNLOCKING_FIGURES,
    Problem,
)

VERSION = "1.1"
VARIANTS = ("drawn", "as_published")
OPTIONS = ("variant", "task_types")


@dataclass(frozen=True)
class Options:
    """Options Alpha: pricing, Greeks, strategies, volatility, attribution and risk, with truth from the engine."""

    name: str = "options"
    section: Section = "options_trading"
    version: str = VERSION

    def draw(self, *, seed: int, count: int, options: Mapping[str, Json]) -> Sequence[Case]:
        """Draw ``count`` cases.

        Options: ``variant`` is ``drawn`` (default) or ``as_published`` (the printed parameters with the engine's
        truth; the printed figures are shown beside it); ``task_types`` is a list of template names or categories.

        Raises
        ------
        ValueError
            For an unknown option or value, a negative count, or more cases than the printed bank holds.
        """
        variant, task_types = _read_options(options)
        if count < 0:
            raise ValueError(f"count must not be negative, got {count}")
        if variant == "drawn":
            chosen = select(task_types)
            return [_drawn_case(chosen, seed, index) for index in range(count)]
        printed = select(task_types, published=True)
        if count > len(printed):
            raise ValueError(
                f"count: the variant 'as_published' holds {len(printed)} such tasks, {count} are asked for"
            )
        order = random.Random(f"{VERSION}/{variant}/{seed}").sample(printed, len(printed))
        return [_printed_case(template) for template in order[:count]]

    def data_hash(self, options: Mapping[str, Json]) -> str:
        """Return the sha256 of the printed tasks and of fixed draws of every template, with the marking scheme."""
        _read_options(options)
        tolerances = [RELATIVE_TOLERANCE, LEVEL_TOLERANCE, PROBABILITY_TOLERANCE, UNLOCKING_FIGURES]
        rules = [VERSION, scoring.PASS_MARK, *tolerances, [t.family for t in TEMPLATES]]
        probes = [_content(sound(template, random.Random(f"hash/{template.family}"))) for template in TEMPLATES]
        printed = [_content(question.build()) for question in PUBLISHED.values()]
        return hashlib.sha256(json.dumps([rules, probes, printed], sort_keys=True).encode()).hexdigest()


def _content(problem: Problem) -> list[Json]:
    task = problem.task("")
    return [task.question, task.answer_format, task.context, problem.perfect_reply()]


def _read_options(options: Mapping[str, Json]) -> tuple[str, list[str]]:
    for key in options:
        if key not in OPTIONS:
            raise ValueError(f"options: unknown option {key!r}; available: {', '.join(OPTIONS)}")
    variant = options.get("variant") or "drawn"
    if variant not in VARIANTS:
        raise ValueError(f"options: variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    task_types = options.get("task_types") or []
    if not isinstance(task_types, list | tuple) or not all(isinstance(entry, str) for entry in task_types):
        raise ValueError(f"options: task_types must be a list of names or categories, got {task_types!r}")
    return variant, list(task_types)


def _drawn_case(chosen: Sequence[type[Problem]], seed: int, index: int) -> Case:
    """Every template comes once, in an order of the seed, before any comes again."""
    cycle, place = divmod(index, len(chosen))
    template = random.Random(f"{VERSION}/order/{seed}/{cycle}").sample(chosen, len(chosen))[place]
    problem = sound(template, random.Random(f"{VERSION}/{template.family}/{seed}/{cycle}"))
    return _case(problem, f"{seed}/{cycle}", {})


def _printed_case(template: type[Problem]) -> Case:
    question = PUBLISHED[template.family]
    return _case(question.build(), "printed", question.shown())


def _case(problem: Problem, origin: str, printed: Mapping[str, Json]) -> Case:
    digest = hashlib.sha256(f"{VERSION}/{problem.family}/{origin}".encode()).hexdigest()[:10]
    task = problem.task(f"options-{problem.family}-{digest}")
    judge: Callable[[str], Score] = functools.partial(scoring.judge, problem, printed=printed)
    gold = problem.perfect_reply()
    return Case(task=task, open=lambda: SingleTurn(task=task, judge=judge, gold_text=gold))


DATASET = Options()
