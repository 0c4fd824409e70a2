"""The dataset ``fundamentals``: questions drawn from the run's lake, truth computed on the simulation date."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources

from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import (
    DIFFICULTIES,
    Case,
    Dataset,
    Difficulty,
    Family,
    Given,
    Section,
    SingleTurn,
    Task,
)
from evaluators.drawing import chosen, rotation, stream, task_id, without_collection
from evaluators.fundamentals import disclosed, dispute, filings, prices, statements, surprises
from evaluators.fundamentals.options import Options
from evaluators.fundamentals.question import FRAMES, HELD_BACK_FRAMES, Drawn, NotDrawable, Template
from evaluators.fundamentals.world import LAST_FILING, Lacking, World
from lake import providers, sample
from lake.settings import LakeSettings

VERSION = "2.0"
MAX_ATTEMPTS = 400
MAX_REPEATED = 20
"""Draws of a task whose text was there before; from a lake of few companies the same is asked again after that."""
TEMPLATES = {
    row.name: row for module in (statements, filings, disclosed, surprises, prices) for row in module.TEMPLATES
}
CATEGORIES = tuple(dict.fromkeys(row.category for row in TEMPLATES.values()))


@lru_cache(maxsize=4)
def world_of(settings: LakeSettings | None) -> World:
    """Return the companies of a run's lake: the embedded sample's, simulated ones, and those that were pulled.

    Raises
    ------
    ValueError
        The lake would fetch companies when they are asked for, so that nobody can draw from them beforehand.
    """
    if settings is None or settings.filings != "edgar":
        return World(sample.embedded())
    if not settings.offline:
        raise ValueError(
            "lake.offline: fundamentals draws from filings that were pulled, got false; set offline: true and pull "
            "companies with traderbench data pull filings --ticker TICKER"
        )
    lake = providers.open_lake(LakeSettings(filings="edgar", path=settings.path, cache=settings.cache))
    embedded = set(sample.embedded().facts.keys(as_of=LAST_FILING))
    return World(lake, tuple(key for key in lake.facts.keys(as_of=LAST_FILING) if key not in embedded))


def draw_question(template: Template, world: World, level: Difficulty, *name: object) -> Drawn:
    """Draw one question of ``template`` from the stream called ``name``; one that 0 would nearly answer, again."""
    rng = stream(*name)
    for _ in range(MAX_ATTEMPTS):
        try:
            drawn = template.draw(rng, world, level)
        except (NotDrawable, Lacking):
            continue
        if not isinstance(drawn.expected, ExpectedNumber) or drawn.expected.is_clear_of_zero():
            return drawn
    raise ValueError(f"family {template.name!r}, {level}: nothing to ask about in {MAX_ATTEMPTS} draws from this lake")


@dataclass(frozen=True)
class Fundamentals(Dataset):
    """Questions whose facts are not in the prompt: the agent has to fetch them through the tools.

    ``lake`` is the run's, where a config names one.
    """

    name: str = "fundamentals"
    section: Section = "knowledge_retrieval"
    version: str = VERSION
    lake: LakeSettings | None = None

    def over(self, lake: LakeSettings) -> Fundamentals:
        """Return the dataset that draws from the companies of a run's lake, too."""
        return replace(self, lake=lake)

    def families(self) -> Sequence[Family]:
        """Return a family for each template, in every difficulty."""
        return [
            Family(f"{self.name}/{row.name}", row.category, DIFFICULTIES, len(FRAMES), len(HELD_BACK_FRAMES))
            for row in TEMPLATES.values()
        ]

    @without_collection()
    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases, every family once before any comes again; in each its levels and texts take turns."""
        given = Options.read(options)
        names, levels = _templates(given), _difficulties(given)
        world, named = world_of(self.lake), (self.name, VERSION, seed)
        cases: list[Case] = []
        asked: set[str] = set()
        for index in range(count):
            template = TEMPLATES[rotation(names, index=index, name=named)]
            visit = index // len(names)
            level = rotation(levels, index=visit, name=(*named, template.name, "difficulty"))
            name = (*named, template.name, index)
            for again in range(MAX_REPEATED):
                own = (*name, again) if again else name
                case = self._case(template, world, level, visit, own, given.wordings)
                if case.task.question not in asked:
                    break
            asked.add(case.task.question)
            cases.append(case)
        return cases

    def _case(
        self,
        template: Template,
        world: World,
        level: Difficulty,
        visit: int,
        name: tuple[object, ...],
        wordings: str | None,
    ) -> Case:
        held_back = wordings == "held_back"
        mark, frames = ("held-back", HELD_BACK_FRAMES) if held_back else ("usual", FRAMES)
        number = rotation(range(len(frames)), index=visit, name=(*name[:4], mark))
        drawn = draw_question(template, world, level, *name, level, mark)
        task = Task(
            task_id=task_id(*name, level, mark, show=(0, 3)),
            section=self.section,
            dataset=self.name,
            category=template.category,
            family=f"{self.name}/{template.name}",
            as_of=drawn.as_of,
            question=template.text(drawn, number, held_back=held_back),
            answer_format=drawn.expected.answer_format(),
            servers=template.servers,
            difficulty=level,
            wording=f"{mark} {number + 1}",
        )
        expected, argued = drawn.expected, dispute.of_question(drawn, world)
        return Case(
            task, lambda: SingleTurn(task, judge=expected.grade, gold_text=expected.gold_text()), dispute=argued
        )

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the lake's tables, of what was pulled into it, and of the families' source."""
        given = Options.read(options)
        _templates(given)
        _difficulties(given)
        digest = hashlib.sha256(sample.data_hash().encode())
        if self.lake is not None and self.lake.filings == "edgar":
            digest.update(providers.digest(self.lake).encode())
        for file in sorted(resources.files(__package__).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".py"):
                digest.update(f"{file.name}\n".encode() + file.read_bytes())
        return digest.hexdigest()


def _templates(options: Options) -> tuple[str, ...]:
    wanted = chosen("task_types", options.task_types, (*TEMPLATES, *CATEGORIES))
    return tuple(name for name, row in TEMPLATES.items() if name in wanted or row.category in wanted)


def _difficulties(options: Options) -> tuple[Difficulty, ...]:
    return chosen("difficulties", options.difficulties, DIFFICULTIES)


DATASET = Fundamentals()
