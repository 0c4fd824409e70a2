"""What can be argued about a task that is answered by one number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from evaluators.answers.expected import ExpectedNumber
from evaluators.answers.number import parse_number
from evaluators.answers.typed_json import Refusal
from evaluators.contract import Check, Claim, Dispute

ANSWER = "answer"


def sole_figure(expected: ExpectedNumber, check: Callable[[Random], Check]) -> Dispute:
    """Return the dispute about a task whose only figure is its answer."""

    def claims(text: str) -> Sequence[Claim]:
        number = parse_number(text, kind=expected.kind, unit=expected.unit)
        if isinstance(number, Refusal):
            return ()
        value = number.as_size().value if expected.size else number.value
        stated = f"{100 * value:.6g}%" if expected.kind == "percent" else f"{value:,.10g}"
        return (Claim(ANSWER, "the final answer", value, stated, expected.grade(text).passed),)

    return Dispute(claims, check)
