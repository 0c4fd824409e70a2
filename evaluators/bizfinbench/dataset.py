"""The dataset ``bizfinbench``: own items in two of BizFinBench's formats, or the public files at ``path``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import resources
from random import Random

from evaluators.bizfinbench import dispute, events, public_file, quantities
from evaluators.bizfinbench.chains import CHAINS, Language
from evaluators.bizfinbench.item import Item
from evaluators.bizfinbench.options import Options
from evaluators.contract import Case, Dataset, Dispute, Family, Given, Section, SingleTurn, Task
from evaluators.drawing import chosen, rotation, stream, task_id

VERSION = "1.1"
AS_OF = date(2026, 6, 30)
"""Simulation date of every item; nothing here depends on it."""

LANGUAGES: tuple[Language, ...] = ("en", "cn")
GENERATORS: dict[str, Callable[[Random, Language], Item]] = {
    "event_logic_reasoning": events.draw,
    "financial_quantitative_computation": quantities.draw,
}
CATEGORIES = {
    "event_logic_reasoning": "Event Logic Reasoning",
    "financial_quantitative_computation": "Quantitative Reasoning",
    "counterfactual_inference": "Quantitative Reasoning",
    "anomaly_information_tracing": "Sentiment Analysis",
    "financial_data_description": "Financial Data Description",
}
KINDS = {
    "event_logic_reasoning": tuple(chain.name for chain in CHAINS),
    "financial_quantitative_computation": tuple(quantities.COMPUTATIONS),
}
SOURCES = ("chains.py", "events.py", "accounts.py", "quantities.py")


def _family(task_type: str, kind: str) -> str:
    return f"bizfinbench/{task_type}/{kind}"


def _case(item: Item, task_type: str, identity: str, argued: Dispute | None = None) -> Case:
    task = Task(
        task_id=identity,
        section="knowledge_retrieval",
        dataset="bizfinbench",
        category=CATEGORIES[task_type],
        family=_family(task_type, item.kind),
        as_of=AS_OF,
        question=item.text,
        answer_format=item.expected.answer_format(),
        chance_score=item.chance_score,
    )
    expected = item.expected
    gold = expected.gold_text()
    return Case(task, lambda: SingleTurn(task, judge=expected.grade, gold_text=gold), dispute=argued)


@dataclass(frozen=True)
class BizFinBench(Dataset):
    """Exact match for orders, 1% tolerance for numbers."""

    name: str = "bizfinbench"
    section: Section = "knowledge_retrieval"
    version: str = VERSION

    def families(self) -> Sequence[Family]:
        """Return a family for each process and each computation."""
        return [Family(_family(name, kind), CATEGORIES[name]) for name, kinds in KINDS.items() for kind in kinds]

    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases, task types and languages in turn.

        A file holds what it holds: when it has fewer items, all of them are drawn.
        """
        task_types, languages, path = _choice(Options.read(options))
        if path is not None:
            items = public_file.read(path, task_types=task_types, languages=languages)
            stream(self.name, VERSION, seed).shuffle(items)
            return [_case(entry.item, entry.task_type, f"bizfinbench-{entry.name}") for entry in items[:count]]
        kinds = tuple((task_type, language) for task_type in task_types for language in languages)
        return [self._drawn(kinds, seed, index) for index in range(count)]

    def _drawn(self, kinds: tuple[tuple[str, Language], ...], seed: int, index: int) -> Case:
        task_type, language = rotation(kinds, index=index, name=(self.name, VERSION, seed))
        name = (self.name, VERSION, seed, task_type, language, index)
        item = GENERATORS[task_type](stream(*name), language)
        return _case(item, task_type, task_id(*name, show=(0, 3, 4)), dispute.of_item(item, language))

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the chains and generators, or of the public files."""
        path = _choice(Options.read(options))[2]
        if path is not None:
            return public_file.content_hash(path)
        digest = hashlib.sha256()
        for source in SOURCES:
            digest.update(resources.files(__package__).joinpath(source).read_bytes())
        return digest.hexdigest()


def _choice(options: Options) -> tuple[tuple[str, ...], tuple[Language, ...], str | None]:
    """Return task types, languages and path, as given or by default."""
    path, languages = options.path, options.languages
    task_types = chosen("task_types", options.task_types, tuple(GENERATORS if path is None else public_file.TASK_TYPES))
    if languages is None and path is None:
        languages = ("en",)
    wanted = chosen("languages", languages, LANGUAGES)
    return task_types, tuple(language for language in LANGUAGES if language in wanted), path


DATASET = BizFinBench()
