"""The whole bank: the published questions that need no filing, corrected, and questions of our own."""

from __future__ import annotations

from collections.abc import Sequence

from evaluators.synthetic import (
    bank_corporate,
    bank_markets,
    bank_operations,
    bank_performance,
    bank_rates,
    wordings_corporate,
    wordings_markets,
    wordings_operations,
    wordings_performance,
    wordings_rates,
)
from evaluators.synthetic.template import Template
from evaluators.synthetic.wording import Wording

MOVED = {
    2: "Describes a company in words: it needs a filing and a judge, so it belongs to the knowledge section.",
}
"""Numbers of the published bank that are not here, and why."""

BANK: tuple[Template, ...] = (
    bank_corporate.TEMPLATES
    + bank_markets.TEMPLATES
    + bank_operations.TEMPLATES
    + bank_performance.TEMPLATES
    + bank_rates.TEMPLATES
)
WORDINGS: dict[str, Wording] = {
    **wordings_corporate.WORDINGS,
    **wordings_markets.WORDINGS,
    **wordings_operations.WORDINGS,
    **wordings_performance.WORDINGS,
    **wordings_rates.WORDINGS,
}
PUBLISHED: tuple[Template, ...] = tuple(sorted((t for t in BANK if t.number), key=lambda template: template.number))
TOPICS: tuple[str, ...] = tuple(sorted({template.topic for template in BANK}))


def select(task_types: Sequence[str], templates: Sequence[Template]) -> tuple[Template, ...]:
    """Return the templates whose name or topic is among ``task_types``; all of them when it is empty.

    Raises
    ------
    ValueError
        When an entry is neither a name nor a topic.
    """
    known = {template.name for template in BANK} | set(TOPICS)
    for entry in task_types:
        if entry not in known:
            raise ValueError(f"task_types: unknown entry {entry!r}; available: {', '.join(sorted(known))}")
    chosen = set(task_types) or known
    return tuple(template for template in templates if template.name in chosen or template.topic in chosen)
