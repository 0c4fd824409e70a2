"""The templates of options tasks by name, and the printed instances."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluators.options import attribution_tasks, pricing_tasks, strategy_tasks
from evaluators.options.problem import Problem

MAX_ATTEMPTS = 200


@dataclass(frozen=True)
class Template:
    """A family of tasks.

    Attributes
    ----------
    name
        Also the family by which standard errors are clustered.
    category
        FAB++ category.
    draw
        Random instance; it may be unsound and is then drawn again.
    printed
        The instance of the published bank with its identifier there, None where there is none.
    """

    name: str
    category: str
    draw: Callable[[random.Random], Problem]
    printed: Callable[[], Problem] | None = None
    published_id: str = ""

    def sound(self, rng: random.Random) -> Problem:
        """Draw until an instance has a solution and no figure for which zero would do.

        Raises
        ------
        RuntimeError
            When hardly any instance is sound, which is an error of the template.
        """
        for _ in range(MAX_ATTEMPTS):
            problem = self.draw(rng)
            if problem.is_sound():
                return problem
        raise RuntimeError(f"template {self.name!r} found no sound instance in {MAX_ATTEMPTS} draws")


TEMPLATES: tuple[Template, ...] = (
    Template(
        "fair_value",
        "Options Pricing",
        lambda rng: pricing_tasks.FairValue.draw(rng).problem(),
        lambda: pricing_tasks.PRINTED_FAIR_VALUE.problem(),
        "opt_pricing_001",
    ),
    Template(
        "iron_condor",
        "Strategy Construction",
        lambda rng: strategy_tasks.IronCondor.draw(rng).problem(),
    ),
    Template(
        "profit_attribution",
        "P&L Attribution",
        lambda rng: attribution_tasks.ProfitAttribution.draw(rng).problem(),
        lambda: attribution_tasks.PRINTED_PROFIT_ATTRIBUTION.problem(),
        "pnl_001",
    ),
    Template(
        "quoted_option",
        "Options Pricing",
        lambda rng: pricing_tasks.QuotedOption.draw(rng).problem(),
        lambda: pricing_tasks.PRINTED_QUOTED_OPTION.problem(),
        "opt_pricing_002",
    ),
)
CATEGORIES: tuple[str, ...] = tuple(sorted({template.category for template in TEMPLATES}))


def select(task_types: Sequence[str], templates: Sequence[Template]) -> tuple[Template, ...]:
    """Return the templates whose name or category is among ``task_types``; all of them when it is empty.

    Raises
    ------
    ValueError
        When an entry is neither a name nor a category.
    """
    known = {template.name for template in TEMPLATES} | set(CATEGORIES)
    for entry in task_types:
        if entry not in known:
            raise ValueError(f"task_types: unknown entry {entry!r}; available: {', '.join(sorted(known))}")
    chosen = set(task_types) or known
    return tuple(template for template in templates if template.name in chosen or template.category in chosen)
