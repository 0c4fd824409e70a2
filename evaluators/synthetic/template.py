"""A question template: named inputs, the formulas that are the truth, and the draw of one problem from it."""

from __future__ import annotations

import math
import random
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Literal, TypeAlias

from evaluators.synthetic import expression
from evaluators.synthetic.expression import Expression

Unit: TypeAlias = Literal["usd", "percent", "number"]
"""``percent`` values are held as decimal fractions (5% is 0.05)."""

RELATIVE_TOLERANCE = 0.005
"""A reported number is right within half a percent of the truth."""

PITFALL_MARGIN = 0.012
"""A draw is used only where every known wrong formula is this far, relatively, from the truth."""

PROBES = 6
"""Sets of inputs, besides the question's own, on which a stated formula must agree with the truth."""

NUMBERS_OF_THE_FORMAT = (0.5, 0.03, 30.0, 40.0)
"""Numbers that the answer format of every task mentions."""

MAX_ATTEMPTS = 2000
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class Input:
    """A parameter of a template.

    Attributes
    ----------
    name
        The name that formulas use.
    meaning
        A few words for the list of inputs.
    unit
        How it is shown; money is in US dollars.
    printed
        The value in the published bank.
    low, high, step
        The grid it is drawn from, both ends included.
    """

    name: str
    meaning: str
    unit: Unit
    printed: str
    low: str
    high: str
    step: str

    def draw(self, rng: random.Random) -> float:
        """Return one point of the grid."""
        low, high, step = Decimal(self.low), Decimal(self.high), Decimal(self.step)
        return float(low + step * rng.randint(0, int((high - low) / step)))


@dataclass(frozen=True)
class Figure:
    """A number that the reply has to state.

    Attributes
    ----------
    name
        One of the template's definitions.
    meaning
        What it is, for the answer format.
    unit
        Its unit; a percentage may be given as ``12.5%`` or as ``0.125``.
    tolerance
        Relative error up to which it is right.
    word
        Unit that may stand beside a plain number: ``shares``, ``years``.
    size
        Whether the size of a loss is asked for, as a positive number.
    """

    name: str
    meaning: str
    unit: Unit
    tolerance: float = RELATIVE_TOLERANCE
    word: str = ""
    size: bool = False


