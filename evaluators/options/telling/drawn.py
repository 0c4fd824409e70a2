"""A drawn task: parameters of a difficulty, the terms in which they are told, and the text."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from evaluators.contract import Difficulty
from evaluators.options.chain import NotDrawable, Underlying
from evaluators.options.problem import Problem
from evaluators.options.telling import requote, sheet
from evaluators.options.telling.terms import FRIDAY, Terms, draw_terms
from evaluators.options.telling.texts import TEXTS

MAX_ATTEMPTS = 400
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
LEAST_SIZE = 10.0
"""From which on a figure may not stand in the text: smaller ones are there by chance."""
LEAST_PRICE = 0.05
"""In dollars a share: a position in series that are worth nothing has Greeks of zero, which nobody has to work out."""


@dataclass(frozen=True)
class Drawn:
    """A problem and the text that puts it, with everything that is needed."""

    problem: Problem
    question: str


def draw(template: type[Problem], rng: random.Random, difficulty: Difficulty, wording: int) -> Drawn:
    """Draw until an instance has a solution, and no figure for which zero or a number of the text would do.

    Raises
    ------
    RuntimeError
        When hardly any draw is sound, which is an error of the template.
    """
    for _ in range(MAX_ATTEMPTS):
        try:
            problem = template.draw_at(rng, difficulty)
        except NotDrawable:
            continue
        context = problem.context()
        terms = draw_terms(rng, difficulty, _first_days(context))
        if terms.expiry != "days" and any(_on_a_weekend(terms, row) for row in context.get("chain", [])):
            continue
        followed = _followed(problem, context, terms, rng)
        if followed is None:
            continue
        problem, pair = followed
        if any(series.price < LEAST_PRICE for series in problem.tradable()) or not problem.is_sound():
            continue
        told = problem.told(terms, pair, rng) or sheet.describe(problem.context(), terms, pair, rng)
        question = f"{TEXTS[template.family][wording].format_map(problem.words())}\n\n{told}"
        if not _stands_in(question, problem):
            return Drawn(problem, question)
    raise RuntimeError(f"template {template.family!r}, {difficulty}: no sound instance in {MAX_ATTEMPTS} draws")


def _on_a_weekend(terms: Terms, row: Mapping[str, Any]) -> bool:
    return (terms.today + timedelta(row["days_to_expiry"])).weekday() > FRIDAY


def _first_days(context: Mapping[str, Any]) -> int | None:
    """Return the days to the nearest expiry of what is told."""
    rows = [
        *context.get("chain", []),
        *context.get("options", []),
        *([context["option"]] if "option" in context else []),
    ]
    return min((row["days_to_expiry"] for row in rows if "days_to_expiry" in row), default=None)


def _followed(
    problem: Problem, context: Mapping[str, Any], terms: Terms, rng: random.Random
) -> tuple[Problem, requote.Pair | None] | None:
    """Return the problem with the numbers that follow from what is told; None where cents blur them."""
    if "underlying" not in context:
        return problem, None
    market, pair = Underlying(**context["underlying"]), None
    if terms.pair:
        pair = requote.draw_pair(rng, market, terms)
        implied = requote.of_pair(market, pair)
        if implied is None:
            return None
        market = implied
        problem = requote.in_market(problem, market)
    requoted = requote.requoted(problem, market, terms)
    return None if requoted is None else (requoted, pair)


def _stands_in(question: str, problem: Problem) -> bool:
    shown = {float(token.replace(",", "")) for token in _NUMBER.findall(question)}
    figures = [abs(problem.solved[figure.name]) for rows in problem.figures().values() for figure in rows]
    return any(value >= LEAST_SIZE and (value in shown or round(value, 2) in shown) for value in figures)
