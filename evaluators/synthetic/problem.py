"""One problem: a template with its inputs fixed, the text that is sent, and the perfect reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from evaluators.contract import Difficulty, Json, Task
from evaluators.synthetic.expression import FUNCTIONS
from evaluators.synthetic.template import Figure, Input, Template, Unit, show

AS_OF = date(2024, 12, 31)
"""The questions are self-contained; a date is needed only because every task has one."""

WEIGHTS = {"methodology": 30.0, "calculation": 30.0, "answer": 40.0}
MOST_STEPS = 15
"""Figures that may be stated under names of one's own: more would be guesses."""

_UNIT_WORDS: dict[Unit, str] = {
    "usd": "US dollars",
    "percent": 'a percentage with its sign, such as "<p>%", or the same as a decimal fraction without a sign',
    "number": "a plain number",
}


@dataclass(frozen=True)
class Gap:
    """An input that the text leaves open: an assumption within the range it gives is right.

    Attributes
    ----------
    item
        The input.
    low, high
        The range, both ends included.
    """

    item: Input
    low: float
    high: float


@dataclass(frozen=True)
class Problem:
    """A question with its inputs.

    Attributes
    ----------
    template
        What it was made from; where it was made from several, these as one.
    values
        The inputs by name, as they follow from the text.
    text
        The question.
    level
        None for the printed questions and easy ones, which name the steps and the inputs; what is harder does not.
    derivations
        How each input follows from the figures of the text.
    extra
        Inputs that the text tells by other figures: steps on the way, too.
    gap
        What the text leaves open, if anything.
    """

    template: Template
    values: Mapping[str, float]
    text: str
    level: Difficulty = "easy"
    derivations: Mapping[str, str] | None = None
    extra: tuple[Figure, ...] = ()
    gap: Gap | None = None

    @property
    def is_named(self) -> bool:
        """Whether the answer format names the steps and the inputs."""
        return self.derivations is None

    @cached_property
    def truth(self) -> dict[str, float]:
        """Every figure, computed from the inputs."""
        return self.truth_at(None)

    @property
    def steps(self) -> tuple[Figure, ...]:
        """The intermediate figures."""
        return (*self.extra, *self.template.steps)

    @property
    def on_the_way(self) -> tuple[Figure, ...]:
        """The steps that are marked: all that are named; of others those that the answer is computed from, if any."""
        needed = self.template.needed(self.template.answer.name)
        leading = tuple(figure for figure in self.steps if self.is_named or figure.name in needed)
        return leading or self.steps

    def truth_at(self, assumed: float | None) -> dict[str, float]:
        """Return every figure where the open input is assumed to be ``assumed``; None for the one drawn."""
        values = dict(self.values)
        if assumed is not None and self.gap is not None:
            values[self.gap.item.name] = assumed
        return {**{figure.name: values[figure.name] for figure in self.extra}, **self.template.truth(values)}

    def task(self, task_id: str, family: Template, wording: str) -> Task:
        """Return what the agent sees."""
        return Task(
            task_id=task_id,
            section="analytical_reasoning",
            dataset="synthetic",
            category=family.topic,
            family=family.name,
            as_of=AS_OF,
            question=self.text,
            answer_format=self._answer_format(),
            answer_schema=self._schema(),
            context={"inputs": {item.name: item.meaning for item in self.template.inputs}} if self.is_named else {},
            difficulty=self.level,
            wording=wording,
        )

    def _answer_format(self) -> str:
        answer, calculation, methodology = (f"{WEIGHTS[part]:.0f}" for part in ("answer", "calculation", "methodology"))
        lines = [f'"answer" ({answer} of the points): {_describe(self.template.answer)}.']
        allowed = f"Allowed are + - * / ^ ( ) and {', '.join(sorted(FUNCTIONS))}"
        if self.is_named:
            names = ", ".join(f"{item.name} ({item.meaning})" for item in self.template.inputs)
            steps = "; ".join(f'"{figure.name}": {_describe(figure)}' for figure in self.steps)
            lines += [
                f'"steps" ({calculation} of the points): an object with these intermediate figures: {steps}.',
                f'"method" ({methodology} of the points): an object whose key "answer" holds the formula of the answer '
                f"as one arithmetic expression in the input names: {names}. Percentages enter as decimal fractions. "
                f"{allowed}; other keys may define helper quantities that it uses. The formula is checked by "
                "evaluating it with these and with other inputs, so write names instead of the numbers of this "
                "question. It counts where the answer or half of the steps are right.",
            ]
        else:
            lines += [
                f'"steps" ({calculation} of the points): an object with the intermediate figures that lead you there, '
                f"each a number under a name of your own, at most {MOST_STEPS}; percentages with their sign or as "
                "decimal fractions, sums of money in dollars. Those that a textbook solution passes count, by value; "
                "beside a right answer by a right method, all do.",
                f'"method" ({methodology} of the points): an object whose key "answer" holds one arithmetic expression '
                "that leads from the figures of the text to the answer. Figures stand in it as numbers in full: "
                f"percentages as decimal fractions, sums of money in dollars. {allowed}; other keys may define helper "
                "quantities that it uses.",
            ]
        if self.gap is not None:
            lines.append(
                '"assumption": the value that you assume for what the text leaves open, '
                f"{_UNIT_WORDS[self.gap.item.unit]}, within the range that the text gives. It counts as a step where "
                "another one is right, and all else is marked for your value."
            )
        keys = ", ".join(f'"{key}"' for key in self._keys())
        return (
            f"Reply with one JSON object with the keys {keys}.\n" + "\n".join(lines) + "\n"
            'A reply without JSON that ends with a line "Final answer: ..." earns the points of the answer alone.'
        )

    def _keys(self) -> tuple[str, ...]:
        return ("answer", "steps", "method", *(("assumption",) if self.gap else ()))

    def _schema(self) -> dict[str, Json]:
        number_or_text = ["number", "string"]
        steps: dict[str, Json] = {"type": "object"}
        if self.is_named:
            named = {figure.name: {"type": number_or_text, "description": _describe(figure)} for figure in self.steps}
            steps |= {"properties": named, "required": list(named)}
        else:
            steps |= {"additionalProperties": {"type": number_or_text}, "maxProperties": MOST_STEPS}
        properties = {
            "answer": {"type": number_or_text, "description": _describe(self.template.answer)},
            "steps": steps,
            "method": {
                "type": "object",
                "properties": {"answer": {"type": "string", "description": "formula of the answer"}},
                "additionalProperties": {"type": "string"},
                "required": ["answer"],
            },
            "assumption": {
                "type": number_or_text,
                "description": "value assumed for what the text leaves open, as the answer format says",
            },
        }
        keys = self._keys()
        return {"type": "object", "properties": {key: properties[key] for key in keys}, "required": list(keys)}

    def perfect_reply(self) -> str:
        """Return the reply that earns every point."""
        answer = self.template.answer
        reply: dict[str, Json] = {
            "method": {**(self.derivations or {}), **self.template.definitions, "answer": answer.name},
            "steps": {figure.name: written(self.truth[figure.name], figure) for figure in self.steps},
            "answer": written(self.truth[answer.name], answer),
        }
        if self.gap is not None:
            item = self.gap.item
            reply["assumption"] = written(self.values[item.name], Figure(item.name, item.meaning, item.unit))
        return json.dumps(reply)


def printed(template: Template) -> Problem:
    """Return the published question."""
    values = template.printed_values()
    return Problem(template, values, template.question(values))


def range_of(gap: Gap) -> str:
    """Return the range of what is left open, as a text has it."""
    return f"between {show(gap.low, gap.item.unit)} and {show(gap.high, gap.item.unit)}"


def written(value: float, figure: Figure) -> str | float:
    """Return a figure as a careful agent would write it into JSON."""
    if figure.unit == "percent":
        return f"{value * 100:.8g}%"
    return float(f"{value:.10g}")


def _describe(figure: Figure) -> str:
    percent = figure.tolerance * 100
    words = f"a plain number of {figure.word}" if figure.word else _UNIT_WORDS[figure.unit]
    return f"{figure.meaning}, {words}, right within {percent:g} per cent of its value"