@dataclass(frozen=True)
class Template:
    """A question with free parameters.

    Attributes
    ----------
    name
        Also the family by which standard errors are clustered.
    number
        Its number in Appendix D of the paper; 0 for questions of our own.
    topic
        The topic of the published table.
    wording
        The question, with the inputs in braces; it states the reading that the truth follows.
    inputs
        The free parameters.
    definitions
        Formulas by name. A formula uses inputs and other definitions.
    steps
        The intermediate figures asked for.
    answer
        The final figure asked for.
    positive
        Formulas that must be above zero for a draw to make sense.
    pitfalls
        Wrong formulas for the answer, by the error that leads to them.
    printed
        The answers that the published bank accepts, in the unit of ``answer``; empty where it has none.
    correction
        What was changed against the published question, and why.
    """

    name: str
    number: int
    topic: str
    wording: str
    inputs: tuple[Input, ...]
    definitions: Mapping[str, str]
    steps: tuple[Figure, ...]
    answer: Figure
    positive: tuple[str, ...] = ()
    pitfalls: Mapping[str, str] = field(default_factory=dict)
    printed: tuple[float, ...] = ()
    correction: str = ""

    @cached_property
    def formulas(self) -> dict[str, Expression]:
        """The definitions, parsed."""
        return {name: expression.parse(source) for name, source in self.definitions.items()}

    @cached_property
    def _positive(self) -> tuple[Expression, ...]:
        return tuple(expression.parse(source) for source in self.positive)

    @cached_property
    def _pitfalls(self) -> dict[str, Expression]:
        return {label: expression.parse(source) for label, source in self.pitfalls.items()}

    @cached_property
    def probes(self) -> tuple[tuple[dict[str, float], float], ...]:
        """Sets of inputs and the answer on each: the same for every problem of the template."""
        rng = random.Random(f"probes of {self.name}")
        drawn = [self.draw(rng) for _ in range(PROBES)]
        return tuple((values, self.truth(values)[self.answer.name]) for values in drawn)

    def printed_values(self) -> dict[str, float]:
        """Return the inputs of the published question."""
        return {item.name: float(item.printed) for item in self.inputs}

    @cached_property
    def _in_order(self) -> tuple[tuple[str, Expression], ...]:
        """The definitions, each after those that it uses."""
        done: dict[str, Expression] = {}

        def take(name: str) -> None:
            if name in self.formulas and name not in done:
                for part in sorted(self.formulas[name].names):
                    take(part)
                done[name] = self.formulas[name]

        for name in self.formulas:
            take(name)
        return tuple(done.items())

    def truth(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the value of every definition."""
        known = dict(values)
        for name, formula in self._in_order:
            known[name] = formula.value(known)
        return {name: known[name] for name in self.formulas}

    def wrong_answers(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return what each known error leads to."""
        known = {**values, **self.truth(values)}
        return {label: formula.value(known) for label, formula in self._pitfalls.items()}

    def needed(self, goal: str) -> frozenset[str]:
        """Return the names of all that ``goal`` is computed from, itself among them."""
        found, open_ = {goal}, [goal]
        while open_:
            name = open_.pop()
            parts = self.formulas[name].names - found if name in self.formulas else frozenset[str]()
            found |= parts
            open_ += parts
        return frozenset(found)

    def question(self, values: Mapping[str, float]) -> str:
        """Return the wording with the inputs written out."""
        shown = {item.name: show(values[item.name], item.unit) for item in self.inputs}
        return self.wording.format(**shown)

    def draw(self, rng: random.Random) -> dict[str, float]:
        """Return inputs that make sense, from which no known error leads near the truth and that do not hold it.

        Raises
        ------
        RuntimeError
            When the grid of the template hardly holds such inputs, which is an error of the template.
        """
        for _ in range(MAX_ATTEMPTS):
            values = {item.name: item.draw(rng) for item in self.inputs}
            if self.is_sensible(values):
                return values
        raise RuntimeError(f"template {self.name!r} found no sensible inputs in {MAX_ATTEMPTS} draws")

    def is_sensible(self, values: Mapping[str, float]) -> bool:
        """Return whether these inputs make sense, lead no known error near the truth, and do not hold it."""
        return self.is_clear(values) and not self.given_away(values, self.truth(values))

    def is_clear(self, values: Mapping[str, float]) -> bool:
        """Return whether these inputs make sense and lead no known error near the truth."""
        try:
            known = {**values, **self.truth(values)}
            if any(formula.value(known) <= 0.0 for formula in self._positive):
                return False
            answer = known[self.answer.name]
            return not any(close(wrong.value(known), answer, PITFALL_MARGIN) for wrong in self._pitfalls.values())
        except ValueError:
            return False

    def given_away(self, values: Mapping[str, float], truth: Mapping[str, float]) -> list[str]:
        """Return the asked figures that can be copied from the question, or guessed without it (0, 1, 100%)."""
        figures = [(figure, truth[figure.name]) for figure in (*self.steps, self.answer)]
        return given_away(figures, [*numbers_in(self.question(values)), *values.values()])


def numbers_in(text: str) -> list[float]:
    """Return the numbers of a text, as they are written."""
    return [float(token.replace(",", "")) for token in _NUMBER.findall(text)]


def given_away(figures: Sequence[tuple[Figure, float]], shown: Sequence[float]) -> list[str]:
    """Return which figures, each beside its truth, can be copied from the numbers shown, or guessed without them."""
    easy = sorted({*shown, *NUMBERS_OF_THE_FORMAT, 0.0, 1.0, 100.0})

    def holds(truth: float, tolerance: float) -> bool:
        margin = tolerance * abs(truth) + 1e-12
        place = bisect_left(easy, abs(truth) - margin)
        return place < len(easy) and easy[place] <= abs(truth) + margin

    return [
        figure.name
        for figure, truth in figures
        if holds(truth, figure.tolerance) or (figure.unit == "percent" and holds(100.0 * truth, figure.tolerance))
    ]


def close(value: float, truth: float, tolerance: float = RELATIVE_TOLERANCE) -> bool:
    """Return whether ``value`` lies within the relative ``tolerance`` of ``truth``."""
    return math.isfinite(value) and abs(value - truth) <= tolerance * abs(truth) + 1e-12


def show(value: float, unit: Unit) -> str:
    """Return a number as the question prints it: ``$5.5 million``, ``12.5%``, ``1.6``."""
    if unit == "percent":
        return f"{_plain(value * 100)}%"
    if unit == "number":
        return _plain(value)
    sign = "-" if value < 0 else ""
    size = abs(value)
    if size >= 1e9:
        return f"{sign}${_plain(size / 1e9)} billion"
    if size >= 1e6:
        return f"{sign}${_plain(size / 1e6)} million"
    return f"{sign}${size:,.0f}" if size == int(size) else f"{sign}${size:,.2f}"


def _plain(value: float) -> str:
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return f"{int(text):,}" if text.lstrip("-").isdigit() and abs(value) >= 10_000 else text
