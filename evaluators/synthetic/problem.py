"""One problem: a template with its inputs fixed, the text that is sent, and the perfect reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from evaluators.contract import Json, Task
from evaluators.synthetic.expression import FUNCTIONS
from evaluators.synthetic.template import Figure, Template, Unit

AS_OF = date(2024, 12, 31)
"""The questions are self-contained; a date is needed only because every task has one."""

WEIGHTS = {"methodology": 30.0, "calculation": 30.0, "answer": 40.0}

_UNIT_WORDS: dict[Unit, str] = {
    "usd": "US dollars",
    "percent": 'a percentage with its sign, such as "<p>%", or the same as a decimal fraction without a sign',
    "number": "a plain number",
}


@dataclass(frozen=True)
class Problem:
    """A question with its inputs.

    Attributes
    ----------
    template
        What it was made from.
    values
        The inputs by name.
    """

    template: Template
    values: Mapping[str, float]

    @cached_property
    def truth(self) -> dict[str, float]:
        """Every figure, computed from the inputs."""
        return self.template.truth(self.values)

    def task(self, task_id: str) -> Task:
        """Return what the agent sees."""
        template = self.template
        return Task(
            task_id=task_id,
            section="analytical_reasoning",
            dataset="synthetic",
            category=template.topic,
            family=template.name,
            as_of=AS_OF,
            question=template.question(self.values),
            answer_format=self._answer_format(),
            answer_schema=self._schema(),
            context={
                "inputs": {
                    item.name: {"value": self.values[item.name], "meaning": item.meaning} for item in template.inputs
                }
            },
        )

    def _answer_format(self) -> str:
        template = self.template
        names = ", ".join(f"{item.name} ({item.meaning})" for item in template.inputs)
        steps = "; ".join(f'"{figure.name}": {_describe(figure)}' for figure in template.steps)
        return (
            'Reply with one JSON object with the keys "answer", "steps" and "method".\n'
            f'"answer" ({WEIGHTS["answer"]:.0f} of the points): {_describe(template.answer)}.\n'
            f'"steps" ({WEIGHTS["calculation"]:.0f} of the points): an object with these intermediate figures: '
            f"{steps}.\n"
            f'"method" ({WEIGHTS["methodology"]:.0f} of the points): an object whose key "answer" holds the formula of '
            f"the answer as one arithmetic expression in the input names: {names}. Percentages enter as decimal "
            f"fractions. Allowed are + - * / ^ ( ) and {', '.join(sorted(FUNCTIONS))}; other keys may define helper "
            "quantities that it uses. The formula is checked by evaluating it with these and with other inputs, so "
            "write names instead of the numbers of this question.\n"
            'A reply without JSON that ends with a line "Final answer: ..." earns the points of the answer alone.'
        )

    def _schema(self) -> dict[str, Json]:
        number_or_text = ["number", "string"]
        steps = {
            figure.name: {"type": number_or_text, "description": _describe(figure)} for figure in self.template.steps
        }
        return {
            "type": "object",
            "properties": {
                "answer": {"type": number_or_text, "description": _describe(self.template.answer)},
                "steps": {"type": "object", "properties": steps, "required": list(steps)},
                "method": {
                    "type": "object",
                    "properties": {"answer": {"type": "string", "description": "formula of the answer"}},
                    "additionalProperties": {"type": "string"},
                    "required": ["answer"],
                },
            },
            "required": ["answer", "steps", "method"],
        }

    def perfect_reply(self) -> str:
        """Return the reply that earns every point."""
        answer = self.template.answer
        return json.dumps(
            {
                "method": {**self.template.definitions, "answer": answer.name},
                "steps": {figure.name: written(self.truth[figure.name], figure) for figure in self.template.steps},
                "answer": written(self.truth[answer.name], answer),
            }
        )


def written(value: float, figure: Figure) -> str | float:
    """Return a figure as a careful agent would write it into JSON."""
    if figure.unit == "percent":
        return f"{value * 100:.8g}%"
    return float(f"{value:.10g}")


def _describe(figure: Figure) -> str:
    percent = figure.tolerance * 100
    words = f"a plain number of {figure.word}" if figure.word else _UNIT_WORDS[figure.unit]
    return f"{figure.meaning}, {words}, right within {percent:g} per cent of its value"
