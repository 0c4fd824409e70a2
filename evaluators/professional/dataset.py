"""The dataset ``professional``: assignments with checkable deliverables, drawn from a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from evaluators.contract import DIFFICULTIES, Case, Dataset, Difficulty, Family, Given, Section
from evaluators.drawing import chosen, rotation, stream, task_id, without_collection
from evaluators.professional.assignment import Template
from evaluators.professional.assignments import (
    bond_ladder,
    budget_variance,
    comparable_companies,
    discounted_cash_flow,
    implementation_shortfall,
    loan_prepayment,
    option_hedge,
    paper_trading,
    rebalancing,
    trade_blotter,
    value_at_risk,
)
from evaluators.professional.options import Options

VERSION = "2.0"
TEMPLATES = {
    module.TEMPLATE.name: module.TEMPLATE
    for module in (
        loan_prepayment,
        bond_ladder,
        rebalancing,
        implementation_shortfall,
        trade_blotter,
        discounted_cash_flow,
        comparable_companies,
        budget_variance,
        option_hedge,
        value_at_risk,
        paper_trading,
    )
}


@dataclass(frozen=True)
class Professional(Dataset):
    """Reports with a table and a memo, marked by computation."""

    name: str = "professional"
    section: Section = "professional_tasks"
    version: str = VERSION

    def families(self) -> Sequence[Family]:
        """Return a family for each template, in every difficulty."""
        return [
            Family(
                f"{self.name}/{row.name}", row.category, DIFFICULTIES, len(row.brief.usual), len(row.brief.held_back)
            )
            for row in TEMPLATES.values()
        ]

    @without_collection()
    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases, every template once before any comes again.

        Every round begins with the templates in ``first``, so that even a short draw has them.
        """
        given = Options.read(options)
        names, levels = _templates(given), _difficulties(given)
        order = self._order(given, seed=seed, count=count)
        return [self._case(row, at // len(names), seed, at, levels, given) for at, row in enumerate(order)]

    def _case(
        self, template: Template, visit: int, seed: int, index: int, levels: tuple[Difficulty, ...], options: Options
    ) -> Case:
        """Draw a template for the time ``visit``: its levels take turns, and so do its texts."""
        held_back = options.wordings == "held_back"
        texts = template.brief.held_back if held_back else template.brief.usual
        mark = "held-back" if held_back else "usual"
        named = (self.name, VERSION, seed, template.name)
        difficulty = rotation(levels, index=visit, name=(*named, "difficulty"))
        number = rotation(range(len(texts)), index=visit, name=(*named, mark))
        name = (*named, difficulty, mark, index)
        identity = task_id(*name, show=(0, 3))
        return template.case(stream(*name), difficulty, texts[number], wording=f"{mark} {number + 1}", task_id=identity)

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the templates' and the marking scheme's source."""
        given = Options.read(options)
        _templates(given)
        _difficulties(given)
        digest = hashlib.sha256()
        folder = resources.files(__package__)
        for part in (folder, folder.joinpath("assignments")):
            for file in sorted(part.iterdir(), key=lambda file: file.name):
                if file.name.endswith(".py"):
                    digest.update(f"{file.name}\n".encode() + file.read_bytes())
        return digest.hexdigest()

    def _order(self, options: Options, *, seed: int, count: int) -> list[Template]:
        names = _templates(options)
        first = () if options.first is None else chosen("first", options.first, names)
        order: list[str] = []
        while len(order) < count:
            places = range(len(order), len(order) + len(names))
            drawn = [rotation(names, index=place, name=(self.name, VERSION, seed)) for place in places]
            order += sorted(drawn, key=lambda name: name not in first)
        return [TEMPLATES[name] for name in order[:count]]


def _difficulties(options: Options) -> tuple[Difficulty, ...]:
    return chosen("difficulties", options.difficulties, DIFFICULTIES)


def _templates(options: Options) -> tuple[str, ...]:
    return chosen("task_types", options.task_types, tuple(TEMPLATES))


DATASET = Professional()
