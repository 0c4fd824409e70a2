"""What of an answer can be challenged, and the check: the same computation on other accounts."""

from __future__ import annotations

from random import Random

from evaluators.answers import numbers_match
from evaluators.answers.dispute import sole_figure
from evaluators.answers.expected import ExpectedNumber
from evaluators.bizfinbench import quantities
from evaluators.bizfinbench.chains import Language
from evaluators.bizfinbench.item import Item
from evaluators.contract import Check, Dispute

CLEARLY = 0.03
"""A check figure lies so far, relatively, from the answer."""
MAX_ATTEMPTS = 500


def of_item(item: Item, language: Language) -> Dispute | None:
    """Return what can be argued about an item drawn here; None where it is no computed number."""
    expected = item.expected
    if not isinstance(expected, ExpectedNumber):
        return None
    return sole_figure(expected, lambda rng: _check(item.kind, expected.gold, language, rng))


def _check(kind: str, gold: float, language: Language, rng: Random) -> Check:
    for _ in range(MAX_ATTEMPTS):
        other = quantities.draw(rng, language)
        figure = other.expected
        if other.kind == kind and isinstance(figure, ExpectedNumber):
            if not numbers_match(figure.gold, gold, relative=CLEARLY):
                return Check(f"The same computation for other accounts.\n{other.text}\n", figure)
    raise RuntimeError(f"bizfinbench {kind}: no other accounts in {MAX_ATTEMPTS} draws")
