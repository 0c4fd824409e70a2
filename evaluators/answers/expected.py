"""What a question expects: the gold answer, how it is written, and the verdict on a reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from evaluators.answers import wording
from evaluators.answers.identifier import StatedToken, parse_accession_number, parse_date
from evaluators.answers.number import Kind, StatedNumber, parse_number
from evaluators.answers.sequence import parse_sequence
from evaluators.answers.tolerance import CLEAR_MARGINS, Tolerance, numbers_match
from evaluators.answers.typed_json import Refusal
from evaluators.contract import Json, Score


class Expected(Protocol):
    """One right answer to one question."""

    def answer_format(self) -> str:
        """Return how the answer is to be written; holds no part of it."""
        ...

    def gold_text(self) -> str:
        """Return the right answer as an agent would write it."""
        ...

    def grade(self, reply: str) -> Score:
        """Return 100 when ``reply`` states the right answer, else 0 with the reason."""
        ...


def _verdict(*, right: bool, expected: str, given: str, reason: str, more: Mapping[str, Json]) -> Score:
    value = 100.0 if right else 0.0
    details = {"expected": expected, "given": given, **more}
    return Score(value, right, {"answer": value}, details, reason)


@dataclass(frozen=True)
class ExpectedNumber:
    """A number with unit, scale and sign.

    Attributes
    ----------
    gold
        In full units: dollars, not millions; a percentage as a fraction.
    kind, unit
        As for :func:`evaluators.answers.parse_number`.
    size
        Whether the size of a fall or loss is asked for, as a positive number: words of a fall then give it no sign.
    tolerance
        What still counts as right, in the unit of ``gold``.
    """

    gold: float
    kind: Kind
    tolerance: Tolerance = field(default_factory=Tolerance)
    unit: str = ""
    size: bool = False

    def is_clear_of_zero(self) -> bool:
        """Return whether the gold number is so far outside the absolute margin that 0 is no near miss."""
        return abs(self.gold) > CLEAR_MARGINS * self.tolerance.absolute

    def _tolerance_text(self) -> str:
        relative, absolute = self.tolerance.relative, self.tolerance.absolute
        floor = {
            "percent": f"{100 * absolute:g} percentage points",
            "currency": f"{absolute:,g} {self.unit or 'US dollars'}",
        }.get(self.kind, f"{absolute:g} {self.unit}".strip())
        wider = f" or {floor}, whichever is wider" if absolute else ""
        return f"The answer is right within {100 * relative:g}% of the exact value{wider}."

    def answer_format(self) -> str:
        """Return how the number is to be written, and its tolerance."""
        if self.kind == "percent":
            return wording.percent_format(self._tolerance_text())
        if self.kind == "currency":
            return wording.currency_format(self._tolerance_text(), unit=self.unit or "US dollars")
        return wording.number_format(self._tolerance_text(), unit=self.unit)

    def written(self) -> str:
        """Return the gold number alone."""
        if self.kind == "percent":
            return f"{100 * self.gold:.4f}%"
        sign = "-" if self.gold < 0 else ""
        money = "$" if self.kind == "currency" and self.unit in ("", "USD") else ""
        return f"{sign}{money}{abs(self.gold):,.{2 if abs(self.gold) >= 1000 else 6}f}"

    def gold_text(self) -> str:
        """Return the final answer line."""
        return f"Final answer: {self.written()}"

    def grade(self, reply: str) -> Score:
        """Compare the stated number with the gold one."""
        stated = parse_number(reply, kind=self.kind, unit=self.unit)
        more: dict[str, Json] = {
            "expected_value": self.gold,
            "relative_tolerance": self.tolerance.relative,
            "absolute_tolerance": self.tolerance.absolute,
        }
        if isinstance(stated, Refusal):
            return _verdict(right=False, expected=self.written(), given="", reason=stated.reason, more=more)
        if self.size:
            stated = stated.as_size()
        right = numbers_match(
            stated.value, self.gold, relative=self.tolerance.relative, absolute=self.tolerance.absolute
        )
        return _verdict(
            right=right,
            expected=self.written(),
            given=stated.text,
            reason="within tolerance" if right else self._difference(stated),
            more=more | {"given_value": stated.value},
        )

    def _difference(self, stated: StatedNumber) -> str:
        if self.kind == "percent" and not stated.unit and numbers_match(stated.value / 100, self.gold, relative=0.05):
            return f"a bare {stated.value:g} is {100 * stated.value:g}%; write the percent sign or a fraction"
        for factor, word in ((1e3, "thousand"), (1e6, "million"), (1e9, "billion")):
            if self.kind == "currency" and numbers_match(factor * stated.value, self.gold, relative=0.05):
                reason = f"stated {stated.value:g}, expected {self.gold:g}"
                return f"{reason}: write {word} beside the number, or all its digits"
        return f"stated {stated.value:g}, expected {self.gold:g}"


@dataclass(frozen=True)
class ExpectedOrder:
    """An order of numbered items, matched exactly."""

    gold: tuple[int, ...]

    def answer_format(self) -> str:
        """Return how the order is to be written."""
        return wording.sequence_format()

    def gold_text(self) -> str:
        """Return the final answer line."""
        return f"Final answer: {','.join(map(str, self.gold))}"

    def grade(self, reply: str) -> Score:
        """Compare the stated order with the gold one."""
        stated = parse_sequence(reply)
        expected = ",".join(map(str, self.gold))
        if isinstance(stated, Refusal):
            return _verdict(right=False, expected=expected, given="", reason=stated.reason, more={})
        right = stated.items == self.gold
        places = sum(a == b for a, b in zip(stated.items, self.gold, strict=False))
        reason = "the exact order" if right else f"{places} of {len(self.gold)} items in their place; exact match only"
        return _verdict(right=right, expected=expected, given=stated.text, reason=reason, more={"in_place": places})


_TOKENS: dict[str, tuple[Callable[[str], StatedToken | Refusal], Callable[[], str]]] = {
    "accession number": (parse_accession_number, wording.accession_number_format),
    "date": (parse_date, wording.date_format),
}


@dataclass(frozen=True)
class ExpectedToken:
    """An accession number or a date in its canonical form, matched exactly."""

    gold: str
    what: Literal["accession number", "date"]

    def answer_format(self) -> str:
        """Return how the code is to be written."""
        return _TOKENS[self.what][1]()

    def gold_text(self) -> str:
        """Return the final answer line."""
        return f"Final answer: {self.gold}"

    def grade(self, reply: str) -> Score:
        """Compare the stated code with the gold one."""
        stated = _TOKENS[self.what][0](reply)
        if isinstance(stated, Refusal):
            return _verdict(right=False, expected=self.gold, given="", reason=stated.reason, more={})
        right = stated.value == self.gold
        reason = "exact match" if right else f"another {self.what}: {stated.value}"
        return _verdict(right=right, expected=self.gold, given=stated.value, reason=reason, more={})
