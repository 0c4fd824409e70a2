"""The dataset ``casebook``: draws cases from a seed and opens conversations about them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources

from evaluators.casebook import dispute
from evaluators.casebook.bank import CATEGORIES, TEMPLATES
from evaluators.casebook.families import quoted_chains
from evaluators.casebook.family import Template
from evaluators.casebook.options import Options
from evaluators.casebook.repeated import Repeated
from evaluators.casebook.session import Conversation
from evaluators.contract import DIFFICULTIES, Case, Dataset, Difficulty, Family, Given, Section, Task
from evaluators.drawing import chosen, rotation, stream, task_id, without_collection
from lake import providers, sample
from lake.settings import LakeSettings

VERSION = "1.2"


@dataclass(frozen=True)
class Casebook(Dataset):
    """Macro theses, records of traders, sizing, defence of backtests, unfolding documents, tone, descriptions."""

    name: str = "casebook"
    section: Section = "analytical_reasoning"
    version: str = VERSION
    lake: LakeSettings | None = None

    def over(self, lake: LakeSettings) -> Casebook:
        """Return the dataset with the run's lake, from whose quotes ``quotes: true`` draws."""
        return replace(self, lake=lake)

    def families(self) -> Sequence[Family]:
        """Return a family for each template, in every difficulty."""
        return [
            Family(f"{self.name}/{row.name}", row.category, DIFFICULTIES, len(row.wordings), len(row.held_back))
            for row in TEMPLATES.values()
        ]

    @without_collection()
    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases: the categories take turns, in each its families, in each their levels and texts."""
        given = Options.read(options)
        there, levels = self._templates(given), _difficulties(given)
        held_back = given.wordings == "held_back"
        groups = [[name for name, row in there.items() if row.category == category] for category in CATEGORIES]
        groups = [group for group in groups if group]
        named = (self.name, VERSION, seed)
        cases = []
        for index in range(count):
            group = rotation(groups, index=index, name=named)
            visit = index // len(groups)
            template = there[rotation(group, index=visit, name=(*named, group[0]))]
            cases.append(self._case(template, visit // len(group), named, index, levels, held_back=held_back))
        return cases

    def _case(
        self,
        template: Template,
        visit: int,
        named: tuple[object, ...],
        index: int,
        levels: tuple[Difficulty, ...],
        *,
        held_back: bool,
        draw: int = 1,
    ) -> Case:
        texts = template.held_back if held_back else template.wordings
        mark = "held-back" if held_back else "usual"
        difficulty = rotation(levels, index=visit, name=(*named, template.name, "difficulty"))
        number = rotation(range(len(texts)), index=visit, name=(*named, template.name, mark))
        name = (*named, template.name, difficulty, mark, index)
        rng = stream(*name) if draw == 1 else stream(*name, "draw", draw)
        drawn, turns = template.case(rng, difficulty, texts[number])
        task = Task(
            task_id=task_id(*name, show=(0, 3)),
            section=self.section,
            dataset=self.name,
            category=template.category,
            family=f"{self.name}/{template.name}",
            as_of=drawn.as_of,
            question=turns[0].text,
            answer_format=turns[0].answer_format(),
            answer_schema=turns[0].answer_schema(),
            servers=drawn.servers,
            difficulty=difficulty,
            wording=f"{mark} {number + 1}",
        )
        # who has seen how a conversation goes on must not have the same again
        again = partial(self._case, template, visit, named, index, levels, held_back=held_back)
        afresh = (lambda number: again(draw=number)) if len(turns) > 1 else None
        law = drawn.law
        if law is not None:
            return Case(task, lambda: Repeated(task, turns, law=law), afresh=afresh)
        argued = dispute.of_case(template, drawn)
        return Case(task, lambda: Conversation(task, turns), afresh=afresh, dispute=argued)

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the families' and the marking scheme's source, and of the series some of them read."""
        given = Options.read(options)
        self._templates(given)
        _difficulties(given)
        digest = hashlib.sha256(sample.data_hash().encode())
        if given.quotes and self.lake is not None:
            digest.update(providers.digest(self.lake).encode())
        folder = resources.files(__package__)
        for part in (folder, folder.joinpath("families")):
            for file in sorted(part.iterdir(), key=lambda file: file.name):
                if file.name.endswith(".py"):
                    digest.update(f"{file.name}\n".encode() + file.read_bytes())
        return digest.hexdigest()

    def _templates(self, options: Options) -> dict[str, Template]:
        quoted = quoted_chains.templates(self.lake) if options.quotes else {}
        for name in set(options.task_types or ()) & set(quoted_chains.FAMILIES) - set(quoted):
            raise ValueError(f"task_types: {name!r} is drawn from quoted option chains; write quotes: true beside it")
        there = TEMPLATES | quoted
        wanted = chosen("task_types", options.task_types, (*there, *CATEGORIES))
        return {name: row for name, row in there.items() if name in wanted or row.category in wanted}


def _difficulties(options: Options) -> tuple[Difficulty, ...]:
    return chosen("difficulties", options.difficulties, DIFFICULTIES)


DATASET = Casebook()
