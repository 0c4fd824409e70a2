"""The dataset ``bizfinbench``: own items in five of BizFinBench's formats, or the public files at ``path``."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib import resources
from random import Random
from typing import Protocol

from evaluators.bizfinbench import counterfactual, description, dispute, events, public_file, quantities, tracing
from evaluators.bizfinbench.item import Item
from evaluators.bizfinbench.language import LANGUAGES, Language
from evaluators.bizfinbench.ledgers import PROCESSES
from evaluators.bizfinbench.options import Options
from evaluators.bizfinbench.texts import TEXTS, USUAL
from evaluators.contract import (
    DIFFICULTIES,
    Case,
    Dataset,
    Difficulty,
    Dispute,
    Family,
    Given,
    Section,
    SingleTurn,
    Task,
)
from evaluators.drawing import chosen, rotation, stream, task_id, without_collection

VERSION = "1.2"
AS_OF = date(2026, 6, 30)
"""Simulation date of every item; nothing here depends on it."""


class Generator(Protocol):
    """Draws an item of a format."""

    def __call__(
        self, rng: Random, language: Language, difficulty: Difficulty = "easy", text: int = 0, kind: str | None = None
    ) -> Item:
        """Return an item of a difficulty, put in text number ``text``; of one kind where it is named."""
        ...


GENERATORS: dict[str, Generator] = {
    "event_logic_reasoning": events.draw,
    "financial_quantitative_computation": quantities.draw,
    "counterfactual_inference": counterfactual.draw,
    "anomaly_information_tracing": tracing.draw,
    "financial_data_description": description.draw,
}
CATEGORIES = {
    "event_logic_reasoning": "Event Logic Reasoning",
    "financial_quantitative_computation": "Quantitative Reasoning",
    "counterfactual_inference": "Quantitative Reasoning",
    "anomaly_information_tracing": "Sentiment Analysis",
    "financial_data_description": "Financial Data Description",
}
KINDS = {
    "event_logic_reasoning": tuple(process.name for process in PROCESSES),
    "financial_quantitative_computation": tuple(quantities.COMPUTATIONS),
    "counterfactual_inference": tuple(counterfactual.STORIES),
    "anomaly_information_tracing": tuple(tracing.MEASURES),
    "financial_data_description": ("accounts",),
}


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
        """Return a family for each process, computation and kind of story, in every difficulty."""
        texts = {name: len(rows["en"]) for name, rows in TEXTS.items()}
        return [
            Family(_family(name, kind), CATEGORIES[name], DIFFICULTIES, USUAL, texts[name] - USUAL)
            for name, kinds in KINDS.items()
            for kind in kinds
        ]

    @without_collection()
    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases, task types and languages in turn.

        A file holds what it holds: when it has fewer items, all of them are drawn.
        """
        given = Options.read(options)
        task_types, languages, path = _choice(given)
        if path is not None:
            items = public_file.read(path, task_types=task_types, languages=languages)
            stream(self.name, VERSION, seed).shuffle(items)
            return [_case(entry.item, entry.task_type, f"bizfinbench-{entry.name}") for entry in items[:count]]
        kinds = tuple((task_type, language) for task_type in task_types for language in languages)
        levels = chosen("difficulties", given.difficulties, DIFFICULTIES)
        held_back = given.wordings == "held_back"
        return [self._drawn(kinds, seed, index, levels, held_back=held_back) for index in range(count)]

    def _drawn(
        self,
        kinds: tuple[tuple[str, Language], ...],
        seed: int,
        index: int,
        levels: Sequence[Difficulty],
        *,
        held_back: bool,
    ) -> Case:
        task_type, language = rotation(kinds, index=index, name=(self.name, VERSION, seed))
        visit, mark = index // len(kinds), "held-back" if held_back else "usual"
        name = (self.name, VERSION, seed, task_type, language, mark)
        texts = range(len(TEXTS[task_type][language]))
        level = rotation(levels, index=visit, name=(*name, "difficulty"))
        text = rotation(texts[USUAL:] if held_back else texts[:USUAL], index=visit, name=(*name, "text"))
        kind = rotation(KINDS[task_type], index=visit, name=(*name, "kind"))
        own = (*name, level, index)
        generator = GENERATORS[task_type]
        item = generator(stream(*own), language, level, text, kind)
        argued = dispute.of_item(item, lambda rng: generator(rng, language, kind=kind))
        case = _case(item, task_type, task_id(*own, show=(0, 3, 4)), argued)
        wording = f"{mark} {text + 1 - (USUAL if held_back else 0)}"
        return replace(case, task=replace(case.task, difficulty=level, wording=wording))

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the generators and texts, or of the public files."""
        path = _choice(Options.read(options))[2]
        if path is not None:
            return public_file.content_hash(path)
        digest = hashlib.sha256()
        for file in sorted(resources.files(__package__).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".py"):
                digest.update(f"{file.name}\n".encode() + file.read_bytes())
        return digest.hexdigest()


def _choice(options: Options) -> tuple[tuple[str, ...], tuple[Language, ...], str | None]:
    """Return task types, languages and path, as given or by default."""
    path, languages = options.path, options.languages
    task_types = chosen("task_types", options.task_types, tuple(GENERATORS if path is None else public_file.TASK_TYPES))
    if languages is None and path is None:
        languages = ("en",)
    return task_types, chosen("languages", languages, LANGUAGES), path


DATASET = BizFinBench()
