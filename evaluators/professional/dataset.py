"""The dataset ``professional``: assignments with checkable deliverables, drawn from a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from evaluators.contract import Case, Dataset, Difficulty, Family, Given, Section
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
HARD = frozenset({"paper-trading", "value-at-risk", "option-hedge"})
"""Assignments whose inputs have to be fetched, or whose figures follow from a choice of the agent's."""


@dataclass(frozen=True)
class Professional(Dataset):
    """Reports with a table and a memo, marked by computation."""

    name: str = "professional"
    section: Section = "professional_tasks"
    version: str = VERSION

    def families(self) -> Sequence[Family]:
        """Return a family for each template."""
        return [Family(f"{self.name}/{row.name}", row.category, (_difficulty(row),)) for row in TEMPLATES.values()]

    @without_collection()
    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases, every template once before any comes again.

        Every round begins with the templates in ``first``, so that even a short draw has them.
        """
        cases = []
        for index, template in enumerate(self._order(Options.read(options), seed=seed, count=count)):
            name = (self.name, VERSION, seed, template.name, index)
            identity = task_id(*name, show=(0, 3))
            cases.append(template.case(stream(*name), _difficulty(template), template.wordings[0], identity))
        return cases

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the templates' and the marking scheme's source."""
        _templates(Options.read(options))
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


def _difficulty(template: Template) -> Difficulty:
    return "hard" if template.name in HARD else "easy"


def _templates(options: Options) -> tuple[str, ...]:
    return chosen("task_types", options.task_types, tuple(TEMPLATES))


DATASET = Professional()
