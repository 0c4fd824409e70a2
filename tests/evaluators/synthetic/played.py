"""What a test asks of a synthetic case."""

from __future__ import annotations

from evaluators.contract import Case, Score
from evaluators.synthetic.problem import Problem


def problem_of(case: Case) -> Problem:
    """Return what was drawn, the truth included."""
    return case.open().judge.args[0]


def score(case: Case, text: str) -> Score:
    """Return what a reply earns."""
    session = case.open()
    session.opening()
    assert session.reply(text) is None
    return session.score()
