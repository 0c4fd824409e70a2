"""Mutants that no test can notice, each with the reason; they are played and counted, and told apart.

A row is named by module, function and change, not by its line. What can be noticed belongs into a test, and what is
redundant out of the code: this table is for the rest.
"""

from __future__ import annotations

from tests.mutation.mutants import Mutant

EQUIVALENT: dict[tuple[str, str, str], str] = {}


def key(mutant: Mutant) -> tuple[str, str, str]:
    """Return how the table names a mutant."""
    return mutant.module, mutant.function, mutant.name.partition(" ")[2]
