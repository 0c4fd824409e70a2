"""What of an answer can be challenged, and the check: a figure of another, easy case of the same family."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from evaluators.answers import Refusal, Tolerance, number_field, numbers_match, parse_json_object
from evaluators.answers.expected import ExpectedNumber
from evaluators.casebook.answer import Figure
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Check, Claim, Dispute

CLEARLY = 0.03
"""A check is asked only where its figure lies so far, relatively, from every figure of the answer."""
MAX_ATTEMPTS = 100


def of_case(template: Template, drawn: Drawn) -> Dispute | None:
    """Return what can be argued about an answer.

    None of conversations with several turns, whose last reply is only a part of the answer, of cases that need a dated
    tool, which would not show another case's data, and of those without a figure.
    """
    figures = [item for item in drawn.asked if isinstance(item, Figure)]
    if drawn.later or drawn.servers or not figures:
        return None
    return Dispute(lambda text: _claims(figures, text), lambda rng: _check(template, figures, rng))


def _claims(figures: Sequence[Figure], text: str) -> Sequence[Claim]:
    document = parse_json_object(text)
    if isinstance(document, Refusal):
        return ()
    claims = []
    for figure in figures:
        value = number_field(document, figure.name)
        if not isinstance(value, Refusal):
            stated = f"{value:,.10g}"
            claims.append(
                Claim(figure.name, f"{figure.name} ({figure.meaning})", value, stated, figure.is_right(value))
            )
    return claims


def _check(template: Template, figures: Sequence[Figure], rng: Random) -> Check:
    for _ in range(MAX_ATTEMPTS):
        other, turns = template.case(rng, "easy", rng.choice(template.wordings))
        figure = rng.choice([item for item in other.asked if isinstance(item, Figure)])
        if any(numbers_match(abs(figure.gold), abs(own.gold), relative=CLEARLY, absolute=own.floor) for own in figures):
            continue
        question = (
            f"Another case of the kind: {turns[0].text}\n\nOf this other case, give one figure as a plain number "
            f"without a unit: {figure.meaning}."
        )
        return Check(question, ExpectedNumber(figure.gold, "number", Tolerance(figure.tolerance, figure.floor)))
    raise RuntimeError(f"family {template.name!r}: no other figure to ask about in {MAX_ATTEMPTS} draws")
