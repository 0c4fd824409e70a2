"""What of an answer can be challenged, and the check: the same computation on other figures."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from evaluators.answers import numbers_match
from evaluators.answers.dispute import sole_figure
from evaluators.answers.expected import ExpectedNumber
from evaluators.bizfinbench.item import Item
from evaluators.contract import Check, Dispute

CLEARLY = 0.03
"""A check figure lies so far, relatively, from the answer."""
MAX_ATTEMPTS = 500


def of_item(item: Item, again: Callable[[Random], Item]) -> Dispute | None:
    """Return what can be argued about an item; None where it is no computed number.

    ``again`` draws an easy item of the same kind.
    """
    expected = item.expected
    if not isinstance(expected, ExpectedNumber):
        return None
    return sole_figure(expected, lambda rng: _check(expected.gold, again, rng))


def _check(gold: float, again: Callable[[Random], Item], rng: Random) -> Check:
    for _ in range(MAX_ATTEMPTS):
        other = again(rng)
        figure = other.expected
        if isinstance(figure, ExpectedNumber) and not numbers_match(figure.gold, gold, relative=CLEARLY):
            return Check(f"The same computation for other figures.\n{other.text}\n", figure)
    raise RuntimeError(f"bizfinbench: no other figures in {MAX_ATTEMPTS} draws")
