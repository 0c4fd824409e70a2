"""One question of this dataset, whether drawn here or read from a public file."""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.answers.expected import Expected


@dataclass(frozen=True)
class Item:
    """A question with its truth.

    Attributes
    ----------
    kind
        What the question is drawn from; tasks of one kind are one family.
    chance_score
        Expected score of a blind guess, 0 to 100.
    """

    kind: str
    text: str
    expected: Expected
    chance_score: float = 0.0
